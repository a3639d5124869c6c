"""Uses of names that the result has no more: imports, attributes, and what a text names."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from msgspec.structs import replace

from patchmgr.engines.audit.python_modules import (
    Assigned,
    Definition,
    Module,
    last_name,
    members_of,
)
from patchmgr.engines.audit.python_names import UNKNOWN, Entity, Reader
from patchmgr.engines.audit.python_uses import Fault, Pair, PairedUse
from patchmgr.engines.structure.guards_imports import places

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_][\w.]*)?")
_THERE = ("module", "class", "function", "value", "instance")
_DEEPEST = 8  # imports of all names, one behind the other
_MOST_CLASSES = 50  # that are looked through for the one that a base is now
_PLAIN_VALUES = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)


def import_faults(node: ast.ImportFrom | ast.Import, at: PairedUse) -> Iterator[Fault]:
    """Yield the modules that are gone, and the names that a module has no more."""
    module = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        name, asked = alias.name, module or alias.name
        said = f"from {module} import {name}" if module else f"import {name}"
        no_module = f"`{said}` finds nothing any more: there is no module `{asked}`."
        no_name = f"`{said}` finds nothing any more: `{asked}` has no `{name}`."
        symbol = f"{module}.{name}" if module else name
        if not at.then.state.place(at.then.path, asked):
            continue
        if name == "*":
            if not at.now.state.place(at.now.path, asked):
                absent = Entity("absent", asked)
                yield at.gone(no_module, asked, absent, absent)
            continue
        new = at.now.imported(node, alias)
        if new.what == "unknown" and module:
            was, now = (s.state.module(s.state.place(s.path, asked)) for s in (at.then, at.now))
            if _is_unlisted(was, now, name):
                yield at.gone(no_name, symbol, new, replace(new, is_inferred=True))
        elif new.what == "function" and module and not at.is_same(new):
            old = at.then.imported(node, alias)
            if old.what == "value" and is_literal(old.node):
                text = f"`{name}` was a plain value, and is a function now."
                yield at.misused(text, name, old, new)
        elif new.what == "absent" and not _is_elsewhere(asked, at):
            yield at.gone(no_module, symbol, at.then.imported(node, alias), new)
        elif new.what == "gone":
            old = at.then.imported(node, alias)
            parsed = at.then.state.module(at.then.state.place(at.then.path, asked))
            is_bound = parsed is not None and name in parsed.bound
            if old.what in _THERE or (old.what == "unknown" and is_bound):
                yield at.gone(no_name, symbol, old, new)


def _is_unlisted(old: Module | None, new: Module | None, name: str) -> bool:
    """Say whether a name left the table from which the `__getattr__` of a module answers."""
    if old is None or new is None or name in new.bound or new.stars:
        return False
    before, after = (m.members.get("__getattr__") for m in (old, new))
    if before is None or after is None or ast.dump(before) != ast.dump(after):
        return False
    return name in _table_names(old.node) - _table_names(new.node)


@lru_cache(maxsize=256)
def _table_names(tree: ast.Module) -> frozenset[str]:
    """Return the strings that the top of a module lists."""
    return frozenset(
        child.value
        for statement in tree.body
        if not isinstance(statement, (*Definition, ast.Expr))
        for child in ast.walk(statement)
        if isinstance(child, ast.Constant) and isinstance(child.value, str)
    )


def _is_elsewhere(module: str, at: PairedUse) -> bool:
    """Say whether a module that is gone may be one that other tools make, or in another root."""
    if module.startswith("."):
        stem = next(places(at.now.path, module), "")
    else:
        place = at.then.state.place(at.then.path, module)
        stem = place.rpartition(".")[0].removesuffix("/__init__")
    folder, tree = stem.rpartition("/")[0], at.now.state.files.tree
    files = tree.files_below(folder) if folder and tree.is_directory(folder) else ()
    return any(path.startswith(f"{stem}.") for path in files)


def star_faults(pair: Pair, lines: Collection[int]) -> Iterator[Fault]:
    """Yield the names in some lines that an import of all names brought, and no longer does."""
    now, then = pair.now.module, pair.then.module
    if now is None or then is None or not now.stars or not then.stars:
        return
    own = {*_bound_anywhere(now.node), *dir(builtins)}
    for node in ast.walk(now.node):
        if not isinstance(node, ast.Name) or node.id in own or node.lineno not in lines:
            continue
        if _by_star(pair.then, node.id) is True and _by_star(pair.now, node.id) is False:
            own.add(node.id)
            old = pair.then.state.named(then, node.id) or UNKNOWN
            text = f"`{node.id}` is used, and no `import *` brings it any more."
            new = Entity("gone", node.id, old.module and pair.now.state.module(old.module.path))
            yield Fault("removed", text, node.id, True, node.lineno, old, new)


def _bound_anywhere(tree: ast.Module) -> Iterator[str]:
    """Yield every name that any scope of a file binds."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.alias():
                yield (node.asname or node.name).partition(".")[0]
            case ast.ExceptHandler(name=str(name)):
                yield name


