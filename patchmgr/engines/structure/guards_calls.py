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
    """Return, in words, the calls that cannot succeed; only functions defined once are checked."""
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
    """Yield, in words, why a call of a function cannot succeed."""
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


def misplaced(side: str, merged: str) -> tuple[str, ...]:
    """Return, in words, positional arguments of a side that reach another parameter in a merge.

    Only functions, methods and classes that each text defines once are checked.
    """
    before, after = nodes_of(side), nodes_of(merged)
    if before is None or after is None:
        return ()
    old, new = _parameters(before[1]), _parameters(after[1])
    moved: dict[str, int] = {}
    for name in old.keys() & new.keys():
        pairs = enumerate(zip(old[name], new[name], strict=False))
        place = next(
            (n for n, (was, now) in pairs if was != now and (was in new[name] or now in old[name])),
            None,
        )
        if place is not None:
            moved[name] = place
    calls = [n for n in before[1] if moved and isinstance(n, ast.Call)]
    kept = {ast.dump(n) for n in after[1] if calls and isinstance(n, ast.Call)}
    named = ((_called_name(call.func), call) for call in calls)
    return tuple(
        sorted(
            f"`{name}` is called by place with more than {moved[name]} arguments: the next one is "
            f"`{new[name][moved[name]]}` now, and was `{old[name][moved[name]]}`."
            for name, call in named
            if name in moved and len(call.args) > moved[name] and ast.dump(call) in kept
        )
    )


def _parameters(nodes: Sequence[ast.AST]) -> dict[str, list[str]]:
    """Return by name the parameters that have a place, of what is defined once."""
    found: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for node in nodes:
        if isinstance(node, _Function):
            counts[node.name] += 1
            args = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
            found[node.name] = args[1:] if args[:1] in (["self"], ["cls"]) else args
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, _Function) and method.name == "__init__":
                    counts[node.name] += 1
                    found[node.name] = [arg.arg for arg in method.args.args][1:]
    return {name: args for name, args in found.items() if counts[name] == 1}


def _called_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
