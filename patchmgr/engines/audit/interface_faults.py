"""Compare what uses mean on the side that wrote them with what they mean in the result."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.audit.new_names import best, new_name, since_gone, since_signed
from patchmgr.engines.audit.pairs import Fault, Pair
from patchmgr.engines.audit.places import patch_of_line, source_path, waiting_paths
from patchmgr.engines.audit.python_modules import (
    ENDS,
    LARGEST,
    UNKNOWN,
    Entity,
    Function,
    Module,
    Parser,
    PythonState,
    members_of,
    module_name,
)
from patchmgr.engines.audit.python_uses import Reader, Use, uses_of
from patchmgr.engines.audit.results import (
    decorator_faults,
    handler_faults,
    protocol_faults,
    result_faults,
    type_faults,
)
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.structure.guards_calls import misfit
from patchmgr.engines.structure.guards_imports import places
from patchmgr.model.audit import AuditFinding

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_][\w.]*)?")
_THERE = ("module", "class", "function", "value", "instance")
# Breakages, as griffe names them, that no use of a name shows.
_HARMLESS = frozenset({
    "Attribute value was changed", "Attribute types are incompatible",
    "Return types are incompatible", "Parameter default was changed",
})  # fmt: skip
_MAKES = "__init__"
# Decorators that leave the arguments as they are, but for the first.
_BINDING = frozenset({"staticmethod", "classmethod", "abstractmethod", "abc.abstractmethod"})
_MOST_FILES = 4_000
_DEEPEST = 8  # imports of all names, one behind the other


def broken_names(states: States, path: str) -> frozenset[str]:
    """Return what the series removes from a module, or what it changes the signature of."""
    import griffe

    old, new = states.base.read(path), states.written.read(path)
    if old is None or len(old) > LARGEST or (new is not None and len(new) > LARGEST):
        return frozenset()
    try:
        before, after = (
            griffe.visit(module_name(path), Path(path), (text or b"").decode("utf-8", "replace"))
            for text in (old, new)
        )
        found = list(griffe.find_breaking_changes(before, after))
    except Exception:  # a source that the library does not expect: nothing is known of it
        return frozenset()
    stem = path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]
    names = {each.obj.name for each in found if each.kind.value not in _HARMLESS}
    return frozenset(names | ({stem} if new is None else set()))


def faults_in(states: States, reach: Sequence[tuple[str, frozenset[int], bool]]) -> Iterator[Told]:
    """Yield what is wrong with the uses in some lines of some files, with the patch."""
    parser = states.kept.setdefault("python", Parser())
    assert isinstance(parser, Parser)
    merged = PythonState(states.merged, parser)
    written = PythonState(states.written, parser)
    onto = PythonState(states.onto, parser)
    _read_ahead(states, reach)
    waiting = waiting_paths(states)
    for path, lines, is_ours in reach:
        if path in waiting:
            continue
        now = Reader(merged, path)
        if now.module is None:
            continue
        then = Reader(written, source_path(states, path)) if is_ours else Reader(onto, path)
        pair = Pair(now, then, states.changed_upstream if is_ours else frozenset(states.carriers))
        numbers = sorted(lines)
        told: set[tuple[str, str]] = set()
        uses = uses_of(now.module.node, numbers)
        faults = (fault for use in uses for fault in faults_of(use, pair))
        for fault in (*faults, *star_faults(pair, lines)):
            homes = {e.module.path for e in (fault.old, fault.new) if e.module is not None}
            if (fault.text, fault.kind) not in told and homes.isdisjoint(waiting):
                told.add((fault.text, fault.kind))
                found = _told(states, path, fault, pair, is_ours=is_ours)
                if found[0]:
                    yield found


def _read_ahead(states: States, reach: Sequence[tuple[str, frozenset[int], bool]]) -> None:
    """Bring at once the modules that the files import, where upstream changed them."""
    from patchmgr.engines.audit.interfaces import named_imports

    wanted: set[str] = set()
    for path, _, _ in reach:
        text = (states.merged.read(path) or b"").decode("utf-8", "surrogateescape")
        for _, module, name in named_imports(text):
            for place in places(path, module):
                wanted.update(place + end for end in ENDS)
                wanted.update(f"{place}/{name}{end}" for end in ENDS)
    for files in (states.merged, states.written):
        files.read_ahead(wanted & states.changed_upstream)


def _told(states: States, path: str, fault: Fault, pair: Pair, *, is_ours: bool) -> Told:
    step = proposal = None
    if fault.kind == "removed":
        proposal = new_name(states, fault.old, fault.new, fault.symbol, pair.now.state)
    if is_ours:
        asked = since_gone if fault.kind == "removed" else since_signed
        step = asked(states, fault.old, fault.new, fault.symbol)
    text = fault.text if is_ours else f"{fault.text} The series changed that."
    if proposal:
        text += f" It may be `{proposal}` now."
    finding = AuditFinding(
        fault.kind,
        fault.is_certain,
        path,
        fault.line,
        fault.symbol,
        text,
        None if step is None else step.commit,
        proposal,
    )
    return _patch_of(states, path, fault, is_ours=is_ours), finding


def _patch_of(states: States, path: str, fault: Fault, *, is_ours: bool) -> str:
    """Return the patch that brought the line of a use, or took away what upstream's line uses."""
    if is_ours:
        lines = (states.merged.read(path) or b"").split(b"\n")
        return patch_of_line(states, path, lines[fault.line - 1].strip())
    home = fault.old.module.path if fault.old.module is not None else path
    node = fault.old.node
    content = (states.onto.read(home) or b"").split(b"\n")
    line = content[node.lineno - 1].strip() if isinstance(node, ast.stmt) else b""
    return patch_of_line(states, home, line, sign=b"-") or states.carriers.get(path, "")


