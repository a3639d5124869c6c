"""A weave, as in SCCS: the lines that a file has in any state of a series, in one common order.

One comparison of the weave with an upstream file shows which lines of every patch that file has,
no matter how many of the patches upstream took.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import groupby, pairwise

from msgspec import Struct, field

from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.telling import bare, is_telling, normal_lines
from patchmgr.model.patch import Hunk

HunkId = tuple[int, int]
"""The index of a patch in the series, and of a hunk in the patch."""

Change = tuple[int, int]
"""The index of a node in a weave, and of an event of the node."""

CARRIED = -1  # stands for the hunk where a file comes to its path, or leaves it, as a whole


class Node(Struct):
    """A line that a file has in some state of a series.

    `events` holds the hunks that add or remove the line, in series order.
    """

    text: bytes
    key: bytes
    is_base: bool
    events: list[HunkId] = field(default_factory=list)

    def is_alive(self, patch: int) -> bool:
        """Return whether the file has the line after the patch with this index (-1: the base)."""
        is_there = self.is_base
        for by, _ in self.events:
            is_there ^= by <= patch
        return is_there

    def puts_in(self, number: int) -> bool:
        """Return whether the hunk at an index of `events` adds the line rather than removes it."""
        return self.is_base == (number % 2 == 1)


class Run(Struct, frozen=True):
    """A range of adjacent lines (end exclusive) that patches add or remove, and those patches."""

    start: int
    end: int
    patches: tuple[int, ...]


class Weave:
    """The lines that one file has in any state of a series, in one common order.

    The `base` is None if the file does not exist there. All patches must be recorded before a
    cached property is read.
    """

    def __init__(self, base: bytes | None) -> None:
        self.is_made = base is None
        self.nodes = [Node(line, key, is_base=True) for line, key in _keyed(base or b"")]
        self.last = -1

    def apply(
        self, patch: int, first: int, hunks: Sequence[Hunk], positions: Sequence[int]
    ) -> None:
        """Record the lines that a patch adds to the file and removes from it.

        `first` is the index, within the patch, of the first hunk in `hunks`.
        """
        alive = [-1, *self.alive(patch - 1)]
        for number, (hunk, position) in reversed([*enumerate(zip(hunks, positions, strict=True))]):
            self._apply_hunk(alive[position] + 1, hunk, (patch, first + number))
        self.last = patch

    def _apply_hunk(self, at: int, hunk: Hunk, by: HunkId) -> None:
        """Apply a hunk at a node. A restored line reuses the node of the removed one."""
        nodes, floor = self.nodes, at
        for line in hunk.lines:
            numbers = range(at, len(nodes))
            following = next((n for n in numbers if nodes[n].is_alive(by[0] - 1)), len(nodes))
            if line[:1] != b"+":
                at = following + 1
                if line[:1] == b"-":
                    nodes[following].events.append(by)
                else:
                    floor = at
                continue
            dead = (n for n in range(floor, following) if nodes[n].text == line[1:])
            back = (n for n in dead if not nodes[n].is_alive(by[0]) and nodes[n].events[-1] != by)
            place = next(back, None)
            if place is None:
                nodes.insert(at, Node(line[1:], bare(line[1:]), is_base=False))
                place = at
            nodes[place].events.append(by)
            floor = place + 1
            at = max(at, floor)

    def carry_in(self, patch: int, content: bytes) -> None:
        """Record that a patch moves or copies a file to this path.

        The lines of that file do not count as added by the patch.
        """
        event = patch - 1, CARRIED
        self.nodes += [Node(x, key, is_base=False, events=[event]) for x, key in _keyed(content)]
        self.last = patch

    def take_out(self, by: HunkId) -> None:
        """Record that a patch deletes the file or moves it to another path."""
        for at in self.alive(by[0] - 1):
            self.nodes[at].events.append(by)
        self.last = by[0]

    def alive(self, patch: int) -> list[int]:
        """Return the indices of the nodes whose lines exist after a patch (-1: in the base)."""
        nodes = enumerate(self.nodes)
        return [n for n, node in nodes if (node.is_alive(patch) if node.events else node.is_base)]

    @property
    def is_deleted(self) -> bool:
        """Whether no line of the file is left after the whole series."""
        return not self.alive(self.last)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The ranges of adjacent lines that patches add or remove."""
        found, end = list[Run](), 0
        for is_touched, group in groupby(self.nodes, key=lambda node: bool(node.events)):
            nodes = list(group)
            start, end = end, end + len(nodes)
            if is_touched:
                by = {patch for node in nodes for patch, _ in node.events}
                found.append(Run(start, end, tuple(sorted(by))))
        return tuple(found)

    @cached_property
    def changes(self) -> Mapping[HunkId, Sequence[Change]]:
        """The lines that each hunk adds or removes."""
        found: dict[HunkId, list[Change]] = {}
        for at, node in enumerate(self.nodes):
            for number, by in enumerate(node.events):
                found.setdefault(by, []).append((at, number))
        return found

    @cached_property
    def telling(self) -> Mapping[HunkId, Sequence[Change]]:
        """The added and removed lines that show whether each hunk has landed.

        These are its distinctive lines. If a hunk adds (or removes) none, all lines that it adds
        (or removes) and that are not empty count.
        """
        found: dict[HunkId, list[Change]] = {}
        for hunk, changes in self.changes.items():
            for side in (True, False):
                own = [c for c in changes if self.nodes[c[0]].puts_in(c[1]) is side]
                said = [c for c in own if is_telling(self.nodes[c[0]].key)]
                found.setdefault(hunk, []).extend(said or [c for c in own if self.nodes[c[0]].key])
        return found

    @cached_property
    def replacements(self) -> Set[tuple[int, HunkId]]:
        """Each patch whose change of a line a later hunk undoes, paired with that hunk."""
        return {
            (by[0], after)
            for node in self.nodes
            for by, after in pairwise(node.events)
            if node.is_base or by[1] != CARRIED
        }

    @cached_property
    def ends(self) -> tuple[tuple[Sequence[int], Sequence[bytes]], ...]:
        """The lines of the file after the whole series and in the base, with their indices."""
        states = map(self.alive, (self.last, -1))
        return tuple((state, [self.nodes[n].key for n in state]) for state in states)

    @cached_property
    def words(self) -> Set[bytes]:
        """The lines of all states of the file, without their white space."""
        return {node.key for node in self.nodes}

    def state(self, run: Run, patch: int) -> list[Node]:
        """Return the lines of a range that the file has after a patch (-1: in the base)."""
        return [node for node in self.nodes[run.start : run.end] if node.is_alive(patch)]


def _keyed(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each line of a text, and the same line without white space."""
    return zip(split_lines(content), normal_lines(content), strict=False)
