"""What Python names stand for in one state of all files, from the sources alone."""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.audit.states import Files
from patchmgr.engines.structure.guards_imports import bound_in, places
from patchmgr.engines.structure.guards_text import imported_names
from patchmgr.engines.structure.python_tree import parse_python

ENDS = (".py", "/__init__.py", ".pyi")
LARGEST = 1_000_000  # bytes of a module that is read
MOST_READ = 64_000_000  # bytes in all, for one audit
_DEEPEST = 24  # re-exports and bases that are followed
# Bases that bring no members that a project's own code names; a class that has others may have
# any member.
_PLAIN_BASES = frozenset({
    "object", "ABC", "Protocol", "Generic", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag",
    "NamedTuple", "str", "int",
})  # fmt: skip
_PLAIN_DECORATORS = frozenset({"dataclass", "dataclasses.dataclass", "final", "runtime_checkable"})
_OPENING = frozenset({"__getattr__", "__getattribute__", "__class_getitem__"})
_FILLING = frozenset({"globals", "vars", "setattr", "exec"})

_WITH_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case, ast.withitem)
Function = (ast.FunctionDef, ast.AsyncFunctionDef)
What = Literal["module", "class", "function", "value", "instance", "gone", "absent", "unknown"]


class Module(Struct, frozen=True):
    """One parsed module: what it defines, by name, and its names by what they import.

    `bound` are all names that it binds, whatever the condition, `counts` how often each is. A
    module that `is_open` may have other names as well.
    """

    path: str
    members: Mapping[str, ast.AST]
    node: ast.Module
    imports: Mapping[str, tuple[str, str]]
    bound: frozenset[str]
    counts: Mapping[str, int]
    stars: tuple[str, ...]
    is_open: bool


class Entity(Struct, frozen=True):
    """What a name stands for. `gone`: its module or class is known, and does not have it.

    `absent` is a module outside of the files. `name` is how the source calls it, `owner` the class
    whose member it is. `is_inferred` says that the type of an object had to be inferred on the way.
    `is_bound` says that a method gets its first argument from the object. What is gone from a class
    may still come from its bases `outside` of the files.
    """

    what: What
    name: str = ""
    module: Module | None = None
    folder: str = ""
    node: ast.AST | None = None
    owner: Entity | None = None
    is_inferred: bool = False
    is_bound: bool = False
    is_property: bool = False
    is_decorated: bool = False
    outside: frozenset[str] = frozenset()


UNKNOWN = Entity("unknown")


class Parser:
    """Reads modules, each content once, up to a limit of bytes."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Module | None] = {}
        self._left = MOST_READ

    def module(self, files: Files, path: str) -> Module | None:
        """Return a module, None where it cannot be read."""
        key = path, files.blob(path) or ""
        if key not in self._known:
            self._known[key] = self._parsed(path, files.read(path))
        return self._known[key]

    def _parsed(self, path: str, content: bytes | None) -> Module | None:
        if content is None or len(content) > min(LARGEST, self._left):
            return None
        self._left -= len(content)
        tree = parse_python(content.decode("utf-8", "replace").removeprefix("\ufeff"))
        try:
            return None if tree is None else _module(path, tree)
        except RecursionError:
            return None


def _module(path: str, node: ast.Module) -> Module:
    imports: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    counts: Counter[str] = Counter()
    members: dict[str, ast.AST] = {}
    for statement in statements(node.body):
        for module, name, bound in imported_names(statement):
            if name == "*":
                stars.append(module)
                continue
            imports[bound or name or module.partition(".")[0]] = (
                (module, name) if name or bound else (module.partition(".")[0], "")
            )
        names = list(_bound_by(statement))
        counts.update(names)
        members.update(dict.fromkeys(names, statement))
    is_open = "__getattr__" in counts or any(
        isinstance(child, ast.Call)
        and isinstance(child.func, ast.Name)
        and child.func.id in _FILLING
        for statement in node.body
        if not isinstance(statement, (*Function, ast.ClassDef))
        for child in ast.walk(statement)
    )
    return Module(path, members, node, imports, bound_in(node), counts, tuple(stars), is_open)


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body with those under its conditions, but of no definition."""
    for statement in body:
        yield statement
        if isinstance(statement, (*Function, ast.ClassDef)):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from statements(getattr(statement, field, ()))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from statements(part.body)


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (*Function, ast.ClassDef)):
        if not any(ast.unparse(d).endswith("overload") for d in statement.decorator_list):
            yield statement.name
        return
    for module, name, bound in imported_names(statement):
        yield bound or name or module.partition(".")[0]
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            # `c.limit = 1` and `table[key] = 1` bind nothing.
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield part.id
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)) and isinstance(
        statement.target, ast.Name
    ):
        yield statement.target.id
    targets = [item.optional_vars for item in getattr(statement, "items", ())]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        targets.append(statement.target)
    for part in (target for target in targets if target is not None):
        yield from (n.id for n in ast.walk(part) if isinstance(n, ast.Name))


