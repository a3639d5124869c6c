"""Resolve Python names and expressions within one version of a project's files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.audit.python_modules import (
    Module,
    Parser,
    bindings,
    decorators,
    members_of,
    namedtuple_class,
)
from patchmgr.engines.audit.states import Files
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.structure.guards_imports import ENDS, places
from patchmgr.engines.structure.python_tree import (
    Definition,
    Function,
    bound_by,
    is_named,
    keyword_parameters,
    module_of,
    parameters,
    parse_expression,
)

_DEEPEST = 24  # re-exports and bases that are followed one after the other, at most
# Bases without members that a project's code would use. A class with any other base from outside
# the project may have any member.
_PLAIN_BASES = frozenset({
    "object", "ABC", "Protocol", "Generic", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag",
    "NamedTuple", "str", "int",
})  # fmt: skip
_PLAIN_DECORATORS = frozenset({"dataclass", "dataclasses.dataclass", "final", "runtime_checkable"})
_OPENING = frozenset({"__getattr__", "__getattribute__", "__class_getitem__"})
_KEEPS_FUNCTION = frozenset({"staticmethod", "classmethod", "abstractmethod"})

What = Literal["module", "class", "function", "value", "instance", "gone", "absent", "unknown"]


class Entity(Struct, frozen=True):
    """The module, class, function, value or instance that a Python expression refers to."""

    # `gone`: a module or class that exists lacks the name; `absent`: the module is not among the
    # files
    what: What
    name: str = ""  # as in the source
    module: Module | None = None
    folder: str = ""
    node: ast.AST | None = None
    owner: Entity | None = None  # the class of a member
    is_inferred: bool = False  # the type of an object was inferred
    is_bound: bool = False  # the method gets the object as its first argument
    is_property: bool = False
    is_decorated: bool = False
    # base classes that the files do not define; a `gone` member may still come from them
    outside: frozenset[str] = frozenset()

    def instance(self) -> Entity:
        """Return an instance of this class, marked as having an inferred type."""
        return replace(self, what="instance", is_inferred=True)


UNKNOWN = Entity("unknown")


class PythonScope:
    """A function, class or comprehension around an expression."""

    def __init__(self, node: ast.AST, names: dict[str, ast.AST | None] | None = None) -> None:
        self.node = node
        if names is not None:
            self.names = names

    @cached_property
    def names(self) -> dict[str, ast.AST | None]:
        """Map each name to the node that binds it.

        The value is None if several nodes bind the name, or one of a kind that is not analyzed.
        """
        found: dict[str, ast.AST | None] = {}
        arguments = getattr(self.node, "args", None)
        if isinstance(arguments, ast.arguments):
            named = (*parameters(arguments), *keyword_parameters(arguments))
            found.update({arg.arg: arg for arg, _ in named})
            found.update({arg.arg: None for arg in (arguments.vararg, arguments.kwarg) if arg})
        for name, by in bindings(self.node.body if isinstance(self.node, Definition) else ()):
            found[name] = None if name in found else by
        targets = bindings([part.target for part in getattr(self.node, "generators", ())])
        found.update(dict.fromkeys(name for name, _ in targets))
        return found


Scopes = tuple[PythonScope, ...]


class PythonState:
    """Resolves Python names in one version of a project's files."""

    def __init__(self, files: Files, parser: Parser) -> None:
        self.files = files
        self._parser = parser
        self._found: dict[str, str] = {}

    def module(self, path: str) -> Module | None:
        """Return the module at a path, or None if the file is missing or cannot be read."""
        return self._parser.module(self.files, path)

    def place(self, path: str, module: str) -> str:
        """Return the path to which a module name in an import refers, or "" if there is none."""
        for place in places(path, module):
            if place not in self._found:
                self._found[place] = self._file_at(place)
            if self._found[place]:
                return self._found[place]
        return ""

    def _file_at(self, place: str) -> str:
        files = self.files
        for end in ENDS:
            if files.blob(place + end) is not None:
                return place + end
        return place if place and files.exists(place) and files.blob(place) is None else ""

    def imported(self, path: str, module: str, name: str = "", depth: int = 0) -> Entity:
        """Resolve an import, in the file at `path`, of a module or of a name from a module."""
        place = self.place(path, module)
        if not place:
            return Entity("absent", f"{module}.{name}" if name else module)
        found = Entity("module", module, folder=place)
        if place.endswith(PYTHON):
            parsed = self.module(place)
            if parsed is None:
                return UNKNOWN
            folder = place.removesuffix("/__init__.py") if place.endswith("/__init__.py") else ""
            found = Entity("module", module, parsed, folder)
        return self.member(found, name, depth) if name else found

    def member(self, module: Entity, name: str, depth: int = 0) -> Entity:
        """Resolve a name in a module to what it refers to, which may be a submodule."""
        if depth > _DEEPEST:
            return UNKNOWN
        parsed = module.module
        found = None if parsed is None else self.named(parsed, name, depth + 1)
        if found is not None:
            return found
        if module.folder:
            below = self.imported(f"{module.folder}/__init__.py", f".{name}", "", depth + 1)
            if below.what != "absent":
                return replace(below, name=name)
        if parsed is not None and (parsed.is_open or name in parsed.bound):
            return UNKNOWN
        return Entity("gone", f"{module.name}.{name}", parsed, folder=module.folder)

    def named(self, module: Module, name: str, depth: int = 0) -> Entity | None:
        """Resolve a global name of a module, or return None if the module does not have it."""
        if module.counts.get(name, 0) > 1:
            return UNKNOWN
        if name in module.imports:
            found = self.imported(module.path, *module.imports[name], depth)
            return UNKNOWN if found.what in ("absent", "gone") else replace(found, name=name)
        node = module.member(name)
        if node is not None:
            if isinstance(node, Function):
                is_decorated = bool(node.decorator_list)
                return Entity("function", name, module, node=node, is_decorated=is_decorated)
            made = node if isinstance(node, ast.ClassDef) else namedtuple_class(node)
            return Entity("value" if made is None else "class", name, module, node=made or node)
        if name in module.bound:
            return UNKNOWN
        for star in module.stars:
            found = self.imported(module.path, star, name, depth)
            if found.what != "gone":
                return UNKNOWN if found.what == "absent" else found
        return None

    def attribute(self, owner: Entity, name: str, depth: int = 0) -> Entity:
        """Resolve an attribute of a module, class, instance or value to what it refers to."""
        if depth > _DEEPEST:
            return UNKNOWN
        if owner.what == "module":
            return self.member(owner, name, depth)
        if owner.what in ("class", "instance"):
            found = self.class_member(owner, name, depth)
            made = decorators(found.node)
            is_object = owner.what == "instance"
            is_bound = (is_object or "classmethod" in made) and "staticmethod" not in made
            is_inferred = found.is_inferred or owner.is_inferred or is_object
            return replace(found, is_inferred=is_inferred, is_bound=is_bound)
        if owner.what == "value":
            made_of = self.type_of(owner, depth + 1)
            if made_of.what == "instance":
                return self.attribute(made_of, name, depth + 1)
        return UNKNOWN

    def class_member(self, owner: Entity, name: str, depth: int = 0) -> Entity:
        """Resolve a name to the member that a class defines or inherits.

        The result is `gone` if there is no such member, and UNKNOWN if this cannot be decided.
        """
        node, module = owner.node, owner.module
        if depth > _DEEPEST or not isinstance(node, ast.ClassDef) or module is None:
            return UNKNOWN
        own = members_of(node)
        if name in own:
            return _member(own[name], name, owner)
        dotted = f"{node.name}.{name}"  # a search for the text is cheaper than for the pattern
        is_set = dotted in module.text and re.search(
            rf"\b{dotted}[ \t]*(?::[^=\n]*)?=(?!=)", module.text
        )
        if node.keywords or not own.keys().isdisjoint(_OPENING) or module.is_open or is_set:
            return UNKNOWN
        said = {ast.unparse(d).partition("(")[0] for d in node.decorator_list}
        found = self.inherited(owner, name, depth + 1)
        if found.what != "gone":
            return found
        # Another decorator may add members, but hardly one that the class itself had before.
        is_inferred = found.is_inferred or not said <= _PLAIN_DECORATORS
        return replace(found, name=dotted, is_inferred=is_inferred)

    def inherited(self, owner: Entity, name: str, depth: int = 0) -> Entity:
        """Resolve a name to the member that a class inherits, or to `gone` if there is none."""
        outside: set[str] = set()
        for said, base in self.bases(owner, depth):
            if base.what == "class":
                found = self.class_member(base, name, depth + 1)
                if found.what != "gone":
                    return found
                outside |= found.outside
            elif base.what != "value":
                outside.add(said)
        owner, names = replace(owner, what="class"), frozenset(outside)
        return Entity("gone", f"super().{name}", owner.module, owner=owner, outside=names)

    def bases(self, owner: Entity, depth: int = 0) -> Iterator[tuple[str, Entity]]:
        """Yield (source text, class) for each direct base of a class."""
        node, module = owner.node, owner.module
        if not isinstance(node, ast.ClassDef) or module is None:
            return
        for base in node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            said = ast.unparse(inner)
            if said.rpartition(".")[2] in _PLAIN_BASES:
                yield said, Entity("value", said)
            else:
                yield said, self.within(module).entity(inner, (), depth + 1)

    def outside(self, owner: Entity) -> frozenset[str]:
        """Return the direct and indirect bases of a class that the project does not define."""
        return self.inherited(owner, "").outside

    def result(self, called: Entity, depth: int = 0) -> Entity:
        """Return an entity for the object that a call of `called` returns, or UNKNOWN.

        The class of the object is `called` itself, or is given by its return annotation.
        """
        if called.what == "class":
            return called.instance()
        is_plain = called.is_property or not called.is_decorated
        if called.what != "function" or not is_plain or called.module is None:
            return UNKNOWN
        returns = called.node.returns if isinstance(called.node, Function) else None
        return self.within(called.module).annotated(returns, (), depth + 1)

    def type_of(self, value: Entity, depth: int = 0) -> Entity:
        """Infer the class of a variable; return an entity for an instance of it, or UNKNOWN."""
        node = value.node
        if value.module is None or depth > _DEEPEST:
            return UNKNOWN
        reader = self.within(value.module)
        if value.is_property and isinstance(node, Function):
            return reader.annotated(node.returns, (), depth + 1)
        if isinstance(node, ast.AnnAssign):
            return reader.annotated(node.annotation, (), depth + 1)
        if isinstance(node, ast.Assign):
            owner = value.owner.node if value.owner is not None else None
            found = reader.entity(node.value, _setting_scopes(owner, node), depth + 1)
            made = self.type_of(found, depth + 1) if found.what == "value" else found
            return made if made.what == "instance" else UNKNOWN
        return UNKNOWN

    def reader(self, path: str) -> Reader:
        """Return a resolver for the expressions in the file at a path."""
        return Reader(self, path, self.module(path))

    def within(self, module: Module) -> Reader:
        """Return a resolver for the expressions in a module."""
        return Reader(self, module.path, module)


