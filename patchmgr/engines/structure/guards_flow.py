"""Find the names that Python code binds and uses, repeated statements, and unreachable code."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TypeGuard, TypeVar

from patchmgr.engines.structure.guards_imports import imported_names
from patchmgr.engines.structure.python_tree import (
    BLOCKS,
    Assigned,
    Definition,
    bound_by,
    nodes_of,
    own_nodes,
    targets_of,
    walk,
)

T = TypeVar("T")
Place = tuple[str, str]
"""A scope (functions and classes joined by dots), and the code in it."""
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_ACTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Expr)


_NAMED = (
    ast.Name, ast.Attribute, ast.arg, ast.keyword, ast.alias, ast.Import, ast.ImportFrom,
    Definition,
)  # fmt: skip


class Facts:
    """The names that a Python text binds and uses, its statements, and its unreachable code."""

    def __init__(self, tree: ast.Module, nodes: Sequence[ast.AST], text: str) -> None:
        self._nodes = [node for node in nodes if isinstance(node, _NAMED)]
        self._lines = text.split("\n")
        self.definitions, self.assigned = Counter[str](), Counter[Place]()
        self.statements, self.dead = Counter[Place](), Counter[Place]()
        self.beside: dict[Place, int] = {}  # copies of a statement in one block
        self._walk(tree, "")

    @cached_property
    def imports(self) -> Counter[str]:
        """How often the text imports each name."""
        named = (name for node in self._nodes for name in imported_names(node))
        return Counter(name or module for module, name, new in named if new in ("", name))

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that the text uses."""
        return frozenset(name for node in self._nodes for name in _names_of(node))

    @cached_property
    def bound(self) -> Counter[str]:
        """How often the text binds each name."""
        return Counter(name for node in self._nodes for name in _bound(node))

    def _walk(self, node: ast.AST, scope: str) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if not isinstance(value, list):
                continue
            run = [child for child in value if isinstance(child, ast.stmt)]
            if run:
                self.dead.update((scope, sentence) for sentence in _dead(run))
                self._count(run, scope)
            for child in value:
                inner = scope
                if isinstance(child, Definition):
                    self.definitions[scope + child.name] += 1
                    inner = f"{scope}{child.name}."
                elif scope and isinstance(child, Assigned):
                    names = (t.id for t in targets_of(child) if isinstance(t, ast.Name))
                    self.assigned.update((scope, name) for name in names)
                if isinstance(child, BLOCKS):
                    self._walk(child, inner)

    def _count(self, run: Sequence[ast.stmt], scope: str) -> None:
        acts = [(scope, _source(child, self._lines)) for child in run if isinstance(child, _ACTS)]
        self.statements.update(acts)
        if len({*acts}) < len(acts):
            for place, count in Counter(acts).items():
                if count > 1:
                    self.beside[place] = max(count, self.beside.get(place, 0))


@lru_cache(maxsize=8)
def facts_of(text: str) -> Facts | None:
    """Return the facts about a Python text, or None if the text does not parse."""
    parsed = nodes_of(text)
    return None if parsed is None else Facts(*parsed, text)


def _names_of(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node uses, including those of attributes and keyword arguments."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, (ast.arg, ast.keyword)):
        yield node.arg or ""
    elif isinstance(node, Definition):
        yield node.name
    elif isinstance(node, ast.alias):
        yield from (*node.name.split("."), node.asname or "")


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds, including attributes, and `b` for `import a.b`."""
    if isinstance(node, ast.Attribute):
        yield from () if isinstance(node.ctx, ast.Load) else (node.attr,)
    elif isinstance(node, ast.alias) and not node.asname:
        yield node.name.rpartition(".")[2]
    else:
        yield from bound_by(node)


def _dead(run: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield a sentence about each statement of a block that can never be reached."""
    # The conditions under which an earlier `if` left the block, and their names (as `_names_in`).
    led_out: dict[str, frozenset[str] | None] = {}
    for before, statement in zip((None, *run), run, strict=False):
        if isinstance(before, _LEAVES):
            yield f"`{_first_line(statement)}` is never reached."
        if isinstance(statement, ast.If):
            yield from _dead_branches(statement, led_out)
        if led_out:
            changed = {name for node in own_nodes([statement]) for name in bound_by(node)}
            led_out = {
                test: names
                for test, names in led_out.items()
                if names is not None and not names & changed
            }
        if _is_way_out(statement):
            led_out[ast.dump(statement.test)] = _names_in(statement.test)


def _is_way_out(statement: ast.stmt) -> TypeGuard[ast.If]:
    """Return whether a statement is an `if` without `else` that always leaves the block."""
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    return isinstance(statement.body[-1], _LEAVES)


def _dead_branches(
    statement: ast.If, led_out: Mapping[str, frozenset[str] | None]
) -> Iterator[str]:
    """Yield a sentence for each branch that never runs because an earlier one has its condition."""
    above: set[str] = set()
    branch: ast.stmt | None = statement
    while isinstance(branch, ast.If):
        test = ast.dump(branch.test)
        if test in led_out or test in above:
            condition = ast.unparse(branch.test)
            yield f"The code under the second `if {condition}` is never reached."
        above.add(test)
        branch = branch.orelse[0] if len(branch.orelse) == 1 else None


def _names_in(test: ast.expr) -> frozenset[str] | None:
    """Return the names in a condition, or None if it has a call, an attribute or a subscript."""
    nodes = walk(test)
    if any(isinstance(n, ast.Call | ast.Await | ast.Attribute | ast.Subscript) for n in nodes):
        return None
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def _source(statement: ast.stmt, lines: Sequence[str]) -> str:
    """Return the source of a statement, with white space stripped from each line."""
    if statement.lineno == statement.end_lineno:
        line = lines[statement.lineno - 1].encode("utf-8", "surrogatepass")
        return line[statement.col_offset : statement.end_col_offset].decode("utf-8", "replace")
    return "\n".join(x.strip() for x in lines[statement.lineno - 1 : statement.end_lineno])


def _first_line(statement: ast.stmt) -> str:
    return ast.unparse(statement).partition("\n")[0]


def newly_dead(upstream: Facts, fork: Facts, merged: Facts) -> tuple[str, ...]:
    """Return sentences about code that can run on both sides, but not in the merge."""
    return tuple(sentence for (_, sentence) in more_often(merged.dead, (upstream.dead, fork.dead)))


def doubled_statements(base: Facts, upstream: Facts, fork: Facts, merged: Facts) -> list[str]:
    """Return the statements that a function or class has more often in the merge than on a side.

    A statement counts if both sides have it as often as base, or if the merge has it twice in one
    block.
    """
    return [
        place[1]
        for place in more_often(merged.statements, (upstream.statements, fork.statements))
        if base.statements[place] == upstream.statements[place] == fork.statements[place] > 0
        or merged.beside.get(place, 1)
        > max(upstream.beside.get(place, 1), fork.beside.get(place, 1))
    ]


def more_often(merged: Counter[T], sides: Sequence[Counter[T]]) -> list[T]:
    """Return the items that a merge has more often than either side."""
    return [place for place, n in merged.items() if n > max(side[place] for side in sides)]
