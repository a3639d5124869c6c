"""Find uses of names that no longer exist, and classes whose bases or overrides changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from msgspec.structs import replace

from patchmgr.engines.audit.names import messages_of
from patchmgr.engines.audit.new_names import best
from patchmgr.engines.audit.python_modules import Module, decorators, members_of
from patchmgr.engines.audit.python_names import UNKNOWN, Entity, PythonState, Reader
from patchmgr.engines.audit.python_uses import Fault, Pair, PairedUse
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.structure.guards_imports import ENDS, places
from patchmgr.engines.structure.python_tree import (
    Assigned,
    Definition,
    Function,
    bound_by,
    keyword_parameters,
    last_name,
    module_of,
    parameters,
    targets_of,
    walk,
)

_NAMING = frozenset({"setattr", "object", "delattr", "getattr"})
_THERE = ("module", "class", "function", "value", "instance")
_DEEPEST = 8  # star imports that are followed one after the other, at most
_MOST_FILES = 4_000
_MOST_CLASSES = 50  # classes that are searched for one with the same name, at most
_PLAIN_VALUES = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)


def import_faults(node: ast.ImportFrom | ast.Import, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for each imported module or name that is gone or has become a function."""
    module = module_of(node) if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        name, asked = alias.name, module or alias.name
        said = f"from {module} import {name}" if module else f"import {name}"
        no_module = f"`{said}` no longer works: there is no module `{asked}`."
        no_name = f"`{said}` no longer works: `{asked}` has no `{name}`."
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
                text = f"`{name}` was a plain value, and is now a function."
                yield at.misused(text, name, old, new)
        elif new.what == "absent" and not _is_elsewhere(asked, at):
            # A package that left the project may be installed beside it now.
            top = asked.partition(".")[0]
            has_left = top != "" and not at.now.state.place(at.now.path, top)
            new = replace(new, is_inferred=has_left)
            yield at.gone(no_module, symbol, at.then.imported(node, alias), new)
        elif new.what == "gone":
            old = at.then.imported(node, alias)
            parsed = at.then.state.module(at.then.state.place(at.then.path, asked))
            is_bound = parsed is not None and name in parsed.bound
            if old.what in _THERE or (old.what == "unknown" and is_bound):
                yield at.gone(no_name, symbol, old, new)


def _is_unlisted(old: Module | None, new: Module | None, name: str) -> bool:
    """Return whether a name was removed from the names that a module's `__getattr__` provides.

    These are taken to be the strings at the top level of the module.
    """
    if old is None or new is None or name in new.bound or new.stars:
        return False
    before, after = (m.member("__getattr__") for m in (old, new))
    if before is None or after is None or ast.dump(before) != ast.dump(after):
        return False
    return name in _table_names(old.node) - _table_names(new.node)


@lru_cache(maxsize=256)
def _table_names(tree: ast.Module) -> frozenset[str]:
    """Return all strings in the top-level statements of a module, except definitions."""
    return frozenset(
        child.value
        for statement in tree.body
        if not isinstance(statement, (Definition, ast.Expr))
        for child in walk(statement)
        if isinstance(child, ast.Constant) and isinstance(child.value, str)
    )


def _is_elsewhere(module: str, at: PairedUse) -> bool:
    """Return whether a missing module may be a file with another suffix, or in another folder."""
    ends = tuple(f"/{module.replace('.', '/')}{end}" for end in ENDS)
    if any(path.endswith(ends) and at.now.state.files.exists(path) for path in at.changed):
        return True
    if module.startswith("."):
        stem = next(places(at.now.path, module), "")
    else:
        place = at.then.state.place(at.then.path, module)
        stem = place.rpartition(".")[0].removesuffix("/__init__")
    folder, tree = stem.rpartition("/")[0], at.now.state.files.tree
    files = tree.files_below(folder) if folder and tree.is_directory(folder) else ()
    return any(path.startswith(f"{stem}.") for path in files)


