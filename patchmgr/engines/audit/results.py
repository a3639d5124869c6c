"""What calls give and raise, and what decorators and types are, on either side."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence

from patchmgr.engines.audit.pairs import Fault, Pair
from patchmgr.engines.audit.python_modules import (
    Entity,
    Function,
    Module,
    PythonState,
    members_of,
)
from patchmgr.engines.audit.python_uses import Reader, Scope, Use

_LISTS = frozenset({"list", "sorted", "tuple", "dict", "set", "frozenset"})
_PLAIN = _LISTS | {
    "len",
    "sum",
    "int",
    "float",
    "str",
    "bytes",
    "bool",
    "abs",
    "repr",
    "max",
    "min",
}
_ITERATORS = frozenset({"iter", "map", "filter", "zip", "reversed", "enumerate"})
_ADVANCES = frozenset({"send", "throw", "close"})
_KEEPS_RESULT = frozenset({"staticmethod", "classmethod", "abstractmethod", "override"})
_DEEPEST = 12  # bases that are followed


def own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a body, but of no definition in it."""
    for node in body:
        yield node
        if not isinstance(node, (*Function, ast.ClassDef, ast.Lambda)):
            yield from own_nodes(list(ast.iter_child_nodes(node)))


def decorator_faults(
    node: ast.AST, use: Use, pair: Pair, calls: Callable[[ast.Call, Use, Pair], Iterator[Fault]]
) -> Iterator[Fault]:
    """Yield the decorators that want to be called now, or that do not want it any more.

    `calls` says what is wrong with a call: a bare decorator is one of one argument.
    """
    for decorator in getattr(node, "decorator_list", ()):
        is_bare = not isinstance(decorator, ast.Call)
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(called, (ast.Name, ast.Attribute)):
            continue
        new = pair.now.entity(called, use.scopes)
        if new.what not in ("function", "class") or pair.is_same(new):
            continue
        old = pair.then.entity(called, use.scopes)
        before, after = _decorates(old.node), _decorates(new.node)
        said = ast.unparse(called)
        if is_bare and before == {"bare"} and after == {"called"}:
            text = f"`@{said}` has to be called with arguments now, before it decorates."
        elif not is_bare and before == {"called"} and after == {"bare"}:
            text = f"`@{said}` is called, and is a plain decorator now."
        elif is_bare:
            given = ast.Name(id=getattr(node, "name", "_"), ctx=ast.Load())
            call = ast.copy_location(ast.Call(func=called, args=[given], keywords=[]), decorator)
            yield from calls(call, use, pair)
            continue
        else:
            continue
        yield Fault("signature", text, said, False, decorator.lineno, old, new)


def _decorates(node: ast.AST | None) -> set[str]:
    """Say how a decorator may be written: bare, called with arguments; empty where not sure."""
    if not isinstance(node, Function):
        return set()
    inner = {child.name: child for child in node.body if isinstance(child, Function)}
    first = next((arg.arg for arg in (*node.args.posonlyargs, *node.args.args)), "")
    found: set[str] = set()
    for child in own_nodes(node.body):
        if not isinstance(child, ast.Return) or child.value is None:
            continue
        value = child.value
        if (isinstance(value, ast.Name) and value.id == first) or (
            isinstance(value, ast.Call) and any(_names(arg, first) for arg in value.args)
        ):
            found.add("bare")
        elif isinstance(value, ast.Name) and value.id in inner:
            made = inner[value.id]
            is_wrapping = any(
                isinstance(part, ast.Call)
                and (_names(part.func, first) or any(_names(arg, first) for arg in part.args))
                for part in ast.walk(made)
            )
            is_bare_inside = _decorates(made) == {"bare"}
            if is_wrapping and not is_bare_inside:
                found.add("bare")
            elif is_bare_inside:
                found.add("called")
            else:
                return set()
        elif isinstance(value, ast.Lambda):
            is_wrapping = any(
                isinstance(part, ast.Call) and _names(part.func, first) for part in ast.walk(value)
            )
            found.add("bare" if is_wrapping else "called")
        else:
            return set()
    return found


