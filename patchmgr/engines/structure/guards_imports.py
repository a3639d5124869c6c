"""Find the names that Python modules bind, and whether imports resolve in a tree of files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Protocol

from patchmgr.engines.structure.python_tree import (
    Definition,
    Import,
    bound_by,
    module_of,
    parse_python,
    statements_in,
)

ROOTS = ("", "src/", "python/")
ENDS = (".py", "/__init__.py", ".pyi")
_LEADS = (b"\nclass ", b"\ndef ", b"\n", b"\nasync def ")
_BINDING = (b"(", b":", b"=")
_FROM = re.compile(rb"from [.\w]+ import (\([^()]*\)|[^\n()\\;]*)")
_COMMENT = re.compile(rb"#[^\n]*")


class Tree(Protocol):
    """A tree of files, such as that of a commit."""

    def exists(self, path: str) -> bool:
        """Return whether the path is a file or a folder."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None if there is no such file."""


def resolves(path: str, module: str, name: str, tree: Tree) -> bool:
    """Return whether an import in the file at `path` finds its module and the imported name."""
    return any(_has(place, name, tree) for place in places(path, module))


def places(path: str, module: str) -> Iterator[str]:
    """Yield the paths, without suffix, of a module that `path` imports, likeliest first."""
    dots = len(module) - len(module.lstrip("."))
    rest = module[dots:].replace(".", "/")
    folders = path.split("/")[:-1]
    if dots:
        if dots - 1 <= len(folders):
            yield "/".join([*folders[: len(folders) - (dots - 1)], *([rest] if rest else [])])
        return
    yield from (root + rest for root in ROOTS)
    # A package may be below its own root, and the folder of a script is a root, too.
    first = rest.partition("/")[0]
    for depth in range(len(folders), 0, -1):
        if depth == len(folders) or folders[depth] == first:
            yield "/".join([*folders[:depth], rest])


def _has(place: str, name: str, tree: Tree) -> bool:
    found = [place + end for end in ENDS if tree.exists(place + end)]
    if not name or name == "*":
        return bool(found) or tree.exists(place)
    inner = f"{place}/{name}"
    if any(tree.exists(inner + end) for end in (*ENDS, "")):
        return True
    return any(_binds(tree.read(file), name) for file in found)


def _binds(content: bytes | None, name: str) -> bool:
    """Return whether a module may bind the name; a link or an unparsable file is assumed to."""
    if content is None:
        return True
    if _is_plainly_bound(content, name.encode("utf-8", "surrogateescape")):
        return True
    bound = bound_names(content)
    return bound is None or not bound.isdisjoint((name, "*", "__getattr__"))


def _is_plainly_bound(content: bytes, word: bytes) -> bool:
    """Return whether an unindented line binds the word; this is cheaper than a syntax tree."""
    for lead in _LEADS:
        at = content.find(lead + word)
        while at >= 0:
            end = at + len(lead) + len(word)
            if content[end : end + 9].lstrip(b" ")[:1] in _BINDING:
                return True
            at = content.find(lead + word, end)
    return _is_plainly_imported(content, word)


def _is_plainly_imported(content: bytes, word: bytes) -> bool:
    """Return whether the statement around the first occurrence of the word imports it."""
    at = content.find(word)
    match = _FROM.match(content, content.rfind(b"\nfrom ", 0, max(0, at)) + 1)
    if match is None or not match.start() < at < match.end():
        return False
    pieces = _COMMENT.sub(b"", match[1]).strip(b"()").split(b",")
    return any(piece.split()[-1:] == [word] for piece in pieces)


@lru_cache(maxsize=512)
def bound_names(content: bytes) -> frozenset[str] | None:
    """Return the names bound at a Python module's top level, or None if it does not parse."""
    tree = parse_python(content.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    return None if tree is None else bound_in(tree)


def bound_in(tree: ast.Module) -> frozenset[str]:
    """Return the names that a Python module binds at its top level, also in an `if` or `try`."""
    return frozenset(_bound(tree))


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds at the top level of a module, under any condition."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield child.name
            yield from globals_in(child)
        elif isinstance(child, Import):
            yield from (name for alias in child.names for name in bound_by(alias))
        elif isinstance(child, ast.Name):
            yield from bound_by(child)
        else:
            yield from _bound(child)


def imported_names(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Yield (module, name, `as` name) for each name in an import; a missing part is ""."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "", alias.asname or "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = module_of(node)
        yield from ((module, alias.name, alias.asname or "") for alias in node.names)


def globals_in(node: ast.AST) -> Iterator[str]:
    """Yield the names that a function or a class declares global."""
    found = (each.names for each in statements_in(node) if isinstance(each, ast.Global))
    return chain.from_iterable(found)
