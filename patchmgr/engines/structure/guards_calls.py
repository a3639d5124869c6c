"""Find calls that do not match the signature of the called function."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def misfit(call: ast.Call, args: ast.arguments, is_method: bool, name: str) -> Iterator[str]:
    """Yield a sentence for each way in which a call does not match the function's parameters."""
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
