"""A weave, as in SCCS: the lines that a file has in any state of a series, in one common order.

A single comparison of a weave with upstream's file shows which lines of every patch the file has.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from enum import IntEnum
from functools import cached_property, partial
from itertools import groupby, pairwise

from msgspec import Struct, field

from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import aligned, matched_lines, matched_runs, runs_of
from patchmgr.engines.text.distinctive import bare, is_distinctive, normal_lines
from patchmgr.model.outcome import How
from patchmgr.model.patch import Hunk

HunkId = tuple[int, int]
"""The index of a patch in the series, and of a hunk in the patch."""

Pairs = tuple[Mapping[int, int], Set[bytes]]
"""Map nodes to the equal lines of upstream's file; and the keys that it has as often as base."""

CARRIED = -1  # replaces the index of a hunk if a whole file is moved to its path or away from it


class Node(Struct):
    """A line that a file has in some state of a series."""

    text: bytes
    key: bytes
    is_base: bool
    events: list[HunkId] = field(default_factory=list)

    def is_alive(self, patch: int) -> bool:
        """Return whether the line is in the file after the patch with this index (-1: in base)."""
        past = bisect_left(self.events, (patch + 1, CARRIED))  # they are in order of the patches
        return self.is_base is (past % 2 == 0)


class Change(Struct, eq=False):
    """The addition or removal of a line by a hunk, which is item `number` of the node's events."""

    node: Node
    at: int
    number: int
    by: HunkId
    adds: bool


Run = Sequence[Change]
"""The changes of adjacent lines that patches add or remove."""


