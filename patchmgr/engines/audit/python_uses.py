"""Find the uses of names in a Python file, to resolve each of them before and after a merge."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.audit.outline import Suspects, head_lines, is_among
from patchmgr.engines.audit.python_modules import Module, bindings
from patchmgr.engines.audit.python_names import Entity, PythonScope, Reader, Scopes
from patchmgr.engines.structure.python_tree import (
    Definition,
    elements,
    first_line,
    last_name,
)

_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"})
_ASKING = frozenset({"hasattr", "getattr", "find_spec"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_USES = (
    ast.ImportFrom, ast.Import, ast.Call, ast.Attribute, ast.Assign,
    ast.AnnAssign, ast.With, ast.For, ast.Subscript, ast.Try, Definition, ast.Lambda,
)  # fmt: skip


class Use(Struct, frozen=True):
    """A syntax node that uses Python names, with the functions and classes around it."""

    node: ast.AST
    scopes: Scopes = ()
    is_typing: bool = False  # only type checkers read it
    is_awaited: bool = False  # a call in an `await`
    is_called: bool = False  # the function part of a call
    around: ast.AST | None = None  # the parent node


class Pair(Struct, frozen=True):
    """A file after a merge (`now`), and as it was on the side that added lines to it (`then`)."""

    now: Reader
    then: Reader
    changed: frozenset[str]  # paths that the other side changed

    def is_same(self, found: Entity) -> bool:
        """Return whether the file that defines a class or function is unchanged by the merge."""
        if found.module is None:
            return False
        path = found.module.path
        return self.now.state.files.blob(path) == self.then.state.files.blob(path)


class Fault(Struct, frozen=True):
    """A use of a Python name that no longer fits what the name refers to."""

    kind: str
    text: str
    symbol: str  # to find a new name for one that is gone
    is_certain: bool
    line: int
    old: Entity  # what the name referred to before
    new: Entity  # what it refers to now

    def on_line(self, line: int) -> Fault:
        """Return a copy of the fault with another line number."""
        return replace(self, line=line)


class PairedUse(Pair, frozen=True):
    """A use of Python names that can be resolved in the files before and after a merge."""

    use: Use

    @property
    def line(self) -> int:
        """The line number of the use or, for an attribute, of the attribute's name."""
        node = self.use.node
        return getattr(node, "end_lineno" if isinstance(node, ast.Attribute) else "lineno", 0)

    def new(self, node: ast.AST) -> Entity:
        """Resolve an expression to what it refers to after the merge."""
        return self.now.entity(node, self.use.scopes)

    def old(self, node: ast.AST) -> Entity:
        """Resolve an expression to what it referred to before the merge."""
        return self.then.entity(node, self.use.scopes)

    def misused(
        self, text: str, symbol: str, old: Entity, new: Entity, *,
        kind: str = "signature", is_certain: bool = False,
    ) -> Fault:  # fmt: skip
        """Return a fault for a use that no longer fits what the name refers to after the merge."""
        return Fault(kind, text, symbol, is_certain, self.line, old, new)

    def gone(self, text: str, symbol: str, old: Entity, new: Entity) -> Fault:
        """Return a fault for the use of a name that no longer exists.

        It is definite unless a type was inferred or only type checkers read the code.
        """
        is_certain = not (self.use.is_typing or old.is_inferred or new.is_inferred)
        return Fault("removed", text, symbol, is_certain, self.line, old, new)


def uses_of(module: Module, where: Suspects) -> Iterator[Use]:
    """Yield the syntax nodes in the given lines that use names.

    Uses in code that handles missing names, such as a `try` with ImportError, are left out.
    """
    lines, near = sorted(where.lines), where.near
    every = (use for node in module.statements_on(near) for use in _uses_in(Use(node), near))
    return (use for use in every if _is_in(use.node, lines) and where.has(use.node))


def _is_in(node: ast.AST, lines: Sequence[int]) -> bool:
    """Return whether a use is in one of the given lines. Only the head of a definition counts."""
    first, last = head_lines(node)
    return is_among(lines, last if isinstance(node, ast.Attribute) else first, last)


def _uses_in(use: Use, near: Sequence[int]) -> Iterator[Use]:
    node = use.node
    last = getattr(node, "end_lineno", None)
    if isinstance(node, ast.stmt) and not is_among(near, first_line(node), last or node.lineno):
        return
    if isinstance(node, _USES):
        yield use
    for part in _parts(use):
        yield from _uses_in(part, near)


def _parts(use: Use) -> Iterator[Use]:
    """Yield the child nodes of a use, except those where a missing name is handled."""
    node, inner = use.node, use.scopes
    test = node.test if isinstance(node, (ast.If, ast.IfExp)) else None
    asking = node if isinstance(node, ast.BoolOp) else test
    if asking is not None and _asks(asking):
        return
    if isinstance(node, (Definition, ast.Lambda, *_COMPREHENSIONS)):
        inner = (*inner, PythonScope(node))
    elif isinstance(node, (ast.If, ast.IfExp)):
        inner = (*inner, *_narrowed(node))
    skipped = "body" if isinstance(node, (ast.Try, ast.With)) and _is_fallback(node) else ""
    is_for_types = test is not None and last_name(test) == "TYPE_CHECKING"
    for name, child in _children(node):
        is_inner = name == "body" or isinstance(node, _COMPREHENSIONS)
        is_typing = name in ("annotation", "returns") or (is_for_types and name == "body")
        if name != skipped:
            yield Use(
                child,
                inner if is_inner else use.scopes,
                is_typing=use.is_typing or is_typing,
                is_awaited=isinstance(node, ast.Await),
                is_called=isinstance(node, ast.Call) and name == "func",
                around=node,
            )


def _asks(test: ast.expr) -> bool:
    """Return whether a condition asks whether a name exists."""
    return any(word in ast.unparse(test) for word in _ASKING)


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the child nodes that may be or contain uses, each with the field that holds it."""
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST) and child._fields and not isinstance(child, ast.Name):
                yield name, child


def _narrowed(node: ast.If | ast.IfExp) -> Scopes:
    """Return a scope in which a name has the class that `isinstance` tests for, or no scope."""
    match node.test:
        case ast.Call(func=ast.Name("isinstance"), args=[ast.Name(id=name), asked]):
            body = node.body if isinstance(node.body, list) else [node.body]
            is_bound = any(bound == name for bound, _ in bindings(body))
            if not is_bound and not isinstance(asked, ast.Tuple):
                return (PythonScope(node, {name: ast.arg(arg=name, annotation=asked)}),)
    return ()


def _is_fallback(node: ast.Try | ast.With) -> bool:
    """Return whether a `try` or `with suppress` handles the exception of a missing name."""
    kinds: list[ast.expr] = []
    if isinstance(node, ast.Try):
        for handler in node.handlers:
            kinds += elements(handler.type or ast.Name("Exception"))
    else:
        calls = [i.context_expr for i in node.items if isinstance(i.context_expr, ast.Call)]
        kinds += [
            kind for call in calls if last_name(call.func) == "suppress" for kind in call.args
        ]
    return not _MISSING.isdisjoint(map(last_name, kinds))
