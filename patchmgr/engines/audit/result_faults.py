"""Find calls of functions that no longer return or raise what the caller expects."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from patchmgr.engines.audit.python_modules import Module, decorators
from patchmgr.engines.audit.python_uses import Fault, PairedUse, Use
from patchmgr.engines.structure.python_tree import (
    Assigned,
    Function,
    children,
    is_named,
    is_text,
    own_nodes,
    targets_of,
    walk,
)

_LISTS = frozenset({"list", "sorted", "tuple", "dict", "set", "frozenset"})
_PLAIN = frozenset(
    {"len", "sum", "int", "float", "str", "bytes", "bool", "abs", "repr", "max", "min"}
)
_DISPLAYS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp)
_LIST_VERBS = frozenset({"len", "[]", "+", "not", "append", "sort", "extend", "index", "pop"})
_ADVANCES = frozenset({"send", "throw", "close"})
_KEEPS_RESULT = frozenset({"staticmethod", "classmethod", "abstractmethod", "override"})
_DEEPEST = 12  # most bases that are followed
_MOST_NAMES = 4  # most variables that are followed from a `return` to the value


def result_faults(node: ast.Call, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault if a use of a call's result does not fit what is returned now."""
    new = at.new(node.func)
    if new.what != "function" or at.is_same(new) or not decorators(new.node) <= _KEEPS_RESULT:
        return
    old = at.old(node.func)
    if old.what != "function" or not decorators(old.node) <= _KEEPS_RESULT:
        return
    said, reads = ast.unparse(node.func), list(_reads(node, at.use, at.now.module))
    if lost := _keys(old.node) - (_keys(new.node) or _keys(old.node)):
        for child, around in reads:
            match around:
                case ast.Subscript(value=asked, slice=ast.Constant(value=str(key))) if (
                    asked is child and key in lost
                ):
                    text = f"`{said}` no longer returns the key `{key}`, which is used here."
                    yield at.misused(text, said, old, new)
                    return
    before, after = _gives(old.node), _gives(new.node)
    for verb in filter(None, (_verb(*read) for read in reads if before != after)):
        if before == "generator" and after in ("list", "value") and verb in ("next", "send"):
            text = f"`{said}` is no longer a generator, but its result is used with `{verb}`."
        elif before != "generator" and after == "generator" and verb in _LIST_VERBS:
            text = f"`{said}` is now a generator, but its result is used with `{verb}`."
        elif after == "none" and before in ("list", "value", "tuple"):
            text = f"`{said}` no longer returns anything, but its result is used."
        elif after == "tuple" and verb != "apart" and _was_one(old.node, new.node):
            text = f"`{said}` now returns several values, but its result is used as one."
        else:
            continue
        yield at.misused(text, said, old, new)
        return


def _returned(node: ast.AST | None) -> list[ast.expr]:
    nodes = own_nodes(node.body) if isinstance(node, Function) else ()
    return [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]


def _keys(node: ast.AST | None) -> frozenset[str]:
    """Return the keys of the dictionary that a function returns, or an empty set if unsure."""
    found: set[str] = set()
    for value in _returned(node):
        if not isinstance(value, ast.Dict) or not all(map(is_text, value.keys)):
            return frozenset()
        found.update(str(k.value) for k in value.keys if isinstance(k, ast.Constant))
    return frozenset(found)


def _gives(node: ast.AST | None) -> str:
    """Return what kind of value a function returns, or "" if unsure.

    The kinds are "generator", "list", "tuple", "value" (another single value) and "none" (no
    value).
    """
    if not isinstance(node, Function):
        return ""
    nodes = list(own_nodes(node.body))
    if any(isinstance(child, (ast.Yield, ast.YieldFrom)) for child in nodes):
        return "generator"
    values = _returned(node)
    if not values:
        is_open = any(isinstance(child, ast.Raise) for child in nodes) or len(node.body) == 1
        return "" if is_open else "none"
    return _only({_kind(value, nodes) for value in values})


