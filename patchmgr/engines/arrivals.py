"""Which lines of a series came into upstream, or left it, with which commit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from patchmgr.engines.atoms import Interest, PatchAtoms, normal_lines
from patchmgr.engines.search import Search
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import FILE_MODES, Entry

Line = tuple[str, bool, bytes]
"""A path, whether a patch adds the line (or removes it), and the line."""


class Traffic(Struct, frozen=True):
    """By patch and step: how many of the patch's lines took effect there, or lost it."""

    came: Sequence[Mapping[int, int]]
    left: Sequence[Mapping[int, int]] = field(default_factory=tuple)


def traffic(search: Search) -> Traffic:
    """Follow all lines of a series through upstream's steps."""
    wanted = search.interests
    moves = search.timelines.moves()
    owners = _owners(search.series, {path for touched in moves.values() for path, *_ in touched})
    scanner = _Scanner(wanted, search.blobs)
    came: list[dict[int, int]] = [{} for _ in search.series]
    left: list[dict[int, int]] = [{} for _ in search.series]
    for number, touched in moves.items():
        for path, before, after in touched:
            if path in wanted:
                old, new = scanner.scan(path, before), scanner.scan(path, after)
                _count(came, owners, number, _effects(path, old, new))
                _count(left, owners, number, _effects(path, new, old))
    return Traffic(came, left)


def _effects(path: str, old: Interest, new: Interest) -> list[Line]:
    come = [(path, True, line) for line in new.added - old.added]
    return come + [(path, False, line) for line in old.removed - new.removed]


def _count(
    counts: Sequence[dict[int, int]],
    owners: Mapping[Line, Sequence[int]],
    number: int,
    lines: Sequence[Line],
) -> None:
    for line in lines:
        for patch in owners[line]:
            counts[patch][number] = counts[patch].get(number, 0) + 1


def _owners(series: Sequence[PatchAtoms], paths: Collection[str]) -> Mapping[Line, Sequence[int]]:
    """Return by line which patches have it, for lines of some paths."""
    owners: dict[Line, dict[int, None]] = {}
    for number, patch in enumerate(series):
        for hunk in (hunk for hunk in patch.hunks if hunk.path in paths):
            for line in hunk.added:
                owners.setdefault((hunk.path, True, line), {})[number] = None
            for line in hunk.removed:
                owners.setdefault((hunk.path, False, line), {})[number] = None
    return {line: tuple(numbers) for line, numbers in owners.items()}


class _Scanner:
    """Which interesting lines a version of a path has, each version read once."""

    def __init__(self, wanted: Mapping[str, Interest], blobs: Blobs) -> None:
        self._wanted = wanted
        self._blobs = blobs
        self._known: dict[tuple[str, str], Interest] = {}

    def scan(self, path: str, entry: Entry | None) -> Interest:
        if entry is None or entry.mode not in FILE_MODES:
            return Interest()
        key = (path, entry.blob)
        if key not in self._known:
            lines = frozenset(normal_lines(self._blobs.read(entry.blob)))
            wanted = self._wanted[path]
            self._known[key] = Interest(wanted.added & lines, wanted.removed & lines)
        return self._known[key]