def module_name(path: str) -> str:
    """Return the dotted name of a path."""
    place = path.rpartition(".")[0].removesuffix("/__init__")
    return place.replace("/", ".") or "__init__"


class PythonState:
    """Resolves Python names in one state of all files."""

    def __init__(self, files: Files, parser: Parser) -> None:
        self.files = files
        self._parser = parser
        self._found: dict[str, str] = {}

    def module(self, path: str) -> Module | None:
        """Return the module at a path, None where there is none that can be read."""
        return self._parser.module(self.files, path)

    def place(self, path: str, module: str) -> str:
        """Return the file, or the folder, that a file means by a module; empty for none."""
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

    def imported(self, path: str, module: str, name: str, depth: int = 0) -> Entity:
        """Return what an import in a file gives."""
        place = self.place(path, module)
        said = f"{module}.{name}" if name else module
        if not place:
            return Entity("absent", said)
        if not place.endswith((".py", ".pyi")):
            found = Entity("module", module, folder=place)
        else:
            parsed = self.module(place)
            if parsed is None:
                return UNKNOWN
            folder = place.removesuffix("/__init__.py") if place.endswith("/__init__.py") else ""
            found = Entity("module", module, parsed, folder)
        return self.member(found, name, depth) if name else found

    def member(self, module: Entity, name: str, depth: int = 0) -> Entity:
        """Return what a name of a module stands for."""
        if depth > _DEEPEST:
            return UNKNOWN
        parsed = module.module
        found = None if parsed is None else self.named(parsed, name, depth + 1)
        if found is not None:
            return found
        if module.folder:
            path = f"{module.folder}/__init__.py"
            below = self.imported(path, f".{name}", "", depth + 1)
            if below.what != "absent":
                return replace(below, name=name)
        if parsed is not None and (parsed.is_open or name in parsed.bound):
            return UNKNOWN
        return Entity("gone", f"{module.name}.{name}", parsed, owner=None, folder=module.folder)

    def named(self, module: Module, name: str, depth: int = 0) -> Entity | None:
        """Return what a global name of a module stands for, None where the module has none."""
        if module.counts.get(name, 0) > 1:
            return UNKNOWN
        if name in module.imports:
            found = self.imported(module.path, *module.imports[name], depth)
            return UNKNOWN if found.what in ("absent", "gone") else replace(found, name=name)
        member = module.members.get(name)
        if member is not None:
            return _entity(member, name, module)
        if name in module.bound:
            return UNKNOWN
        for star in module.stars:
            found = self.imported(module.path, star, name, depth)
            if found.what != "gone":
                return UNKNOWN if found.what == "absent" else found
        return None

    def attribute(self, owner: Entity, name: str, depth: int = 0) -> Entity:
        """Return what an attribute of something stands for."""
        if depth > _DEEPEST:
            return UNKNOWN
        if owner.what == "module":
            return self.member(owner, name, depth)
        if owner.what in ("class", "instance"):
            found = self.class_member(owner, name, depth)
            inferred = owner.is_inferred or owner.what == "instance"
            is_bound = owner.what == "instance" or "classmethod" in _decorators(found.node)
            if "staticmethod" in _decorators(found.node):
                is_bound = False
            return replace(found, is_inferred=inferred, is_bound=is_bound)
        if owner.what == "value":
            made = self.type_of(owner, depth + 1)
            return UNKNOWN if made.what != "instance" else self.attribute(made, name, depth + 1)
        return UNKNOWN

    def class_member(self, owner: Entity, name: str, depth: int = 0) -> Entity:
        """Return a member of a class, or of a base of it."""
        node, module = owner.node, owner.module
        if depth > _DEEPEST or not isinstance(node, ast.ClassDef) or module is None:
            return UNKNOWN
        own = members_of(node)
        if name in own:
            return _member(own[name], name, owner, module)
        is_open = bool(node.keywords) or any(
            ast.unparse(d).partition("(")[0] not in _PLAIN_DECORATORS for d in node.decorator_list
        )
        if is_open or not own.keys().isdisjoint(_OPENING):
            return UNKNOWN
        found = self.inherited(owner, name, depth + 1)
        said = f"{node.name}.{name}"
        return replace(found, name=said) if found.what == "gone" else found

    def inherited(self, owner: Entity, name: str, depth: int = 0) -> Entity:
        """Return a member that a class has from its bases."""
        outside: set[str] = set()
        for said, base in self.bases(owner, depth):
            if base.what == "class":
                found = self.class_member(base, name, depth + 1)
                if found.what != "gone":
                    return found
                outside |= found.outside
            elif base.what != "value":
                outside.add(said)
        owner = replace(owner, what="class")
        names = frozenset(outside)
        return Entity("gone", f"super().{name}", owner.module, owner=owner, outside=names)

    def bases(self, owner: Entity, depth: int = 0) -> Iterator[tuple[str, Entity]]:
        """Yield the bases of a class; one that brings no names of a project's is a value."""
        node, module = owner.node, owner.module
        if not isinstance(node, ast.ClassDef) or module is None:
            return
        for base in node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            said = ast.unparse(inner)
            if said.rpartition(".")[2] in _PLAIN_BASES:
                yield said, Entity("value", said)
            else:
                yield said, self.evaluate(inner, module, depth + 1)

    def outside(self, owner: Entity) -> frozenset[str]:
        """Return the bases of a class, and of its bases, that the files do not have."""
        return self.inherited(owner, "").outside

    def evaluate(self, node: ast.expr, module: Module, depth: int = 0) -> Entity:
        """Return what an expression at the top of a module stands for."""
        if depth > _DEEPEST:
            return UNKNOWN
        if isinstance(node, ast.Name):
            return self.named(module, node.id, depth + 1) or UNKNOWN
        if isinstance(node, ast.Attribute):
            owner = self.evaluate(node.value, module, depth + 1)
            return self.attribute(owner, node.attr, depth + 1)
        if isinstance(node, ast.Call):
            return self.result(self.evaluate(node.func, module, depth + 1), depth + 1)
        return UNKNOWN

    def result(self, called: Entity, depth: int = 0) -> Entity:
        """Return what a call gives, as far as a class or an annotation tells."""
        if called.what == "class":
            return replace(called, what="instance", is_inferred=True)
        if called.what == "function" and isinstance(called.node, Function) and called.module:
            if called.is_decorated and not called.is_property:
                return UNKNOWN
            return self.annotated(called.node.returns, called.module, depth + 1)
        return UNKNOWN

    def type_of(self, value: Entity, depth: int = 0) -> Entity:
        """Return an object of the class that a value seems to have."""
        node, module = value.node, value.module
        if module is None or depth > _DEEPEST:
            return UNKNOWN
        if value.is_property and isinstance(node, Function):
            return self.annotated(node.returns, module, depth + 1)
        if isinstance(node, ast.AnnAssign):
            return self.annotated(node.annotation, module, depth + 1)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            return self.evaluate(node.value, module, depth + 1)
        return UNKNOWN

    def annotated(self, node: ast.expr | None, module: Module, depth: int = 0) -> Entity:
        """Return an object of the class that an annotation names."""
        for name in class_names(node):
            found = self.evaluate(name, module, depth + 1)
            if found.what == "class":
                return replace(found, what="instance", is_inferred=True)
        return UNKNOWN


