"""Find the names that Python modules bind and import. Each blob is parsed at most once."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from msgspec import Struct, field

from patchmgr.engines.structure.guards_imports import ENDS, bound_in, imported_names, places
from patchmgr.engines.structure.python_tree import blocks_of
from patchmgr.model.ports import Tree
from patchmgr.model.snapshot import FILE_MODES, Entry

Version = tuple[int, int]
Imports = frozenset[tuple[str, str]]
Fault = tuple[str, "int | None"]

RUNNING: Version = sys.version_info[:2]
ANYTHING = frozenset(("*", "__getattr__"))  # a module that binds one of these may have any name
_TRIES: tuple[type[ast.AST], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))


def judged_versions(versions: Sequence[Version]) -> tuple[Version, ...]:
    """Return the Python versions to check; the running one replaces newer ones or an empty list."""
    return tuple(dict.fromkeys(min(version, RUNNING) for version in versions or (RUNNING,)))


class _Module(Struct, frozen=True):
    """A parsed module: its first error, and its names. `bound` is None if it does not parse."""

    fault: Fault | None
    bound: frozenset[str] | None
    imports: Imports


class Modules(Struct):
    """Parses Python modules, given as blobs; those in `judged` are compiled for each version."""

    read: Callable[[str], bytes]
    versions: Sequence[Version]
    judged: set[str] = field(default_factory=set)
    _known: dict[str, _Module] = field(default_factory=dict)

    def fault(self, entry: Entry) -> Fault | None:
        """Return the first error from compiling a file for each of `versions`, or None."""
        if entry.blob not in self.judged:
            self.judged.add(entry.blob)
            self._known.pop(entry.blob, None)
        return self._module(entry.blob).fault

    def bound(self, entry: Entry | None) -> frozenset[str] | None:
        """Return the names bound at the top level of a module, or None if it cannot be parsed."""
        if entry is None:
            return frozenset()
        return self._module(entry.blob).bound if entry.mode in FILE_MODES else None

    def imports(self, entry: Entry | None) -> Imports:
        """Return the module and name of each import in a file, except imports inside a `try`."""
        if entry is None or entry.mode not in FILE_MODES:
            return frozenset()
        return self._module(entry.blob).imports

    def is_module(self, path: str, module: str, tree: Tree) -> bool:
        """Return whether the tree has a file for the `module` that the file at `path` imports."""
        ways = (place + end for place in places(path, module) for end in ENDS)
        return any(tree.entry(way) is not None for way in ways)

    def _module(self, blob: str) -> _Module:
        if blob not in self._known:
            self._known[blob] = self._parsed(self.read(blob), blob in self.judged)
        return self._known[blob]

    def _parsed(self, content: bytes, is_judged: bool) -> _Module:
        tree: ast.Module | None = None
        fault: Fault | None = None
        for version in judged_versions(self.versions if is_judged else ()):
            parsed = parsed_for(content, version, compiles=is_judged)
            if isinstance(parsed, ast.Module):
                tree = tree or parsed
            else:
                fault = fault or parsed
        if tree is None:
            return _Module(fault, None, frozenset())
        imports = frozenset(
            (module, name)
            for node in _outside_of_tries(tree)
            for module, name, _ in imported_names(node)
        )
        return _Module(fault, bound_in(tree), imports)


def parsed_for(content: bytes, version: Version, *, compiles: bool) -> ast.Module | Fault:
    """Parse a text as a given version of Python; return the tree, or the error and its line.

    If `compiles`, the tree is compiled, too, which finds faults such as a `return` outside of a
    function.
    """
    at = f"for Python {version[0]}.{version[1]}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content, feature_version=version)
            if compiles:
                compile(tree, "<checked>", "exec", dont_inherit=True)
    except SyntaxError as fault:
        return f"does not compile {at}: {fault.msg}", fault.lineno
    except (ValueError, RecursionError, MemoryError) as fault:
        return f"does not compile: {fault}", None
    return tree


def _outside_of_tries(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements except those inside a `try`, whose imports are allowed to fail."""
    for statement in chain.from_iterable(blocks_of(node)):
        if not isinstance(statement, _TRIES):
            yield statement
            yield from _outside_of_tries(statement)