def star_faults(pair: Pair, lines: Collection[int]) -> Iterator[Fault]:
    """Yield a fault for each name in the given lines that `import *` no longer provides."""
    now, then = pair.now.module, pair.then.module
    if now is None or then is None or not now.stars or not then.stars:
        return
    found = (m for m in messages_of(now.node) if type(m).__name__ == "ImportStarUsage")
    starred = [(str(m.message_args[0]), m.lineno) for m in found if m.lineno in lines]
    for name, line in dict(reversed(starred)).items():
        if _by_star(pair.then, name) is True and _by_star(pair.now, name) is False:
            old = pair.then.state.named(then, name) or UNKNOWN
            text = f"`{name}` is used, but no `import *` provides it any more."
            new = Entity("gone", name, old.module and pair.now.state.module(old.module.path))
            yield Fault("removed", text, name, True, line, old, new)


def _by_star(side: Reader, name: str, depth: int = 0) -> bool | None:
    """Return whether the star imports of a file provide a name, or None if that is unknown."""
    if depth > _DEEPEST:
        return None
    for star in side.module.stars if side.module is not None else ():
        place = side.state.place(side.path, star)
        parsed = side.state.module(place) if place.endswith(PYTHON) else None
        if parsed is None or parsed.is_open:
            return None
        listed = parsed.member("__all__")
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
    """Yield a fault if the attribute that an expression reads or sets is gone or has changed."""
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
                text = f"`{said}` no longer works: `{owner.name}` has no `{node.attr}`."
                yield at.gone(text, said, replace(was, is_inferred=True), owner)
        return
    if new.what not in ("gone", "function", "value") or (new.what != "gone" and at.is_same(new)):
        return
    old, said = at.old(node), ast.unparse(node)
    if new.what == "gone":
        # A class may get the attribute from a new base outside the project.
        if is_lost(old, new, at):
            text = f"`{said}` no longer works: {_where(new)} has no `{node.attr}`."
            if new.owner is not None:
                new = replace(new, owner=base_of(new.owner, old, at) or new.owner)
            yield at.gone(text, said, old, new)
    elif new.what == "function" and not at.use.is_called and _was_plain(old):
        text = f"`{said}` was a plain value, and is now a function."
        yield at.misused(text, said, old, new)
    elif old.owner is not None and new.owner is not None:
        if at.use.is_called and old.what == "function" and new.is_property:
            text = f"`{said}` is called, but is now a property."
            yield at.misused(text, said, old, new)
        elif not at.use.is_called and old.is_property and new.what == "function":
            text = f"`{said}` is read as a property, but is now a method."
            yield at.misused(text, said, old, new)


def _was_plain(old: Entity) -> bool:
    return old.what == "value" and not old.is_property and is_literal(old.node)


def is_literal(node: ast.AST | None) -> bool:
    """Return whether a statement assigns a literal other than None."""
    value = node.value if isinstance(node, Assigned) else None
    is_none = isinstance(value, ast.Constant) and value.value is None
    return isinstance(value, _PLAIN_VALUES) and not is_none


