"""Which names statements bind and use."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from patchmgr.engines.structure.python_tree import Statement


def bound_names(statements: Iterable[Statement]) -> frozenset[str]:
    """Return the names and attributes (`self.x`) that the statements assign or define."""
    found: set[str] = set()
    for node in _nodes(statements):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            found.add(ast.unparse(node))
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return frozenset(found)


def used_names(statements: Iterable[Statement]) -> frozenset[str]:
    """Return the names and attributes that the statements read."""
    return frozenset(
        ast.unparse(node)
        for node in _nodes(statements)
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
    )


def acted_on(statements: Iterable[Statement]) -> Mapping[str, frozenset[str]]:
    """Return by object the methods that are called on it for their effect alone."""
    found: dict[str, frozenset[str]] = {}
    for node in _nodes(statements):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Await):
            call = call.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            name = ast.unparse(call.func.value)
            found[name] = found.get(name, frozenset()) | {call.func.attr}
    return found


def _nodes(statements: Iterable[Statement]) -> Iterable[ast.AST]:
    return (node for statement in statements for node in ast.walk(statement.node))