def _only(kinds: set[str]) -> str:
    return kinds.pop() if len(kinds) == 1 else ""


def _kind(value: ast.expr, nodes: Sequence[ast.AST], depth: int = 0) -> str:
    match value:
        case ast.Tuple():
            return "tuple"
        case ast.Compare() | ast.JoinedStr():
            return "value"
        case ast.Constant():
            return "value" if value.value is not None else ""
        case ast.Call(func=ast.Name(id=name)):
            return "list" if name in _LISTS else "value" if name in _PLAIN else ""
        case ast.Name(id=name) if depth < _MOST_NAMES:
            return _only({
                _kind(n.value, nodes, depth + 1)
                for n in nodes
                if isinstance(n, Assigned) and n.value is not None
                for target in targets_of(n)
                if is_named(target, name)
            })  # fmt: skip
    return "list" if isinstance(value, _DISPLAYS) else ""


def _was_one(old: ast.AST | None, new: ast.AST | None) -> bool:
    """Return whether a function that now returns a tuple used to return a single value."""
    if not isinstance(old, Function) or not isinstance(new, Function):
        return False
    if _gives(old) in ("list", "value"):
        return True
    now = [value for value in _returned(new) if isinstance(value, ast.Tuple)]
    parts = {ast.unparse(each) for value in now for each in value.elts}
    was = _returned(old)
    if was and all(ast.unparse(value) in parts for value in was):
        return True
    heads = [ast.unparse(n.returns).lower() if n.returns else "" for n in (old, new)]
    is_plain = heads[0] and not heads[0].startswith(("tuple", "typing.", "any", "'"))
    return bool(is_plain) and heads[1].startswith("tuple")


def _reads(
    node: ast.Call, use: Use, module: Module | None
) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Yield (node, parent) for each node that reads a call's result, directly or in a variable."""
    around = use.around
    if isinstance(around, ast.Await):
        return
    target = around.targets[0] if isinstance(around, ast.Assign) else None
    if not isinstance(target, ast.Name):
        yield node, around
        return
    body: ast.AST
    if use.scopes:
        body = use.scopes[-1].node
        if use.scopes[-1].names.get(target.id) is not around:
            return
    elif module is not None and module.counts.get(target.id) == 1:
        body = module.node
    else:
        return
    for parent in walk(body):
        for child in children(parent):
            if is_named(child, target.id) and isinstance(getattr(child, "ctx", None), ast.Load):
                yield child, parent


def _verb(node: ast.AST, around: ast.AST | None) -> str:
    """Return what the parent node does with a value, or "" if it only passes the value on."""
    match around:
        case ast.Call(func=ast.Name(id=name)) if node in around.args:
            return name
        case ast.Subscript(value=value) if value is node:
            return "[]"
        case ast.Attribute(attr=name):
            return "send" if name in _ADVANCES else name
        case ast.BinOp():
            return "+"
        case ast.Compare():
            return "compare"
        case ast.UnaryOp(op=ast.Not()):
            return "not"
        case ast.If(test=value) | ast.While(test=value) if value is node:
            return "not"
        case ast.For(iter=value) | ast.comprehension(iter=value) if value is node:
            return "for"
        case ast.Assign(targets=[ast.Tuple() | ast.List(), *_]):
            return "apart"
    return ""


def base_faults(node: ast.ClassDef, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for each base class that the merge has turned into a function."""
    yield from no_classes(node.bases, at, f"the base of `{node.name}`")


def no_classes(nodes: Sequence[ast.expr], at: PairedUse, how: str) -> Iterator[Fault]:
    """Yield a fault for each expression that named a class before and names a function now."""
    for node in nodes:
        new = at.new(node)
        if new.what == "function" and (old := at.old(node)).what == "class":
            said, is_certain = ast.unparse(node), not old.is_inferred
            text = f"`{said}` is {how}, but is now a function."
            yield at.misused(text, said, old, new, is_certain=is_certain).on_line(node.lineno)
