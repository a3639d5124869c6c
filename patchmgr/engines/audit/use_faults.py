"""Run all checks of Python names on the lines that a merge may have broken.

The checks of calls and decorators are in this module, the others in separate modules.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.audit.interfaces import Lines, named_imports
from patchmgr.engines.audit.name_faults import (
    abstract_faults,
    attribute_faults,
    has_stars,
    import_faults,
    is_literal,
    misfit,
    named_faults,
    override_faults,
    star_faults,
)
from patchmgr.engines.audit.new_names import new_name, since_gone, since_signed
from patchmgr.engines.audit.places import patch_of_line, source_path, waiting_paths
from patchmgr.engines.audit.python_modules import Parser, members_of
from patchmgr.engines.audit.python_names import Entity, PythonState
from patchmgr.engines.audit.python_uses import Fault, Pair, PairedUse, Use, uses_of
from patchmgr.engines.audit.result_faults import (
    arity_faults,
    base_faults,
    handler_faults,
    protocol_faults,
    result_faults,
    type_faults,
)
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.structure.python_tree import (
    Assigned,
    Function,
    is_named,
    keyword_parameters,
    own_nodes,
    parameters,
    walk,
)
from patchmgr.model.audit import AuditFinding

_MAKES = "__init__"
_DEEPEST = 8  # bases of a data class that are followed, at most
# Decorators that leave all arguments but the first as they are.
_BINDING = frozenset({"staticmethod", "classmethod", "abstractmethod", "abc.abstractmethod"})


class Signature(Struct, frozen=True):
    """The parameters that a call must match. `made_by` holds decorators that may change them."""

    arguments: ast.arguments
    is_method: bool
    made_by: str
    is_async: bool = False

    @property
    def places(self) -> list[str]:
        """The names of the parameters that a call can pass by position."""
        return [arg.arg for arg, _ in parameters(self.arguments)][int(self.is_method) :]


def call_faults(node: ast.Call, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for each argument, default or `await` of a call that no longer fits."""
    node = _partial(node, at.now.module.imports if at.now.module is not None else {})
    new = at.new(node.func)
    if new.what == "value" and not new.is_property and is_literal(new.node):
        old = at.old(node.func)
        if old.what in ("class", "function"):
            said = ast.unparse(node.func)
            yield at.misused(f"`{said}` is called, but is now a plain value.", said, old, new)
        return
    has_bases = isinstance(new.node, ast.ClassDef) and new.node.bases
    if new.what not in ("class", "function") or (at.is_same(new) and not has_bases):
        return
    old = at.old(node.func)
    if old.what not in ("class", "function"):
        return
    before, after = _signature(old, at.then.state), _signature(new, at.now.state)
    if before is None or after is None or before.made_by != after.made_by:
        return
    said = ast.unparse(node.func)
    is_certain = not (new.is_inferred or old.is_inferred or at.use.is_typing or after.made_by)
    if not any(misfit(node, before.arguments, before.is_method, said)):
        if texts := list(misfit(node, after.arguments, after.is_method, said)):
            yield at.misused(" ".join(texts), said, old, new, is_certain=is_certain)
        elif name := _by_place_only(node, before, after):
            text = f"`{said}` is called with `{name}`, which is now positional-only."
            yield at.misused(text, said, old, new, is_certain=is_certain)
        elif swapped := _swapped(node, before, after):
            yield at.misused(f"`{said}` is called {swapped}.", said, old, new)
        else:
            for name, was, now in _other_defaults(node, before, after):
                text = f"`{said}` omits `{name}`, whose default was `{was}` and is now `{now}`."
                yield at.misused(text, said, old, new, kind="default")
    if after.is_async and not before.is_async and not at.use.is_awaited:
        text = f"`{said}` is called without `await`, but is now a coroutine."
        yield at.misused(text, said, old, new)
    elif before.is_async and not after.is_async and at.use.is_awaited:
        text = f"`{said}` is awaited, but is no longer a coroutine."
        yield at.misused(text, said, old, new)