def faults_of(use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield what is wrong with a use in the result, and was right on its side."""
    node = use.node
    if isinstance(node, (ast.ImportFrom, ast.Import)):
        yield from _import_faults(node, use, pair)
    elif isinstance(node, ast.Attribute):
        if isinstance(node.ctx, ast.Load):
            yield from _attribute_faults(node, use, pair)
        elif isinstance(node.ctx, ast.Store):
            yield from _set_faults(node, use, pair)
    elif isinstance(node, ast.Call):
        yield from _call_faults(node, use, pair)
        yield from result_faults(node, use, pair)
        yield from type_faults(node, use, pair)
        yield from protocol_faults(node, use, pair)
        yield from _named_faults(node, use, pair)
    elif isinstance(node, (ast.With, ast.For, ast.Subscript)):
        yield from protocol_faults(node, use, pair)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _text_faults(node, node.value, pair)
    elif isinstance(node, ast.ClassDef):
        yield from _base_faults(node, use, pair)
        yield from _abstract_faults(node, use, pair)
        yield from decorator_faults(node, use, pair, _call_faults)
    elif isinstance(node, Function):
        yield from _override_faults(node, use, pair)
        yield from decorator_faults(node, use, pair, _call_faults)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        if isinstance(node, ast.Assign):
            yield from _arity_faults(node, use, pair)
        yield from _attribute_override_faults(node, use, pair)
    elif isinstance(node, ast.Try):
        yield from handler_faults(node, use, pair)


def _import_faults(node: ast.ImportFrom | ast.Import, use: Use, pair: Pair) -> Iterator[Fault]:
    module = ""
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
    for alias in node.names:
        asked = module or alias.name
        said = f"from {module} import {alias.name}" if module else f"import {alias.name}"
        if not pair.then.state.place(pair.then.path, asked):
            continue
        if alias.name == "*":
            if not pair.now.state.place(pair.now.path, asked):
                new = Entity("absent", asked)
                yield _gone(
                    f"`{said}` finds nothing any more: there is no module `{asked}`.",
                    asked,
                    node,
                    use,
                    new,
                    new,
                )
            continue
        new = pair.now.imported(node, alias)
        if new.what == "unknown" and module and _left_table(asked, alias.name, pair):
            text = f"`{said}` finds nothing any more: `{asked}` has no `{alias.name}`."
            yield _gone(
                text, f"{module}.{alias.name}", node, use, new, replace(new, is_inferred=True)
            )
        if new.what == "function" and module and not pair.is_same(new):
            old = pair.then.imported(node, alias)
            if old.what == "value" and _is_literal(old.node):
                text = f"`{alias.name}` was a plain value, and is a function now."
                yield Fault("signature", text, alias.name, False, node.lineno, old, new)
        if new.what not in ("absent", "gone"):
            continue
        old = pair.then.imported(node, alias)
        if new.what == "absent" and not _is_elsewhere(asked, pair):
            text = f"`{said}` finds nothing any more: there is no module `{asked}`."
        elif new.what == "gone" and _is_there(old, pair, asked, alias.name):
            text = f"`{said}` finds nothing any more: `{asked}` has no `{alias.name}`."
        else:
            continue
        symbol = f"{module}.{alias.name}" if module else alias.name
        yield _gone(text, symbol, node, use, old, new)


def star_faults(pair: Pair, lines: Collection[int]) -> Iterator[Fault]:
    """Yield the names in some lines that an import of all names brought, and no longer does."""
    now, then = pair.now.module, pair.then.module
    if now is None or then is None or not now.stars or not then.stars:
        return
    own = bound_anywhere(now.node)
    told: set[str] = set()
    for node in ast.walk(now.node):
        if not isinstance(node, ast.Name) or node.id in told or node.lineno not in lines:
            continue
        if node.id in own or hasattr(builtins, node.id):
            continue
        if _by_star(pair.then, then, node.id) is True and _by_star(pair.now, now, node.id) is False:
            told.add(node.id)
            old = pair.then.state.named(then, node.id) or UNKNOWN
            text = f"`{node.id}` is used, and no `import *` brings it any more."
            new = Entity("gone", node.id, old.module and pair.now.state.module(old.module.path))
            yield Fault("removed", text, node.id, True, node.lineno, old, new)


def bound_anywhere(tree: ast.Module) -> frozenset[str]:
    """Return every name that any scope of a file binds."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (*Function, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return frozenset(found)


def _by_star(side: Reader, module: Module, name: str, depth: int = 0) -> bool | None:
    """Say whether an import of all names brings one, None where that is not sure."""
    if depth > _DEEPEST:
        return None
    for star in module.stars:
        place = side.state.place(side.path, star)
        parsed = side.state.module(place) if place.endswith((".py", ".pyi")) else None
        if parsed is None or parsed.is_open:
            return None
        listed = parsed.members.get("__all__")
        if listed is not None or "__all__" in parsed.bound:
            value = getattr(listed, "value", None)
            if not isinstance(listed, (ast.Assign, ast.AnnAssign)) or parsed.counts["__all__"] > 1:
                return None
            if not isinstance(value, (ast.List, ast.Tuple)):
                return None
            if not all(isinstance(e, ast.Constant) for e in value.elts):
                return None
            if any(isinstance(e, ast.Constant) and e.value == name for e in value.elts):
                return True
        elif name in parsed.bound and not name.startswith("_"):
            return True
        else:
            below = _by_star(Reader(side.state, place), parsed, name, depth + 1)
            if below is not False:
                return below
    return False


def _gone(
    text: str, symbol: str, node: ast.stmt | ast.expr, use: Use, old: Entity, new: Entity
) -> Fault:
    line = node.end_lineno or node.lineno if isinstance(node, ast.Attribute) else node.lineno
    is_certain = not (use.is_typing or old.is_inferred or new.is_inferred)
    return Fault("removed", text, symbol, is_certain, line, old, new)


def _is_there(old: Entity, pair: Pair, module: str, name: str) -> bool:
    """Say whether a module had a name, though what it stands for may not be known."""
    if old.what in _THERE:
        return True
    parsed = pair.then.state.module(pair.then.state.place(pair.then.path, module))
    return old.what == "unknown" and parsed is not None and name in parsed.bound


def _left_table(module: str, name: str, pair: Pair) -> bool:
    sides = [
        side.state.module(side.state.place(side.path, module)) for side in (pair.then, pair.now)
    ]
    return sides[0] is not None and sides[1] is not None and _is_unlisted(sides[0], sides[1], name)


def _is_unlisted(old: Module, new: Module, name: str) -> bool:
    """Say whether a name left the table from which the `__getattr__` of a module answers."""
    if name in new.bound or new.stars or "__getattr__" not in new.members:
        return False
    if name in table_names(new.node):
        return False
    before, after = (m.members.get("__getattr__") for m in (old, new))
    if before is None or after is None or ast.dump(before) != ast.dump(after):
        return False
    return name in table_names(old.node)


@lru_cache(maxsize=256)
def table_names(tree: ast.Module) -> frozenset[str]:
    """Return the strings that the top of a module lists."""
    return frozenset(
        child.value
        for statement in tree.body
        if not isinstance(statement, (*Function, ast.ClassDef, ast.Expr))
        for child in ast.walk(statement)
        if isinstance(child, ast.Constant) and isinstance(child.value, str)
    )


def _is_elsewhere(module: str, pair: Pair) -> bool:
    """Say whether a module that is gone may be one that other tools make, or in another root."""
    if module.startswith("."):
        stem = next(places(pair.now.path, module), "")
    else:
        place = pair.then.state.place(pair.then.path, module)
        stem = place.rpartition(".")[0].removesuffix("/__init__")
    folder = stem.rpartition("/")[0]
    tree = pair.now.state.files.tree
    return any(
        path.startswith(f"{stem}.")
        for path in (tree.files_below(folder) if folder and tree.is_directory(folder) else ())
    )


def _attribute_faults(node: ast.Attribute, use: Use, pair: Pair) -> Iterator[Fault]:
    new = pair.now.entity(node, use.scopes)
    if new.what == "unknown":
        owner = pair.now.entity(node.value, use.scopes)
        if owner.what == "module" and owner.module is not None and owner.module.is_open:
            was = pair.then.entity(node.value, use.scopes)
            if was.module is not None and _is_unlisted(was.module, owner.module, node.attr):
                said = ast.unparse(node)
                text = f"`{said}` finds nothing any more: `{owner.name}` has no `{node.attr}`."
                old = replace(was, is_inferred=True)
                yield _gone(text, said, node, use, old, owner)
        return
    if new.what not in ("gone", "function", "value"):
        return
    if new.what != "gone" and pair.is_same(new):
        return
    old = pair.then.entity(node, use.scopes)
    if new.what == "gone":
        # A class of the same outside bases cannot have got from them what it had itself.
        if old.what not in _THERE or not _knows_bases(new, old, pair):
            return
        text = f"`{ast.unparse(node)}` finds nothing any more: {_where(new)} has no `{node.attr}`."
        if new.owner is not None:
            new = replace(new, owner=_base_of(new.owner, old, pair) or new.owner)
        yield _gone(text, ast.unparse(node), node, use, old, new)
        return
    said = ast.unparse(node)
    was_value = old.what == "value" and not old.is_property and _is_literal(old.node)
    if new.what == "function" and was_value and not use.is_called:
        text = f"`{said}` was a plain value, and is a function now."
        yield Fault("signature", text, said, False, node.end_lineno or node.lineno, old, new)
        return
    if old.owner is None or new.owner is None or node.end_lineno is None:
        return
    if use.is_called and old.what == "function" and new.is_property:
        text = f"`{said}` is called, and is a property now."
    elif not use.is_called and old.is_property and new.what == "function":
        text = f"`{said}` is read as a property, and is a method now."
    else:
        return
    yield Fault("signature", text, said, False, node.end_lineno, old, new)


def _set_faults(node: ast.Attribute, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the attributes of others that are set, and that nothing reads now or that refuse it."""
    owner = pair.now.made(node.value, use.scopes)
    if owner.what not in ("instance", "module", "class"):
        return
    new = pair.now.state.attribute(owner, node.attr)
    was = pair.then.made(node.value, use.scopes)
    if pair.is_same(owner) and new.what != "gone":
        return
    old = pair.then.state.attribute(was, node.attr)
    said = ast.unparse(node)
    if new.what == "gone" and old.what in _THERE and _knows_bases(new, old, pair):
        text = f"`{said}` is set, and {_where(new)} has no `{node.attr}` any more."
        inferred = replace(new, is_inferred=True)
        yield _gone(text, said, node, use, old, inferred)
    elif owner.what == "instance" and new.is_property and old.what == "value":
        names = members_of(new.owner.node) if new.owner and _is_class(new.owner.node) else {}
        is_settable = len(names.get(node.attr, ())) != 1
        if not is_settable and not old.is_property:
            text = f"`{said}` is set, and is a property without a setter now."
            yield Fault("signature", text, said, False, node.lineno, old, new)
    elif (
        (owner.what, was.what) == ("instance", "instance")
        and _is_frozen(owner.node)
        and not _is_frozen(was.node)
    ):
        text = f"`{said}` is set, and its class is frozen now."
        yield Fault("signature", text, said, False, node.lineno, was, owner)


def _is_class(node: ast.AST | None) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef)


def _is_frozen(node: ast.AST | None) -> bool:
    made = getattr(node, "decorator_list", ())
    return any("frozen=True" in ast.unparse(each) for each in made)


def _named_faults(node: ast.Call, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield what a call names by its text, as `setattr` and `mock.patch.object` do."""
    last = ast.unparse(node.func).rpartition(".")[2]
    if last not in ("setattr", "object", "delattr", "getattr") or len(node.args) < 2:
        return
    if last == "getattr" and len(node.args) > 2:
        return
    name = node.args[1]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return
    owner = pair.now.entity(node.args[0], use.scopes)
    if owner.what not in ("module", "class"):
        return
    new = pair.now.state.attribute(owner, name.value)
    if new.what != "gone":
        return
    was = pair.then.entity(node.args[0], use.scopes)
    old = pair.then.state.attribute(was, name.value)
    if old.what in _THERE and _knows_bases(new, old, pair):
        symbol = f"{ast.unparse(node.args[0])}.{name.value}"
        text = f"`{symbol}` is named, and {_where(new)} has no `{name.value}` any more."
        yield Fault("removed", text, symbol, False, node.lineno, old, new)


def _knows_bases(new: Entity, old: Entity, pair: Pair) -> bool:
    if not new.outside:
        return True
    return old.owner is not None and new.outside <= (
        pair.then.state.outside(old.owner) | old.outside
    )


def _where(new: Entity) -> str:
    if new.owner is not None and isinstance(new.owner.node, ast.ClassDef):
        return f"`{new.owner.node.name}`"
    return f"`{new.name.rpartition('.')[0]}`"


class _Signature(Struct, frozen=True):
    """What a call must fit; `made_by` is the text of what else decides about it."""

    arguments: ast.arguments
    is_method: bool
    made_by: str
    is_async: bool


def _signature(called: Entity, state: PythonState) -> _Signature | None:
    node = called.node
    if called.what == "function" and isinstance(node, Function):
        made_by = " ".join(
            said for said in map(ast.unparse, node.decorator_list) if said not in _BINDING
        )
        is_async = isinstance(node, ast.AsyncFunctionDef)
        return _Signature(node.args, called.is_bound, made_by, is_async)
    if called.what != "class" or not isinstance(node, ast.ClassDef):
        return None
    made_by = " ".join(ast.unparse(d) for d in (*node.decorator_list, *node.keywords))
    if "dataclass" in made_by or any(s == "NamedTuple" for s, _ in state.bases(called)):
        fields = _fields(called, state)
        return None if fields is None else _Signature(fields, False, made_by, False)
    if state.class_member(called, "__new__").what != "gone":
        return None
    maker = state.class_member(called, _MAKES)
    if not isinstance(maker.node, Function) or maker.what != "function":
        return None
    made_by += " ".join(ast.unparse(d) for d in maker.node.decorator_list)
    return _Signature(maker.node.args, True, made_by, False)


def _fields(called: Entity, state: PythonState, depth: int = 0) -> ast.arguments | None:
    """Return what the constructor of a class of fields takes, None where that is not sure."""
    node = called.node
    if not isinstance(node, ast.ClassDef) or depth > 8 or _MAKES in members_of(node):
        return None
    found: dict[str, ast.expr | None] = {}
    for _, base in reversed(list(state.bases(called))):
        if base.what == "class":
            below = _fields(base, state, depth + 1)
            if below is None:
                return None
            start = len(below.args) - len(below.defaults)
            for number, arg in enumerate(below.args):
                found[arg.arg] = below.defaults[number - start] if number >= start else None
        elif base.what != "value":
            return None
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if "ClassVar" in ast.unparse(statement.annotation):
            continue
        value = statement.value
        if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field"):
            given = {keyword.arg for keyword in value.keywords}
            if "init" in given or "kw_only" in given:
                return None
            if given.isdisjoint({"default", "default_factory"}):
                value = None
        found[statement.target.id] = value
    if "kw_only" in " ".join(ast.unparse(d) for d in node.decorator_list):
        return ast.arguments(
            posonlyargs=[], args=[], kwonlyargs=[ast.arg(name) for name in found],
            kw_defaults=list(found.values()), defaults=[],
        )  # fmt: skip
    defaults = [value for value in found.values() if value is not None]
    if any(v is None for v in list(found.values())[len(found) - len(defaults) :]):
        return None
    return ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in found], kwonlyargs=[], kw_defaults=[],
        defaults=defaults,
    )  # fmt: skip


