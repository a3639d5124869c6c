"""Read the C++ files of one version of a project, and follow their includes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
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

MOST_FILES = 400  # that one file includes, directly or indirectly
_INCLUDE = re.compile(rb"#[ \t]*(?:include|include_next|import)\b[ \t]*(?:[<\"]([^>\"\n]+)|(\w+))")
_STANDARD = re.compile(r"[a-z_]+")  # `vector`


def read_code(content: bytes | None) -> CxxFile | None:
    """Return a C++ file as tokens and declarations, or None if it cannot be parsed."""
    try:
        return None if content is None or content == UNKNOWN else read_cxx(content)
    except (UnclearSource, RecursionError):
        return None


def read_outside(content: bytes | None) -> tuple[Declaration, ...]:
    """Return the declarations outside functions in a C++ file (none if it does not parse)."""
    try:
        return () if content is None or content == UNKNOWN else read_declarations(content)
    except (UnclearSource, RecursionError):
        return ()


def includes_in(content: bytes | None) -> Iterator[str]:
    """Yield the name of the file, or of the macro, in each `#include` line."""
    text = (content or b"").removeprefix(b"\xef\xbb\xbf")
    for found in _INCLUDE.finditer(text):
        if not text[text.rfind(b"\n", 0, found.start()) + 1 : found.start()].strip(b" \t"):
            yield (found[1] or found[2]).decode("utf-8", "surrogateescape")


class Includes:
    """The C++ files of one version of a project, and what they include. Each file is read once."""

    def __init__(self, files: Files, roots: Collection[str]) -> None:
        self.files = files
        self._roots = roots
        self._texts: dict[str, bytes | None] = {}
        self._parsed: dict[str, CxxFile | None] = {}
        self.words = cache(self._words)
        self.closure = cache(self._closure)
        self.declarations = cache(self._declarations)
        self._reached = cache(lambda path: sorted(self.closure(path)[0]))
        self._named = cache(self._by_declared_name)
        self._tokens = cache(self._token_texts)

    def read_ahead(self, paths: Collection[str]) -> None:
        """Fetch the contents of several files at once, which is faster than one by one."""
        self.files.read_ahead(path for path in paths if path not in self._texts)

    def text(self, path: str) -> bytes | None:
        """Return the content of a file, or None if it does not exist."""
        if path not in self._texts:
            self._texts[path] = self.files.read(path)
        return self._texts[path]

    def _words(self, path: str) -> frozenset[bytes]:
        return frozenset((self.text(path) or b"").translate(BLANKED).split())

    def code(self, path: str) -> CxxFile | None:
        """Return a file as parsed C++, or None if it does not exist or cannot be parsed."""
        if path not in self._parsed:
            self._parsed[path] = read_code(self.text(path))
        return self._parsed[path]

    def _declarations(self, path: str) -> tuple[Declaration, ...]:
        """Return the declarations outside functions in a file, or none if it cannot be parsed."""
        code = self._parsed.get(path)
        return read_outside(self.text(path)) if code is None else code.declarations

    def declared(self, path: str, name: str) -> Iterator[tuple[str, Declaration]]:
        """Yield (path, declaration) for each declaration of a name in a file and its includes."""
        word = name.encode()
        for where in self._reached(path):
            if word in self.words(where):
                yield from ((where, one) for one in self._named(where).get(name, ()))

    def _by_declared_name(self, path: str) -> Mapping[str, Sequence[Declaration]]:
        names = defaultdict[str, list[Declaration]](list)
        for one in self.declarations(path):
            names[one.name].append(one)
        return names

    def _token_texts(self, path: str) -> frozenset[str]:
        code = self.code(path)
        return frozenset(() if code is None else (token.text for token in code.tokens))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        tree = self.files.tree
        found: dict[str, list[str]] = {}
        for root in self._roots:
            for path in tree.files_below(root) if tree.is_directory(root) else ():
                found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def found(self, path: str, name: str) -> list[str]:
        """Return the paths of the files that `#include NAME` in the file at `path` may include."""
        plain = normpath(name)
        for place in (normpath(f"{dirname(path) or '.'}/{name}"), plain):
            if self.files.blob(place) is not None:
                return [place]
        while plain.startswith("../"):
            plain = plain[3:]
        ends = self._by_name.get(plain.rpartition("/")[2], ())
        return [path for path in ends if f"/{path}".endswith(f"/{plain}")]

    def _closure(self, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the paths of a file and its includes, and the included names without a file.

        Returns no paths if there are more than MOST_FILES.
        """
        seen, lost, level = {path}, set[str](), [path]
        while level and len(seen) <= MOST_FILES:
            self.read_ahead(level)
            following: dict[str, None] = {}
            for at in level:
                for name in includes_in(self.text(at)):
                    paths = self.found(at, name)
                    lost.update(() if paths or _STANDARD.fullmatch(name) else (name,))
                    following |= dict.fromkeys(paths)
            level = [one for one in following if one not in seen]
            seen.update(level)
        return frozenset(seen if len(seen) <= MOST_FILES else ()), frozenset(lost)

    def contains_name(self, path: str, name: str, besides: Mapping[str, Collection[int]]) -> bool:
        """Return whether a file or its includes contain, or may contain, a name.

        `besides` maps paths to the line numbers (from 1) to ignore.
        """
        for where in self.closure(path)[0]:
            if name.encode() not in self.words(where):
                continue
            code, lines = self.code(where), besides.get(where, ())
            if code is None or name in code.in_directives:
                return True
            if name in self._tokens(where) and any(
                t.text == name and t.line + 1 not in lines for t in code.tokens
            ):
                return True
        return not self.closure(path)[0]
