"""Find the names that a Python module and its classes bind, without running the module."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct

from patchmgr.engines.audit.outline import BEGINS, DEFINES, blocks, is_among
from patchmgr.engines.audit.states import Files
from patchmgr.engines.structure.guards_imports import bound_in, globals_in, imported_names
from patchmgr.engines.structure.python_tree import (
    Assigned,
    Definition,
    Function,
    blocks_of,
    bound_by,
    children,
    is_named,
    last_name,
    parse_anew,
    parse_python,
    statements_in,
    targets_of,
    walk,
)

LARGEST = 1_000_000  # bytes of the largest module that is parsed
MOST_READ = 64_000_000  # bytes of all modules that one audit parses
_GLOBAL = re.compile(r"global[ \t]")
_FILLING = frozenset({"globals", "locals", "vars", "setattr", "exec"})


class _Block(Struct, frozen=True):
    """The text of a top-level definition of a module, with its first and last line (from 1)."""

    name: str
    text: str
    first: int
    last: int


class Module:
    """A Python module: the names that it binds, and where the imported ones come from.

    `counts` has the number of bindings by name, and `stars` the modules of star imports.
    """

    def __init__(self, path: str, text: str, rest: ast.Module, blocks: Sequence[_Block]) -> None:
        self.path, self.text, self._rest, self._blocks = path, text, rest.body, blocks
        self._parsed: dict[_Block, ast.stmt | None] = {}
        self._members: dict[str, ast.stmt | _Block] = {block.name: block for block in blocks}
        self._members.update(bindings_in(rest.body))
        self.counts = Counter([block.name for block in blocks])
        self.counts.update(name for name, _ in bindings(rest.body))
        self.counts.update(globals_in(rest))
        self.imports, self.stars = _imported(rest.body)

    @cached_property
    def bound(self) -> frozenset[str]:
        """All names that the module binds, including those bound under a condition."""
        rest = ast.Module(self._rest, [])
        return bound_in(rest).union(block.name for block in self._blocks)

    @cached_property
    def is_open(self) -> bool:
        """Whether the module may have names at run time that its source does not show."""
        return "__getattr__" in self.counts or _is_filled(self._rest)

    @cached_property
    def node(self) -> ast.Module:
        """The syntax tree of the module, or an empty tree if the module does not parse."""
        return parse_python(self.text) or ast.Module([], [])

    def member(self, name: str) -> ast.stmt | None:
        """Return the last top-level statement that binds a name, or None if there is none."""
        found = self._members.get(name)
        return self._definition(found) if isinstance(found, _Block) else found

    def statements_on(self, lines: Sequence[int]) -> list[ast.stmt]:
        """Return the definitions on the given sorted lines and all other top-level statements."""
        blocks = (block for block in self._blocks if is_among(lines, block.first, block.last))
        read = map(self._definition, blocks)
        return sorted([*self._rest, *filter(None, read)], key=lambda node: node.lineno)

    def _definition(self, block: _Block) -> ast.stmt | None:
        if block not in self._parsed:
            tree = parse_python("\n" * (block.first - 1) + block.text)
            self._parsed[block] = None if tree is None else tree.body[0]
        return self._parsed[block]


class Parser:
    """Parses and caches Python modules, up to a total of MOST_READ bytes."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Module | None] = {}
        self._left = MOST_READ

    def module(self, files: Files, path: str) -> Module | None:
        """Return the module at a path, or None if it is missing, too large, or does not parse."""
        key = path, files.blob(path) or ""
        if key not in self._known:
            self._known[key] = self._parsed(path, files.read(path))
        return self._known[key]

    def _parsed(self, path: str, content: bytes | None) -> Module | None:
        if content is None or len(content) > min(LARGEST, self._left):
            return None
        self._left -= len(content)
        try:
            return read_module(path, content.decode("utf-8", "replace").removeprefix("\ufeff"))
        except RecursionError:
            return None


def read_module(path: str, text: str) -> Module | None:
    """Return a module that parses its definitions when needed, or None if its source is invalid."""
    others, found = list[str](), list[_Block]()
    for first, block in blocks(text):
        head, lines = DEFINES.match(block), block.count("\n")
        before_global = (text.rstrip(" \t")[-1:] for text in _GLOBAL.split(block)[:-1])
        binds_more = any(end in "\n;:" for end in before_global)
        if head is None or binds_more or "overload" in head[0] or BEGINS.search(block, head.end()):
            others.append(block)
        else:
            others.append("\n" * lines)
            found.append(_Block(head[2], block, first, first + lines))
    rest = parse_python("".join(others))
    if rest is not None:
        return Module(path, text, rest, found)
    tree = parse_python(text)
    return None if tree is None else Module(path, text, tree, ())


def _imported(body: Sequence[ast.stmt]) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
    """Return a map of imported names to (module, name), and the modules of the star imports."""
    imports: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    for statement in statements(body):
        for module, name, bound in imported_names(statement):
            first = module.partition(".")[0]
            if name == "*":
                stars.append(module)
            else:
                imports[bound or name or first] = (module, name) if name or bound else (first, "")
    return imports, tuple(stars)