def _is_literal(node: ast.AST | None) -> bool:
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    plain = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)
    is_none = isinstance(value, ast.Constant) and value.value is None
    return isinstance(value, plain) and not is_none


def _partial(node: ast.Call, imports: Mapping[str, tuple[str, str]]) -> ast.Call:
    """Return the call that `functools.partial` prepares, with more arguments to come."""
    said = ast.unparse(node.func)
    imported = imports.get(said, ("", ""))
    if not node.args or (
        said not in ("partial", "functools.partial") and imported != ("functools", "partial")
    ):
        return node
    more = ast.Starred(value=ast.Tuple(elts=[], ctx=ast.Load()), ctx=ast.Load())
    call = ast.Call(func=node.args[0], args=[*node.args[1:], more], keywords=node.keywords)
    return ast.copy_location(call, node)


def _swapped(node: ast.Call, before: _Signature, after: _Signature) -> str:
    """Say which argument given by position is another parameter now, empty for none.

    A parameter under a new name may be the old one; one that is elsewhere now is not.
    """
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        return ""
    old, new = (
        [a.arg for a in (*s.arguments.posonlyargs, *s.arguments.args)][int(s.is_method) :]
        for s in (before, after)
    )
    named = {*new, *(a.arg for a in after.arguments.kwonlyargs)}
    for was, now in zip(old[: len(node.args)], new, strict=False):
        if was != now and was in named:
            return f"with its argument for `{was}` at the place of `{now}`"
    return ""


