"""Cut Python into units: a function each, and what stands in a class or module outside of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

Guards = tuple[tuple[ast.expr, bool], ...]
"""Conditions, each with whether it holds."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Unit(Struct, frozen=True):
    """Statements that run together; `name` is the symbol, None for a module's own ones.

    `node` is the definition, None for a module. `lines` are the numbers (from 1) of its own lines,
    `guards` the conditions that the definition itself stands behind.
    """

    name: str | None
    node: Definition | None
    body: tuple[ast.stmt, ...]
    lines: tuple[int, ...]
    guards: Guards = ()

    @property
    def is_function(self) -> bool:
        """Say whether it runs when it is called."""
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef))


def units_of(tree: ast.Module, length: int) -> dict[tuple[str | None, int], Unit]:
    """Return the units of a module by name; several of one name are numbered."""
    found: dict[tuple[str | None, int], Unit] = {}
    for unit in _units(tree, length):
        number = 0
        while (unit.name, number) in found:
            number += 1
        found[unit.name, number] = unit
    return found


def _units(tree: ast.Module, length: int) -> Iterator[Unit]:
    taken: set[int] = set()
    inner = list(_definitions(tree.body, ""))
    for name, node, guards in inner:
        if not isinstance(node, ast.ClassDef):
            lines = range(first_line(node), (node.end_lineno or node.lineno) + 1)
            taken |= set(lines)
            yield Unit(name, node, tuple(node.body), tuple(lines), guards)
    for name, node, guards in reversed(inner):  # inner classes first
        if isinstance(node, ast.ClassDef):
            lines = range(first_line(node), (node.end_lineno or node.lineno) + 1)
            own = tuple(line for line in lines if line not in taken)
            taken |= set(lines)
            yield Unit(name, node, _own(node.body), own, guards)
    rest = tuple(line for line in range(1, length + 1) if line not in taken)
    yield Unit(None, None, _own(tree.body), rest)


def _definitions(
    body: Sequence[ast.stmt], outer: str, guards: Guards = ()
) -> Iterator[tuple[str, Definition, Guards]]:
    """Yield functions and classes by name; what is in a function belongs to it."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{outer}{node.name}", node, guards
        elif isinstance(node, ast.ClassDef):
            yield f"{outer}{node.name}", node, guards
            yield from _definitions(node.body, f"{outer}{node.name}.", guards)
        elif isinstance(node, ast.If):
            yield from _definitions(node.body, outer, (*guards, (node.test, True)))
            yield from _definitions(node.orelse, outer, (*guards, (node.test, False)))
        elif isinstance(node, (ast.Try, ast.With)):
            for _, value in ast.iter_fields(node):
                if isinstance(value, list):
                    inner = [v for v in value if isinstance(v, ast.stmt)]
                    inner += [s for v in value if isinstance(v, ast.ExceptHandler) for s in v.body]
                    yield from _definitions(inner, outer, guards)


def _own(body: Sequence[ast.stmt]) -> tuple[ast.stmt, ...]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return tuple(node for node in body if not isinstance(node, kinds))


def first_line(node: ast.stmt) -> int:
    """Return the line that a statement begins in, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(node.lineno, decorators[0].lineno) if decorators else node.lineno


_PLAIN = (ast.Expr, ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Raise, ast.Assert)


class Piece(Struct, frozen=True):
    """A statement without the statements in it, and the conditions that it stands behind.

    `guards` are the tests around it, each with whether it stands where the test holds. `dump`
    tells pieces apart; what it says nothing about makes no difference.
    """

    depth: int
    dump: str
    first: int
    last: int
    node: ast.stmt | None
    guards: Guards = ()


Key = Callable[[ast.stmt], "str | None"]
"""Return what a statement is known by, None where its syntax must be looked at."""


def pieces_of(
    body: Sequence[ast.stmt],
    key: Key,
    *,
    depth: int = 0,
    guards: Guards = (),
) -> Iterator[Piece]:
    """Yield the statements of a block in order, those in others behind their heads.

    An `if` whose body always leaves guards what comes behind it, the other way around.
    """
    for node in body:
        if is_comment(node):
            continue
        known = key(node) or _head(node)
        yield Piece(depth, f"{depth} {known}", first_line(node), head_end(node), node, guards)
        if isinstance(node, ast.If):
            yield from pieces_of(
                node.body, key, depth=depth + 1, guards=(*guards, (node.test, True))
            )
            if node.orelse:
                yield Piece(
                    depth, f"{depth} else", node.orelse[0].lineno, node.orelse[0].lineno, None
                )
                inner = (*guards, (node.test, False))
                yield from pieces_of(node.orelse, key, depth=depth + 1, guards=inner)
            if node.body and isinstance(node.body[-1], (ast.Return, ast.Raise, ast.Continue)):
                guards = (*guards, (node.test, False))
            continue
        for name, value in ast.iter_fields(node):
            if not isinstance(value, list) or not value:
                continue
            if isinstance(value[0], ast.stmt):
                if name != "body":
                    yield Piece(depth, f"{depth} {name}", value[0].lineno, value[0].lineno, None)
                yield from pieces_of(value, key, depth=depth + 1, guards=guards)
            elif isinstance(value[0], (ast.ExceptHandler, ast.match_case)):
                for part in value:
                    at = getattr(part, "lineno", part.body[0].lineno)
                    head = [ast.dump(v) for _, v in ast.iter_fields(part) if isinstance(v, ast.AST)]
                    yield Piece(depth, f"{depth} {name} {head}", at, at, None, guards)
                    yield from pieces_of(part.body, key, depth=depth + 1, guards=guards)


def is_comment(node: ast.stmt) -> bool:
    """Say whether a statement is a text that nothing reads: a docstring or the like."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return isinstance(node.value.value, str)
    return isinstance(node, ast.Pass)


def _head(node: ast.stmt) -> str:
    parts = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        values = value if isinstance(value, list) else [value]
        if any(isinstance(v, (ast.stmt, ast.ExceptHandler, ast.match_case)) for v in values):
            continue
        parts += [name, *(ast.dump(v) if isinstance(v, ast.AST) else str(v) for v in values)]
    return " ".join(parts)


def head_end(node: ast.stmt) -> int:
    """Return the last line of a statement's head."""
    if isinstance(node, _PLAIN):
        return node.end_lineno or node.lineno
    ends = [node.lineno]
    is_whole = True
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                is_whole = False
            elif isinstance(child, ast.AST) and name != "body":
                ends.append(getattr(child, "end_lineno", None) or node.lineno)
    return (node.end_lineno or node.lineno) if is_whole and not _is_scope(node) else max(ends)


def _is_scope(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
