"""The files that upstream added or changed: places where moved lines may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from patchmgr.engines.languages.names import OTHER, language
from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.text.telling import normal_lines
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import FILE_MODES, Entry

Versions = Mapping[str, tuple["Entry | None", Entry]]
_FAMILY = frozenset({"C", "C++", "C++ header", "CUDA", "HIP"})
Find = Callable[[str], Versions]


class ChangedFiles:
    """Files that differ between base and target, of one language at a time.

    `find` answers a language with path to the base's and the target's version; it is called once
    per language, and only if something has to be searched.
    """

    def __init__(self, find: Find, blobs: Blobs) -> None:
        self._find, self._blobs = find, blobs
        self._known: dict[str, Versions] = {}
        self._contents: dict[str, bytes] = {}

    def on(self, side: Overlay) -> FilesOnSide:
        """Return the files as they are on the new side now, with the patches carried so far."""
        return FilesOnSide(self, side)

    def of(self, language: str) -> Versions:
        """Return the files of a language, by path."""
        if language not in self._known:
            self._known[language] = self._find(language)
        return self._known[language]

    def gaining(
        self, path: str, lines: frozenset[bytes], beside: frozenset[bytes] = frozenset()
    ) -> tuple[str, ...]:
        """Return other files in a path's language that have all of the lines now, but not before.

        With lines `beside`, they are those that have the most of these, and one at least. All lines
        are without white space.
        """
        found: dict[str, int] = {}
        for other, (before, after) in self.of(language(path)).items():
            there = frozenset(normal_lines(self.text(after) or b""))
            is_there = other != path and lines <= there
            if is_there and not lines <= frozenset(normal_lines(self.text(before) or b"")):
                found[other] = len(beside & there)
        best = max(found.values(), default=0)
        if beside and not best:
            return ()
        return tuple(sorted(other for other, count in found.items() if count == best))

    def version(self, path: str) -> Entry | None:
        """Return the base's file, or None if there is none."""
        found = (files[path][0] for files in self._known.values() if path in files)
        return next(found, None)

    def text(self, entry: Entry | None) -> bytes | None:
        """Return the text of a file, or None if there is none."""
        if entry is None or entry.mode not in FILE_MODES:
            return None
        if entry.blob not in self._contents:
            self._contents[entry.blob] = self._blobs.read(entry.blob)
        return self._contents[entry.blob]


class FilesOnSide:
    """The files that upstream changed, in the form that a search for moved lines needs."""

    def __init__(self, files: ChangedFiles, side: Overlay) -> None:
        self._files, self._side = files, side

    def paths(self, language: str) -> Sequence[str]:
        """Return the paths of a language, sorted."""
        return sorted(self._files.of(language))

    def before(self, path: str) -> bytes | None:
        """Return the base's text, or None if there is none."""
        return self._files.text(self._files.version(path))

    def after(self, path: str) -> bytes | None:
        """Return the new side's text, or None if there is none."""
        return self._files.text(self._side.entry(path))


def is_of(wanted: str) -> Callable[[str], bool]:
    """Return a predicate: whether a path belongs to a language, or to its family, by its name.

    No path is of an unknown one: such files may be anything.
    """
    family = _FAMILY if wanted in _FAMILY else {wanted} - {OTHER}
    return lambda path: language(path) in family
