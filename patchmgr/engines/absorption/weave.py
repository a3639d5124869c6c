"""All lines that the states of a file in a series ever have, in one order: a weave, as SCCS has it.

A weave is compared with an upstream version of the file once, and that tells of every patch at the
same time which of its lines are there. It needs no guess of how far upstream took the series.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field

from patchmgr.engines.placement import split_lines
from patchmgr.model.patch import Hunk

_SPACE = b" \t\r\f\v\n"
_LETTERS = re.compile(rb"(?:[^A-Za-z\x80-\xff]*[A-Za-z\x80-\xff]){3}")
SHORTEST_TELLING = 6


def bare(line: bytes) -> bytes:
    """Return a line without any white space."""
    return line.translate(None, _SPACE)


def is_telling(line: bytes) -> bool:
    """Say whether a line without white space says something: a brace or a `return` does not."""
    return len(line) >= SHORTEST_TELLING and line not in _BARE and bool(_LETTERS.match(line, 0, 200))


_BARE = frozenset(
    b"return return; break; continue continue; default: finally: private: public: protected: "
    b"#endif else: else{ }else{ template<> import pass; try: template passed returnNone "
    b"returnout returnTrue returnFalse returnresult importtorch result #pragmaonce".split()
)


class Node(Struct):
    """A line of a weave; `events` are the hunks (patch, number) that put it in or took it out."""

    text: bytes
    key: bytes
    is_base: bool
    events: list[tuple[int, int]] = field(default_factory=list)

    def is_alive(self, patch: int) -> bool:
        """Say whether the line is there after a patch (-1: in the base)."""
        count = sum(by <= patch for by, _ in self.events)
        return self.is_base ^ (count % 2 == 1)


class Run(Struct, frozen=True):
    """Neighbouring nodes (start to end, exclusive) that patches of the series touch."""

    start: int
    end: int
    patches: tuple[int, ...]


class Weave:
    """The lines of one file; `is_made` says that the base has no such file."""

    def __init__(self, base: bytes | None) -> None:
        self.is_made = base is None
        self.nodes = [Node(line, bare(line), True) for line in split_lines(base or b"")]
        self.last = -1

    def apply(self, patch: int, first: int, hunks: Sequence[Hunk], positions: Sequence[int]) -> None:
        """Take in what a patch does; `first` is the number of its first hunk here."""
        old, at, alive = self.nodes, 0, 0
        new: list[Node] = []
        now = [node.is_alive(patch - 1) for node in old]
        for number, (hunk, position) in enumerate(zip(hunks, positions, strict=True), first):
            while at < len(old) and (alive < position or not now[at]):
                if alive == position and not now[at]:
                    break
                new.append(old[at])
                alive += now[at]
                at += 1
            start = len(new)  # of the run: what follows was touched, or is dead
            floor = start
            for line in hunk.lines:
                if line[:1] == b"+":
                    ahead = at
                    while ahead < len(old) and not now[ahead] and old[ahead].text != line[1:]:
                        ahead += 1
                    if ahead < len(old) and not now[ahead]:
                        new += old[at : ahead + 1]
                        at = ahead + 1
                    place = self._revive(new, floor, patch, number, line[1:])
                    if place is None:
                        place = len(new)
                        new.append(Node(line[1:], bare(line[1:]), False, [(patch, number)]))
                    floor = place + 1
                    continue
                while not now[at]:
                    new.append(old[at])
                    at += 1
                node = old[at]
                new.append(node)
                at, alive = at + 1, alive + 1
                if line[:1] == b"-":
                    node.events.append((patch, number))
                else:
                    floor = len(new)
        new += old[at:]
        self.nodes = new
        self.last = patch
        self.__dict__.pop("runs", None)

    @staticmethod
    def _revive(nodes: list[Node], start: int, patch: int, number: int, text: bytes) -> int | None:
        """Put a line back in that an earlier patch took out right here; return where it is."""
        for place in range(start, len(nodes)):
            node = nodes[place]
            if node.text == text and not node.is_alive(patch) and node.events[-1] != (patch, number):
                node.events.append((patch, number))
                return place
        return None

    def take_all(self, patch: int, number: int) -> None:
        """Take in that a patch deletes the file, or moves it away."""
        for node in self.nodes:
            if node.is_alive(patch - 1):
                node.events.append((patch, number))
        self.last = patch
        self.__dict__.pop("runs", None)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs of touched nodes."""
        found: list[Run] = []
        start: int | None = None
        for at, node in enumerate([*self.nodes, Node(b"", b"", True)]):
            if node.events and start is None:
                start = at
            elif not node.events and start is not None:
                by = {patch for n in self.nodes[start:at] for patch, _ in n.events}
                found.append(Run(start, at, tuple(sorted(by))))
                start = None
        return tuple(found)

    def state(self, run: Run, patch: int) -> list[bytes]:
        """Return the keys that a run has after a patch (-1: in the base)."""
        return [n.key for n in self.nodes[run.start : run.end] if n.is_alive(patch)]

    def hunks(self) -> Iterator[tuple[int, int]]:
        """Yield the hunks that touch the file."""
        yield from dict.fromkeys(event for node in self.nodes for event in node.events)