def _is_filled(body: Sequence[ast.stmt]) -> bool:
    """Return whether a module may bind names dynamically at top level, such as with `setattr`."""
    return any(
        (isinstance(child, ast.Call) and any(is_named(child.func, name) for name in _FILLING))
        or (isinstance(child, ast.Subscript) and is_named(child.slice, "__name__"))
        for statement in body
        if not isinstance(statement, Definition)
        for child in walk(statement)
    )


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body and of its nested blocks, except those within definitions."""
    for statement in body:
        yield statement
        if not isinstance(statement, Definition):
            for block in blocks_of(statement):
                yield from statements(block)


def bindings_in(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield (name, statement) for each name that a body binds. Overload stubs are left out."""
    for statement in statements(body):
        if isinstance(statement, Definition) and not _is_overload(statement):
            yield statement.name, statement
        for module, name, bound in imported_names(statement):
            yield bound or name or module.partition(".")[0], statement
        # `c.limit = 1` and `table[key] = 1` bind nothing.
        for part in walk(*targets_of(statement)):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id, statement


def bindings(body: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield (name, node) for each name that a scope binds.

    The node is None for definitions, and where no value can be seen, as for the target of a loop.
    """
    nodes, packages = list(body), set[str]()
    for node in nodes:  # the list grows during the loop
        inner: Sequence[ast.AST] = ()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield from ((name, None) for name in bound_by(node) if not _is_overload(node))
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    (name,) = bound_by(alias)
                    if not (isinstance(node, ast.Import) and alias.asname is None):
                        yield name, node
                    elif name not in packages:  # `import a.b` and `import a.c` bind the same `a`
                        packages.add(name)
                        yield name, node
            case ast.Assign(targets=[ast.Name(), *_]):
                yield from ((t.id, node) for t in node.targets if isinstance(t, ast.Name))
                inner = [node.value]
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node
                inner = [node.value] if node.value else ()
            case ast.withitem(optional_vars=ast.Name(id=name)):
                yield name, node
                inner = [node.context_expr]
            case ast.comprehension():  # its variables are those of another scope
                inner = [node.iter, *node.ifs]
            case ast.Lambda():
                inner = [node.body]
            case ast.ExceptHandler(name=str(name)):
                yield name, node
                inner = node.body
            case _:
                yield from ((name, None) for name in bound_by(node))
                inner = children(node)
        nodes += inner


def _is_overload(node: ast.stmt) -> bool:
    made = node.decorator_list if isinstance(node, Definition) else ()
    return any(ast.unparse(d).endswith("overload") for d in made)


def definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """Map each name that a module defines or assigns at top level to the last such statement."""
    found = bindings_in(tree.body)
    return {name: node for name, node in found if isinstance(node, (Definition, Assigned))}


def module_name(path: str) -> str:
    """Return the dotted module name for a path, such as `a.b` for `a/b.py`."""
    place = path.rpartition(".")[0].removesuffix("/__init__")
    return place.replace("/", ".") or "__init__"


@lru_cache(maxsize=4096)
def members_of(node: ast.AST | None) -> dict[str, list[ast.AST]]:
    """Map each member of a class, including attributes of `self`, to the nodes that bind it."""
    found: dict[str, list[ast.AST]] = {}
    if not isinstance(node, ast.ClassDef):
        return found
    for name, statement in bindings_in(node.body):
        found.setdefault(name, []).append(statement)
    for method in node.body:
        if not isinstance(method, Function) or not method.args.args:
            continue
        me = method.args.args[0].arg
        for child in statements_in(method):
            for target in targets_of(child):
                for part in walk(target):
                    if (
                        isinstance(part, ast.Attribute)
                        and isinstance(part.ctx, ast.Store)
                        and is_named(part.value, me)
                    ):
                        found.setdefault(part.attr, []).append(child if part is target else part)
    return found


@lru_cache(maxsize=4096)
def namedtuple_class(node: ast.AST) -> ast.ClassDef | None:
    """Return a class equal to the one that a `namedtuple` call makes, or None for other nodes."""
    call, target = (node.value, node.targets[0]) if isinstance(node, ast.Assign) else (None, None)
    if not isinstance(call, ast.Call) or not isinstance(target, ast.Name) or call.keywords:
        return None
    if last_name(call.func) != "namedtuple" or len(call.args) != 2:
        return None
    try:
        fields = ast.literal_eval(call.args[1])
    except (ValueError, TypeError, SyntaxError):
        return None
    names = fields.replace(",", " ").split() if isinstance(fields, str) else list(fields)
    lines = [f"    {name}: object" for name in names] or ["    pass"]
    made = parse_anew("\n".join([f"class {target.id}(NamedTuple):", *lines, ""]))
    if made is None or not isinstance(made.body[0], ast.ClassDef):
        return None
    for child in walk(made):
        ast.copy_location(child, node)
    return made.body[0]


def decorators(node: ast.AST | None) -> frozenset[str]:
    """Return the last names of a function's decorators: `wraps` for `@functools.wraps(f)`."""
    made = node.decorator_list if isinstance(node, Function) else []
    return frozenset(last_name(d.func if isinstance(d, ast.Call) else d) for d in made)
