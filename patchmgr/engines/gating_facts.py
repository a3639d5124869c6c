"""What a block says of its names: which ones it binds, and what the simple ones stand for."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence

Facts = Mapping[str, ast.expr]
"""Local names that one statement alone assigns, with what it assigns."""

_SIGNS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
_NODES = frozenset(
    kind
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and not issubclass(kind, _SIGNS)
)

Function = ast.FunctionDef | ast.AsyncFunctionDef

_BOOLEAN = ("is_", "has_", "isinstance", "hasattr", "issubclass", "bool", "supports_", "support_")


def nodes_in(*roots: ast.AST) -> list[ast.AST]:
    """Return some nodes and all in them, in no order; `ast.walk` takes three times as long."""
    found: list[ast.AST] = list(roots)
    for node in found:  # grows while it is walked
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                found += [child for child in value if type(child) in _NODES]
            elif type(value) in _NODES and isinstance(value, ast.AST):
                found.append(value)
    return found


def called(node: ast.Call) -> str:
    """Return the last name of what a call calls, empty where it has none."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def dotted(node: ast.expr) -> str:
    """Return the name of an attribute of a name, empty where it is one of something else."""
    if isinstance(node, ast.Attribute):
        outer = dotted(node.value)
        return f"{outer}.{node.attr}" if outer else ""
    return node.id if isinstance(node, ast.Name) else ""


def is_boolean(node: ast.expr) -> bool:
    """Say whether an expression is surely true or false, by its form."""
    if isinstance(node, ast.BoolOp):
        return all(map(is_boolean, node.values))
    if isinstance(node, ast.Call):
        return called(node).startswith(_BOOLEAN)
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    is_flag = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    return is_not or is_flag or isinstance(node, ast.Compare)


def arguments_of(node: Function) -> frozenset[str]:
    """Return the names that a function gets as arguments."""
    a = node.args
    every = (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
    return frozenset(argument.arg for argument in every if argument is not None)


def _bound_by(node: ast.AST) -> Sequence[str]:
    """Return every name that a node itself binds; what is declared elsewhere counts twice."""
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return (*node.names, *node.names)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (node.name,)
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0],)
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        return (node.name,)
    return ()


def single_assignments(body: Sequence[ast.stmt], arguments: frozenset[str]) -> dict[str, ast.expr]:
    """Return the local names that one statement alone assigns, with what it assigns."""
    counts: Counter[str] = Counter()
    found: dict[str, ast.expr] = {}
    for node in nodes_in(*body):
        for name in _bound_by(node):
            counts[name] += 1
        target = only_target(node)
        if target is not None and target[0] not in arguments:
            found[target[0]] = target[1]
    return {name: value for name, value in found.items() if counts[name] == 1}


def held_names(body: Sequence[ast.stmt], arguments: frozenset[str]) -> dict[str, ast.expr]:
    """Return what single assignments say, and for names that share one, what that assigns.

    Good to tell what a condition asks about; not what it answers.
    """
    found: dict[str, ast.expr] = {}
    for node in nodes_in(*body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            for part in node.targets[0].elts:
                if isinstance(part, ast.Name) and part.id not in arguments:
                    found[part.id] = node.value
    return {**found, **single_assignments(body, arguments)}


def only_target(node: ast.AST) -> tuple[str, ast.expr] | None:
    """Return the name that a statement assigns alone, and what it assigns."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        if isinstance(node.targets[0], ast.Name):
            return node.targets[0].id, node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return None if node.value is None else (node.target.id, node.value)
    return None