def _signature(called: Entity, state: PythonState) -> Signature | None:
    node = called.node
    if called.what == "function" and isinstance(node, Function):
        made_by = [said for d in node.decorator_list if (said := ast.unparse(d)) not in _BINDING]
        is_async = isinstance(node, ast.AsyncFunctionDef)
        return Signature(node.args, called.is_bound, " ".join(made_by), is_async)
    if called.what != "class" or not isinstance(node, ast.ClassDef):
        return None
    made = " ".join(ast.unparse(d) for d in (*node.decorator_list, *node.keywords))
    if "dataclass" in made or any(said == "NamedTuple" for said, _ in state.bases(called)):
        fields = _fields(called, state)
        return None if fields is None else Signature(fields, False, made)
    maker = state.class_member(called, _MAKES)
    if state.class_member(called, "__new__").what != "gone" or maker.what != "function":
        return None
    assert isinstance(maker.node, Function)
    made += " ".join(ast.unparse(d) for d in maker.node.decorator_list)
    return Signature(maker.node.args, True, made)


def _fields(called: Entity, state: PythonState, depth: int = 0) -> ast.arguments | None:
    """Return the arguments of a data class's constructor, or None if they are not known."""
    node = called.node
    if not isinstance(node, ast.ClassDef) or depth > _DEEPEST or _MAKES in members_of(node):
        return None
    found: dict[str, ast.expr | None] = {}
    for _, base in reversed(list(state.bases(called))):
        if base.what == "class":
            below = _fields(base, state, depth + 1)
            if below is None:
                return None
            found |= {arg.arg: value for arg, value in parameters(below)}
        elif base.what != "value":
            return None
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        kind = ast.unparse(statement.annotation)
        if "KW_ONLY" in kind:
            return None
        if "ClassVar" in kind:
            continue
        value = statement.value
        if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field"):
            given = {keyword.arg for keyword in value.keywords}
            if "init" in given or "kw_only" in given:
                return None
            if given.isdisjoint({"default", "default_factory"}):
                value = None
        found[statement.target.id] = value
    args = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in found], kwonlyargs=[], kw_defaults=[],
        defaults=[value for value in found.values() if value is not None],
    )  # fmt: skip
    if "kw_only" in " ".join(ast.unparse(d) for d in node.decorator_list):
        args.kwonlyargs, args.kw_defaults = args.args, list(found.values())
        args.args, args.defaults = [], []
    elif None in list(found.values())[len(found) - len(args.defaults) :]:
        return None
    return args


def _partial(node: ast.Call, imports: Mapping[str, tuple[str, str]]) -> ast.Call:
    """Return the call that `functools.partial` prepares, or else the call itself."""
    said = ast.unparse(node.func)
    is_partial = said in ("partial", "functools.partial")
    if not node.args or not (is_partial or imports.get(said) == ("functools", "partial")):
        return node
    more = ast.Starred(value=ast.Tuple(elts=[], ctx=ast.Load()), ctx=ast.Load())
    call = ast.Call(func=node.args[0], args=[*node.args[1:], more], keywords=node.keywords)
    return ast.copy_location(call, node)


def _swapped(node: ast.Call, before: Signature, after: Signature) -> str:
    """Describe a positional argument that now belongs to another parameter, or return ""."""
    named = {*after.places, *(a.arg for a in after.arguments.kwonlyargs)}
    given = [] if has_stars(node) else before.places[: len(node.args)]
    for was, now in zip(given, after.places, strict=False):
        # A parameter with a new name counts as the old one.
        if was != now and was in named:
            return f"with the argument for `{was}` in the position of `{now}`"
    return ""


def _by_place_only(node: ast.Call, before: Signature, after: Signature) -> str:
    """Return a parameter that a call passes by name but that is positional-only now, or ""."""
    was, now = ({a.arg for a in s.arguments.posonlyargs} for s in (before, after))
    given = {keyword.arg for keyword in node.keywords if keyword.arg} & (now - was)
    return "" if after.arguments.kwarg is not None else min(given, default="")