def _names(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and bool(name) and node.id == name


def type_faults(node: ast.Call, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the functions that `isinstance` is asked about, which were classes."""
    if not isinstance(node.func, ast.Name) or len(node.args) != 2:
        return
    if node.func.id not in ("isinstance", "issubclass"):
        return
    asked = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    yield from _no_classes(asked, use, pair, f"asked about by `{node.func.id}`")


def _no_classes(nodes: Sequence[ast.expr], use: Use, pair: Pair, how: str) -> Iterator[Fault]:
    for node in nodes:
        new = pair.now.entity(node, use.scopes)
        if new.what != "function":
            continue
        old = pair.then.entity(node, use.scopes)
        if old.what == "class":
            said = ast.unparse(node)
            text = f"`{said}` is {how}, and is a function now."
            yield Fault("signature", text, said, not old.is_inferred, node.lineno, old, new)


def handler_faults(node: ast.Try, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the handlers for what the calls of a `try` raised, and do not raise any more."""
    for handler in node.handlers:
        if handler.type is None:
            continue
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        yield from _no_classes(types, use, pair, "an exception to handle")
    types = [
        each
        for handler in node.handlers
        for each in (_listed(handler.type) if handler.type is not None else [])
    ]
    if not types or any(handler.type is None for handler in node.handlers):
        return
    caught = [[_caught(t, use.scopes, side) for t in types] for side in (pair.then, pair.now)]
    if "" in (*caught[0], *caught[1]):
        return  # one of them is not known
    old_names, new_names = (frozenset(each) for each in caught)
    for call in own_nodes(node.body):
        if not isinstance(call, ast.Call):
            continue
        new = pair.now.entity(call.func, use.scopes)
        old = pair.then.entity(call.func, use.scopes)
        if new.what != "function" or old.what != "function":
            continue
        before = _raised(old, pair.then.state)
        after = _raised(new, pair.now.state)
        if before is None or after is None or not before:
            continue
        was = {name for name, above in before.items() if above & old_names}
        now = {name for name, above in after.items() if above & new_names}
        fresh = {
            name
            for name, above in after.items()
            if not above & new_names and (name not in before or name in was)
        }
        if was and not now and fresh:
            said = ast.unparse(call.func)
            first, raised = min(was), min(fresh)
            text = f"`{said}` raises `{raised}` now, which no handler takes; `{first}` was caught."
            if first == raised:
                text = f"`{said}` raises `{raised}`, which no handler takes any more."
            yield Fault("exception", text, said, False, call.lineno, old, new)


def _listed(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _caught(node: ast.expr, scopes: tuple[Scope, ...], side: Reader) -> str:
    """Return the class that a handler takes, empty where it is not known."""
    found = side.entity(node, scopes)
    for _ in range(_DEEPEST):
        made = found.node
        if found.what != "value" or found.module is None or not isinstance(made, ast.Assign):
            break
        found = side.state.evaluate(made.value, found.module)
    said = ast.unparse(node)
    return _class_id(found) or (said if _builtin(said) is not None else "")


def _class_id(found: Entity) -> str:
    if found.what != "class" or found.module is None or not isinstance(found.node, ast.ClassDef):
        return ""
    return f"{found.module.path}:{found.node.name}"


def _builtin(name: str) -> type[BaseException] | None:
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _raised(called: Entity, state: PythonState) -> dict[str, frozenset[str]] | None:
    """Return what a function raises by itself, each with all its classes; None: not sure."""
    if not isinstance(called.node, Function) or called.module is None:
        return None
    found: dict[str, frozenset[str]] = {}
    for child in own_nodes(called.node.body):
        if not isinstance(child, ast.Raise) or child.exc is None:
            continue
        value = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
        above = _above(value, called.module, state)
        if above is None:
            return None
        found[ast.unparse(value).rpartition(".")[2]] = above
    return found


def _above(
    value: ast.expr, module: Module, state: PythonState, depth: int = 0
) -> frozenset[str] | None:
    """Return a class and all classes that it is made of, None where one is not known."""
    known = _builtin(ast.unparse(value))
    made = state.evaluate(value, module)
    if made.what != "class":
        is_own = isinstance(value, ast.Name) and value.id in module.bound
        if known is None or is_own:
            return None
        return frozenset(each.__name__ for each in known.__mro__)
    node = made.node
    if not isinstance(node, ast.ClassDef) or made.module is None or depth > _DEEPEST:
        return None
    found = {_class_id(made)}
    for base in node.bases:
        above = _above(base, made.module, state, depth + 1)
        if above is None:
            return None
        found |= above
    return frozenset(found)


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


def protocol_faults(node: ast.AST, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the statements that need a special method, or a row, which is no more there."""
    if isinstance(node, (ast.Subscript, ast.Call)):
        yield from _row_faults(node, use, pair)
    for value, name, how in _needed(node):
        new = pair.now.made(value, use.scopes)
        if new.what == "function" or isinstance(value, ast.Call):
            yield from _context_faults(value, name, use, pair)
        if new.what != "instance" or (pair.is_same(new) and not getattr(new.node, "bases", ())):
            continue
        found = pair.now.state.class_member(new, name)
        if found.what != "gone" or found.outside:
            continue
        old = pair.then.made(value, use.scopes)
        if old.what == "instance" and pair.then.state.class_member(old, name).what == "function":
            said = ast.unparse(value)
            text = f"`{said}` is {how}, and its class has no `{name}` any more."
            yield Fault("signature", text, said, False, getattr(value, "lineno", 0), old, new)


def _needed(node: ast.AST) -> Iterator[tuple[ast.expr, str, str]]:
    if isinstance(node, ast.With):
        for item in node.items:
            yield item.context_expr, "__enter__", "entered by `with`"
    elif isinstance(node, ast.For):
        yield node.iter, "__iter__", "iterated over"
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value, "__getitem__", "indexed"
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            yield node.args[0], "__len__", "asked for its length"
        else:
            yield node.func, "__call__", "called"


def _row_faults(node: ast.Subscript | ast.Call, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the rows of a table, the members of an enumeration, that are asked for and gone."""
    if isinstance(node, ast.Call):
        if len(node.args) != 1 or node.keywords:
            return
        asked, key = node.func, node.args[0]
    else:
        asked, key = node.value, node.slice
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return
    new = pair.now.entity(asked, use.scopes)
    if new.what not in ("value", "class", "instance") or pair.is_same(new):
        return
    old = pair.then.entity(asked, use.scopes)
    is_call = isinstance(node, ast.Call)
    before, after = (_rows(each, is_call=is_call) for each in (old, new))
    if before is None or after is None or key.value not in before or key.value in after:
        return
    said = ast.unparse(asked)
    text = f"`{said}` has no `{key.value}` any more, and that is asked for."
    yield Fault("signature", text, said, False, node.lineno, old, new)


def _rows(found: Entity, *, is_call: bool) -> frozenset[str] | None:
    """Return what a table, an enumeration or a typed dictionary can be asked for by a text."""
    node, module = found.node, found.module
    if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and not node.decorator_list:
        base = ast.unparse(node.bases[0]).rpartition(".")[2]
        own = members_of(node)
        if base == "TypedDict" and found.what == "instance" and not is_call:
            return frozenset(own)
        if found.what != "class" or base not in ("Enum", "StrEnum") or "_missing_" in own:
            return None
        if not is_call:
            return frozenset(own)
        values = [n.value for nodes in own.values() for n in nodes if isinstance(n, ast.Assign)]
        plain = [v.value for v in values if isinstance(v, ast.Constant)]
        return None if len(plain) < len(values) else frozenset(map(str, plain))
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    if is_call or module is None or not isinstance(value, ast.Dict) or found.owner is not None:
        return None
    if not all(isinstance(k, ast.Constant) for k in value.keys):
        return None
    is_filled = any(
        isinstance(child, (ast.Subscript, ast.Attribute))
        and ast.unparse(child.value).rpartition(".")[2] == found.name.rpartition(".")[2]
        and (
            isinstance(child.ctx, ast.Store)
            or (isinstance(child, ast.Attribute) and child.attr in ("update", "setdefault"))
        )
        for child in ast.walk(module.node)
    )
    if is_filled:
        return None
    return frozenset(str(k.value) for k in value.keys if isinstance(k, ast.Constant))


def _context_faults(value: ast.expr, name: str, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the calls that `with` enters, whose function is no context manager any more."""
    if name != "__enter__" or not isinstance(value, ast.Call):
        return
    new = pair.now.entity(value.func, use.scopes)
    old = pair.then.entity(value.func, use.scopes)
    if new.what != "function" or old.what not in ("function", "class"):
        return
    is_plain = not getattr(new.node, "decorator_list", ()) and _gives(new.node) in (
        "generator", "list", "tuple", "value", "none",
    )  # fmt: skip
    was = any("contextmanager" in ast.unparse(d) for d in getattr(old.node, "decorator_list", ()))
    if is_plain and (was or old.what == "class"):
        said = ast.unparse(value.func)
        text = f"`{said}` is entered by `with`, and gives no context manager any more."
        yield Fault("signature", text, said, False, value.lineno, old, new)


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