def _set_faults(node: ast.Attribute, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for setting an attribute that no longer exists or cannot be set any more."""
    owner = at.now.made(node.value, at.use.scopes)
    if owner.what not in ("instance", "module", "class"):
        return
    new = at.now.state.attribute(owner, node.attr)
    was = at.then.made(node.value, at.use.scopes)
    if at.is_same(owner) and new.what != "gone":
        return
    old, said = at.then.state.attribute(was, node.attr), ast.unparse(node)
    if new.what == "gone" and is_lost(old, new, at):
        text = f"`{said}` is set, but {_where(new)} has no `{node.attr}` any more."
        yield at.gone(text, said, old, replace(new, is_inferred=True))
    elif owner.what == "instance" and new.is_property and old.what == "value":
        setters = members_of(new.owner.node if new.owner else None).get(node.attr, ())
        if len(setters) == 1 and not old.is_property:
            text = f"`{said}` is set, but is now a property without a setter."
            yield at.misused(text, said, old, new)
    elif owner.what == was.what == "instance" and (
        _is_frozen(owner.node) and not _is_frozen(was.node)
    ):
        yield at.misused(f"`{said}` is set, but its class is now frozen.", said, was, owner)


def _is_frozen(node: ast.AST | None) -> bool:
    return any("frozen=True" in ast.unparse(each) for each in getattr(node, "decorator_list", ()))


def named_faults(node: ast.Call, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault if a call such as `setattr(owner, "name", x)` names a lost attribute."""
    match node.args:
        case [owner, ast.Constant(value=str(name)), *rest]:
            last = last_name(node.func)
            is_naming = last in _NAMING and not (last == "getattr" and rest)
            if is_naming and at.new(owner).what in ("module", "class"):
                named = ast.copy_location(ast.Attribute(owner, name, ast.Load()), node)
                found = (one for one in attribute_faults(named, at) if one.kind == "removed")
                yield from (replace(one, is_certain=False) for one in found)


def is_lost(old: Entity, new: Entity, pair: Pair) -> bool:
    """Return whether a name existed before the merge and definitely no longer exists after it."""
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
    """Find the class that had the member `old`, by its name, among `owner` and its bases."""
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


def abstract_faults(node: ast.ClassDef, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for each newly abstract method that a class inherits but does not define."""
    new = at.now.own_class(at.use.scopes, node.name)
    more = frozenset[str]() if new is None else _abstract(new, at.now.state)
    old = at.then.own_class(at.use.scopes, node.name) if more else None
    if new is None or old is None or _abstract(old, at.then.state):
        return
    for name in sorted(more):
        text = f"`{node.name}` does not define `{name}`, which is now abstract in its base class."
        parent = at.now.state.inherited(new, name)
        yield at.misused(text, f"{node.name}.{name}", old, parent, kind="override")


def _abstract(
    owner: Entity, state: PythonState, above: tuple[ast.AST | None, ...] = ()
) -> frozenset[str]:
    """Return the names of all methods that are abstract in a class, including inherited ones.

    `above` has the derived classes that were already visited.
    """
    found: set[str] = set()
    above = (*above, owner.node)
    for _, base in state.bases(owner):
        # A class seems to be its own base if a module of the project is taken for one of Python's
        # (`unittest` in twisted/twisted ed905ea2be).
        if base.what == "class" and base.node not in above:
            found |= _abstract(base, state, above)
    own = members_of(owner.node)
    abstract = {
        name
        for name, nodes in own.items()
        if any("abstractmethod" in decorators(node) for node in nodes)
    }
    return frozenset((found - own.keys()) | abstract)


def override_faults(node: Function | Assigned, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault if a class overrides an inherited member that was removed or changed."""
    around = at.use.scopes[-1].node if at.use.scopes else None
    is_method = isinstance(node, Function)
    name = next(iter(bound_by(node) or bound_by(targets_of(node)[0])), "__")
    if not isinstance(around, ast.ClassDef) or name.startswith("__"):
        return
    now = at.now.own_class(at.use.scopes[:-1], around.name)
    new = None if now is None else at.now.state.inherited(now, name)
    if now is None or new is None or (new.what == "function" and at.is_same(new)):
        return
    then = at.then.own_class(at.use.scopes[:-1], around.name)
    old = None if then is None else at.then.state.inherited(then, name)
    was = None if old is None else _plain_method(old)
    if then is None or old is None or not (was if is_method else old.what == "value"):
        return
    symbol = f"{around.name}.{name}"
    if new.what == "gone" and (is_method or around.bases):
        new = replace(new, owner=base_of(now, old, at) or new.owner)
        module = None if is_method else at.now.module
        is_own = module is not None and _uses_member(module.node, name)
        is_known = new.outside <= at.then.state.outside(then)
        if is_known and not is_own and _is_missed(name, old, new, at):
            text = f"`{symbol}` no longer overrides anything: no base class has `{name}`."
            yield at.misused(text, symbol, old, new, kind="removed")
    elif isinstance(node, Function) and was and (method := _plain_method(new)):
        before, after = (_call_like(parent, name) for parent in (was, method))
        texts = " ".join(misfit(after, node.args, True, name))
        is_async = [isinstance(each, ast.AsyncFunctionDef) for each in (node, was, method)]
        if is_async[0] == is_async[1] != is_async[2]:
            texts = f"that is {'now' if is_async[2] else 'no longer'} a coroutine."
        if texts and not any(misfit(before, node.args, True, name)):
            text = f"`{symbol}` no longer fits the method that it overrides: {texts}"
            yield at.misused(text, symbol, old, new, kind="override")


def _plain_method(found: Entity) -> Function | None:
    is_plain = found.what == "function" and not found.is_decorated
    return found.node if is_plain and isinstance(found.node, Function) else None


def _is_missed(name: str, old: Entity, new: Entity, pair: Pair) -> bool:
    """Return whether an override has no effect any more.

    This is so if the base class has renamed the member, or if no code reads it any more.
    """
    if old.module is None:
        return False
    known, fresh = (members_of(e.owner.node if e.owner is not None else None) for e in (old, new))
    others = {other: made[0] for other, made in fresh.items() if other not in known}
    if best(old.node, name, others) is not None:
        return True
    before = _uses_member(old.module.node, name) or _is_abstract(old.node)
    if not before and not _is_no_longer_called(name, pair):
        return False
    modules = (pair.now.state.module(old.module.path), pair.now.module)
    return not any(m is not None and _uses_member(m.node, name) for m in modules)


def _is_abstract(node: ast.AST | None) -> bool:
    if not isinstance(node, Function):
        return False
    is_marked = any(name.endswith("abstractmethod") for name in decorators(node))
    return is_marked or "NotImplementedError" in ast.unparse(node.body[-1])


def _uses_member(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
        for node in walk(tree)
    )


def _is_no_longer_called(name: str, pair: Pair) -> bool:
    """Return whether the other side removed all calls of a member from a file that it changed."""
    called = re.compile(rb"\.%b\(" % re.escape(name).encode())
    for path in sorted(pair.changed)[:_MOST_FILES]:
        before = pair.then.state.files.read(path) if path.endswith(".py") else None
        if before is not None and called.search(before):
            after = pair.now.state.files.read(path)
            if after is not None and not called.search(after):
                return True
    return False


def _call_like(parent: Function, name: str) -> ast.Call:
    """Return a call that passes all parameters of a method by name."""
    args = parent.args
    given = [arg.arg for arg, _ in (*parameters(args)[1:], *keyword_parameters(args))]
    more = [] if args.vararg is None and args.kwarg is None else [None]
    keywords = [ast.keyword(each, ast.Constant(None)) for each in (*given, *more)]
    return ast.Call(ast.Name(name), [], keywords)


def misfit(call: ast.Call, args: ast.arguments, is_method: bool, name: str) -> Iterator[str]:
    """Yield a sentence for each way in which a call does not match the function's parameters."""
    places = parameters(args)[int(is_method) :]
    given = {keyword.arg for keyword in call.keywords}
    open_ended = None in given or has_stars(call)
    known = {arg.arg for arg, _ in (*places, *keyword_parameters(args))}
    for keyword in sorted(k for k in given if k is not None):
        if keyword not in known and args.kwarg is None:
            yield f"`{name}` is called with `{keyword}`, which it does not take."
    if len(call.args) > len(places) and args.vararg is None and not open_ended:
        yield f"`{name}` is called with more arguments than it takes."
    if open_ended:
        return
    for arg, default in (*places[len(call.args) :], *keyword_parameters(args)):
        if default is None and arg.arg not in given:
            yield f"`{name}` is called without `{arg.arg}`, which it needs."


def has_stars(node: ast.Call) -> bool:
    """Return whether a call has an argument such as `*args`."""
    return any(isinstance(arg, ast.Starred) for arg in node.args)