def class_names(node: ast.expr | None) -> Iterator[ast.expr]:
    """Yield what an annotation may name: `"C"`, `C | None`, `Optional[C]`; one class only."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
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


def _entity(node: ast.AST, name: str, module: Module) -> Entity:
    if isinstance(node, ast.ClassDef):
        return Entity("class", name, module, node=node)
    if isinstance(node, Function):
        return Entity("function", name, module, node=node, is_decorated=bool(node.decorator_list))
    made = _namedtuple(node) if isinstance(node, ast.Assign) else None
    if made is not None:
        return Entity("class", name, module, node=made)
    return Entity("value", name, module, node=node)


@lru_cache(maxsize=4096)
def _namedtuple(node: ast.Assign) -> ast.ClassDef | None:
    """Return the class that a call of `namedtuple` makes, where it says all its fields."""
    call, target = node.value, node.targets[0]
    if not isinstance(call, ast.Call) or not isinstance(target, ast.Name) or call.keywords:
        return None
    if ast.unparse(call.func).rpartition(".")[2] != "namedtuple" or len(call.args) != 2:
        return None
    try:
        fields = ast.literal_eval(call.args[1])
    except (ValueError, TypeError, SyntaxError):
        return None
    names = fields.replace(",", " ").split() if isinstance(fields, str) else list(fields)
    lines = [f"    {name}: object" for name in names] or ["    pass"]
    made = parse_python("\n".join([f"class {target.id}(NamedTuple):", *lines, ""]))
    if made is None or not isinstance(made.body[0], ast.ClassDef):
        return None
    for child in ast.walk(made):
        ast.copy_location(child, node)
    return made.body[0]


@lru_cache(maxsize=4096)
def members_of(node: ast.ClassDef) -> dict[str, list[ast.AST]]:
    """Return by name what a class has: what its body binds, and what its methods set of `self`."""
    found: dict[str, list[ast.AST]] = {}
    for statement in statements(node.body):
        for name in _bound_by(statement):
            found.setdefault(name, []).append(statement)
    for method in node.body:
        if not isinstance(method, Function) or not method.args.args:
            continue
        me = method.args.args[0].arg
        for child in _statements_in(method):
            targets: Sequence[ast.expr] = ()
            if isinstance(child, ast.Assign):
                targets = child.targets
            elif isinstance(child, (ast.AnnAssign, ast.AugAssign, ast.For)):
                targets = (child.target,)
            elif isinstance(child, ast.withitem) and child.optional_vars is not None:
                targets = (child.optional_vars,)
            for target in targets:
                for part in ast.walk(target):
                    if (
                        isinstance(part, ast.Attribute)
                        and isinstance(part.ctx, ast.Store)
                        and isinstance(part.value, ast.Name)
                        and part.value.id == me
                    ):
                        plain = part is target
                        found.setdefault(part.attr, []).append(child if plain else part)
    return found


def _statements_in(method: ast.AST) -> Iterator[ast.AST]:
    """Yield what is below a method as `ast.walk` does, without its expressions."""
    todo = deque([method])
    while todo:
        node = todo.popleft()
        yield node
        todo.extend(n for n in ast.iter_child_nodes(node) if isinstance(n, _WITH_STATEMENTS))


def _member(nodes: Sequence[ast.AST], name: str, owner: Entity, module: Module) -> Entity:
    """Return the member of a class that some statements make."""
    functions = [node for node in nodes if isinstance(node, Function)]
    getters = [f for f in functions if any("property" in d for d in _decorators(f))]
    owner = replace(owner, what="class")
    if getters:
        node = getters[0]
        return Entity(
            "value", name, module, node=node, owner=owner, is_property=True, is_decorated=True
        )
    node_ = nodes[0]
    if len(nodes) == 1 and isinstance(node_, Function):
        decorated = not set(_decorators(node_)) <= {"staticmethod", "classmethod", "abstractmethod"}
        return Entity("function", name, module, node=node_, owner=owner, is_decorated=decorated)
    if len(nodes) == 1 and isinstance(node_, ast.ClassDef):
        return Entity("class", name, module, node=node_, owner=owner)
    if functions:
        return UNKNOWN
    typed = next((n for n in nodes if isinstance(n, ast.AnnAssign)), node_)
    made = typed if len(nodes) == 1 or typed is not node_ else None
    return Entity("value", name, module, node=made, owner=owner)


def _decorators(node: ast.AST | None) -> tuple[str, ...]:
    """Return the last names of the decorators of a function."""
    if not isinstance(node, Function):
        return ()
    plain = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return tuple(ast.unparse(d).rpartition(".")[2] for d in plain)
