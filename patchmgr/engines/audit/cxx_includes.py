"""The C++ files of one state, and the declarations that their code reaches by `#include`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from posixpath import dirname, normpath

from patchmgr.engines.audit.states import UNKNOWN, Files
from patchmgr.engines.languages.cxx_declarations import (
    CxxFile,
    Declaration,
    read_cxx,
    read_declarations,
)
from patchmgr.engines.languages.cxx_tokens import UnclearSource
from patchmgr.engines.languages.words import BLANKED

MOST_FILES = 400  # that one file includes, directly or not
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE)


def read_code(content: bytes | None) -> CxxFile | None:
    """Return a file as code, or None if it cannot be read."""
    try:
        return None if content is None or content == UNKNOWN else read_cxx(content)
    except (UnclearSource, RecursionError):
        return None


def read_outside(content: bytes | None) -> tuple[Declaration, ...]:
    """Return what a file declares, or nothing if it cannot be read."""
    try:
        return () if content is None or content == UNKNOWN else read_declarations(content)
    except (UnclearSource, RecursionError):
        return ()


def includes_in(content: bytes | None) -> Iterator[tuple[str, bool]]:
    """Yield the files that a text includes, each with whether it is in quotes."""
    for quote, name in _INCLUDE.findall(content or b""):
        yield name.decode("utf-8", "surrogateescape"), quote == b'"'


class Reach:
    """The files of a state, as an `#include` finds them; each is read once."""

    def __init__(self, files: Files, roots: Collection[str]) -> None:
        self.files = files
        self._roots = roots
        self._read: dict[str, CxxFile | None] = {}
        self._declared: dict[str, tuple[Declaration, ...]] = {}
        self._texts: dict[str, bytes | None] = {}
        self._words: dict[str, frozenset[bytes]] = {}
        self._closures: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def read_ahead(self, paths: Collection[str]) -> None:
        """Fetch files that will be read."""
        self.files.read_ahead(path for path in paths if path not in self._texts)

    def text(self, path: str) -> bytes | None:
        """Return a file, or None if there is none."""
        if path not in self._texts:
            self._texts[path] = self.files.read(path)
        return self._texts[path]

    def words(self, path: str) -> frozenset[bytes]:
        """Return all words of a file, those of comments too."""
        if path not in self._words:
            self._words[path] = frozenset((self.text(path) or b"").translate(BLANKED).split())
        return self._words[path]

    def code(self, path: str) -> CxxFile | None:
        """Return a file as code, or None if it cannot be read."""
        if path not in self._read:
            self._read[path] = read_code(self.text(path))
        return self._read[path]

    def declarations(self, path: str) -> tuple[Declaration, ...]:
        """Return what a file declares outside of functions; nothing if it cannot be read."""
        if path not in self._declared:
            code = self._read.get(path)
            known = code.declarations if code is not None else None
            self._declared[path] = read_outside(self.text(path)) if known is None else known
        return self._declared[path]

    def declared(self, path: str, name: str) -> Iterator[tuple[str, Declaration]]:
        """Yield the declarations of a name in a file and its includes, each with its file."""
        for where in sorted(self.closure(path)[0]):
            for one in self.declarations(where) if name.encode() in self.words(where) else ():
                if one.name == name:
                    yield where, one

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        tree = self.files.tree
        found: dict[str, list[str]] = {}
        for root in self._roots:
            for path in tree.files_below(root) if tree.is_directory(root) else ():
                found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def found(self, path: str, name: str) -> list[str]:
        """Return the files that an include in a file may mean."""
        plain = normpath(name)
        for place in (normpath(f"{dirname(path) or '.'}/{name}"), plain):
            if self.files.blob(place) is not None:
                return [place]
        while plain.startswith("../"):
            plain = plain[3:]
        ends = self._by_name.get(plain.rpartition("/")[2], ())
        return [path for path in ends if f"/{path}".endswith(f"/{plain}")]

    def closure(self, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return a file with all that it includes, and the quoted names that no file has.

        If there are too many files, none are returned.
        """
        if path not in self._closures:
            seen = {path}
            lost: set[str] = set()
            level = [path]
            while level and len(seen) <= MOST_FILES:
                self.read_ahead(level)
                following: dict[str, None] = {}
                for at in level:
                    for name, is_quoted in includes_in(self.text(at)):
                        paths = self.found(at, name)
                        lost.update(() if paths or not is_quoted else (name,))
                        following |= dict.fromkeys(paths)
                level = [one for one in following if one not in seen]
                seen.update(level)
            files = frozenset(seen if len(seen) <= MOST_FILES else ())
            self._closures[path] = files, frozenset(lost)
        return self._closures[path]

    def tells_name(self, path: str, name: str, besides: Mapping[str, Collection[int]]) -> bool:
        """Return whether a file or its includes have a name outside of the given lines."""
        for where in self.closure(path)[0]:
            if name.encode() not in self.words(where):
                continue
            code, lines = self.code(where), besides.get(where, ())
            if code is None or name in code.in_directives:
                return True
            if any(t.text == name and t.line + 1 not in lines for t in code.tokens):
                return True
        return not self.closure(path)[0]