def _by_place_only(node: ast.Call, before: _Signature, after: _Signature) -> str:
    """Return a parameter that a call names, and that takes no name now; empty for none."""
    now = {a.arg for a in after.arguments.posonlyargs}
    was = {a.arg for a in before.arguments.posonlyargs}
    given = {keyword.arg for keyword in node.keywords if keyword.arg} & (now - was)
    return "" if after.arguments.kwarg is not None else min(given, default="")


def _other_defaults(
    node: ast.Call, before: _Signature, after: _Signature
) -> Iterator[tuple[str, str, str]]:
    """Yield the parameters that a call leaves to a default which is another constant now.

    What was None, or is None now, mostly stands for the same value that is chosen elsewhere.
    """
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        return
    if any(keyword.arg is None for keyword in node.keywords):
        return
    names = [a.arg for a in (*before.arguments.posonlyargs, *before.arguments.args)]
    given = set(names[int(before.is_method) :][: len(node.args)])
    given.update(keyword.arg for keyword in node.keywords if keyword.arg)
    old, new = _constants(before.arguments), _constants(after.arguments)
    for name in sorted((old.keys() & new.keys()) - given):
        if old[name] != new[name]:
            yield name, old[name], new[name]


def _constants(arguments: ast.arguments) -> dict[str, str]:
    """Return the defaults of parameters that are constants and not None."""
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    pairs = [
        *zip(
            positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True
        ),
        *zip((a.arg for a in arguments.kwonlyargs), arguments.kw_defaults, strict=True),
    ]
    return {
        name: ast.unparse(value)
        for name, value in pairs
        if isinstance(value, ast.UnaryOp)
        or (isinstance(value, ast.Constant) and value.value is not None)
    }


