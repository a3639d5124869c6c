"""Find the files that upstream added or changed, to search them for moved lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from patchmgr.engines.languages.file_types import CXX_LANGUAGES, OTHER, language
from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.text.distinctive import without_space
from patchmgr.model.ports import Blobs, Step
from patchmgr.model.snapshot import FILE_MODES, Entry

Versions = Mapping[str, tuple["Entry | None", Entry]]
"""The entries of changed files at base and target, keyed by path. A new file has none at base."""
Find = Callable[[str], tuple[Versions, bool]]
"""A function that returns the changed files of a language, and whether none was left out."""


def versions_of(
    steps: Sequence[Step], path: str, home: str
) -> Iterator[tuple[int, str, Entry | None]]:
    """Yield (step number, path, entry) for each step in which upstream changes a file.

    If the paths differ, upstream moves the file from `path` to `home` at some step.
    """
    at = path
    for number, step in enumerate(steps):
        if step.changes.get(home) is not None:
            at = home
            yield number, home, step.changes[home]
        elif home in step.changes or (at == path and path in step.changes):
            at = path
            yield number, path, step.changes.get(path)


class ChangedFiles:
    """The files that differ between base and target, found with `find`, one language at a time.

    `is_whole` is false if `find` left out a file.
    """

    def __init__(self, find: Find, blobs: Blobs) -> None:
        self._find, self._blobs = find, blobs
        self._known: dict[str, Versions] = {}
        self.is_whole = True
        self._contents: dict[str, bytes] = {}

    def on(self, side: Overlay) -> FilesOnSide:
        """Return the changed files as they are on `side`, with the patches applied so far."""
        return FilesOnSide(self, side)

    def of(self, language: str) -> Versions:
        """Return the entries of a language's changed files at base and target, keyed by path."""
        if language not in self._known:
            self._known[language], is_whole = self._find(language)
            self.is_whole = self.is_whole and is_whole
        return self._known[language]

    def gaining(
        self, path: str, lines: frozenset[bytes], beside: frozenset[bytes] = frozenset()
    ) -> tuple[str, ...]:
        """Return the other files, in the language of `path`, that gained all `lines`.

        If `beside` is given, returns only the files with the most lines of `beside`. White space is
        ignored.
        """
        found: dict[str, int] = {}
        for other, (before, after) in self.of(language(path)).items():
            if other != path and self._has(after, lines) and not self._has(before, lines):
                found[other] = sum(self._has(after, (line,)) for line in beside)
        best = max(found.values(), default=0)
        if beside and not best:
            return ()
        return tuple(sorted(other for other, count in found.items() if count == best))

    def _has(self, entry: Entry | None, lines: Collection[bytes]) -> bool:
        text = b"\n%b\n" % without_space(self.text(entry) or b"")
        return all(b"\n%b\n" % line in text for line in lines)

    def version(self, path: str) -> Entry | None:
        """Return a file's tree entry at the base, or None if the base has no such file."""
        found = (files[path][0] for files in self._known.values() if path in files)
        return next(found, None)

    def text(self, entry: Entry | None) -> bytes | None:
        """Return the content of a tree entry, or None if it is a link or there is no entry."""
        if entry is None or entry.mode not in FILE_MODES:
            return None
        if entry.blob not in self._contents:
            self._contents[entry.blob] = self._blobs.read(entry.blob)
        return self._contents[entry.blob]


class FilesOnSide:
    """The files that upstream changed, at the base and with the patches applied so far."""

    def __init__(self, files: ChangedFiles, side: Overlay) -> None:
        self._files, self._side = files, side

    def paths(self, language: str) -> Sequence[str]:
        """Return the paths of the changed files in a language, sorted."""
        return sorted(self._files.of(language))

    def before(self, path: str) -> bytes | None:
        """Return the text of a file at the base, or None if the base has no such file."""
        return self._files.text(self._files.version(path))

    def after(self, path: str) -> bytes | None:
        """Return the text of a file with the patches applied so far, or None if it was deleted."""
        return self._files.text(self._side.entry(path))


def is_of(wanted: str) -> Callable[[str], bool]:
    """Return a test for paths of a language; C, C++, CUDA and HIP count as one language."""
    family = CXX_LANGUAGES if wanted in CXX_LANGUAGES else {wanted} - {OTHER}
    return lambda path: language(path) in family
