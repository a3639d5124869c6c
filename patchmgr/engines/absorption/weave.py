"""All lines that the states of a file in a series ever have, in one order: a weave, as SCCS has it.

A weave is compared with an upstream version of the file once, and that tells of every patch at the
same time which of its lines are there. Nobody has to guess how far upstream took the series.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field

from patchmgr.engines.placement import split_lines
from patchmgr.engines.telling import bare
from patchmgr.model.patch import Hunk

HunkId = tuple[int, int]
"""A patch of the series and a hunk of it, both counted from 0."""

Change = tuple[int, int]
"""A node of a weave, and the number of one of its events."""

CARRIED = -1  # stands for the hunk where a file comes to its path, or leaves it, as a whole


class Node(Struct):
    """A line of a weave; `events` are the hunks that put it in or took it out, in turn."""

    text: bytes
    key: bytes
    is_base: bool
    events: list[HunkId] = field(default_factory=list)

    def is_alive(self, patch: int) -> bool:
        """Say whether the line is there after a patch (-1: in the base)."""
        return self.is_base ^ (sum(by <= patch for by, _ in self.events) % 2 == 1)

    def puts_in(self, number: int) -> bool:
        """Say whether an event, by its number, puts the line in (or takes it out)."""
        return self.is_base == (number % 2 == 1)


class Run(Struct, frozen=True):
    """Neighbouring nodes (end exclusive) that patches of the series touch, and these patches."""

    start: int
    end: int
    patches: tuple[int, ...]


class Weave:
    """The lines of one file; `base` is None where the base has no such file."""

    def __init__(self, base: bytes | None) -> None:
        self.is_made = base is None
        self.nodes = [Node(line, bare(line), is_base=True) for line in split_lines(base or b"")]
        self.last = -1

    def apply(
        self, patch: int, first: int, hunks: Sequence[Hunk], positions: Sequence[int]
    ) -> None:
        """Take in what a patch does; `first` is the number of its first hunk here."""
        old = [(node, node.is_alive(patch - 1)) for node in self.nodes]
        rest = iter(hunks)
        starts = iter((*positions, -1))
        self.nodes, start, alive, at = [], next(starts), 0, 0
        number = first - 1
        while at < len(old) or start == alive:
            if start == alive:
                number += 1
                at, moved = self._apply_hunk(old, at, next(rest), (patch, number))
                alive, start = alive + moved, next(starts)
                continue
            self.nodes.append(old[at][0])
            alive += old[at][1]
            at += 1
        self.last = patch

    def _apply_hunk(
        self, old: Sequence[tuple[Node, bool]], at: int, hunk: Hunk, by: HunkId
    ) -> tuple[int, int]:
        """Apply one hunk at a node; return the node behind it, and how many lines it has passed."""
        nodes = self.nodes
        floor, moved = len(nodes), 0
        for line in hunk.lines:
            if line[:1] == b"+":
                ahead = at
                while ahead < len(old) and not old[ahead][1] and old[ahead][0].text != line[1:]:
                    ahead += 1
                if ahead < len(old) and not old[ahead][1]:
                    nodes += [node for node, _ in old[at : ahead + 1]]
                    at = ahead + 1
                floor = self._put_in(floor, line[1:], by) + 1
                continue
            while not old[at][1]:
                nodes.append(old[at][0])
                at += 1
            nodes.append(old[at][0])
            at, moved = at + 1, moved + 1
            if line[:1] == b"-":
                nodes[-1].events.append(by)
            else:
                floor = len(nodes)
        return at, moved

    def _put_in(self, floor: int, text: bytes, by: HunkId) -> int:
        """Put a line in behind the floor, or one back that was taken out there; return where."""
        for place in range(floor, len(self.nodes)):
            node = self.nodes[place]
            if node.text == text and not node.is_alive(by[0]) and node.events[-1] != by:
                node.events.append(by)
                return place
        self.nodes.append(Node(text, bare(text), is_base=False, events=[by]))
        return len(self.nodes) - 1

    def carry_in(self, patch: int, content: bytes) -> None:
        """Take in that a patch moves or copies a file to this path: its lines are no news."""
        lines = split_lines(content)
        self.nodes += [
            Node(x, bare(x), is_base=False, events=[(patch - 1, CARRIED)]) for x in lines
        ]
        self.last = patch

    def take_out(self, by: HunkId) -> None:
        """Take in that a patch deletes the file, or moves it away."""
        for node in self.nodes:
            if node.is_alive(by[0] - 1):
                node.events.append(by)
        self.last = by[0]

    @property
    def is_deleted(self) -> bool:
        """Say whether the series ends without the file's lines."""
        return not any(node.is_alive(self.last) for node in self.nodes)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs of touched nodes, once the whole series is in."""
        found: list[Run] = []
        start: int | None = None
        for at, node in enumerate([*self.nodes, Node(b"", b"", is_base=True)]):
            if node.events and start is None:
                start = at
            elif not node.events and start is not None:
                by = {patch for n in self.nodes[start:at] for patch, _ in n.events}
                found.append(Run(start, at, tuple(sorted(by))))
                start = None
        return tuple(found)

    @cached_property
    def changes(self) -> Mapping[HunkId, Sequence[Change]]:
        """By hunk: the nodes that it changes, once the whole series is in."""
        found: dict[HunkId, list[Change]] = {}
        for at, node in enumerate(self.nodes):
            for number, by in enumerate(node.events):
                found.setdefault(by, []).append((at, number))
        return found

    def state(self, run: Run, patch: int) -> list[bytes]:
        """Return the keys that a run has after a patch (-1: in the base)."""
        return [n.key for n in self.nodes[run.start : run.end] if n.is_alive(patch)]
