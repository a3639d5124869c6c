"""A weave, as in SCCS: the lines that a file has in any state of a series, in one common order.

A single comparison of a weave with upstream's file shows which lines of every patch the file has.
"""

from __future__ import annotations

from bisect import bisect
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

CARRIED = -1  # replaces the index of a hunk if a whole file is moved to its path or away from it


class Node(Struct):
    """A line that a file has in some state of a series."""

    text: bytes
    key: bytes
    is_base: bool
    events: list[HunkId] = field(default_factory=list)

    def is_alive(self, patch: int) -> bool:
        """Return whether the file has the line after the patch with this index (-1: in base)."""
        past = len(self.events)  # they are in the order of the patches
        while past and self.events[past - 1][0] > patch:
            past -= 1
        return self.is_base is (past % 2 == 0)


class Change(Struct, eq=False):
    """A line added or removed by a hunk, which is event `number` of the node with index `at`."""

    node: Node
    at: int
    number: int
    by: HunkId
    adds: bool


class Run(Struct, eq=False):
    """A range of adjacent lines (end exclusive) that patches add or remove, and their changes."""

    start: int
    end: int
    changes: Sequence[Change]
    patches: tuple[int, ...]


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
        """Record a patch's hunks in the file; `first` is the first one's index in the patch."""
        nodes, alive = self.nodes, [-1, *self.alive(patch - 1), len(self.nodes)]
        changes = [
            (run, (patch, first + number))
            for number, (hunk, position) in enumerate(zip(hunks, positions, strict=True))
            for run in runs_of(hunk, position)
        ]
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
        """The ranges of adjacent lines that patches add or remove."""
        found = list[list[Change]]()
        for change in self.changes:
            if not found or change.at > found[-1][-1].at + 1:
                found.append([])
            found[-1].append(change)
        patches = (tuple(sorted({change.by[0] for change in some})) for some in found)
        return [Run(x[0].at, x[-1].at + 1, x, p) for x, p in zip(found, patches, strict=True)]

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
        """Pairs (node indices, lines) for two states of the file: after the series, and in base."""
        states = map(self.alive, (self.last, -1))
        return tuple((state, [self.nodes[n].key for n in state]) for state in states)

    @cached_property
    def reduced(self) -> Mapping[bytes, int]:
        """Map each line that the series makes rarer in the file to how often the base has it."""
        after, base = (Counter(keys) for _, keys in self.ends)
        return {key: number for key, number in base.items() if key and after[key] < number}

    @cached_property
    def words(self) -> Set[bytes]:
        """The lines of the file in all states, without white space."""
        return {node.key for node in self.nodes}


class Fate(IntEnum):
    """What became, in an upstream version of a file, of a line that a hunk adds or removes."""

    FOUND = 0
    OPEN = 1  # the position is as before the hunk, which would still change it
    TAKEN = 2  # upstream has different text at the position
    REPLACED = 3  # another patch undoes it, and nothing contradicts this


Line = tuple[bool, Fate]
"""Whether a hunk adds a line, rather than removes it, and the line's fate."""


class Count(Struct, frozen=True):
    """The number of changed lines of a hunk or a patch, by their `Fate` in an upstream file."""

    found: int = 0
    open: int = 0
    taken: int = 0
    replaced: int = 0

    @property
    def total(self) -> int:
        """The number of changed lines, except those that a later patch replaced."""
        return self.found + self.open + self.taken

    @property
    def is_all(self) -> bool:
        """Whether upstream has all lines in the total, and the total is not 0."""
        return self.found == self.total > 0


def count_of(lines: Iterable[Line]) -> Count:
    """Count lines by fate."""
    fates = [fate for _, fate in lines]
    return Count(*map(fates.count, Fate))


class Pairs(Struct, frozen=True):
    """The lines of upstream's file that equal nodes of the weave."""

    lines: Mapping[int, int]
    still: Set[bytes]  # keys that the series makes rarer in the file, but upstream has not