def _by_star(side: Reader, name: str, depth: int = 0) -> bool | None:
    """Say whether an import of all names brings one, None where that is not sure."""
    if depth > _DEEPEST:
        return None
    for star in side.module.stars if side.module is not None else ():
        place = side.state.place(side.path, star)
        parsed = side.state.module(place) if place.endswith((".py", ".pyi")) else None
        if parsed is None or parsed.is_open:
            return None
        listed = parsed.members.get("__all__")
        if listed is not None or "__all__" in parsed.bound:
            value = listed.value if isinstance(listed, Assigned) else None
            if parsed.counts["__all__"] > 1 or not isinstance(value, (ast.List, ast.Tuple)):
                return None
            if not all(isinstance(e, ast.Constant) for e in value.elts):
                return None
            if any(isinstance(e, ast.Constant) and e.value == name for e in value.elts):
                return True
        elif name in parsed.bound and not name.startswith("_"):
            return True
        elif (below := _by_star(side.state.within(parsed), name, depth + 1)) is not False:
            return below
    return False


def attribute_faults(node: ast.Attribute, at: PairedUse) -> Iterator[Fault]:
    """Yield an attribute that is gone, that is set in vain, or that is of another kind now."""
    if isinstance(node.ctx, ast.Store):
        yield from _set_faults(node, at)
    if not isinstance(node.ctx, ast.Load):
        return
    new = at.new(node)
    if new.what == "unknown":
        owner = at.new(node.value)
        if owner.what == "module" and owner.module is not None and owner.module.is_open:
            was = at.old(node.value)
            if _is_unlisted(was.module, owner.module, node.attr):
                said = ast.unparse(node)
                text = f"`{said}` finds nothing any more: `{owner.name}` has no `{node.attr}`."
                yield at.gone(text, said, replace(was, is_inferred=True), owner)
        return
    if new.what not in ("gone", "function", "value") or (new.what != "gone" and at.is_same(new)):
        return
    old, said = at.old(node), ast.unparse(node)
    if new.what == "gone":
        # A class of the same outside bases cannot have got from them what it had itself.
        if is_lost(old, new, at):
            text = f"`{said}` finds nothing any more: {_where(new)} has no `{node.attr}`."
            if new.owner is not None:
                new = replace(new, owner=base_of(new.owner, old, at) or new.owner)
            yield at.gone(text, said, old, new)
    elif new.what == "function" and not at.use.is_called and _was_plain(old):
        text = f"`{said}` was a plain value, and is a function now."
        yield at.misused(text, said, old, new)
    elif old.owner is not None and new.owner is not None:
        if at.use.is_called and old.what == "function" and new.is_property:
            text = f"`{said}` is called, and is a property now."
            yield at.misused(text, said, old, new)
        elif not at.use.is_called and old.is_property and new.what == "function":
            text = f"`{said}` is read as a property, and is a method now."
            yield at.misused(text, said, old, new)


def _was_plain(old: Entity) -> bool:
    return old.what == "value" and not old.is_property and is_literal(old.node)


def is_literal(node: ast.AST | None) -> bool:
    """Say whether a statement assigns a plain value, and not None."""
    value = node.value if isinstance(node, Assigned) else None
    is_none = isinstance(value, ast.Constant) and value.value is None
    return isinstance(value, _PLAIN_VALUES) and not is_none


