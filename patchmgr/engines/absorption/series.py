"""Compare a series with each upstream version of the files that it touches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.absorption.thresholds import FEWEST_CAME, MOST
from patchmgr.engines.absorption.weave import CARRIED, Count, Effect, Fate, HunkId, Line, Weave
from patchmgr.engines.moved.files import ChangedFiles, versions_of
from patchmgr.engines.series.fold import FileStep, left_path
from patchmgr.engines.series.placement import PatchedFile
from patchmgr.engines.text.distinctive import differing, is_distinctive, normal_lines
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Blobs, Step
from patchmgr.model.snapshot import Entry, file_content

Versions = Mapping[str, "Entry | None"]
FileVersions = Mapping[int, "Entry | None"]
"""The versions of a file in order, by the number of the commit that makes each, or `BASE`."""

BASE = -1  # the number of the base, among the numbers of upstream's commits


class Folded(Struct, frozen=True):
    """A patch, and its change to each file, starting from the files with the earlier patches."""

    patch: Patch
    steps: tuple[FileStep, ...]


class Way(Struct, frozen=True):
    """Upstream's files at base and target, the commits between, and where upstream moved files."""

    start: Versions
    target: Versions
    homes: Mapping[str, str]
    steps: Sequence[Step]
    width: Callable[[Step], int] = lambda step: len(step.changes)
    inside: Callable[[Sequence[Step]], Mapping[str, Sequence[Step]]] = lambda merges: {}


