"""Pieces of units: how they are told apart, and what their own heads say."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from patchmgr.engines.gating_facts import arguments_of, is_boolean, nodes_in
from patchmgr.engines.gating_units import Piece, Unit, first_line, head_end

_DEEPEST = 4

Lines = tuple[int, int, int, int]
"""A hunk without context: first line and number of lines, of the old text and of the new one."""


class Residue(Struct, frozen=True):
    """The lines of the old and the new text that are not in the other with all gates off.

    `kept` are the lines of the new text that are left at all.
    """

    old: frozenset[int]
    new: frozenset[int]
    kept: frozenset[int]


def text_key(node: ast.stmt, lines: Sequence[str], changed: set[int]) -> str | None:
    """Return the text of a statement's head where git says that it is the same on both sides."""
    if getattr(node, "is_made", False):
        return None
    first, last = first_line(node), head_end(node)
    if first == last:
        return None if first in changed else lines[first - 1].strip()
    if not changed.isdisjoint(range(first, last + 1)):
        return None
    return "\n".join([line.strip() for line in lines[first - 1 : last]])


def arguments(unit: Unit) -> frozenset[str]:
    """Return the names that a unit gets as arguments."""
    node = unit.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return arguments_of(node)
    return frozenset()


def head_of(unit: Unit) -> list[ast.stmt]:
    """Return the definition without its body: arguments, decorators, bases."""
    if unit.node is None:
        return []
    fields = {**dict(ast.iter_fields(unit.node)), "body": []}
    head = ast.copy_location(type(unit.node)(**fields), unit.node)
    vars(head)["is_made"] = True
    return [head]


def with_head(unit: Unit) -> list[ast.stmt]:
    """Return the statements of a unit behind its definition."""
    if unit.node is None:
        return list(unit.body)
    return [*head_of(unit), *unit.body]


def overlaps(piece: Piece, lines: Iterable[int]) -> bool:
    """Say whether a piece stands in one of some lines."""
    return any(piece.first <= line <= piece.last for line in lines)


def hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[Lines]:
    """Yield how two texts differ, without context."""
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield a0 + 1, a1 - a0, b0 + 1, b1 - b0


def across(lines: Iterable[int], changes: Sequence[Lines], *, is_back: bool = False) -> set[int]:
    """Return the numbers on the other side of those lines that are on both sides."""
    found = set()
    for line in lines:
        shift = 0
        for old, gone, new, come in changes:
            start, count = (new, come) if is_back else (old, gone)
            first = start + (count == 0)  # a hunk without lines here stands behind the one it names
            if line < first:
                break
            if line < first + count:
                shift = -line
                break
            shift += (gone - come) if is_back else (come - gone)
        if line + shift > 0:
            found.add(line + shift)
    return found


def spread(pieces: Sequence[Piece], is_other: Sequence[bool]) -> frozenset[int]:
    """Return the lines of the pieces that are other ones, and of all that stands in such."""
    found: set[int] = set()
    above: list[bool] = []
    for piece, other in zip(pieces, is_other, strict=True):
        inherited = piece.depth > 0 and any(above[: piece.depth])
        if piece.node is None and len(above) > piece.depth:  # an `else` goes with its `if`
            inherited = inherited or above[piece.depth]
        state = other or inherited
        above[piece.depth :] = [state]
        if state:
            found |= set(range(piece.first, piece.last + 1))
    return frozenset(found)


def resolved(test: ast.expr, facts: dict[str, ast.expr]) -> ast.expr:
    """Return what a local name stands for."""
    for _ in range(_DEEPEST):
        if not (isinstance(test, ast.Name) and test.id in facts):
            break
        test = facts[test.id]
    return test


def tests_in(node: ast.stmt | None, changed: Container[int]) -> Iterator[ast.expr]:
    """Yield the conditions in a statement's own head; those within a value where it changed."""
    if node is None or isinstance(node, ast.Assert):
        return
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            if name == "test" or (name == "value" and isinstance(value, (ast.Compare, ast.BoolOp))):
                yield value
            else:
                yield from _conditions(value, changed)


def _conditions(value: ast.expr, changed: Container[int]) -> Iterator[ast.expr]:
    for child in nodes_in(value):
        if isinstance(child, ast.IfExp) or (isinstance(child, ast.BoolOp) and is_boolean(child)):
            last = child.end_lineno or child.lineno
            if any(line in changed for line in range(child.lineno, last + 1)):
                yield child.test if isinstance(child, ast.IfExp) else child


def extent(piece: Piece) -> range:
    """Return the lines that a piece is about: a condition is about all that stands behind it."""
    last = piece.last
    if isinstance(piece.node, ast.If):
        last = piece.node.end_lineno or last
    return range(piece.first, last + 1)


def is_addition(run: Sequence[Piece], gone: Sequence[Piece]) -> bool:
    """Say whether nothing but names and imports come to a module or a class."""
    old = {name for piece in gone for name in said(piece.node)}
    if any(not said(piece.node) for piece in gone):
        return False
    return all(bool(said(piece.node)) for piece in run) and old <= {
        name for piece in run for name in said(piece.node)
    }


def said(node: ast.stmt | None) -> frozenset[str]:
    """Return what an import, a table or an assignment brings, one name each; none for all else."""
    if isinstance(node, ast.Import):
        return frozenset(f"{a.name} as {a.asname}" for a in node.names)
    if isinstance(node, ast.ImportFrom):
        return frozenset(f"{node.module}.{a.name} as {a.asname}" for a in node.names)
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [t.id for t in targets if isinstance(t, ast.Name)]
        if len(names) != len(targets) or node.value is None:
            return frozenset()
        if isinstance(node.value, ast.Dict):
            items = zip(node.value.keys, node.value.values, strict=True)
            return frozenset(f"{names} {ast.dump(k) if k else ''} {ast.dump(v)}" for k, v in items)
        return frozenset({f"{names} {ast.dump(node.value)}"})
    return frozenset()
