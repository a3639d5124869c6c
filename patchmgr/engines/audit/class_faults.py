"""Classes whose bases and overridden members are not what they were on their own side."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec.structs import replace

from patchmgr.engines.audit.name_faults import base_of
from patchmgr.engines.audit.new_names import best
from patchmgr.engines.audit.python_modules import Function, decorators, last_name, members_of
from patchmgr.engines.audit.python_names import Entity, PythonState
from patchmgr.engines.audit.python_uses import Fault, Pair, PairedUse

_MOST_FILES = 4_000
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def base_faults(node: ast.ClassDef, at: PairedUse) -> Iterator[Fault]:
    """Yield the bases of a class that are functions now."""
    for base in node.bases:
        new = at.new(base)
        if new.what == "function" and (old := at.old(base)).what == "class":
            said = ast.unparse(base)
            text = f"`{said}` is the base of `{node.name}`, and is a function now."
            yield at.misused(text, said, old, new, is_certain=not old.is_inferred)


def abstract_faults(node: ast.ClassDef, at: PairedUse) -> Iterator[Fault]:
    """Yield the abstract methods that a class is left with now, where it was left with none."""
    new = at.now.own_class(at.use.scopes, node.name)
    more = frozenset[str]() if new is None else _abstract(new, at.now.state)
    old = at.then.own_class(at.use.scopes, node.name) if more else None
    if new is None or old is None or _abstract(old, at.then.state):
        return
    for name in sorted(more):
        text = f"`{node.name}` does not define `{name}`, which is abstract in its base now."
        parent = at.now.state.inherited(new, name)
        yield at.misused(text, f"{node.name}.{name}", old, parent, kind="override")


def _abstract(owner: Entity, state: PythonState) -> frozenset[str]:
    """Return the abstract methods that a class is left with."""
    found: set[str] = set()
    for _, base in state.bases(owner):
        if base.what == "class" and base.node is not owner.node:
            found |= _abstract(base, state)
    own = members_of(owner.node)
    abstract = {
        name
        for name, nodes in own.items()
        if any(
            last_name(d) == "abstractmethod"
            for n in nodes
            if isinstance(n, Function)
            for d in n.decorator_list
        )
    }
    return frozenset((found - own.keys()) | abstract)


def override_faults(node: _Function, at: PairedUse) -> Iterator[Fault]:
    """Yield what is wrong with a method that replaces one of a base."""
    around = at.use.scopes[-1].node if at.use.scopes else None
    if not isinstance(around, ast.ClassDef) or node.name.startswith("__"):
        return
    now = at.now.own_class(at.use.scopes[:-1], around.name)
    new = None if now is None else at.now.state.inherited(now, node.name)
    if now is None or new is None or (new.what == "function" and at.is_same(new)):
        return
    then = at.then.own_class(at.use.scopes[:-1], around.name)
    old = None if then is None else at.then.state.inherited(then, node.name)
    was = None if old is None else _plain_method(old)
    if then is None or old is None or was is None:
        return
    symbol = f"{around.name}.{node.name}"
    if new.what == "gone":
        new = replace(new, owner=base_of(now, old, at) or new.owner)
        if new.outside <= at.then.state.outside(then) and _is_missed(node.name, old, new, at):
            text = f"`{symbol}` overrides nothing any more: no base has `{node.name}`."
            yield at.misused(text, symbol, old, new, kind="removed")
    elif method := _plain_method(new):
        after = _misfit(node, method)
        if after and not _misfit(node, was):
            text = f"`{symbol}` overrides a method that {after}."
            yield at.misused(text, symbol, old, new, kind="override")


def _plain_method(found: Entity) -> _Function | None:
    is_plain = found.what == "function" and not found.is_decorated
    return found.node if is_plain and isinstance(found.node, Function) else None


def attribute_override_faults(node: ast.Assign | ast.AnnAssign, at: PairedUse) -> Iterator[Fault]:
    """Yield the class attribute that replaced one of a base, and replaces nothing now."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    around = at.use.scopes[-1].node if at.use.scopes else None
    if not isinstance(around, ast.ClassDef) or not isinstance(target, ast.Name):
        return
    name = target.id
    if name.startswith("__") or not around.bases:
        return
    then, now = (side.own_class(at.use.scopes[:-1], around.name) for side in (at.then, at.now))
    if then is None or now is None:
        return
    old, new = at.then.state.inherited(then, name), at.now.state.inherited(now, name)
    if old.what != "value" or new.what != "gone":
        return
    new = replace(new, owner=base_of(now, old, at) or new.owner)
    is_own = at.now.module is not None and _uses_member(at.now.module.node, name)
    is_known = new.outside <= at.then.state.outside(then)
    if is_known and not is_own and _is_missed(name, old, new, at):
        symbol = f"{around.name}.{name}"
        text = f"`{symbol}` overrides nothing any more: no base has `{name}`."
        yield at.misused(text, symbol, old, new, kind="removed")


def _is_missed(name: str, old: Entity, new: Entity, pair: Pair) -> bool:
    """Say whether a member of a base has another name, or was used through it and is no more.

    What overrides it may be used all the same, where its own file does so by itself.
    """
    if old.module is None:
        return False
    known, fresh = (members_of(e.owner.node if e.owner is not None else None) for e in (old, new))
    others = {other: made[0] for other, made in fresh.items() if other not in known}
    if best(old.node, name, others) is not None:
        return True
    before = _uses_member(old.module.node, name) or _is_abstract(old.node)
    if not before and not _is_used_elsewhere(name, pair):
        return False
    modules = (pair.now.state.module(old.module.path), pair.now.module)
    return not any(m is not None and _uses_member(m.node, name) for m in modules)


def _is_abstract(node: ast.AST | None) -> bool:
    """Say whether a method says itself that others are to override it."""
    if not isinstance(node, Function):
        return False
    is_marked = any(name.endswith("abstractmethod") for name in decorators(node))
    return is_marked or "NotImplementedError" in ast.unparse(node.body[-1])


def _uses_member(tree: ast.Module, name: str) -> bool:
    """Say whether a module reads an attribute of that name."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(tree)
    )


def _is_used_elsewhere(name: str, pair: Pair) -> bool:
    """Say whether the other side took away a call of a member in any file that it changed."""
    called = re.compile(rb"\.%b\(" % re.escape(name).encode())
    for path in sorted(pair.changed)[:_MOST_FILES]:
        before = pair.then.state.files.read(path) if path.endswith(".py") else None
        if before is not None and called.search(before):
            after = pair.now.state.files.read(path)
            if after is not None and not called.search(after):
                return True
    return False


def _misfit(node: _Function, parent: _Function) -> str:
    """Say why a method cannot be called as the one that it overrides, empty where it can."""
    is_async = isinstance(parent, ast.AsyncFunctionDef)
    if isinstance(node, ast.AsyncFunctionDef) != is_async:
        return "is a coroutine now" if is_async else "is no coroutine any more"
    own, args = node.args, parent.args
    mine, theirs = ([a.arg for a in (*some.posonlyargs, *some.args)][1:] for some in (own, args))
    named = {*mine, *(a.arg for a in own.kwonlyargs)}
    wanted = [*theirs, *(a.arg for a in args.kwonlyargs)]
    refused = next((name for name in wanted if name not in named), None)
    if refused is not None and own.kwarg is None:
        return f"takes `{refused}`, which it does not take"
    lacking = next((n for n in mine[: len(mine) - len(own.defaults)] if n not in wanted), None)
    if lacking is not None and args.kwarg is None and args.vararg is None:
        return f"does not take `{lacking}`, which it needs"
    return ""