def _other_defaults(
    node: ast.Call, before: Signature, after: Signature
) -> Iterator[tuple[str, str, str]]:
    """Yield (name, old default, new default) for each omitted parameter whose default changed."""
    named = {keyword.arg for keyword in node.keywords}
    if has_stars(node) or None in named:
        return
    given = {*before.places[: len(node.args)], *named}
    # None usually stands for a value that is chosen elsewhere.
    old, new = _constants(before.arguments), _constants(after.arguments)
    for name in sorted((old.keys() & new.keys()) - given):
        if old[name] != new[name]:
            yield name, old[name], new[name]


def _constants(arguments: ast.arguments) -> dict[str, str]:
    """Map each parameter with a constant default other than None to the source of the default."""
    return {
        arg.arg: ast.unparse(value)
        for arg, value in (*parameters(arguments), *keyword_parameters(arguments))
        if isinstance(value, ast.UnaryOp)
        or (isinstance(value, ast.Constant) and value.value is not None)
    }


def decorator_faults(node: ast.AST, at: PairedUse) -> Iterator[Fault]:
    """Yield a fault for each decorator that is used in a way that its new definition forbids."""
    for decorator in getattr(node, "decorator_list", ()):
        is_bare = not isinstance(decorator, ast.Call)
        called = decorator if is_bare else decorator.func
        if not isinstance(called, (ast.Name, ast.Attribute)):
            continue
        new = at.new(called)
        if new.what not in ("function", "class") or at.is_same(new):
            continue
        old, said = at.old(called), ast.unparse(called)
        before, after = _decorates(old.node), _decorates(new.node)
        if is_bare and before == {"bare"} and after == {"called"}:
            text = f"`@{said}` must now be called with arguments, as in `@{said}(...)`."
            yield at.misused(text, said, old, new).on_line(decorator.lineno)
        elif is_bare:  # a bare decorator is called with one argument
            given = ast.Name(id=getattr(node, "name", "_"), ctx=ast.Load())
            call = ast.copy_location(ast.Call(func=called, args=[given], keywords=[]), decorator)
            use = Use(call, at.use.scopes, at.use.is_typing)
            yield from call_faults(call, replace(at, use=use))
        elif before == {"called"} and after == {"bare"}:
            text = f"`@{said}` is called, but is now a plain decorator."
            yield at.misused(text, said, old, new).on_line(decorator.lineno)


def _decorates(node: ast.AST | None) -> set[str]:
    """Return how a decorator can be written: "bare", "called", both, or neither if unsure."""
    if not isinstance(node, Function):
        return set()
    inner = {child.name: child for child in node.body if isinstance(child, Function)}
    first = next((arg.arg for arg, _ in parameters(node.args)), "")
    found: set[str] = set()
    for child in own_nodes(node.body):
        value = child.value if isinstance(child, ast.Return) else None
        if value is None:
            continue
        if is_named(value, first) or (
            isinstance(value, ast.Call) and any(is_named(arg, first) for arg in value.args)
        ):
            found.add("bare")
        elif isinstance(value, ast.Name) and value.id in inner:
            made = inner[value.id]
            is_bare_inside = _decorates(made) == {"bare"}
            if _calls(made, first, as_argument=True) and not is_bare_inside:
                found.add("bare")
            elif is_bare_inside:
                found.add("called")
            else:
                return set()
        elif isinstance(value, ast.Lambda):
            found.add("bare" if _calls(value, first) else "called")
        else:
            return set()
    return found


def _calls(node: ast.AST, name: str, *, as_argument: bool = False) -> bool:
    """Return whether a node calls a name or, if `as_argument`, passes it as an argument."""
    return any(
        is_named(part.func, name) or (as_argument and any(is_named(a, name) for a in part.args))
        for part in walk(node)
        if isinstance(part, ast.Call)
    )


