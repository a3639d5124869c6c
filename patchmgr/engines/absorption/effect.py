"""What an upstream version of a file has of each hunk of a series, and what it would still change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct

from patchmgr.engines.absorption.weave import Node, Run, Weave, bare, is_telling
from patchmgr.engines.differences import matched_lines
from patchmgr.engines.placement import split_lines

HunkId = tuple[int, int]


class Fate(Enum):
    """What an upstream version has of one line that a hunk adds or removes."""

    FOUND = 0
    OPEN = 1  # its place is as a state of the series before the hunk has it
    TAKEN = 2  # its place has other words
    REPLACED = 3  # a later patch undoes it, and nothing speaks against that


class Count(Struct, frozen=True):
    """How many lines met which fate."""

    found: int = 0
    open: int = 0
    taken: int = 0
    replaced: int = 0

    @property
    def total(self) -> int:
        """Count the lines that say whether the hunk is there."""
        return self.found + self.open + self.taken

    def __add__(self, other: Count) -> Count:
        """Add up two counts."""
        return Count(
            self.found + other.found,
            self.open + other.open,
            self.taken + other.taken,
            self.replaced + other.replaced,
        )


Lines = dict[tuple[int, int, int], Fate]  # by node, event and ... see below


class Effect(Struct, frozen=True):
    """One file: the fate of each event of each node, and by hunk the counts of telling ones."""

    fates: Mapping[tuple[int, int], Fate]  # (node, number of its event)
    counts: Mapping[HunkId, Count]
    added: Mapping[HunkId, Count]


def effect(weave: Weave, ours: bytes | None, known: frozenset[tuple[int, int]]) -> Effect:
    """Compare a file with all that a series makes of it; `ours` is None where there is none."""
    lines = split_lines(ours or b"")
    keys = [bare(line) for line in lines]
    pairs = _matched(weave, keys)
    fates: dict[tuple[int, int], Fate] = {}
    for run in weave.runs:
        _run_fates(weave, run, keys, pairs, fates, is_gone=ours is None)
    fates |= dict.fromkeys(known, Fate.REPLACED)
    return Effect(fates, *_counts(weave, fates))


def _matched(weave: Weave, keys: Sequence[bytes]) -> dict[int, int]:
    """Pair the nodes with lines: those of the nearer end of the series first, then the others."""
    nodes = weave.nodes
    ends = [[at for at, node in enumerate(nodes) if node.is_alive(p)] for p in (weave.last, -1)]
    found = [matched_lines([nodes[at].key for at in alive], keys) for alive in ends]
    if not weave.is_made and len(found[1]) >= len(found[0]):
        ends.reverse(), found.reverse()
    pairs = {ends[0][i]: j for i, j in found[0]}
    rest = sorted(set(range(len(nodes))).difference(ends[0]))
    at, line, number = -1, -1, 0
    for end in (*sorted(pairs), len(nodes)):
        stop = pairs.get(end, len(keys))
        some = []
        while number < len(rest) and rest[number] < end:
            some.append(rest[number])
            number += 1
        if some and stop > line + 1:
            new = matched_lines([nodes[n].key for n in some], keys[line + 1 : stop])
            pairs |= {some[i]: line + 1 + j for i, j in new}
        at, line = end, stop
    return pairs


def _place(weave: Weave, run: Run, keys: Sequence[bytes], pairs: Mapping[int, int]) -> tuple[int, int] | None:
    """Return upstream's lines between the neighbours of a run, None where one is not there."""
    before = -1 if run.start == 0 else pairs.get(run.start - 1)
    after = len(keys) if run.end == len(weave.nodes) else pairs.get(run.end)
    return None if before is None or after is None else (before + 1, after)


def _run_fates(weave: Weave, run: Run, keys, pairs, fates, *, is_gone: bool) -> None:
    nodes = weave.nodes
    place = _place(weave, run, keys, pairs)
    state: int | None = None
    if is_gone:
        state = -1 if weave.is_made else None
        if not any(n.is_alive(weave.last) for n in nodes):
            state = weave.last
    elif place is not None:
        here = list(keys[place[0] : place[1]])
        state = next((p for p in (*reversed(run.patches), -1) if weave.state(run, p) == here), None)
    only_deletes = not any(n.is_alive(p) for n in nodes[run.start : run.end] if not n.is_base for p in run.patches)
    has_news = state is None and (is_gone or _has_news(run, keys, pairs, nodes))
    is_replaced = only_deletes and has_news and not is_gone
    absent = Fate.TAKEN if has_news else Fate.OPEN
    final = [n for n in range(run.start, run.end) if not nodes[n].is_base and nodes[n].is_alive(weave.last)]
    later = max((nodes[n].events[-1][0] for n in final if n in pairs), default=-1)
    if not final: later = weave.last + 1
    for at in range(run.start, run.end):
        node = nodes[at]
        is_there = at in pairs
        for number, (patch, _) in enumerate(node.events):
            is_last = number == len(node.events) - 1
            puts_in = node.is_base == (number % 2 == 1)
            if state is not None:
                if patch > state:
                    fate = Fate.OPEN
                elif not is_last and node.events[number + 1][0] <= state:
                    fate = Fate.REPLACED
                else:
                    fate = Fate.FOUND if puts_in or node.is_base else Fate.REPLACED
                    if number and puts_in: fate = Fate.REPLACED
            elif puts_in:
                if is_there:
                    fate = Fate.FOUND if number == 0 else Fate.REPLACED
                else:
                    fate = absent if is_last or later <= patch else Fate.REPLACED
            elif is_there:
                fate = Fate.TAKEN if is_last else Fate.REPLACED
            elif not node.is_base or not is_last:
                fate = Fate.REPLACED
            else:
                fate = Fate.TAKEN if is_replaced or is_gone else Fate.FOUND
            fates[at, number] = fate
    for patch in run.patches:
        own = [(at, n) for at in range(run.start, run.end) for n, e in enumerate(nodes[at].events) if e[0] == patch]
        puts = [e for e in own if nodes[e[0]].is_base == (e[1] % 2 == 1)]
        if puts and all(fates[e] is Fate.REPLACED for e in puts):
            for e in own:
                if fates[e] is Fate.FOUND: fates[e] = Fate.REPLACED


def _has_news(run: Run, keys, pairs, nodes) -> bool:
    """Say whether upstream has lines of its own where a run was that only deletes."""
    before = next((pairs[n] for n in range(run.start - 1, -1, -1) if n in pairs), -1)
    after = next((pairs[n] for n in range(run.end, len(nodes)) if n in pairs), len(keys))
    known = {node.key for node in nodes}
    return any(key and key not in known for key in keys[before + 1 : after])


def _counts(weave: Weave, fates) -> tuple[dict[HunkId, Count], dict[HunkId, Count]]:
    tall: dict[HunkId, list[list[int]]] = {}
    for (at, number), fate in fates.items():
        node = weave.nodes[at]
        hunk = node.events[number]
        puts_in = node.is_base == (number % 2 == 1)
        box = tall.setdefault(hunk, [[0] * 4 for _ in range(4)])
        t = is_telling(node.key)
        box[t * 2 + puts_in][fate.value] += bool(node.key)
    counts, added = {}, {}
    for hunk, (plain_out, plain_in, out, into) in tall.items():
        # a side without any telling line counts with all its lines
        o = out if any(out) else plain_out
        i = into if any(into) else plain_in
        added[hunk] = Count(*i)
        counts[hunk] = Count(*i) + Count(*o)
    return counts, added