class Weave:
    """The lines that one file has in any state of a series, in one common order."""

    def __init__(self, base: bytes | None) -> None:
        self.is_made = base is None
        keyed = zip(split_lines(base or b""), normal_lines(base or b""), strict=False)
        self.nodes = [Node(line, key, is_base=True) for line, key in keyed]
        self.last = -1

    def apply(
        self, patch: int, first: int, hunks: Sequence[Hunk], positions: Sequence[int]
    ) -> None:
        """Record the hunks of a patch in the file; `first` is the index of the first hunk."""
        nodes, alive = self.nodes, [-1, *self.alive(patch - 1), len(self.nodes)]
        placed = zip(range(first, first + len(hunks)), hunks, positions, strict=True)
        changes = [(run, (patch, n)) for n, hunk, at in placed for run in runs_of(hunk, at)]
        for run, by in reversed(changes):
            above, *removed, below = alive[run.start : run.end + 2]
            for number in removed:
                nodes[number].events.append(by)
            floor, at = above + 1, [above, *removed][-1] + 1
            for line in run.added:  # a restored line reuses the node of the removed one
                dead = (n for n in range(floor, below) if nodes[n].text == line)
                place = next((n for n in dead if nodes[n].events[-1] != by), None)
                if place is None:
                    place = at
                    below += 1
                    nodes.insert(at, Node(line, bare(line), is_base=False))
                nodes[place].events.append(by)
                floor = place + 1
                at = max(at, floor)
        self.last = patch

    def carry_in(self, patch: int, content: bytes) -> None:
        """Record that a patch moves or copies a file to this path."""
        for line in split_lines(content):
            self.nodes.append(Node(line, bare(line), is_base=False, events=[(patch - 1, CARRIED)]))
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
    def changes(self) -> Sequence[Change]:
        """The changes of all lines, in their order."""
        return [
            Change(node, at, number, by, node.is_base is (number % 2 == 1))
            for at, node in enumerate(self.nodes)
            for number, by in enumerate(node.events)
        ]

    @cached_property
    def runs(self) -> Sequence[Run]:
        """The runs of adjacent lines that patches add or remove."""
        found = list[list[Change]]()
        for change in self.changes:
            if not found or change.at > found[-1][-1].at + 1:
                found.append([])
            found[-1].append(change)
        return found

    @cached_property
    def distinctive(self) -> Mapping[HunkId, Sequence[Change]]:
        """The added and removed lines that show whether each hunk has landed."""
        sides = defaultdict[tuple[HunkId, bool], list[Change]](list)
        for change in self.changes:
            if change.node.key:
                sides[change.by, change.adds].append(change)
        found = defaultdict[HunkId, list[Change]](list)
        for (by, _), own in sides.items():
            found[by] += [change for change in own if is_distinctive(change.node.key)] or own
        return found

    @cached_property
    def undone(self) -> Mapping[HunkId, Set[int]]:
        """Map each hunk that undoes line changes of earlier patches to these patches."""
        found = defaultdict[HunkId, set[int]](set)
        for node in self.nodes:
            for by, after in pairwise(node.events):
                if node.is_base or by[1] != CARRIED:
                    found[after].add(by[0])
        return found

    @cached_property
    def ends(self) -> tuple[tuple[Sequence[int], Sequence[bytes]], ...]:
        """The node indices and lines of the file after the series, and the same for the base."""
        states = map(self.alive, (self.last, -1))
        return tuple((state, [self.nodes[n].key for n in state]) for state in states)

    @cached_property
    def reduced(self) -> Mapping[bytes, int]:
        """Map each line that the file has less often after the series to how often base has it."""
        after, base = (Counter(keys) for _, keys in self.ends)
        return {key: number for key, number in base.items() if key and after[key] < number}

    @cached_property
    def words(self) -> Set[bytes]:
        """The lines that the file has in any state, without white space."""
        return {node.key for node in self.nodes}

    def effect(self, ours: bytes | None, *, known: int | None = None) -> Effect:
        """Return which changes `ours` has (None: deleted); it may be the state after `known`."""
        lines = split_lines(ours or b"")
        keys = normal_lines(ours or b"")[: len(lines)]
        alive = [] if known is None else self.alive(known)
        is_same = [self.nodes[n].key for n in alive] == keys
        pairs = {n: i for i, n in enumerate(alive)} if is_same else self._paired(lines, keys)
        alignment, matched = aligned(sorted(pairs.items()), self.nodes, keys), set(pairs.values())
        lost = {c.node.key for c in self.changes if c.at not in pairs} & self.reduced.keys()
        now = Counter(filter(lost.__contains__, keys))
        still = {key for key in lost if now[key] >= self.reduced[key]}
        without = (-1 if self.is_made else None) if self.ends[0][0] else self.last
        fates, places = dict[Change, Fate](), list[tuple[Run, range]]()
        ways = defaultdict[How, set[HunkId]](set)
        for run in self.runs:
            span = range(run[0].at, run[-1].at + 1)
            nodes, place = alignment.around(span)
            places.append((run, place))
            here = slice(place.start, place.stop)
            missing = len(nodes) - len(span)  # nodes beside it that upstream lacks
            state = without if ours is None else None if missing else self._state(run, lines[here])
            news = sum(bool(key) and key not in self.words for key in keys[here])
            if state is None:
                is_wider = sum(bool(keys[n]) and n not in matched for n in place) > missing
                ways[How.SUPERSET if is_wider else How.EXACT] |= {c.by for c in run}
            # Lines that upstream lacks beside a missing line do not matter (S-fi-2125).
            absent = Fate.TAKEN if news or ours is None else Fate.OPEN
            is_deletion = all(change.node.is_base for change in run)
            gone = Fate.TAKEN if is_deletion and (ours is None or news > missing) else Fate.FOUND
            fates |= self._fates(run, (pairs, still), state, absent, gone)
        removed = {(c.by, c.node.text.rstrip(b"\r\n")) for c in fates if not c.adds}
        for change, fate in fates.items():
            text, line = change.node.text.rstrip(b"\r\n"), pairs.get(change.at)
            if fate is Fate.FOUND and line is not None and text != lines[line].rstrip(b"\r\n"):
                ways[How.WHITESPACE].add(change.by)
                if (change.by, lines[line].rstrip(b"\r\n")) in removed:
                    fates[change] = Fate.OPEN  # upstream has the line as it was before the hunk
        order = How.EXACT, How.WHITESPACE, How.SUPERSET
        told = {by: [(c.adds, fates[c]) for c in some] for by, some in self.distinctive.items()}
        return Effect(fates, told, places, {by: how for how in order for by in ways[how]})

    def _paired(self, lines: Sequence[bytes], keys: Sequence[bytes]) -> dict[int, int]:
        """Pair nodes of the weave with equal lines of upstream's file, ignoring white space."""
        nodes = self.nodes
        runs = [[*matched_runs(there, keys)] for _, there in self.ends]
        after, before = (sum(size for _, _, size in found) for found in runs)
        nearer = int(not self.is_made and before >= after)
        state, pairs = self.ends[nearer][0], dict[int, int]()
        for i, j, size in runs[nearer]:
            pairs.update(zip(state[i : i + size], range(j, j + size), strict=True))
        pairs = self._exact(pairs, lines)
        at, found = [-1, *pairs, len(nodes)], [-1, *pairs.values(), len(keys)]
        rest = sorted(set(range(len(nodes))).difference(state, pairs))
        for stop, group in groupby(rest, partial(bisect, at)):
            some, line = [*group], found[stop - 1] + 1
            more = matched_lines([nodes[n].key for n in some], keys[line : found[stop]])
            pairs |= {some[i]: line + j for i, j in more}
        return pairs

    def _exact(self, pairs: Mapping[int, int], lines: Sequence[bytes]) -> dict[int, int]:
        """Pair lines with nearby nodes that equal them even in white space, if there are any.

        A patch that puts lines into a block removes and adds them with another indentation
        (Elements dbaadc9ea92f, which landed as c05712cb590c).
        """
        nodes, found = self.nodes, dict(pairs)
        for step, end in ((1, len(nodes)), (-1, -1)):  # to nodes below, then to nodes above
            for at in sorted(found)[::-step]:
                text, limit, end = lines[found[at]].rstrip(b"\r\n"), end - step, at
                if nodes[at].text.rstrip(b"\r\n") != text:
                    there = (n for n in range(limit, at, -step) if nodes[n].key == nodes[at].key)
                    end = next((n for n in there if nodes[n].text.rstrip(b"\r\n") == text), at)
                    found[end] = found.pop(at)
        return dict(sorted(found.items()))

    def _state(self, run: Run, here: list[bytes]) -> int | None:
        """Return the last patch after which a run has the lines `here` of upstream, or None."""
        nodes, patches = self.nodes[run[0].at : run[-1].at + 1], sorted({c.by[0] for c in run})
        states = {x: [n for n in nodes if n.is_alive(x)] for x in (*reversed(patches), -1)}
        keys = [*map(bare, here)]
        same = [x for x, state in states.items() if [n.key for n in state] == keys]
        exact = [x for x in same if [n.text for n in states[x]] == here]
        return next(iter([*exact, *same]), None)

    def _fates(
        self, run: Run, paired: Pairs, state: int | None, absent: Fate, gone: Fate
    ) -> dict[Change, Fate]:
        """Return the fate of each change in a run, which is as after the patch `state` if not None.

        A line that upstream lacks is `absent` if the series adds it, and `gone` if it removes it.
        """
        (pairs, still), found = paired, dict[Change, Fate]()
        for change in run:
            node, number, is_there = change.node, change.number, change.at in pairs
            is_last = number + 1 == len(node.events)
            found[change] = Fate.REPLACED  # a change that undoes another patch's leaves no trace
            if state is not None:
                past = sum(by <= state for by, _ in node.events)
                if number >= past or past == 1:
                    found[change] = Fate.OPEN if number >= past else Fate.FOUND
            elif is_there and (number == 0 if change.adds else is_last):
                found[change] = Fate.FOUND if change.adds else Fate.TAKEN
            elif not is_there and is_last and (change.adds or node.is_base):
                removed = Fate.OPEN if node.key in still else gone
                found[change] = absent if change.adds else removed
        # If all lines that a patch adds were replaced, its removals were, too. Without this,
        # B-fi-2813:+ and R-fi-0.6.16:+20 each drop a patch that never landed.
        for patch in {change.by[0] for change in run}:
            own = [change for change in run if change.by[0] == patch]
            if {found[change] for change in own if change.adds} == {Fate.REPLACED}:
                found |= {c: Fate.REPLACED for c in own if found[c] is Fate.FOUND}
        return found