class Series:
    """A series and the upstream versions to compare it with. Results are computed only once."""

    def __init__(
        self, folded: Sequence[Folded], way: Way, blobs: Blobs, *, elsewhere: ChangedFiles
    ) -> None:
        self.folded, self.way = tuple(folded), way
        self.end = len(way.steps)  # the number of the target: one more than the last commit's
        self.blobs, self.elsewhere = blobs, elsewhere
        # The hunks of one file are read one after another.
        self._read = lru_cache(maxsize=4)(blobs.read)
        # The changes to the lines of each file, in the order of the series.
        self._recorded = defaultdict[str, list[tuple[HunkId, FileStep]]](list)
        # A file change without hunks counts as one hunk.
        self.hunks: list[list[HunkId]] = [[] for _ in self.folded]
        self.steps: dict[HunkId, tuple[FileStep, int]] = {}  # with the hunk's number in the file
        self.wholes: set[HunkId] = set()  # changes without lines, and files that stay deleted
        for patch, item in enumerate(self.folded):
            for step in item.steps:
                self._record(patch, step)
        self.paths = tuple(self._recorded)
        self.weave = cache(self._weave)
        for hunk, (step, _) in self.steps.items():
            path = step.change.path
            if step.theirs is None and path in self._recorded and self.weave(path).is_deleted:
                self.wholes.add(hunk)
        # For each state of a file, the last patch that leaves the file in that state.
        self._states = {(s.change.path, s.theirs): by[0] for by, (s, _) in self.steps.items()}
        self._effect, self.wanted = cache(self._effect_of), cache(self._wanted)
        self.size, self.is_lasting = cache(self._size), cache(self._is_lasting)
        self.versions = self.versions_in(way.steps, way.start)
        self.lines, self.count = cache(self._lines_of), cache(self._count)
        self.touching, self.news = cache(self._touching), cache(self._news)
        self.changed = cache(self._changed)

    def _record(self, patch: int, step: FileStep) -> None:
        """Record the hunks of a patch in one file, and what it does to the file's lines."""
        change, first = step.change, len(self.hunks[patch])
        hunks = [(patch, first + n) for n in range(step.size)]
        self.hunks[patch] += hunks
        self.steps |= {hunk: (step, n) for n, hunk in enumerate(hunks)}
        texts = [b"" if side is None else self.text(side) for side in (step.base, step.theirs)]
        has_base, has_theirs = (t is not None and b"\0" not in t[:8000] for t in texts)
        paths = [*left_path(change)] if has_base else []
        if has_base and has_theirs and change.new_path is not None:
            paths.append(change.path)
        for path in paths:
            self._recorded[path].append((hunks[0], step))
        if not (has_base and has_theirs) or not (change.hunks or change.new_path is None):
            self.wholes |= {*hunks}

    def versions_in(self, steps: Sequence[Step], start: Versions) -> Mapping[str, FileVersions]:
        """Return each file's entry in `start`, and those after the commits that change the file."""
        homes, found = self.way.homes, dict[str, FileVersions]()
        for path, entry in start.items():
            later = versions_of(steps, path, homes.get(path, path))
            found[path] = {BASE: entry, **{number: new for number, _, new in later}}
        return found

    def _weave(self, path: str) -> Weave:
        weave = Weave(self.text(self.way.start.get(path)))
        # A patch may move one file away and another one to its path.
        in_order = sorted(self._recorded[path], key=lambda x: (x[0][0], x[1].change.path == path))
        for (patch, number), step in in_order:
            change = step.change
            if change.new_path != path:
                weave.take_out((patch, number if change.new_path is None else CARRIED))
                continue
            if step.base is not None and change.old_path != path:
                weave.carry_in(patch, self.blobs.read(step.base.blob))
            weave.apply(patch, number, change.hunks, step.positions)
        return weave

    def text(self, entry: Entry | None) -> bytes | None:
        """Return the content of a file, or None if it does not exist or is a link."""
        return file_content(entry, self._read)

    def path(self, hunk: HunkId) -> str:
        """Return the path of the file that a hunk changes."""
        return self.steps[hunk][0].change.path

    def file(self, hunk: HunkId) -> PatchedFile | None:
        """Return a hunk's file before and after the patch, or None if it has no changed lines."""
        step = self.steps[hunk][0]
        base, theirs = self.text(step.base), self.text(step.theirs)
        if base is None or theirs is None or hunk in self.wholes:
            return None
        return PatchedFile(self.path(hunk), base, theirs, step.change.hunks, step.positions)

    def version(self, path: str, number: int) -> Entry | None:
        """Return a file's tree entry after an upstream commit, or None if it does not exist."""
        if number == self.end:
            return self.way.target.get(path)
        versions = self.versions[path]
        return versions[max(at for at in versions if at <= number)]

    def is_state(self, path: str, number: int, patch: int = 0) -> bool:
        """Return whether `patch` or a later one leaves a file as it is after an upstream commit.

        A file that is missing, or the same as in the base, does not count.
        """
        entry = self.version(path, number)
        is_new = entry not in (None, self.way.start.get(path))
        return is_new and self._states.get((path, entry), BASE) >= patch

    def _touching(self, patch: int) -> Set[int]:
        """Return the numbers of the upstream commits that touch the files of a patch."""
        paths = {self.path(hunk) for hunk in self.hunks[patch]}
        return {number for path in paths for number in self.versions[path]} - {BASE}

    def effect_at(self, path: str, number: int) -> Effect:
        """Return which of the series' line changes to a file upstream has after a commit."""
        return self._effect(path, self.version(path, number))

    def _effect_of(self, path: str, entry: Entry | None) -> Effect:
        return self.weave(path).effect(self.text(entry), known=self._states.get((path, entry)))

    def lacks_header(self, hunk: HunkId, number: int) -> bool:
        """Return whether upstream, after a commit, lacks the new mode or the rename of a patch."""
        step, homes = self.steps[hunk][0], self.way.homes
        entries = step.base, step.theirs, self.version(self.path(hunk), number)
        base, theirs, ours = (entry and entry.mode for entry in entries)
        left = left_path(step.change) if step.change.is_rename else ()
        has_left = not any(self.version(p, number) for p in left if homes.get(p, p) == p)
        return bool(base and theirs and base != theirs != ours) or not has_left

    def _fate_of_whole(self, hunk: HunkId, number: int) -> Fate:
        """Return the fate of a file change without hunks, such as a rename or a new mode."""
        (step, nth), path = self.steps[hunk], self.path(hunk)
        is_kept = step.base and step.theirs and step.base.blob == step.theirs.blob
        is_mode = is_kept and step.change.old_path == path
        now, start = self.version(path, number), self.way.start.get(path)
        mine = hunk[0], hunk[1] - nth
        steps = ((by, s) for by, (s, n) in self.steps.items() if s.change.path == path and not n)
        states = [((BASE, 0), start), *((by, other.theirs) for by, other in steps)]
        mode = now.mode if now and is_mode else None
        same = [by for by, e in states if e == now or (mode and e and e.mode == mode)]
        if same:
            other = Fate.OPEN if same[-1] < mine else Fate.REPLACED
            return Fate.FOUND if same[0] == mine else other
        # A file that upstream moved as the patch does may have been edited since.
        seen = {self.version(path, n) for n in self.versions[path] if n <= number} - {start}
        is_same = is_kept and now and step.theirs and now.mode == step.theirs.mode
        return Fate.REPLACED if is_same and step.theirs in seen else Fate.TAKEN

    def _count(self, of: HunkId | int, number: int) -> Count:
        """Count the lines of a hunk, or of a patch, by their fate after an upstream commit."""
        hunks = self.hunks[of] if isinstance(of, int) else [of]
        return Count.of(line for hunk in hunks for line in self.lines(hunk, number))

    def _lines_of(self, hunk: HunkId, number: int) -> Sequence[Line]:
        """Return (is it added, its fate after a commit) for each distinctive line of a hunk.

        A change without lines counts as one line, and so does a mode or path that upstream lacks.
        """
        path, lacking = self.path(hunk), [(True, Fate.OPEN)] * self.lacks_header(hunk, number)
        if hunk in self.wholes:
            adds = self.steps[hunk][0].change.old_path != path
            return [(adds, self._fate_of_whole(hunk, number)), *lacking]
        return [*self.effect_at(path, number).lines.get(hunk, ()), *lacking]

    def _wanted(self, path: str) -> Mapping[tuple[bool, bytes], set[int]]:
        """Map (is it added, distinctive line) to the patches that add or remove it in a file."""
        found = defaultdict[tuple[bool, bytes], set[int]](set)
        for (patch, hunk), changes in self.weave(path).distinctive.items():
            for change in changes if hunk != CARRIED else ():
                found[change.adds, change.node.key].add(patch)
        return found

    def _size(self, patch: int) -> int:
        """Return the number of distinctive lines that a patch changes."""
        hunks = [hunk for hunk in self.hunks[patch] if self.path(hunk) in self._recorded]
        told = ((h, c) for h in hunks for c in self.weave(self.path(h)).distinctive.get(h, ()))
        lines = {(self.path(h), c.adds, c.node.key) for h, c in told}
        return sum(is_distinctive(line) for _, _, line in lines)

    def _is_lasting(self, patch: int) -> bool:
        """Return whether a patch adds a line that no other patch changes."""
        hunks = [hunk for hunk in self.hunks[patch] if hunk not in self.wholes]
        told = (c for h in hunks for c in self.weave(self.path(h)).distinctive.get(h, ()))
        return any(c.adds and len(c.node.events) == 1 for c in told)

    def _changed(self, before: Entry | None, after: Entry | None) -> Set[tuple[bool, bytes]]:
        """Return (is it added, line without white space) for each line that a commit changes."""
        texts = (self.text(entry) or b"" for entry in (before, after))
        old, new = (Counter(normal_lines(part)) for part in differing(*texts))
        # A line counts even if it is also elsewhere in the file (4 patches of A-fi-1857).
        return {(new[line] > old[line], line) for line, _ in old.items() ^ new.items() if line}

    def _news(self, number: int) -> Set[tuple[str, bool, bytes]]:
        """Return the lines that a commit adds and removes; if any are distinctive, only those."""
        found = set[tuple[str, bool, bytes]]()
        for path in (path for path in self.paths if number in self.versions[path]):
            # Without lines that the file has elsewhere, a reversal is known (A-fi-1496).
            sides = [self.version(path, n) for n in (number - 1, number)]
            other = [{*normal_lines(self.text(side) or b"")} for side in reversed(sides)]
            changes = self.changed(*sides)
            found |= {(path, adds, line) for adds, line in changes if line not in other[adds]}
        return {change for change in found if is_distinctive(change[2])} or found

    @cached_property
    def traffic(self) -> tuple[list[Counter[int]], ...]:
        """Counts of each patch's changes by commit: those it makes, and those it undoes."""
        return self.traffic_of(self.versions)

    def traffic_of(self, versions: Mapping[str, FileVersions]) -> tuple[list[Counter[int]], ...]:
        """Return counts of each patch's changes by commit: those it makes, and those it undoes."""
        came, gone = ([Counter[int]() for _ in self.folded] for _ in range(2))
        for path in self.paths:
            for (_, old), (number, new) in pairwise(versions[path].items()):
                for adds, line in self.changed(old, new):
                    for counts, side in ((came, adds), (gone, not adds)):
                        for patch in self.wanted(path).get((side, line), ()):
                            counts[patch][number] += 1
        for hunk in self.wholes:
            theirs = self.steps[hunk][0].theirs
            for (_, was), (number, now) in pairwise(versions[self.path(hunk)].items()):
                if was != now and theirs in (was, now):
                    (came if now == theirs else gone)[hunk[0]][number] += 1
        return came, gone

    def candidates(self) -> list[int]:
        """Return the numbers of the upstream commits that may have landed any patch, in order."""
        found = set[int]()
        for patch, came in enumerate(self.traffic[0]):
            # The size takes long; it is asked for only if upstream changed lines of the patch.
            found |= {n for n, count in came.items() if count >= FEWEST_CAME * self.size(patch)}
        # Lines that the series moves within a file do not count as added: the file had them before.
        for path in (path for path in self.paths if self.is_state(path, self.end)):
            found |= {number for number in self.versions[path] if self.is_state(path, number)}
        return sorted(found)

    @cached_property
    def related(self) -> Sequence[set[int]]:
        """For each patch, the patches that it partly undoes, and those that partly undo it."""
        found = [set[int]() for _ in self.folded]
        for hunk in self.steps:
            for other in self.undone(hunk):
                found[hunk[0]].add(other)
                found[other].add(hunk[0])
        return found

    def undone(self, hunk: HunkId) -> Set[int]:
        """Return the earlier patches that added lines or files that a hunk removes."""
        change = self.steps[hunk][0].change
        places = (change.path, hunk), (change.old_path, (hunk[0], CARRIED))
        known = ((self.weave(path), by) for path, by in places if path in self._recorded)
        return {patch for weave, by in known for patch in weave.undone.get(by, ())}

    def is_own(self, patch: int, number: int) -> bool:
        """Return whether the series has most of a commit's changes to the files of a patch, too."""
        paths = {self.path(hunk) for hunk in self.hunks[patch]}
        lines = {change for change in self.news(number) if change[0] in paths}
        brought = {change for change in lines if change[1]} or lines
        own = sum((adds, line) in self.wanted(path) for path, adds, line in brought)
        return bool(brought) and own >= MOST * len(brought)
