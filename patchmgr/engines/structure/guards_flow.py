"""Find statements that a merge of Python repeats, and code that can never run."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeGuard

from msgspec import Struct

from patchmgr.engines.structure.python_tree import (
    BLOCKS,
    Definition,
    bound_by,
    own_nodes,
    parse_python,
    walk,
)

Place = tuple[str, str]
"""A scope (functions and classes joined by dots), and the code in it."""
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_ACTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Expr)


class Flow(Struct, frozen=True):
    """How often each scope of a Python text has each statement, and which code can never run.

    `beside` counts the statements that occur more than once in the same block.
    """

    statements: Counter[Place]
    beside: dict[Place, int]
    dead: Counter[Place]


@lru_cache(maxsize=8)
def flow_of(text: str) -> Flow | None:
    """Return the statements and dead code of a Python text, or None if it does not parse."""
    tree = parse_python(text)
    if tree is None:
        return None
    flow = Flow(Counter(), {}, Counter())
    _walk(tree, "", text.split("\n"), flow)
    return flow


def _walk(node: ast.AST, scope: str, lines: Sequence[str], flow: Flow) -> None:
    for name in node._fields:
        value = getattr(node, name, None)
        if not isinstance(value, list):
            continue
        run = [child for child in value if isinstance(child, ast.stmt)]
        if run:
            flow.dead.update((scope, said) for said in _dead(run))
            _count(run, scope, lines, flow)
        for child in value:
            if isinstance(child, BLOCKS):
                inner = f"{scope}{child.name}." if isinstance(child, Definition) else scope
                _walk(child, inner, lines, flow)


def _count(run: Sequence[ast.stmt], scope: str, lines: Sequence[str], flow: Flow) -> None:
    acts = [(scope, _said(child, lines)) for child in run if isinstance(child, _ACTS)]
    flow.statements.update(acts)
    if len({*acts}) < len(acts):
        for place, count in Counter(acts).items():
            if count > 1:
                flow.beside[place] = max(count, flow.beside.get(place, 0))


def _dead(run: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield sentences about the statements of a block that can never run."""
    led_out: dict[str, frozenset[str] | None] = {}  # by condition its names, None: asked anew
    for before, statement in zip((None, *run), run, strict=False):
        if isinstance(before, _LEAVES):
            yield f"`{_first_line(statement)}` is never reached."
        if isinstance(statement, ast.If):
            yield from _dead_branches(statement, led_out)
        if led_out:
            changed = _bound_in(statement)
            led_out = {
                test: names
                for test, names in led_out.items()
                if names is not None and not names & changed
            }
        if _is_way_out(statement):
            led_out[ast.dump(statement.test)] = _names_in(statement.test)


def _is_way_out(statement: ast.stmt) -> TypeGuard[ast.If]:
    """Return whether a statement is an `if` without `else` that ends by leaving the block."""
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    return isinstance(statement.body[-1], _LEAVES)


def _dead_branches(
    statement: ast.If, led_out: Mapping[str, frozenset[str] | None]
) -> Iterator[str]:
    """Yield a sentence for each branch whose condition was handled before, so it never runs."""
    above: set[str] = set()
    branch: ast.stmt | None = statement
    while isinstance(branch, ast.If):
        test = ast.dump(branch.test)
        if test in led_out or test in above:
            condition = ast.unparse(branch.test)
            yield f"What is under the second `if {condition}` is never reached."
        above.add(test)
        branch = branch.orelse[0] if len(branch.orelse) == 1 else None


def _bound_in(statement: ast.stmt) -> frozenset[str]:
    return frozenset(name for node in own_nodes([statement]) for name in bound_by(node))


def _names_in(test: ast.expr) -> frozenset[str] | None:
    """Return the names in a condition, or None if it depends on more than names."""
    nodes = walk(test)
    if any(isinstance(n, ast.Call | ast.Await | ast.Attribute | ast.Subscript) for n in nodes):
        return None
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def _said(statement: ast.stmt, lines: Sequence[str]) -> str:
    """Return the lines of a statement, without white space at their ends."""
    if statement.lineno == statement.end_lineno:
        line = lines[statement.lineno - 1].encode("utf-8", "surrogatepass")
        return line[statement.col_offset : statement.end_col_offset].decode("utf-8", "replace")
    return "\n".join(x.strip() for x in lines[statement.lineno - 1 : statement.end_lineno])


def _first_line(statement: ast.stmt) -> str:
    return ast.unparse(statement).partition("\n")[0]


def newly_dead(upstream: Flow, fork: Flow, merged: Flow) -> tuple[str, ...]:
    """Return sentences about code that cannot run in the merge, but can run on both sides."""
    sides = upstream.dead, fork.dead
    return tuple(said for (_, said) in _more(merged.dead, sides))


def doubled_statements(base: Flow, upstream: Flow, fork: Flow, merged: Flow) -> tuple[str, ...]:
    """Return the statements that a function or class has more often than on either side.

    A statement counts only if neither side changed how often it occurs, or if one block repeats it.
    """
    return tuple(
        place[1]
        for place in _more(merged.statements, (upstream.statements, fork.statements))
        if base.statements[place] == upstream.statements[place] == fork.statements[place] > 0
        or merged.beside.get(place, 1)
        > max(upstream.beside.get(place, 1), fork.beside.get(place, 1))
    )


def _more(merged: Counter[Place], sides: Sequence[Counter[Place]]) -> list[Place]:
    return [place for place, n in merged.items() if n > max(side[place] for side in sides)]
