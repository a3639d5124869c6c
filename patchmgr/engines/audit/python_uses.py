"""Where a Python file uses names, and what each use means in one state of all files."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.audit.python_modules import (
    UNKNOWN,
    Entity,
    Function,
    Module,
    PythonState,
    class_names,
)

_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"})
_ASKING = frozenset({"hasattr", "getattr", "find_spec"})


class Scope(Struct):
    """A function or a class; `names` are what a function binds, by the statement that does.

    What is bound otherwise, or twice, is None.
    """

    node: ast.AST
    names: dict[str, ast.AST | None] = field(default_factory=dict)


class Use(Struct, frozen=True):
    """A node that uses names, with the scopes around it.

    `is_awaited` is of calls, `is_called` of what is called. `is_typing` is what no run executes.
    `around` is the node that a call stands in.
    """

    node: ast.AST
    scopes: tuple[Scope, ...]
    is_awaited: bool = False
    is_called: bool = False
    is_typing: bool = False
    around: ast.AST | None = None


def uses_of(tree: ast.Module, lines: Sequence[int]) -> Iterator[Use]:
    """Yield what uses names in some lines, which are sorted.

    Left out is where the source itself provides for a name that is missing.
    """
    return (use for use in _uses(tree.body, (), lines, is_typing=False) if _is_in(use, lines))


def _is_in(use: Use, lines: Sequence[int]) -> bool:
    """Say whether what makes a use is in one of the lines: of a definition its head."""
    node = use.node
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    if isinstance(node, (*Function, ast.ClassDef)):
        last = max(first, node.body[0].lineno - 1)
    elif isinstance(node, ast.Attribute):
        first = last
    return _any_in(lines, first, last)


def _any_in(lines: Sequence[int], first: int, last: int) -> bool:
    at = bisect_left(lines, first)
    return at < len(lines) and lines[at] <= last


def _uses(
    nodes: Sequence[ast.AST], scopes: tuple[Scope, ...], lines: Sequence[int], *, is_typing: bool
) -> Iterator[Use]:
    for node in nodes:
        yield from _uses_in(node, scopes, lines, is_typing=is_typing)


def _uses_in(
    node: ast.AST, scopes: tuple[Scope, ...], lines: Sequence[int], *, is_typing: bool,
    is_awaited: bool = False, is_called: bool = False, around: ast.AST | None = None,
) -> Iterator[Use]:  # fmt: skip
    if isinstance(node, ast.stmt):
        decorators = getattr(node, "decorator_list", ())
        first = min([node.lineno, *(d.lineno for d in decorators)])
        if not _any_in(lines, first, node.end_lineno or node.lineno):
            return
    if isinstance(node, ast.Try):
        yield Use(node, scopes, is_typing=is_typing)
        if not _is_fallback(node):
            yield from _uses(node.body, scopes, lines, is_typing=is_typing)
        rest = (*node.handlers, *node.orelse, *node.finalbody)
        yield from _uses(rest, scopes, lines, is_typing=is_typing)
        return
    if isinstance(node, (ast.If, ast.IfExp)):
        test = ast.unparse(node.test)
        if any(word in test for word in _ASKING):
            return
        is_typed = test.endswith("TYPE_CHECKING")
        narrowed = _narrowed(node)
        for name, child in _children(node):
            inner = is_typing or (is_typed and name == "body")
            below = (*scopes, narrowed) if narrowed is not None and name == "body" else scopes
            yield from _uses_in(child, below, lines, is_typing=inner)
        return
    if isinstance(node, (*Function, ast.ClassDef, ast.Lambda)):
        yield Use(node, scopes, is_typing=is_typing)
        outside = (getattr(node, name, ()) for name in ("decorator_list", "bases", "keywords"))
        yield from _uses([n for part in outside for n in part], scopes, lines, is_typing=is_typing)
        if not isinstance(node, ast.ClassDef):
            yield from _uses([node.args], scopes, lines, is_typing=is_typing)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        inner_scope = Scope(node, {} if isinstance(node, ast.ClassDef) else _bound_in(node))
        yield from _uses(body, (*scopes, inner_scope), lines, is_typing=is_typing)
        return
    if isinstance(
        node,
        (ast.ImportFrom, ast.Import, ast.Call, ast.Attribute, ast.Constant, ast.Assign,
         ast.AnnAssign, ast.With, ast.For, ast.Subscript),
    ):  # fmt: skip
        yield Use(node, scopes, is_awaited, is_called, is_typing, around)
    for name, child in _children(node):
        yield from _uses_in(
            child,
            scopes,
            lines,
            is_typing=is_typing or name == "annotation",
            is_awaited=isinstance(node, ast.Await),
            is_called=isinstance(node, ast.Call) and name == "func",
            around=node,
        )


def _narrowed(node: ast.If | ast.IfExp) -> Scope | None:
    """Return a scope in which a name is of the class that a condition asks about."""
    test = node.test
    if (
        not isinstance(test, ast.Call)
        or len(test.args) != 2
        or ast.unparse(test.func) != "isinstance"
    ):
        return None
    name, asked = test.args
    body = node.body if isinstance(node.body, list) else [node.body]
    if not isinstance(name, ast.Name) or isinstance(asked, ast.Tuple):
        return None
    if any(bound == name.id for bound, _ in _bindings(body)):
        return None
    return Scope(node, {name.id: ast.arg(arg=name.id, annotation=asked)})


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST):
                yield name, child


def _is_fallback(node: ast.Try) -> bool:
    """Say whether a handler takes what a missing name raises."""
    for handler in node.handlers:
        if handler.type is None:
            return True
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if not {ast.unparse(t).rpartition(".")[2] for t in types}.isdisjoint(_MISSING):
            return True
    return False


def _bound_in(node: ast.AST) -> dict[str, ast.AST | None]:
    """Return what a function binds."""
    found: dict[str, ast.AST | None] = {}
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        found.update({arg.arg: arg for arg in named})
        found.update({arg.arg: None for arg in (arguments.vararg, arguments.kwarg) if arg})
    body = node.body if isinstance(node, Function) else []
    for name, by in _bindings(body):
        found[name] = None if name in found else by
    return found


def _bindings(body: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST | None]]:
    for node in body:
        if isinstance(node, (*Function, ast.ClassDef)):
            yield node.name, None
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], node
            continue
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield from ((t.id, node) for t in node.targets if isinstance(t, ast.Name))
            yield from _bindings([node.value])
            continue
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node
            yield from _bindings([node.value] if node.value else [])
            continue
        if isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            yield node.optional_vars.id, node
            yield from _bindings([node.context_expr])
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, None
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node
        elif isinstance(node, ast.Lambda):
            yield from ((arg.arg, None) for arg in node.args.args)
        yield from _bindings(list(ast.iter_child_nodes(node)))


class Reader:
    """Says what expressions of one file stand for in one state.

    `path` is where the file is in that state. Scopes may be those of another state's text: what a
    function binds does not depend on the state.
    """

    def __init__(self, state: PythonState, path: str) -> None:
        self.state = state
        self.path = path

    @property
    def module(self) -> Module | None:
        """Return the file itself, parsed where it was not yet."""
        return self.state.module(self.path)

    def entity(self, node: ast.AST, scopes: tuple[Scope, ...], depth: int = 0) -> Entity:
        """Return what an expression stands for."""
        if depth > 20:
            return UNKNOWN
        if isinstance(node, ast.Name):
            return self._name(node.id, scopes, depth)
        if isinstance(node, ast.Attribute):
            if _is_super(node.value):
                owner = self._class(scopes)
                found = UNKNOWN if owner is None else self.state.inherited(owner, node.attr)
                return replace(found, is_inferred=True, is_bound=True)
            return self.state.attribute(self.entity(node.value, scopes, depth + 1), node.attr)
        if isinstance(node, ast.Call):
            return self.state.result(self.entity(node.func, scopes, depth + 1))
        if isinstance(node, ast.Await):
            return self.entity(node.value, scopes, depth + 1)
        return UNKNOWN

    def imported(self, node: ast.ImportFrom | ast.Import, alias: ast.alias) -> Entity:
        """Return what one name of an import statement gives."""
        if isinstance(node, ast.Import):
            return self.state.imported(self.path, alias.name, "")
        module = "." * node.level + (node.module or "")
        return self.state.imported(self.path, module, alias.name)

    def own_class(self, scopes: tuple[Scope, ...], name: str) -> Entity | None:
        """Return the class of that name in some scopes."""
        around = [scope.node for scope in scopes]
        if self.module is None or not all(isinstance(n, ast.ClassDef) for n in around):
            return None
        names = [n.name for n in around if isinstance(n, ast.ClassDef)]
        found = self.state.named(self.module, [*names, name][0])
        for inner in [*names, name][1:]:
            found = None if found is None else self.state.class_member(found, inner)
        return found if found is not None and found.what == "class" else None

    def _class(self, scopes: tuple[Scope, ...]) -> Entity | None:
        """Return the class whose method an expression is in."""
        for number in range(len(scopes) - 1, -1, -1):
            node = scopes[number].node
            if isinstance(node, ast.ClassDef):
                return self.own_class(scopes[:number], node.name)
        return None

    def _name(self, name: str, scopes: tuple[Scope, ...], depth: int) -> Entity:
        for number in range(len(scopes) - 1, -1, -1):
            scope = scopes[number]
            if name not in scope.names:
                continue
            by = scope.names[name]
            outer = scopes[: number + 1]
            if isinstance(by, ast.arg):
                return self._argument(by, scopes[:number], scope)
            if isinstance(by, (ast.Import, ast.ImportFrom)):
                return self._local_import(by, name)
            if isinstance(by, ast.Assign) and isinstance(by.value, (ast.Call, ast.Await)):
                found = self.entity(by.value, outer, depth + 1)
                return found if found.what == "instance" else UNKNOWN
            if isinstance(by, ast.AnnAssign):
                return self._annotated(by.annotation, outer)
            if isinstance(by, ast.ExceptHandler):
                return self._annotated(by.type, outer)
            if isinstance(by, ast.withitem):
                return self._entered(self.entity(by.context_expr, outer, depth + 1))
            return UNKNOWN
        if self.module is None:
            return UNKNOWN
        return self.state.named(self.module, name) or UNKNOWN

    def _argument(self, arg: ast.arg, scopes: tuple[Scope, ...], scope: Scope) -> Entity:
        node = scope.node
        if scopes and isinstance(scopes[-1].node, ast.ClassDef) and isinstance(node, Function):
            first = (*node.args.posonlyargs, *node.args.args)[:1]
            decorators = {ast.unparse(d) for d in node.decorator_list}
            if first and first[0] is arg and "staticmethod" not in decorators:
                owner = self._class(scopes)
                if owner is None:
                    return UNKNOWN
                is_class = "classmethod" in decorators
                return replace(owner, what="class" if is_class else "instance", is_inferred=True)
        return self._annotated(arg.annotation, scopes)

    def made(self, node: ast.AST, scopes: tuple[Scope, ...]) -> Entity:
        """Return what an expression stands for; of a value the object that it seems to be."""
        found = self.entity(node, scopes)
        made = self.state.type_of(found) if found.what == "value" else found
        return found if made.what == "unknown" else made

    def _entered(self, manager: Entity) -> Entity:
        """Return what `with` gives of a context manager: itself, or what is annotated."""
        if manager.what != "instance":
            return UNKNOWN
        enter = self.state.class_member(manager, "__enter__").node
        if not isinstance(enter, Function):
            return UNKNOWN
        last, me = enter.body[-1], enter.args.args[0].arg if enter.args.args else ""
        if isinstance(last, ast.Return) and isinstance(last.value, ast.Name):
            return manager if last.value.id == me else UNKNOWN
        return UNKNOWN

    def _annotated(self, node: ast.expr | None, scopes: tuple[Scope, ...]) -> Entity:
        for name in class_names(node):
            found = self.entity(name, scopes)
            if found.what == "class":
                return replace(found, what="instance", is_inferred=True)
        return UNKNOWN

    def _local_import(self, node: ast.Import | ast.ImportFrom, name: str) -> Entity:
        for alias in node.names:
            if (alias.asname or alias.name.partition(".")[0]) != name:
                continue
            if isinstance(node, ast.Import) and alias.asname is None:
                return self.state.imported(self.path, name, "")
            return self.imported(node, alias)
        return UNKNOWN


def _is_super(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
        and not node.args
    )
