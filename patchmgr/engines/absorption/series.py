"""A series as weaves, and upstream's versions of its files on the way to the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property

from msgspec import Struct

from patchmgr.engines.absorption.effect import Count, Effect, Fate, effect
from patchmgr.engines.absorption.rules import ALL_ON
from patchmgr.engines.absorption.thresholds import MOST
from patchmgr.engines.absorption.weave import CARRIED, Change, HunkId, Weave
from patchmgr.engines.fold import FileStep
from patchmgr.engines.telling import is_telling, normal_lines
from patchmgr.model.patch import Hunk, Patch
from patchmgr.model.ports import Blobs, Step
from patchmgr.model.snapshot import FILE_MODES, Entry

Versions = Mapping[str, "Entry | None"]
Elsewhere = Callable[[str, frozenset[bytes], frozenset[bytes]], Sequence[str]]
"""Other files of a path's language with lines that they had not in the base, and lines beside."""

NO_HUNK = Hunk(0, 0, 0, 0, b"", ())
BASE = -1  # stands for the base where a step is asked for by its number


class Folded(Struct, frozen=True):
    """A patch with what it does to the side that it is written against."""

    patch: Patch
    steps: tuple[FileStep, ...]

    def numbered(self) -> Iterator[tuple[int, FileStep]]:
        """Yield what the patch does to each file, with the number of its first hunk."""
        first = 0
        for step in self.steps:
            yield first, step
            first += max(1, len(step.change.hunks))

    def hunks(self) -> Iterator[Hunk]:
        """Yield the hunks; a change without any has one without lines."""
        for step in self.steps:
            yield from step.change.hunks or (NO_HUNK,)


class Way(Struct, frozen=True):
    """Upstream's way: the base's and the target's files by path of the series, and the steps.

    `homes` maps a path to where the target has the file, where upstream moved it.
    """

    start: Versions
    target: Versions
    homes: Mapping[str, str]
    steps: Sequence[Step]

    @property
    def end(self) -> int:
        """Return the number that stands for the target."""
        return len(self.steps)

    def versions(self, path: str) -> Iterator[tuple[int, Entry | None]]:
        """Yield the steps that touch a path, by number, with the file after each."""
        home, has_moved = self.homes.get(path, path), False
        for number, step in enumerate(self.steps):
            if step.changes.get(home) is not None:
                has_moved = True
                yield number, step.changes[home]
            elif home in step.changes or (path in step.changes and not has_moved):
                yield number, None if home in step.changes else step.changes[path]