def _set_faults(node: ast.Attribute, at: PairedUse) -> Iterator[Fault]:
    """Yield an attribute of another that is set, and that nothing reads now or that refuses it."""
    owner = at.now.made(node.value, at.use.scopes)
    if owner.what not in ("instance", "module", "class"):
        return
    new = at.now.state.attribute(owner, node.attr)
    was = at.then.made(node.value, at.use.scopes)
    if at.is_same(owner) and new.what != "gone":
        return
    old, said = at.then.state.attribute(was, node.attr), ast.unparse(node)
    if new.what == "gone" and is_lost(old, new, at):
        text = f"`{said}` is set, and {_where(new)} has no `{node.attr}` any more."
        yield at.gone(text, said, old, replace(new, is_inferred=True))
    elif owner.what == "instance" and new.is_property and old.what == "value":
        setters = members_of(new.owner.node if new.owner else None).get(node.attr, ())
        if len(setters) == 1 and not old.is_property:
            text = f"`{said}` is set, and is a property without a setter now."
            yield at.misused(text, said, old, new)
    elif owner.what == was.what == "instance" and (
        _is_frozen(owner.node) and not _is_frozen(was.node)
    ):
        yield at.misused(f"`{said}` is set, and its class is frozen now.", said, was, owner)


def _is_frozen(node: ast.AST | None) -> bool:
    return any("frozen=True" in ast.unparse(each) for each in getattr(node, "decorator_list", ()))


def named_faults(node: ast.Call, at: PairedUse) -> Iterator[Fault]:
    """Yield what a call names by its text, as `setattr` and `mock.patch.object` do."""
    last = last_name(node.func)
    match node.args:
        case [owner_node, ast.Constant(value=str(name)), *rest]:
            if last not in ("setattr", "object", "delattr", "getattr") or (
                last == "getattr" and rest
            ):
                return
        case _:
            return
    owner = at.new(owner_node)
    if owner.what not in ("module", "class"):
        return
    new = at.now.state.attribute(owner, name)
    if new.what != "gone":
        return
    old = at.then.state.attribute(at.old(owner_node), name)
    if is_lost(old, new, at):
        symbol = f"{ast.unparse(owner_node)}.{name}"
        text = f"`{symbol}` is named, and {_where(new)} has no `{name}` any more."
        yield at.misused(text, symbol, old, new, kind="removed")


def is_lost(old: Entity, new: Entity, pair: Pair) -> bool:
    """Say whether something was there that is gone, and that no base outside can give now."""
    if old.what not in _THERE:
        return False
    if not new.outside:
        return True
    was = old.owner
    return was is not None and new.outside <= (pair.then.state.outside(was) | old.outside)


def _where(new: Entity) -> str:
    owner = new.owner.node if new.owner is not None else None
    return f"`{owner.name if isinstance(owner, ast.ClassDef) else new.name.rpartition('.')[0]}`"


def base_of(owner: Entity, old: Entity, pair: Pair) -> Entity | None:
    """Return the class of the result that stands where an old method's class stood."""
    if old.owner is None or not isinstance(old.owner.node, ast.ClassDef):
        return None
    todo = [owner]
    for _ in range(_MOST_CLASSES):
        if not todo:
            break
        found = todo.pop()
        if isinstance(found.node, ast.ClassDef) and found.node.name == old.owner.node.name:
            return found
        todo += [base for _, base in pair.now.state.bases(found) if base.what == "class"]
    return None


def text_faults(node: ast.Constant, at: PairedUse) -> Iterator[Fault]:
    """Yield what a text names as a module does, as `mock.patch` and registries take it."""
    if not isinstance(node.value, str) or not _DOTTED.fullmatch(node.value):
        return
    value = node.value
    names = value.replace(":", ".").split(".")
    old = _by_path(names, at.then)
    if old is None or old.what not in _THERE:
        return
    new = _by_path(names, at.now)
    if new is None or new.what == "gone":
        text = f"`{value}`, which the text names, is not there any more."
        yield at.misused(text, value, old, new or Entity("absent", value), kind="removed")


def _by_path(names: list[str], reader: Reader) -> Entity | None:
    """Return what a dotted path names, None where there is no module of the first names."""
    for end in range(len(names), 0, -1):
        found = reader.state.imported(reader.path, ".".join(names[:end]))
        if found.what == "absent":
            continue
        if end == len(names) and not found.module:
            return None  # a folder is not what a text means
        for name in names[end:]:
            found = reader.state.attribute(found, name)
        return found if end > 1 or found.what != "gone" else None
    return None
