"""Find calls of functions that no longer return or raise what the caller expects."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from patchmgr.engines.audit.python_modules import Module, decorators, members_of
from patchmgr.engines.audit.python_names import Entity, PythonState, Reader
from patchmgr.engines.audit.python_uses import Fault, PairedUse, Use
from patchmgr.engines.structure.python_tree import (
    Assigned,
    Function,
    children,
    elements,
    is_named,
    is_text,
    last_name,
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
_DEEPEST = 12  # bases that are followed, at most
_MOST_NAMES = 4  # variables that are followed from a `return` to the value, at most


def result_faults(node: ast.Call, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault if a call's result is used in a way that no longer fits what it returns."""
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
    before, after = _result_kind(old.node), _result_kind(new.node)
    for verb in filter(None, (_usage(*read) for read in reads if before != after)):
        if before == "generator" and after in ("list", "value") and verb in ("next", "send"):
            text = f"`{said}` is no longer a generator, but its result is used with `{verb}`."
        elif before != "generator" and after == "generator" and verb in _LIST_VERBS:
            text = f"`{said}` is now a generator, but its result is used with `{verb}`."
        elif after == "none" and before in ("list", "value", "tuple"):
            text = f"`{said}` no longer returns anything, but its result is used."
        elif after == "tuple" and verb != "apart" and _returned_one_value(old.node, new.node):
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


def _result_kind(node: ast.AST | None) -> str:
    """Return the kind of a function's result ("list", "none" and others), or "" if unsure."""
    if not isinstance(node, Function):
        return ""
    nodes = list(own_nodes(node.body))
    if any(isinstance(child, (ast.Yield, ast.YieldFrom)) for child in nodes):
        return "generator"
    values = _returned(node)
    if not values:
        is_open = any(isinstance(child, ast.Raise) for child in nodes) or len(node.body) == 1
        return "" if is_open else "none"
    return _only({_value_kind(value, nodes) for value in values})


def _only(kinds: set[str]) -> str:
    return kinds.pop() if len(kinds) == 1 else ""


def _value_kind(value: ast.expr, nodes: Sequence[ast.AST], depth: int = 0) -> str:
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
                _value_kind(n.value, nodes, depth + 1)
                for n in nodes
                if isinstance(n, Assigned) and n.value is not None
                for target in targets_of(n)
                if is_named(target, name)
            })  # fmt: skip
    return "list" if isinstance(value, _DISPLAYS) else ""


def _returned_one_value(old: ast.AST | None, new: ast.AST | None) -> bool:
    """Return whether a function that now returns a tuple used to return a single value."""
    if not isinstance(old, Function) or not isinstance(new, Function):
        return False
    if _result_kind(old) in ("list", "value"):
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


def _usage(node: ast.AST, around: ast.AST | None) -> str:
    """Return how the parent node `around` uses a value, as in `for` or `[]` ("" if unclear)."""
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


def arity_faults(node: ast.Assign, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault if an assignment unpacks a call's result into the wrong number of names."""
    target = node.targets[0]
    value = node.value.value if isinstance(node.value, ast.Await) else node.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Call) or _is_starred(target):
        return
    new = at.new(value.func)
    if new.what != "function" or at.is_same(new):
        return
    old = at.old(value.func)
    count, after = len(target.elts), _arity(new.node)
    if old.what == "function" and _arity(old.node) == count and after not in (None, count):
        said = ast.unparse(value.func)
        shown = "one value" if after == 1 else f"{after} values"
        text = f"`{said}` now returns {shown}, but its result is unpacked into a tuple of {count}."
        yield at.misused(text, said, old, new)


def _is_starred(node: ast.Tuple) -> bool:
    return any(isinstance(each, ast.Starred) for each in node.elts)


