"""What calls give, on either side."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from patchmgr.engines.audit.pairs import Fault, Pair
from patchmgr.engines.audit.python_modules import (
    Entity,
    Function,
    Module,
)
from patchmgr.engines.audit.python_uses import Use

_LISTS = frozenset({"list", "sorted", "tuple", "dict", "set", "frozenset"})
_PLAIN = frozenset({
    "len", "sum", "int", "float", "str", "bytes", "bool", "abs", "repr", "max", "min",
})  # fmt: skip
_ADVANCES = frozenset({"send", "throw", "close"})
_KEEPS_RESULT = frozenset({"staticmethod", "classmethod", "abstractmethod", "override"})


def own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a body, but of no definition in it."""
    for node in body:
        yield node
        if not isinstance(node, (*Function, ast.ClassDef, ast.Lambda)):
            yield from own_nodes(list(ast.iter_child_nodes(node)))


def _names(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and bool(name) and node.id == name


def result_faults(node: ast.Call, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the uses of a result that do not fit what a function returns now."""
    new = pair.now.entity(node.func, use.scopes)
    if new.what != "function" or pair.is_same(new) or not _is_plain(new):
        return
    old = pair.then.entity(node.func, use.scopes)
    if old.what != "function" or not _is_plain(old):
        return
    said = ast.unparse(node.func)
    before, after = _gives(old.node), _gives(new.node)
    if lost := _keys(old.node) - (_keys(new.node) or _keys(old.node)):
        for key, line in _asked_keys(node, use, pair.now.module):
            if key in lost:
                text = f"`{said}` gives no `{key}` any more, and that is asked for."
                yield Fault("signature", text, said, False, line, old, new)
                return
    if before == after:
        return
    for verb in _verbs(node, use, pair.now.module):
        if before == "generator" and after in ("list", "value") and verb in ("next", "send"):
            text = f"`{said}` is no generator any more, and its result is used with `{verb}`."
        elif before != "generator" and after == "generator" and verb in _LIST_VERBS:
            text = f"`{said}` is a generator now, and its result is used with `{verb}`."
        elif after == "none" and before in ("list", "value", "tuple"):
            text = f"`{said}` returns nothing any more, and its result is used."
        elif after == "tuple" and verb != "apart" and _is_one(old.node, new.node):
            text = f"`{said}` returns several values now, and its result is used as one."
        else:
            continue
        yield Fault("signature", text, said, False, node.lineno, old, new)
        return


_LIST_VERBS = frozenset({"len", "[]", "+", "not", "append", "sort", "extend", "index", "pop"})


def _keys(node: ast.AST | None) -> frozenset[str]:
    """Return the keys of the table that a function returns, empty where that is not sure."""
    if not isinstance(node, Function):
        return frozenset()
    values = _returned(list(own_nodes(node.body)))
    found: list[frozenset[str]] = []
    for value in values:
        if not isinstance(value, ast.Dict):
            return frozenset()
        if not all(isinstance(k, ast.Constant) and isinstance(k.value, str) for k in value.keys):
            return frozenset()
        found.append(frozenset(str(k.value) for k in value.keys if isinstance(k, ast.Constant)))
    return frozenset[str]().union(*found)


def _asked_keys(node: ast.Call, use: Use, module: Module | None) -> Iterator[tuple[str, int]]:
    """Yield the keys that are asked for of the result of a call."""
    for child, parent in _reads(node, use, module):
        if isinstance(parent, ast.Subscript) and parent.value is child:
            key = parent.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, node.lineno


def _is_plain(found: Entity) -> bool:
    decorators = getattr(found.node, "decorator_list", ())
    return all(ast.unparse(d).rpartition(".")[2] in _KEEPS_RESULT for d in decorators)


def _gives(node: ast.AST | None) -> str:
    """Say what a function returns: `generator`, `list`, `tuple`, `value`; empty: not sure."""
    if not isinstance(node, Function):
        return ""
    nodes = list(own_nodes(node.body))
    if any(isinstance(child, (ast.Yield, ast.YieldFrom)) for child in nodes):
        return "generator"
    values = _returned(nodes)
    if not values:
        is_open = any(isinstance(child, ast.Raise) for child in nodes) or len(node.body) == 1
        return "" if is_open else "none"
    kinds = {_kind(value, nodes) for value in values}
    return kinds.pop() if len(kinds) == 1 else ""


def _returned(nodes: Sequence[ast.AST]) -> list[ast.expr]:
    return [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]


def _kind(value: ast.expr, nodes: Sequence[ast.AST], depth: int = 0) -> str:
    if isinstance(value, ast.Tuple):
        return "tuple"
    if isinstance(value, (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp)):
        return "list"
    if isinstance(value, (ast.Compare, ast.JoinedStr)):
        return "value"
    if isinstance(value, ast.Constant):
        return "value" if value.value is not None else ""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return "list" if value.func.id in _LISTS else "value" if value.func.id in _PLAIN else ""
    if isinstance(value, ast.Name) and depth < 4:
        made = [
            n.value
            for n in nodes
            if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None
            for target in (n.targets if isinstance(n, ast.Assign) else [n.target])
            if _names(target, value.id)
        ]
        kinds = {_kind(each, nodes, depth + 1) for each in made}
        return kinds.pop() if len(kinds) == 1 else ""
    return ""


def _is_one(old: ast.AST | None, new: ast.AST | None) -> bool:
    """Say whether a function returned one value that is not made of several."""
    if not isinstance(old, Function) or not isinstance(new, Function):
        return False
    before, after = (list(own_nodes(node.body)) for node in (old, new))
    if _gives(old) in ("list", "value"):
        return True
    was, now = _returned(before), _returned(after)
    parts = {ast.unparse(e) for value in now if isinstance(value, ast.Tuple) for e in value.elts}
    if was and all(ast.unparse(value) in parts for value in was):
        return True
    heads = [ast.unparse(n.returns).lower() if n.returns else "" for n in (old, new)]
    return (
        bool(heads[0])
        and not heads[0].startswith(("tuple", "typing.", "any", "'"))
        and (heads[1].startswith("tuple"))
    )


def _verbs(node: ast.Call, use: Use, module: Module | None) -> Iterator[str]:
    """Yield what is done with the result of a call, there and by the name that it gets."""
    for child, parent in _reads(node, use, module):
        if verb := _verb(child, parent):
            yield verb


def _reads(
    node: ast.Call, use: Use, module: Module | None
) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Yield where the result of a call is read, there and by its name, with the node around."""
    around = use.around
    if isinstance(around, ast.Await):
        return
    target = around.targets[0] if isinstance(around, ast.Assign) else None
    if not isinstance(around, ast.Assign) or not isinstance(target, ast.Name):
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
    for parent in ast.walk(body):
        for child in ast.iter_child_nodes(parent):
            if _names(child, target.id) and isinstance(getattr(child, "ctx", None), ast.Load):
                yield child, parent


def _verb(node: ast.AST, around: ast.AST | None) -> str:
    """Say what is done with a value by the node around it, empty where it is handed on."""
    if isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and node in around.args:
        return around.func.id
    if isinstance(around, ast.Subscript) and around.value is node:
        return "[]"
    if isinstance(around, ast.Attribute):
        return "send" if around.attr in _ADVANCES else around.attr
    if isinstance(around, ast.BinOp):
        return "+"
    if isinstance(around, ast.Compare):
        return "compare"
    if isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not):
        return "not"
    if isinstance(around, (ast.If, ast.While)) and around.test is node:
        return "not"
    if isinstance(around, (ast.For, ast.comprehension)) and around.iter is node:
        return "for"
    if isinstance(around, ast.Assign) and isinstance(around.targets[0], (ast.Tuple, ast.List)):
        return "apart"
    return ""