def _call_faults(node: ast.Call, use: Use, pair: Pair) -> Iterator[Fault]:
    node = _partial(node, pair.now.module.imports if pair.now.module is not None else {})
    new = pair.now.entity(node.func, use.scopes)
    if new.what == "value" and not new.is_property and _is_literal(new.node):
        old = pair.then.entity(node.func, use.scopes)
        if old.what in ("class", "function"):
            said = ast.unparse(node.func)
            text = f"`{said}` is called, and is a plain value now."
            yield Fault("signature", text, said, False, node.lineno, old, new)
        return
    if new.what not in ("class", "function"):
        return
    if pair.is_same(new) and not (isinstance(new.node, ast.ClassDef) and new.node.bases):
        return
    old = pair.then.entity(node.func, use.scopes)
    if old.what not in ("class", "function"):
        return
    before, after = _signature(old, pair.then.state), _signature(new, pair.now.state)
    if before is None or after is None or before.made_by != after.made_by:
        return
    said = ast.unparse(node.func)
    is_certain = not (new.is_inferred or old.is_inferred or use.is_typing or after.made_by)
    if not any(misfit(node, before.arguments, before.is_method, said)):
        texts = list(misfit(node, after.arguments, after.is_method, said))
        if texts:
            text = " ".join(texts)
            yield Fault("signature", text, said, is_certain, node.lineno, old, new)
        elif name := _by_place_only(node, before, after):
            text = f"`{said}` is called with `{name}`, which it takes by its place only now."
            yield Fault("signature", text, said, is_certain, node.lineno, old, new)
        elif swapped := _swapped(node, before, after):
            text = f"`{said}` is called {swapped}."
            yield Fault("signature", text, said, False, node.lineno, old, new)
        else:
            for name, was, now in _other_defaults(node, before, after):
                text = f"`{said}` leaves out `{name}`: its default was `{was}`, and is `{now}`."
                yield Fault("default", text, said, False, node.lineno, old, new)
    if before.is_async == after.is_async:
        return
    if after.is_async and not use.is_awaited:
        text = f"`{said}` is called without `await`, and is a coroutine now."
    elif before.is_async and use.is_awaited:
        text = f"`{said}` is awaited, and is no coroutine any more."
    else:
        return
    yield Fault("signature", text, said, False, node.lineno, old, new)