def _arity(node: ast.AST | None) -> int | None:
    """Return the number of values that a function returns, or None if this varies or is unknown."""
    if _result_kind(node) == "generator":
        return None
    counts: set[int | None] = set()
    for value in _returned(node):
        if isinstance(value, ast.Tuple):
            counts.add(None if _is_starred(value) else len(value.elts))
        else:
            is_one = isinstance(value, (ast.BinOp, ast.Compare, ast.BoolOp, ast.JoinedStr))
            is_plain = isinstance(value, ast.Constant) and value.value is not None
            counts.add(1 if is_one or is_plain else None)
    return counts.pop() if len(counts) == 1 else None


def type_faults(node: ast.Call, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for each class in `isinstance` or `issubclass` that is now a function."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("isinstance", "issubclass") and len(node.args) == 2:
        yield from no_classes(elements(node.args[1]), at, f"passed to `{name}`")


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


def handler_faults(node: ast.Try, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for each call in a `try` whose exceptions the handlers no longer catch.

    A fault is also yielded for each handled exception that is a function now.
    """
    types = [each for h in node.handlers if h.type is not None for each in elements(h.type)]
    yield from no_classes(types, at, "an exception to handle")
    if not types or any(handler.type is None for handler in node.handlers):
        return
    was_caught, is_caught = (
        {_caught(kind, at.use, side) for kind in types} for side in (at.then, at.now)
    )
    if "" in was_caught | is_caught:
        return  # one of the exceptions is not known
    for call in own_nodes(node.body):
        if not isinstance(call, ast.Call):
            continue
        new, old = at.new(call.func), at.old(call.func)
        if new.what != "function" or old.what != "function":
            continue
        before, after = _raised(old, at.then.state), _raised(new, at.now.state)
        if before is None or after is None or not before:
            continue
        was = {name for name, above in before.items() if above & was_caught}
        is_any = any(above & is_caught for above in after.values())
        fresh = {name for name in after if name not in before or name in was}
        if was and fresh and not is_any:
            said = ast.unparse(call.func)
            first, raised = min(was), min(fresh)
            text = f"`{said}` now raises `{raised}`, which no handler catches (before: `{first}`)."
            if first == raised:
                text = f"`{said}` raises `{raised}`, which no handler catches any more."
            yield at.misused(text, said, old, new, kind="exception").on_line(call.lineno)


def _caught(node: ast.expr, use: Use, side: Reader) -> str:
    """Return the id of the class that a handler catches, or "" if the class is not known."""
    found = side.entity(node, use.scopes)
    for _ in range(_DEEPEST):
        made = found.node
        if found.what != "value" or found.module is None or not isinstance(made, ast.Assign):
            break
        found = side.state.within(found.module).entity(made.value, ())
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
    """Map each raised exception to the ids of its class and bases, or return None if unsure."""
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
        found[last_name(value)] = above
    return found


def _above(
    value: ast.expr, module: Module, state: PythonState, depth: int = 0
) -> frozenset[str] | None:
    """Return the ids of a class and all its bases, or None if one of them is not known."""
    known = _builtin(ast.unparse(value))
    made = state.within(module).entity(value, ())
    if made.what != "class":
        is_own = isinstance(value, ast.Name) and value.id in module.bound
        return None if known is None or is_own else frozenset(c.__name__ for c in known.__mro__)
    if not isinstance(made.node, ast.ClassDef) or made.module is None or depth > _DEEPEST:
        return None
    found = {_class_id(made)}
    for base in made.node.bases:
        above = _above(base, made.module, state, depth + 1)
        if above is None:
            return None
        found |= above
    return frozenset(found)


def protocol_faults(node: ast.AST, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault if a statement needs a special method or a table key that no longer exists."""
    if isinstance(node, (ast.Subscript, ast.Call)):
        yield from _row_faults(node, at)
    for value, name, how in _needed(node):
        new = at.now.made(value, at.use.scopes)
        if name == "__enter__" and isinstance(value, ast.Call):
            yield from _context_faults(value, at)
        if new.what != "instance" or (at.is_same(new) and not getattr(new.node, "bases", ())):
            continue
        found = at.now.state.class_member(new, name)
        if found.what != "gone" or found.outside:
            continue
        old = at.then.made(value, at.use.scopes)
        if old.what == "instance" and at.then.state.class_member(old, name).what == "function":
            said = ast.unparse(value)
            text = f"`{said}` is {how}, but its class has no `{name}` any more."
            yield at.misused(text, said, old, new).on_line(value.lineno)


def _needed(node: ast.AST) -> Iterator[tuple[ast.expr, str, str]]:
    match node:
        case ast.With():
            for item in node.items:
                yield item.context_expr, "__enter__", "used in a `with` statement"
        case ast.For():
            yield node.iter, "__iter__", "iterated over"
        case ast.Subscript(ctx=ast.Load()):
            yield node.value, "__getitem__", "indexed"
        case ast.Call(func=ast.Name(id="len"), args=[only]):
            yield only, "__len__", "passed to `len`"
        case ast.Call():
            yield node.func, "__call__", "called"


def _row_faults(node: ast.Subscript | ast.Call, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for each table key or enumeration member that no longer exists."""
    is_call = isinstance(node, ast.Call)
    match node:
        case ast.Call(func=asked, args=[ast.Constant(value=str(key))], keywords=[]):
            pass
        case ast.Subscript(value=asked, slice=ast.Constant(value=str(key))):
            pass
        case _:
            return
    new = at.new(asked)
    if new.what not in ("value", "class", "instance") or at.is_same(new):
        return
    old = at.old(asked)
    before, after = (_rows(each, is_call=is_call) for each in (old, new))
    if before is not None and after is not None and key in before and key not in after:
        said = ast.unparse(asked)
        text = f"`{said}` no longer has `{key}`, which is used here."
        yield at.misused(text, said, old, new)


def _rows(found: Entity, *, is_call: bool) -> frozenset[str] | None:
    """Return the valid keys of a table, enumeration or typed dictionary, or None if unsure."""
    node = found.node
    if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and not node.decorator_list:
        base, own = last_name(node.bases[0]), members_of(node)
        if base == "TypedDict" and found.what == "instance" and not is_call:
            return frozenset(own)
        if found.what != "class" or base not in ("Enum", "StrEnum") or "_missing_" in own:
            return None
        if not is_call:
            return frozenset(own)
        values = [n.value for nodes in own.values() for n in nodes if isinstance(n, ast.Assign)]
        plain = [v.value for v in values if isinstance(v, ast.Constant)]
        return None if len(plain) < len(values) else frozenset(map(str, plain))
    value = node.value if isinstance(node, Assigned) else None
    if is_call or found.module is None or found.owner or not isinstance(value, ast.Dict):
        return None
    keys = [k.value for k in value.keys if isinstance(k, ast.Constant)]
    is_filled = any(_fills(child, found) for child in walk(found.module.node))
    return None if is_filled or len(keys) < len(value.keys) else frozenset(map(str, keys))


def _fills(node: ast.AST, table: Entity) -> bool:
    """Return whether a node may add keys to a table."""
    if not isinstance(node, (ast.Subscript, ast.Attribute)):
        return False
    is_call = isinstance(node, ast.Attribute) and node.attr in ("update", "setdefault")
    is_filling = is_call or isinstance(node.ctx, ast.Store)
    return is_filling and last_name(node.value) == table.name.rpartition(".")[2]


def _context_faults(value: ast.Call, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault if the function in a `with` statement no longer returns a context manager."""
    new, old = at.new(value.func), at.old(value.func)
    if new.what != "function" or old.what not in ("function", "class"):
        return
    is_plain = not getattr(new.node, "decorator_list", ()) and _result_kind(new.node)
    was = any("contextmanager" in made for made in decorators(old.node))
    if is_plain and (was or old.what == "class"):
        said = ast.unparse(value.func)
        text = f"`{said}` is used in a `with` statement, but no longer returns a context manager."
        yield at.misused(text, said, old, new).on_line(value.lineno)