class Reader(Struct, frozen=True):
    """Resolves the expressions of the file at `path`, in one version of a project's files.

    The scopes of an expression may be taken from another version of the file.
    """

    state: PythonState
    path: str
    module: Module | None

    def entity(self, node: ast.AST, scopes: Scopes, depth: int = 0) -> Entity:
        """Resolve an expression to what it refers to, or UNKNOWN."""
        if depth > _DEEPEST:
            return UNKNOWN
        if isinstance(node, ast.Name):
            return self._name(node.id, scopes, depth + 1)
        if isinstance(node, ast.Attribute):
            if _is_super(node.value):
                owner = self._class(scopes)
                found = UNKNOWN if owner is None else self.state.inherited(owner, node.attr, depth)
                return replace(found, is_inferred=True, is_bound=True)
            owner = self.entity(node.value, scopes, depth + 1)
            return self.state.attribute(owner, node.attr, depth + 1)
        if isinstance(node, ast.Call):
            return self.state.result(self.entity(node.func, scopes, depth + 1), depth + 1)
        if isinstance(node, ast.Await):
            return self.entity(node.value, scopes, depth + 1)
        return UNKNOWN

    def imported(self, node: ast.ImportFrom | ast.Import, alias: ast.alias) -> Entity:
        """Resolve one name in an import statement to what it refers to."""
        if isinstance(node, ast.Import):
            return self.state.imported(self.path, alias.name)
        return self.state.imported(self.path, module_of(node), alias.name)

    def own_class(self, scopes: Scopes, name: str) -> Entity | None:
        """Return the class `name` that is nested in the classes `scopes`, or None."""
        around = [scope.node for scope in scopes]
        names = [n.name for n in around if isinstance(n, ast.ClassDef)]
        if self.module is None or len(names) < len(around):
            return None
        first, *inner = [*names, name]
        found = self.state.named(self.module, first)
        for part in inner:
            found = None if found is None else self.state.class_member(found, part)
        return found if found is not None and found.what == "class" else None

    def made(self, node: ast.AST, scopes: Scopes) -> Entity:
        """Resolve an expression as `entity` does, but a variable to the object that it holds."""
        found = self.entity(node, scopes)
        made = self.state.type_of(found) if found.what == "value" else found
        return found if made.what == "unknown" else made

    def annotated(self, node: ast.expr | None, scopes: Scopes, depth: int = 0) -> Entity:
        """Return an instance of the class that an annotation names, or UNKNOWN."""
        for name in class_names(node):
            found = self.entity(name, scopes, depth + 1)
            if found.what == "class":
                return found.instance()
        return UNKNOWN

    def _class(self, scopes: Scopes) -> Entity | None:
        for number in range(len(scopes) - 1, -1, -1):
            node, outer = scopes[number].node, scopes[:number]
            if isinstance(node, ast.ClassDef):
                if all(isinstance(scope.node, ast.ClassDef) for scope in outer):
                    return self.own_class(outer, node.name)
                return Entity("class", node.name, self.module, node=node)  # local to a function
        return None

    def _name(self, name: str, scopes: Scopes, depth: int) -> Entity:
        for number in range(len(scopes) - 1, -1, -1):
            is_hidden = isinstance(scopes[number].node, ast.ClassDef) and number < len(scopes) - 1
            if not is_hidden and name in scopes[number].names:
                return self._local(name, scopes[: number + 1], depth)
        found = None if self.module is None else self.state.named(self.module, name, depth)
        return found or UNKNOWN

    def _local(self, name: str, scopes: Scopes, depth: int) -> Entity:
        """Resolve a local name to what it refers to. The last of the scopes must bind the name."""
        match scopes[-1].names[name]:
            case ast.arg() as arg:
                return self._argument(arg, scopes, depth)
            case (ast.Import() | ast.ImportFrom()) as node:
                alias = next(alias for alias in node.names if name in bound_by(alias))
                if isinstance(node, ast.Import) and alias.asname is None:
                    return self.state.imported(self.path, name)
                return self.imported(node, alias)
            case ast.Assign(value=ast.Call() | ast.Await() as value):
                found = self.entity(value, scopes, depth)
                return found if found.what == "instance" else UNKNOWN
            case ast.AnnAssign(annotation=kind) | ast.ExceptHandler(type=kind):
                return self.annotated(kind, scopes, depth)
            case ast.withitem(context_expr=value):
                return self._entered(self.entity(value, scopes, depth))
        return UNKNOWN

    def _argument(self, arg: ast.arg, scopes: Scopes, depth: int) -> Entity:
        node, outer = scopes[-1].node, scopes[:-1]
        if outer and isinstance(outer[-1].node, ast.ClassDef) and isinstance(node, Function):
            first = parameters(node.args)[:1]
            marks = {ast.unparse(d) for d in node.decorator_list}
            if first and first[0][0] is arg and "staticmethod" not in marks:
                owner = self._class(outer)
                if owner is None:
                    return UNKNOWN
                is_class = "classmethod" in marks
                return replace(owner, what="class" if is_class else "instance", is_inferred=True)
        return self.annotated(arg.annotation, outer, depth)

    def _entered(self, manager: Entity) -> Entity:
        """Return the context manager itself if its `__enter__` returns `self`, or else UNKNOWN."""
        if manager.what != "instance":
            return UNKNOWN
        enter = self.state.class_member(manager, "__enter__").node
        if not isinstance(enter, Function):
            return UNKNOWN
        last, me = enter.body[-1], enter.args.args[0].arg if enter.args.args else ""
        return manager if isinstance(last, ast.Return) and is_named(last.value, me) else UNKNOWN