# The kinds of syntax nodes that each check examines.
_CHECKS: tuple[tuple[tuple[Any, ...], Callable[[Any, PairedUse], Iterator[Fault]]], ...]
_CHECKS = (
    ((ast.ImportFrom, ast.Import), import_faults),
    ((ast.Attribute,), attribute_faults),
    ((ast.Call,), call_faults),
    ((ast.Call,), result_faults),
    ((ast.Call,), type_faults),
    ((ast.Call, ast.With, ast.For, ast.Subscript), protocol_faults),
    ((ast.Call,), named_faults),
    ((ast.ClassDef,), base_faults),
    ((ast.ClassDef,), abstract_faults),
    ((Function,), override_faults),
    ((ast.ClassDef, Function), decorator_faults),
    ((ast.Assign,), arity_faults),
    ((Assigned,), override_faults),
    ((ast.Try,), handler_faults),
)


def faults_in(states: States, reach: Sequence[Lines]) -> Iterator[Told]:
    """Yield a finding for each fault in the given lines, with the patch that is responsible."""
    waiting = waiting_paths(states)
    pair_of = pairs_of(states)
    for path, where, is_ours in reach:
        pair = None if path in waiting else pair_of(path, is_ours)
        if pair is None or pair.now.module is None:
            continue
        uses = uses_of(pair.now.module, where)
        faults = [fault for use in uses for fault in faults_of(use, pair)]
        told: set[tuple[str, str]] = set()
        for fault in (*faults, *star_faults(pair, where.lines)):
            if fault.kind == "default" and not is_ours:
                continue  # the series changes the default for all callers on purpose
            homes = {e.module.path for e in (fault.old, fault.new) if e.module is not None}
            if (fault.text, fault.kind) not in told and homes.isdisjoint(waiting):
                told.add((fault.text, fault.kind))
                if patch := _patch_of(states, path, fault, pair, is_ours=is_ours):
                    yield patch, _finding(states, path, fault, pair, is_ours=is_ours)


def pairs_of(states: States) -> Callable[[str, bool], Pair]:
    """Return a function that pairs a file of the result with the series' or upstream's version."""
    parser = states.once("python", Parser)
    sides = states.merged, states.written, states.onto
    merged, written, onto = (PythonState(files, parser) for files in sides)

    def pair_of(path: str, is_ours: bool) -> Pair:
        if is_ours:
            then = written.reader(source_path(states, path))
            return Pair(merged.reader(path), then, states.changed_upstream)
        return Pair(merged.reader(path), onto.reader(path), frozenset(states.carriers))

    return pair_of


def faults_of(use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield the faults that the use of a name has after the merge and did not have before it."""
    at = PairedUse(pair.now, pair.then, pair.changed, use)
    for kinds, check in _CHECKS:
        if isinstance(use.node, kinds):
            yield from check(use.node, at)


def _finding(states: States, path: str, fault: Fault, pair: Pair, *, is_ours: bool) -> AuditFinding:
    commit = proposal = None
    is_removed = fault.kind == "removed"
    if is_removed:
        proposal = new_name(states, fault.old, fault.new, fault.symbol, pair.now.state)
    if is_ours and is_removed:
        commit = since_gone(states, fault.old, fault.symbol)
    elif is_ours:
        commit = since_signed(states, fault.new)
    text = fault.text if is_ours else f"{fault.text} The series changed that."
    if proposal:
        text += f" Its new name may be `{proposal}`."
    where = (path, fault.line, fault.symbol)
    return AuditFinding(fault.kind, fault.is_certain, *where, text, commit, proposal)


def _patch_of(states: States, path: str, fault: Fault, pair: Pair, *, is_ours: bool) -> str:
    """Return the patch that added the line of a use, or that removed what upstream's line uses.

    If there is none, returns a patch that changes a module which the file imports.
    """
    if is_ours:
        return patch_of_line(states, path, fault.line)
    home = fault.old.module.path if fault.old.module is not None else path
    line = fault.old.node.lineno if isinstance(fault.old.node, ast.stmt) else 0
    patch = patch_of_line(states, home, line, is_removed=True) or states.carriers.get(path, "")
    modules = () if patch else (module for _, module, _ in named_imports(states.merged.text(path)))
    places = sorted(pair.now.state.place(path, module) for module in modules)
    return next(filter(None, map(states.carriers.get, places)), patch)