class Effect(Struct, frozen=True):
    """Which of the lines that a series adds or removes are in upstream's version of a file."""

    fates: Mapping[Change, Fate]
    lines: Mapping[HunkId, Sequence[Line]]
    places: Mapping[Run, range]  # the range of upstream's lines for each run
    # How upstream has those hunks whose position matches no state, or whose white space differs.
    ways: Mapping[HunkId, How]


def effect(weave: Weave, ours: bytes | None, *, known: int | None = None) -> Effect:
    """Compare a weave with upstream's file (None: deleted), first in the state of patch `known`."""
    lines = split_lines(ours or b"")
    keys = normal_lines(ours or b"")[: len(lines)]
    alive = [] if known is None else weave.alive(known)
    is_same = known is not None and [weave.nodes[n].key for n in alive] == keys
    pairs = (
        dict(zip(alive, range(len(keys)), strict=True)) if is_same else _paired(weave, lines, keys)
    )
    alignment, matched = aligned(sorted(pairs.items()), weave.nodes, keys), set(pairs.values())
    lost = {c.node.key for c in weave.changes if c.at not in pairs} & weave.reduced.keys()
    now = Counter(keys) if lost else Counter[bytes]()
    paired = Pairs(pairs, {key for key in lost if now[key] >= weave.reduced[key]})
    fates: dict[Change, Fate] = {}
    places: dict[Run, range] = {}
    ways = defaultdict[How, set[HunkId]](set)
    for run in weave.runs:
        nodes, place = alignment.around(range(run.start, run.end))
        places[run], here = place, slice(place.start, place.stop)
        missing = len(nodes) - (run.end - run.start)  # nodes beside it that upstream lacks
        state = _state(weave, run, lines[here], missing, is_gone=ours is None)
        news = sum(bool(key) and key not in weave.words for key in keys[here])
        is_rewritten = ours is None or news > missing
        if state is None:
            is_wider = sum(bool(keys[n]) and n not in matched for n in place) > missing
            ways[How.SUPERSET if is_wider else How.EXACT] |= {change.by for change in run.changes}
        # Lines that upstream lacks beside a missing line do not matter (S-fi-2125).
        absent = Fate.TAKEN if news or ours is None else Fate.OPEN
        fates |= _fates(weave, run, paired, state, absent, is_rewritten=is_rewritten)
    removed = {(c.by, c.node.text.rstrip(b"\r\n")) for c in fates if not c.adds}
    for change, fate in fates.items():
        text, line = change.node.text.rstrip(b"\r\n"), pairs.get(change.at)
        if fate is Fate.FOUND and line is not None and text != lines[line].rstrip(b"\r\n"):
            ways[How.WHITESPACE].add(change.by)
            if (change.by, lines[line].rstrip(b"\r\n")) in removed:
                fates[change] = Fate.OPEN  # upstream has the line as it was before the hunk
    order = How.EXACT, How.WHITESPACE, How.SUPERSET
    told = {by: [(c.adds, fates[c]) for c in some] for by, some in weave.distinctive.items()}
    return Effect(fates, told, places, {by: how for how in order for by in ways[how]})


def _paired(weave: Weave, lines: Sequence[bytes], keys: Sequence[bytes]) -> dict[int, int]:
    """Map nodes of the weave to the equal lines of upstream's file."""
    nodes = weave.nodes
    runs = [[*matched_runs(there, keys)] for _, there in weave.ends]
    after, before = (sum(size for _, _, size in found) for found in runs)
    nearer = int(not weave.is_made and before >= after)
    state, pairs = weave.ends[nearer][0], dict[int, int]()
    for i, j, size in runs[nearer]:
        pairs.update(zip(state[i : i + size], range(j, j + size), strict=True))
    pairs = _exact(weave, pairs, lines)
    at, found = [-1, *pairs, len(nodes)], [-1, *pairs.values(), len(keys)]
    rest = sorted(set(range(len(nodes))).difference(state, pairs))
    for stop, group in groupby(rest, partial(bisect, at)):
        some, line = [*group], found[stop - 1] + 1
        more = matched_lines([nodes[n].key for n in some], keys[line : found[stop]])
        pairs |= {some[i]: line + j for i, j in more}
    return pairs