class Fate(IntEnum):
    """What happened, in an upstream version of a file, to a line that a hunk adds or removes."""

    FOUND = 0
    OPEN = 1  # the position is as before the hunk, which would still change it
    TAKEN = 2  # upstream has different text at the position
    REPLACED = 3  # another patch undoes it, and nothing contradicts this


Line = tuple[bool, Fate]
"""Whether a hunk adds a line, rather than removes it, and the line's fate."""


class Count(Struct, frozen=True):
    """How many changed lines of a hunk or a patch have each `Fate` in an upstream version."""

    found: int = 0
    open: int = 0
    taken: int = 0
    replaced: int = 0

    @classmethod
    def of(cls, lines: Iterable[Line]) -> Count:
        """Count lines by fate."""
        fates = [fate for _, fate in lines]
        return cls(*map(fates.count, Fate))

    @property
    def total(self) -> int:
        """The number of changed lines that no later patch replaced."""
        return self.found + self.open + self.taken

    @property
    def is_all(self) -> bool:
        """Whether upstream has all changed lines that no later patch replaced, and at least one."""
        return self.found == self.total > 0


class Effect(Struct, frozen=True):
    """Which of the lines that a series adds or removes are in upstream's version of a file."""

    fates: Mapping[Change, Fate]
    lines: Mapping[HunkId, Sequence[Line]]
    places: Sequence[tuple[Run, range]]  # each run, and the range of upstream's lines for it
    # How upstream has those hunks whose position matches no state, or whose white space differs.
    ways: Mapping[HunkId, How]
