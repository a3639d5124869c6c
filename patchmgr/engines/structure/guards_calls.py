"""Calls in a Python text that do not fit the signature of the function that the text defines."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from patchmgr.engines.structure.python_tree import nodes_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=8)
def misfits(text: str) -> frozenset[str]:
    """Return the calls that cannot succeed, said in words; only of functions defined once."""
    parsed = nodes_of(text)
    if parsed is None:
        return frozenset()
    tree, nodes = parsed
    functions = {node.name: node for node in tree.body if isinstance(node, _Function)}
    found = set(_of_calls(nodes, functions, ""))
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            methods = {n.name: n for n in node.body if isinstance(n, _Function)}
            found.update(_of_calls(tuple(ast.walk(node)), methods, "self"))
    return frozenset(found)


def _of_calls(
    nodes: Sequence[ast.AST], functions: dict[str, _Function], owner: str
) -> Iterator[str]:
    counts = Counter(n.name for n in nodes if isinstance(n, _Function))
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        function = functions.get(_called(node.func, owner))
        if function is None or counts[function.name] > 1 or function.decorator_list:
            continue
        if owner or function.name not in bound:
            yield from misfit(node, function.args, bool(owner), function.name)


def _called(node: ast.expr, owner: str) -> str:
    if owner:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.attr if node.value.id == owner else ""
        return ""
    return node.id if isinstance(node, ast.Name) else ""


def misfit(call: ast.Call, args: ast.arguments, is_method: bool, name: str) -> Iterator[str]:
    """Yield why a call of a function cannot succeed, said in words."""
    places = [arg.arg for arg in (*args.posonlyargs, *args.args)][int(is_method) :]
    given = {keyword.arg for keyword in call.keywords}
    open_ended = None in given or any(isinstance(arg, ast.Starred) for arg in call.args)
    known = {*places, *(arg.arg for arg in args.kwonlyargs)}
    for keyword in sorted(k for k in given if k is not None):
        if keyword not in known and args.kwarg is None:
            yield f"`{name}` is called with `{keyword}`, which it does not take."
    if len(call.args) > len(places) and args.vararg is None and not open_ended:
        yield f"`{name}` is called with more arguments than it takes."
    if open_ended:
        return
    needed = places[: max(0, len(places) - len(args.defaults))]
    optional = args.kw_defaults
    needed_by_name = [a.arg for a, d in zip(args.kwonlyargs, optional, strict=True) if d is None]
    for missing in (*needed[len(call.args) :], *needed_by_name):
        if missing not in given:
            yield f"`{name}` is called without `{missing}`, which it needs."