def _exact(weave: Weave, pairs: Mapping[int, int], lines: Sequence[bytes]) -> dict[int, int]:
    """Pair lines with nodes that have the same white space, if there are such nodes beside.

    A patch that puts lines into a block removes and adds them with another indentation (Elements
    dbaadc9ea92f, which landed as c05712cb590c).
    """
    nodes, found = weave.nodes, dict(pairs)
    for order in (reversed, iter):  # to nodes below, then to nodes above
        end = len(nodes) if order is reversed else -1
        for at in order(sorted(found)):
            text, key = lines[found[at]].rstrip(b"\r\n"), nodes[at].key
            if nodes[at].text.rstrip(b"\r\n") != text:
                there = range(end - 1, at, -1) if order is reversed else range(end + 1, at)
                for other in there:
                    if nodes[other].key == key and nodes[other].text.rstrip(b"\r\n") == text:
                        found[other] = found.pop(at)
                        at = other
                        break
            end = at
    return dict(sorted(found.items()))


def _state(weave: Weave, run: Run, here: list[bytes], missing: int, *, is_gone: bool) -> int | None:
    """Return the index of the last patch after which a run equals upstream's lines, or None."""
    if is_gone:
        return weave.last if weave.is_deleted else -1 if weave.is_made else None
    if missing:
        return None
    nodes = weave.nodes[run.start : run.end]
    states = {x: [n for n in nodes if n.is_alive(x)] for x in (*reversed(run.patches), -1)}
    keys = [*map(bare, here)]
    same = [x for x, state in states.items() if [n.key for n in state] == keys]
    exact = [x for x in same if [n.text for n in states[x]] == here]
    return next(iter([*exact, *same]), None)


def _fates(
    weave: Weave, run: Run, paired: Pairs, state: int | None, absent: Fate, *, is_rewritten: bool
) -> dict[Change, Fate]:
    """Return the fate of each change in a run. `state` is the state that the run is in, if any."""
    pairs = paired.lines
    nodes, here, found = weave.nodes, range(run.start, run.end), dict[Change, Fate]()
    lasting = [at for at in here if not nodes[at].is_base and nodes[at].is_alive(weave.last)]
    there = (nodes[at].events[-1][0] for at in lasting if at in pairs)
    latest = max(there, default=-1) if lasting else weave.last + 1
    adds_any = any(not nodes[at].is_base for at in here)
    gone = Fate.FOUND if adds_any or not is_rewritten else Fate.TAKEN
    for change in run.changes:
        node, number, patch = change.node, change.number, change.by[0]
        past = sum(state is None or by <= state for by, _ in node.events)
        is_last, is_there = number + 1 == past, change.at in pairs
        found[change] = Fate.REPLACED  # a change that undoes another patch's leaves no trace
        if number >= past:
            found[change] = Fate.OPEN
        elif number == 0 and (is_there and change.adds if state is None else is_last):
            found[change] = Fate.FOUND
        elif state is None and is_there and is_last and not change.adds:
            found[change] = Fate.TAKEN
        elif state is None and not is_there and change.adds and (is_last or latest <= patch):
            found[change] = absent
        elif state is None and not is_there and not change.adds and is_last and node.is_base:
            found[change] = Fate.OPEN if node.key in paired.still else gone
    # If all lines that a patch adds were replaced, its removals were, too. Without this,
    # B-fi-2813:+ and R-fi-0.6.16:+20 each drop a patch that never landed.
    for patch in run.patches:
        own = [change for change in run.changes if change.by[0] == patch]
        if {found[change] for change in own if change.adds} == {Fate.REPLACED}:
            found |= {c: Fate.REPLACED for c in own if found[c] is Fate.FOUND}
    return found