def _text_faults(node: ast.Constant, value: str, pair: Pair) -> Iterator[Fault]:
    """Yield what a text names as a module does, as `mock.patch` and registries take it."""
    if not _DOTTED.fullmatch(value):
        return
    names = value.replace(":", ".").split(".")
    old = _by_path(names, pair.then)
    if old is None or old.what not in _THERE:
        return
    new = _by_path(names, pair.now)
    if new is not None and new.what != "gone":
        return
    text = f"`{value}`, which the text names, is not there any more."
    new = new or Entity("absent", value)
    yield Fault("removed", text, value, False, node.lineno, old, new)


def _by_path(names: Sequence[str], reader: Reader) -> Entity | None:
    """Return what a dotted path names, None where there is no module of the first names."""
    for end in range(len(names), 0, -1):
        found = reader.state.imported(reader.path, ".".join(names[:end]), "")
        if found.what == "absent":
            continue
        if end == len(names) and not found.module:
            return None  # a folder is not what a text means
        for name in names[end:]:
            found = reader.state.attribute(found, name)
        return found if end > 1 or found.what != "gone" else None
    return None


def _base_faults(node: ast.ClassDef, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the bases of a class that are functions now."""
    for base in node.bases:
        new = pair.now.entity(base, use.scopes)
        if new.what == "function" and (old := pair.then.entity(base, use.scopes)).what == "class":
            said = ast.unparse(base)
            text = f"`{said}` is the base of `{node.name}`, and is a function now."
            yield Fault("signature", text, said, not old.is_inferred, node.lineno, old, new)


def _abstract_faults(node: ast.ClassDef, use: Use, pair: Pair) -> Iterator[Fault]:
    new = pair.now.own_class(use.scopes, node.name)
    more = frozenset() if new is None else _abstract(new, pair.now.state)
    old = pair.then.own_class(use.scopes, node.name) if more else None
    if new is None or old is None or _abstract(old, pair.then.state):
        return  # nothing is left abstract, or the class was abstract itself
    for name in sorted(more):
        text = f"`{node.name}` does not define `{name}`, which is abstract in its base now."
        parent = pair.now.state.inherited(new, name)
        yield Fault("override", text, f"{node.name}.{name}", False, node.lineno, old, parent)


def _abstract(owner: Entity, state: PythonState) -> frozenset[str]:
    """Return the abstract methods that a class is left with."""
    found: set[str] = set()
    for _, base in state.bases(owner):
        if base.what == "class" and base.node is not owner.node:
            found |= _abstract(base, state)
    own = members_of(owner.node) if isinstance(owner.node, ast.ClassDef) else {}
    abstract = {
        name
        for name, nodes in own.items()
        for n in nodes
        if isinstance(n, Function)
        and any(ast.unparse(d).rpartition(".")[2] == "abstractmethod" for d in n.decorator_list)
    }
    return frozenset((found - own.keys()) | abstract)


def _override_faults(
    node: ast.FunctionDef | ast.AsyncFunctionDef, use: Use, pair: Pair
) -> Iterator[Fault]:
    """Yield what is wrong with a method that replaces one of a base."""
    if not use.scopes or not isinstance(use.scopes[-1].node, ast.ClassDef):
        return
    around = use.scopes[-1].node
    if node.name.startswith("__"):
        return
    owners = [pair.now.own_class(use.scopes[:-1], around.name)]
    if owners[0] is None:
        return
    new = pair.now.state.inherited(owners[0], node.name)
    if new.what == "function" and pair.is_same(new):
        return
    owners.append(pair.then.own_class(use.scopes[:-1], around.name))
    if owners[1] is None:
        return
    old = pair.then.state.inherited(owners[1], node.name)
    symbol = f"{around.name}.{node.name}"
    if old.what != "function" or not isinstance(old.node, Function) or old.is_decorated:
        return
    if new.what == "gone":
        if new.outside <= pair.then.state.outside(owners[1]):
            new = replace(new, owner=_base_of(owners[0], old, pair) or new.owner)
            if _is_missed(node.name, old, new, pair):
                text = f"`{symbol}` overrides nothing any more: no base has `{node.name}`."
                yield Fault("removed", text, symbol, False, node.lineno, old, new)
        return
    if new.what != "function" or not isinstance(new.node, Function) or new.is_decorated:
        return
    before, after = _override_misfit(node, old.node), _override_misfit(node, new.node)
    if after and not before:
        text = f"`{symbol}` overrides a method that {after}."
        yield Fault("override", text, symbol, False, node.lineno, old, new)


def _attribute_override_faults(
    node: ast.Assign | ast.AnnAssign, use: Use, pair: Pair
) -> Iterator[Fault]:
    """Yield the class attributes that replaced one of a base, and replace nothing now."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    around = use.scopes[-1].node if use.scopes else None
    if not isinstance(around, ast.ClassDef) or not isinstance(target, ast.Name):
        return
    name = target.id
    owners = [
        side.own_class(use.scopes[:-1], around.name)
        for side in (pair.then, pair.now)
        if not name.startswith("__") and around.bases
    ]
    if len(owners) < 2 or owners[0] is None or owners[1] is None:
        return
    old, new = (
        side.state.inherited(owner, name)
        for side, owner in zip((pair.then, pair.now), owners, strict=True)
        if owner is not None
    )
    if old.what != "value" or new.what != "gone":
        return
    new = replace(new, owner=_base_of(owners[1], old, pair) or new.owner)
    outside = pair.then.state.outside(owners[0])
    is_own = pair.now.module is not None and _uses_member(pair.now.module.node, name)
    if new.outside <= outside and not is_own and _is_missed(name, old, new, pair):
        symbol = f"{around.name}.{name}"
        text = f"`{symbol}` overrides nothing any more: no base has `{name}`."
        yield Fault("removed", text, symbol, False, node.lineno, old, new)


def _is_missed(name: str, old: Entity, new: Entity, pair: Pair) -> bool:
    """Say whether a member of a base has another name, or was used through it and is no more.

    What overrides it may be used all the same, where its own file does so by itself.
    """
    if old.module is None:
        return False
    if _is_renamed(name, old, new):
        return True
    before = _uses_member(old.module.node, name) or _is_abstract(old.node)
    if not before and not _is_used_elsewhere(name, pair):
        return False
    now = pair.now.state.module(old.module.path)
    own = pair.now.module
    return not any(m is not None and _uses_member(m.node, name) for m in (now, own))


def _is_renamed(name: str, old: Entity, new: Entity) -> bool:
    nodes = [e.owner.node if e.owner is not None else None for e in (old, new)]
    known, fresh = (members_of(n) if isinstance(n, ast.ClassDef) else {} for n in nodes)
    others = {other: made[0] for other, made in fresh.items() if other not in known}
    return best(old.node, name, others) is not None


def _is_abstract(node: ast.AST | None) -> bool:
    """Say whether a method says itself that others are to override it."""
    if not isinstance(node, Function):
        return False
    is_marked = any(ast.unparse(d).endswith("abstractmethod") for d in node.decorator_list)
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
        if not path.endswith(".py"):
            continue
        before = pair.then.state.files.read(path)
        if before is not None and called.search(before):
            after = pair.now.state.files.read(path)
            if after is not None and not called.search(after):
                return True
    return False


def _base_of(owner: Entity, old: Entity, pair: Pair) -> Entity | None:
    """Return the class of the result that stands where an old method's class stood."""
    if old.owner is None or not isinstance(old.owner.node, ast.ClassDef):
        return None
    wanted = old.owner.node.name
    todo, seen = [owner], 0
    while todo and seen < 50:
        found, seen = todo.pop(), seen + 1
        if isinstance(found.node, ast.ClassDef) and found.node.name == wanted:
            return found
        todo += [base for _, base in pair.now.state.bases(found) if base.what == "class"]
    return None


def _override_misfit(
    node: ast.FunctionDef | ast.AsyncFunctionDef, parent: ast.FunctionDef | ast.AsyncFunctionDef
) -> str:
    """Say why a method cannot be called as the one that it overrides, empty where it can."""
    if isinstance(node, ast.AsyncFunctionDef) != isinstance(parent, ast.AsyncFunctionDef):
        return (
            "is a coroutine now" if isinstance(parent, ast.AsyncFunctionDef)
            else "is no coroutine any more"
        )  # fmt: skip
    own, args = node.args, parent.args
    mine = [a.arg for a in (*own.posonlyargs, *own.args)][1:]
    theirs = [a.arg for a in (*args.posonlyargs, *args.args)][1:]
    named = {*mine, *(a.arg for a in own.kwonlyargs)}
    wanted = [*theirs, *(a.arg for a in args.kwonlyargs)]
    if own.kwarg is None or own.vararg is None:
        for name in wanted:
            if name not in named and own.kwarg is None:
                return f"takes `{name}`, which it does not take"
    if args.kwarg is None and args.vararg is None:
        needed = mine[: len(mine) - len(own.defaults)]
        for name in needed:
            if name not in wanted:
                return f"does not take `{name}`, which it needs"
    return ""


def _arity_faults(node: ast.Assign, use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield where a result is taken apart into another number of values than it has now."""
    target, value = node.targets[0], node.value
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Call):
        return
    if any(isinstance(each, ast.Starred) for each in target.elts):
        return
    new = pair.now.entity(value.func, use.scopes)
    if new.what != "function" or pair.is_same(new):
        return
    old = pair.then.entity(value.func, use.scopes)
    if old.what != "function":
        return
    count, before, after = len(target.elts), _arity(old.node), _arity(new.node)
    if before == count and after is not None and after != count:
        said = ast.unparse(value.func)
        shown = f"{after} values" if after > 1 else "one value"
        text = f"`{said}` is taken apart into {count}, and returns {shown} now."
        yield Fault("signature", text, said, False, node.lineno, old, new)


def _arity(node: ast.AST | None) -> int | None:
    """Return how many values a function returns, None where that differs or is not sure."""
    if not isinstance(node, Function):
        return None
    counts: set[int | None] = set()
    for child in _own(node.body):
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return None
        if isinstance(child, ast.Return) and child.value is not None:
            value = child.value
            if isinstance(value, ast.Tuple):
                is_open = any(isinstance(e, ast.Starred) for e in value.elts)
                counts.add(None if is_open else len(value.elts))
            elif isinstance(value, (ast.BinOp, ast.Compare, ast.BoolOp, ast.JoinedStr)):
                counts.add(1)
            else:
                is_plain = isinstance(value, ast.Constant) and value.value is not None
                counts.add(1 if is_plain else None)
    return counts.pop() if len(counts) == 1 else None


def _own(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a body, but of no definition in it."""
    for node in body:
        yield node
        if not isinstance(node, (*Function, ast.ClassDef, ast.Lambda)):
            yield from _own(list(ast.iter_child_nodes(node)))