class Series:
    """A series on upstream's way; all that is asked of a version is found once."""

    def __init__(
        self,
        folded: Sequence[Folded],
        way: Way,
        blobs: Blobs,
        *,
        elsewhere: Elsewhere = lambda path, lines, beside: (),
        off: Set[str] = ALL_ON,
    ) -> None:
        self.folded, self.way, self.blobs, self.off = tuple(folded), way, blobs, off
        self.elsewhere = elsewhere
        self.weaves: dict[str, Weave] = {}
        self.paths: dict[HunkId, str] = {}
        self.plain: dict[HunkId, Entry | None] = {}  # what a change without lines makes
        self.modes: dict[HunkId, str] = {}  # what the mode is to be, of a file whose mode changes
        self.deletions: set[HunkId] = set()  # hunks that take a file away
        for patch, item in enumerate(self.folded):
            for number, step in item.numbered():
                self._leave(patch, number, step)
            for number, step in item.numbered():
                self._arrive(patch, number, step)
        self._versions = {path: dict(way.versions(path)) for path in way.start}
        self.known = cache(self._known)
        self.effect = cache(self._effect)
        self.count_patch = cache(self._count_patch)
        self.count = cache(self._count)
        self.news = cache(self._news)

    def _leave(self, patch: int, number: int, step: FileStep) -> None:
        change = step.change
        is_leaving = change.old_path != change.new_path and not change.is_copy
        if change.old_path is not None and is_leaving and self._has_text(step.base):
            by = number if change.new_path is None else CARRIED
            self._weave(change.old_path).take_out((patch, by))

    def _arrive(self, patch: int, number: int, step: FileStep) -> None:
        change, path = step.change, step.change.path
        numbers = range(number, number + max(1, len(change.hunks)))
        self.paths |= {(patch, n): path for n in numbers}
        is_text = self._has_text(step.base) and self._has_text(step.theirs)
        if step.base and step.theirs and step.base.mode != step.theirs.mode:
            self.modes |= {(patch, n): step.theirs.mode for n in numbers}
        if change.new_path is not None and is_text:
            weave = self._weave(path)
            if step.base is not None and change.new_path != change.old_path and weave.is_deleted:
                weave.carry_in(patch, self.blobs.read(step.base.blob))
            weave.apply(patch, number, change.hunks, step.positions)
        if change.new_path is None and is_text:
            self.deletions |= {(patch, n) for n in numbers}
        elif not (is_text and change.hunks):
            self.plain |= {(patch, n): step.theirs for n in numbers}

    def _has_text(self, entry: Entry | None) -> bool:
        content = b"" if entry is None else self.text(entry)
        return content is not None and b"\0" not in content[:8000]

    def _weave(self, path: str) -> Weave:
        if path not in self.weaves:
            self.weaves[path] = Weave(self.text(self.way.start.get(path)))
        return self.weaves[path]

    def text(self, entry: Entry | None) -> bytes | None:
        """Return the content of a file, None where there is none or it is a link."""
        is_file = entry is not None and entry.mode in FILE_MODES
        return self.blobs.read(entry.blob) if entry is not None and is_file else None

    def hunks(self, patch: int) -> list[HunkId]:
        """Return the hunks of a patch; a change without any counts as one."""
        steps = self.folded[patch].steps
        return [(patch, n) for n in range(sum(max(1, len(s.change.hunks)) for s in steps))]

    def version(self, path: str, number: int) -> Entry | None:
        """Return the file after a step."""
        if number == self.way.end:
            return self.way.target.get(path)
        found = self.way.start.get(path)
        for at, entry in self._versions[path].items():
            if at > number:
                break
            found = entry
        return found

    def touching(self, patch: int) -> list[int]:
        """Return the steps that touch a path of a patch, in order."""
        paths = {self.paths[hunk] for hunk in self.hunks(patch)}
        return sorted({number for path in paths for number in self._versions[path]})

    def _known(self, path: str) -> frozenset[Change]:
        """Return the changes that the base has already."""
        if "base" in self.off:
            return frozenset()
        base = effect(self.weaves[path], self.text(self.way.start.get(path)), off=self.off)
        return frozenset(change for change, fate in base.fates.items() if fate is Fate.FOUND)

    def _effect(self, path: str, entry: Entry | None) -> Effect:
        known = self.known(path)
        return effect(self.weaves[path], self.text(entry), known=known, off=self.off)

    def effect_at(self, path: str, number: int) -> Effect:
        """Return what a path has of the series after a step."""
        return self.effect(path, self.version(path, number))

    def _count(self, hunk: HunkId, number: int) -> Count:
        if hunk in self.plain:
            return Count()
        return self.effect_at(self.paths[hunk], number).counts.get(hunk, Count())

    def _count_patch(self, patch: int, number: int) -> Count:
        """Count the fates of a patch's lines after a step."""
        return sum((self.count(hunk, number) for hunk in self.hunks(patch)), Count())

    def has_mode(self, hunk: HunkId, number: int) -> bool:
        """Say whether a version has the mode that the patch gives to the file, if it does."""
        entry = self.version(self.paths[hunk], number)
        return hunk not in self.modes or (entry is not None and entry.mode == self.modes[hunk])

    def has_plain(self, hunk: HunkId, number: int) -> bool:
        """Say whether a version is what a change without lines makes of it."""
        return self.version(self.paths[hunk], number) == self.plain[hunk]

    @cached_property
    def wanted(self) -> Mapping[str, Mapping[bool, Mapping[bytes, set[int]]]]:
        """By path, and by whether they are put in: the telling lines, with their patches."""
        found: dict[str, dict[bool, dict[bytes, set[int]]]] = {}
        for path, weave in self.weaves.items():
            sides = found[path] = {True: {}, False: {}}
            for node in weave.nodes:
                for number, (patch, hunk) in enumerate(node.events):
                    if hunk != CARRIED and is_telling(node.key):
                        sides[node.puts_in(number)].setdefault(node.key, set()).add(patch)
        return found

    def traffic(self) -> Iterator[tuple[int, str, bool, bytes]]:
        """Yield each wanted line that comes or goes: step, path, which of both, and the line."""
        for path, wanted in self.wanted.items():
            interesting = wanted[True].keys() | wanted[False].keys()
            before = self._lines(self.way.start.get(path)) & interesting
            for number, entry in self._versions[path].items():
                after = self._lines(entry) & interesting
                yield from ((number, path, True, line) for line in after - before)
                yield from ((number, path, False, line) for line in before - after)
                before = after

    def _lines(self, entry: Entry | None) -> frozenset[bytes]:
        return frozenset(normal_lines(self.text(entry) or b""))

    def _news(
        self, number: int
    ) -> tuple[frozenset[tuple[str, bytes]], frozenset[tuple[str, bytes]]]:
        """Return the telling lines, by path, that a step adds to the series' files and removes."""
        added: set[tuple[str, bytes]] = set()
        removed: set[tuple[str, bytes]] = set()
        for path in self.weaves:
            if number in self._versions[path]:
                before, after = (self._lines(self.version(path, n)) for n in (number - 1, number))
                added |= {(path, line) for line in after - before if is_telling(line)}
                removed |= {(path, line) for line in before - after if is_telling(line)}
        return frozenset(added), frozenset(removed)

    def is_own(self, number: int) -> bool:
        """Say whether most of what a step adds to the files of the series is the series'."""
        added, _ = self.news(number)
        ours = sum(line in self.wanted[path][True] for path, line in added)
        return "own landing" not in self.off and ours >= MOST * len(added)