def class_names(node: ast.expr | None) -> Iterator[ast.expr]:
    """Yield the one class that an annotation such as `C`, `"C"` or `C | None` names, if any."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = parse_expression(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [s for s in (node.left, node.right) if not _is_none(s)]
        if len(sides) == 1:
            yield from class_names(sides[0])
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Optional"):
        yield from class_names(node.slice)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield node


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and is_named(node.func, "super") and not node.args


@lru_cache(maxsize=4096)
def _setting_scopes(owner: ast.AST | None, node: ast.Assign) -> Scopes:
    """Return the scopes of the method that contains an assignment to an attribute of its class."""
    if not isinstance(owner, ast.ClassDef):
        return ()
    for method in owner.body:
        end = getattr(method, "end_lineno", 0)
        if isinstance(method, Function) and method.lineno <= node.lineno <= end:
            return PythonScope(owner), PythonScope(method)
    return ()


def _member(nodes: list[ast.AST], name: str, owner: Entity) -> Entity:
    """Resolve a member of a class to what it refers to, given the statements that bind it."""
    what: What = "value"
    node: ast.AST | None = nodes[0]
    is_property = is_decorated = False
    functions = [each for each in nodes if isinstance(each, Function)]
    getters = [f for f in functions if any("property" in d for d in decorators(f))]
    if getters:
        node, is_property, is_decorated = getters[0], True, True
    elif len(nodes) == 1 and functions:
        what, is_decorated = "function", not decorators(node) <= _KEEPS_FUNCTION
    elif len(nodes) == 1 and isinstance(node, ast.ClassDef):
        what = "class"
    elif functions:
        return UNKNOWN
    elif len(nodes) > 1:
        # A member that is assigned more than once has the type of the annotated assignment.
        typed = next((n for n in nodes if isinstance(n, ast.AnnAssign)), nodes[0])
        node = None if typed is nodes[0] else typed
    return Entity(
        what, name, owner.module, node=node, owner=replace(owner, what="class"),
        is_property=is_property, is_decorated=is_decorated,
    )  # fmt: skip
