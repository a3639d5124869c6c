"""What the search for absorbed patches works on: a series' states, and upstream's versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from patchmgr.engines.atoms import Folded, Interest, PatchAtoms, is_telling, normal_lines
from patchmgr.engines.fold import FileStep
from patchmgr.engines.placement import apply_one
from patchmgr.engines.presence import View, look
from patchmgr.model.merge import Clean, Merge
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs, Step, TextMerge
from patchmgr.model.snapshot import FILE_MODES, Entry

Place = tuple[str, bytes]
Elsewhere = Callable[[str, frozenset[bytes], frozenset[bytes]], Sequence[str]]
Versions = Mapping[str, "Entry | None"]


class Timelines:
    """The versions of each path of a series on the way from base to target.

    `start` gives the base's file by path, `homes` where a path has gone by the target.
    """

    def __init__(self, steps: Sequence[Step], start: Versions, homes: Mapping[str, str]) -> None:
        self.steps = tuple(steps)
        self._start = start
        self._changes: dict[str, list[tuple[int, Entry | None]]] = {}
        moved: set[str] = set()
        for number, step in enumerate(steps):
            for path in start:
                home = homes.get(path, path)
                if step.changes.get(home) is not None:
                    entry = step.changes[home]
                    moved.add(path)
                elif home in step.changes or (path in step.changes and path not in moved):
                    entry = None if home in step.changes else step.changes[path]
                else:
                    continue
                self._changes.setdefault(path, []).append((number, entry))

    def at(self, path: str, number: int) -> Entry | None:
        """Return the file after a step, -1 being the base."""
        found = self._start.get(path)
        for at, entry in self._changes.get(path, ()):
            if at > number:
                break
            found = entry
        return found

    def touching(self, path: str) -> Sequence[int]:
        """Return the numbers of the steps that change a path, in order."""
        return [number for number, _ in self._changes.get(path, ())]

    def moves(self) -> Mapping[int, Sequence[tuple[str, Entry | None, Entry | None]]]:
        """Return step number to (path, before, after) of what it touches, in order."""
        found: dict[int, list[tuple[str, Entry | None, Entry | None]]] = {}
        for path, changes in self._changes.items():
            before = self._start.get(path)
            for number, after in changes:
                found.setdefault(number, []).append((path, before, after))
                before = after
        return dict(sorted(found.items()))


class Search(Struct, frozen=True):
    """A series (its lines, and the states of its files) and upstream's way to the target.

    `states` gives for each path the file before all patches, and after each of them.
    `target` is the target's file by path of the series. `elsewhere` names other files of a
    path's language that have lines that they had not in the base, those with the most of some
    lines beside.
    """

    series: tuple[PatchAtoms, ...]
    interests: Mapping[str, Interest]
    states: Mapping[str, Sequence[Entry | None]]
    timelines: Timelines
    target: Versions
    blobs: Blobs
    text: TextMerge
    folded: tuple[Folded, ...]
    elsewhere: Elsewhere = lambda path, lines, beside: ()
    views: dict[tuple[int, int], View] = field(default_factory=dict)
    known_lines: dict[str, frozenset[bytes]] = field(default_factory=dict)
    known_differences: dict[int, tuple[frozenset[Place], frozenset[Place]]] = field(
        default_factory=dict
    )

    def view(self, last: int, number: int) -> View:
        """Compare the state after a step with the net change of all patches up to `last`.

        The number of steps stands for the target itself.
        """
        key = (last, number)
        if key not in self.views:
            self.views[key] = look(
                lambda path: self.states[path][0],
                lambda path: self.states[path][last + 1],
                self.version(number).__getitem__,
                tuple(self.states),
                blobs=self.blobs,
                text=self.text,
            )
        return self.views[key]

    def difference(self, number: int) -> tuple[frozenset[Place], frozenset[Place]]:
        """Return the telling lines, by path of the series, that a step added and removed."""
        if number not in self.known_differences:
            added: set[Place] = set()
            removed: set[Place] = set()
            before, after = self.version(number - 1), self.version(number)
            for path in self.states:
                if before[path] != after[path]:
                    old, new = self.lines(before[path]), self.lines(after[path])
                    added |= {(path, line) for line in new - old if is_telling(line)}
                    removed |= {(path, line) for line in old - new if is_telling(line)}
            self.known_differences[number] = (frozenset(added), frozenset(removed))
        return self.known_differences[number]

    def survivors(self, patch: int) -> int:
        """Count the lines of a patch that are left in the net change of the whole series."""
        count = 0
        for hunk in self.series[patch].hunks:
            states = self.states[hunk.path]
            before, after = self.lines(states[0]), self.lines(states[-1])
            count += len(hunk.added & (after - before)) + len(hunk.removed & (before - after))
        return count

    def is_singular(self, patch: int) -> bool:
        """Say whether the patch has a line that its file has nowhere else before (or after)."""
        for hunk in self.series[patch].hunks:
            before, after = self.states[hunk.path][patch : patch + 2]
            if hunk.added - self.lines(before) or hunk.removed - self.lines(after):
                return True
        return False

    def is_no_op(self, patch: int, number: int) -> bool:
        """Say whether the patch alone, merged into the state after a step, changes nothing."""
        version = self.version(number)
        texts = []
        for path in sorted(self.series[patch].paths):
            before, after = self.states[path][patch : patch + 2]
            upstream = version[path]
            if before == after or upstream == after:
                continue
            sides = (before, upstream, after)
            if any(side is None or side.mode not in FILE_MODES for side in sides):
                return False
            if not self._may_have(patch, path, upstream):
                return False
            texts.append(tuple(self.blobs.read(side.blob) for side in sides if side is not None))
        merged = self.text.merge_all([(base, ours, theirs) for base, ours, theirs in texts])
        pairs = zip(texts, merged, strict=True)
        return all(isinstance(m, Clean) and m.content == sides[1] for sides, m in pairs)

    def _may_have(self, patch: int, path: str, entry: Entry | None) -> bool:
        """Say whether a file has all that a patch adds to it: else no merge leaves it as it is."""
        lines = self.lines(entry)
        hunks = (hunk for hunk in self.series[patch].hunks if hunk.path == path)
        return all(hunk.added <= lines for hunk in hunks)

    def is_in(self, patch: int, hunk: int, entry: Entry | None) -> bool:
        """Say whether merging a hunk alone, by its number in the patch, leaves a file as it is."""
        merge = self.alone(patch, hunk, entry)
        return entry is not None and merge == Clean(self.blobs.read(entry.blob))

    def hunk(self, patch: int, hunk: int) -> Hunk:
        """Return a hunk by its number in the patch: one that has lines."""
        step, number = self._numbered(patch)[hunk]
        return step.change.hunks[number]

    def _numbered(self, patch: int) -> list[tuple[FileStep, int]]:
        steps = self.folded[patch].steps
        return [(s, n) for s in steps for n in range(max(1, len(s.change.hunks)))]

    def numbered_steps(self, patch: int) -> Iterator[tuple[int, FileStep]]:
        """Yield what a patch does to each file, with the number of its first hunk."""
        first = 0
        for step in self.folded[patch].steps:
            yield first, step
            first += max(1, len(step.change.hunks))

    def alone(self, patch: int, hunk: int, entry: Entry | None) -> Merge | None:
        """Merge a hunk alone, by its number in the patch, into a file; None where there is none."""
        step, number = self._numbered(patch)[hunk]
        sides = (step.base, entry)
        has_text = all(side is not None and side.mode in FILE_MODES for side in sides)
        if not step.change.hunks or not has_text:
            return None
        base, ours = (self.blobs.read(side.blob) for side in sides if side is not None)
        theirs = apply_one(base, step.change.hunks[number], step.positions[number])
        return self.text.merge(base, ours, theirs)

    def lines(self, entry: Entry | None) -> frozenset[bytes]:
        """Return the lines of a file without white space."""
        if entry is None or entry.mode not in FILE_MODES:
            return frozenset()
        known = self.known_lines.get(entry.blob)
        if known is None:
            known = frozenset(normal_lines(self.blobs.read(entry.blob)))
            self.known_lines[entry.blob] = known
        return known

    def line_counts(self, entry: Entry | None) -> Counter[bytes]:
        """Count each line of a file without white space."""
        if entry is None or entry.mode not in FILE_MODES:
            return Counter()
        return Counter(normal_lines(self.blobs.read(entry.blob)))

    def raw_lines(self, entry: Entry | None) -> frozenset[bytes]:
        """Return the lines of a file as they are."""
        if entry is None or entry.mode not in FILE_MODES:
            return frozenset()
        return frozenset(self.blobs.read(entry.blob).split(b"\n"))

    @property
    def end(self) -> int:
        """Return the number that stands for the target."""
        return len(self.timelines.steps)

    def version(self, number: int) -> Versions:
        """Return the files after a step."""
        if number == self.end:
            return self.target
        return {path: self.timelines.at(path, number) for path in self.states}


def states_of(folded: Sequence[Folded], start: Versions) -> dict[str, list[Entry | None]]:
    """Return for each path the file before all patches, and after each of them."""
    states: dict[str, list[Entry | None]] = {path: [entry] for path, entry in start.items()}
    for item in folded:
        for entries in states.values():
            entries.append(entries[-1])
        for step in item.steps:
            change = step.change
            if change.old_path is not None and not change.is_copy:
                states[change.old_path][-1] = None
        for step in item.steps:
            if step.change.new_path is not None:
                states[step.change.new_path][-1] = step.theirs
    return states
