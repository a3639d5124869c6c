"""Determine which lines of each hunk a version of a file has, and which are still missing."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from enum import IntEnum
from functools import partial
from itertools import groupby
from operator import add

from msgspec import Struct
from msgspec.structs import astuple

from patchmgr.engines.absorption.weave import Change, HunkId, Run, Weave
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import matched_lines, matched_runs
from patchmgr.engines.text.telling import bare, normal_lines


class Fate(IntEnum):
    """What an upstream version of a file shows of one line that a hunk adds or removes."""

    FOUND = 0
    OPEN = 1  # the place is as the series finds it: the hunk would still change it
    TAKEN = 2  # the place has other words
    REPLACED = 3  # another patch undoes it, and nothing speaks against that


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

    def __add__(self, other: Count) -> Count:
        """Add two counts, field by field."""
        return Count(*map(add, astuple(self), astuple(other)))


class Effect(Struct, frozen=True):
    """Shows for each line that a series adds or removes whether an upstream file has the change.

    `counts` are of the lines in `Weave.telling`. `places` maps each run of changed lines to its
    range in upstream's file. `spaced` holds the hunks that differ from upstream in white space
    only, `loose` those where upstream's lines match no state of the series, and `wider` the loose
    hunks where upstream also added lines of its own.
    """

    fates: Mapping[Change, Fate]
    counts: Mapping[HunkId, Count]
    places: Mapping[Run, tuple[int, int]]
    spaced: Set[HunkId]
    loose: Set[HunkId]
    wider: Set[HunkId]


def effect(weave: Weave, ours: bytes | None, *, known: int | None = None) -> Effect:
    """Return, for each line that a series adds or removes, whether an upstream file has the change.

    `ours` is the content of that file, or None if upstream deleted the file. `known` is the patch
    after which the series has the same content, if there is one.
    """
    lines = split_lines(ours or b"")
    keys = normal_lines(ours or b"")[: len(lines)]
    alive = [] if known is None else weave.alive(known)
    is_same = known is not None and [weave.nodes[n].key for n in alive] == keys
    pairs = dict(zip(alive, range(len(keys)), strict=True)) if is_same else _paired(weave, keys)
    words, matched = weave.words, set(pairs.values())
    fates: dict[Change, Fate] = {}
    places: dict[Run, tuple[int, int]] = {}
    loose: set[HunkId] = set()
    wider: set[HunkId] = set()
    for run in weave.runs:
        before, after = _around(weave, run, pairs)
        place = places[run] = pairs.get(before, -1) + 1, pairs.get(after, len(keys))
        missing = run.start - before - 1 + after - run.end  # nodes beside it that upstream lacks
        state = _state(weave, run, lines[slice(*place)], missing, is_gone=ours is None)
        if state is not None:
            fates.update(_fates_in_state(weave, run, state))
        else:
            touching = {by for node in weave.nodes[run.start : run.end] for by in node.events}
            loose |= touching
            news = sum(bool(key) and key not in words for key in keys[slice(*place)])
            more = sum(bool(keys[n]) and n not in matched for n in range(*place))
            wider |= touching if more > missing else set()
            is_rewritten = ours is None or news > missing
            absent = Fate.TAKEN if news or ours is None else Fate.OPEN
            fates.update(
                _fates_in_other_words(weave, run, pairs, absent, is_rewritten=is_rewritten)
            )
        fates.update(_without_replaced(weave, run, fates))
    spaced = {
        weave.nodes[at].events[number]
        for (at, number), fate in fates.items()
        if fate is Fate.FOUND
        and at in pairs
        and weave.nodes[at].text.rstrip(b"\r\n") != lines[pairs[at]].rstrip(b"\r\n")
    }
    return Effect(fates, _counts(weave, fates), places, spaced, loose, wider)


def _paired(weave: Weave, keys: Sequence[bytes]) -> dict[int, int]:
    """Pair nodes of the weave with equal lines of upstream's file.

    The nodes of the base, or of the series' end if that is more similar to the file, are paired
    first.
    """
    nodes = weave.nodes
    runs = [[*matched_runs(there, keys)] for _, there in weave.ends]
    after, before = (sum(size for _, _, size in found) for found in runs)
    nearer = int(not weave.is_made and before >= after)
    state, pairs = weave.ends[nearer][0], dict[int, int]()
    for i, j, size in runs[nearer]:
        pairs.update(zip(state[i : i + size], range(j, j + size), strict=True))
    at, lines = [-1, *pairs, len(nodes)], [-1, *pairs.values(), len(keys)]
    rest = sorted(set(range(len(nodes))).difference(state))
    for stop, group in groupby(rest, partial(bisect, at)):
        some, line = [*group], lines[stop - 1] + 1
        more = matched_lines([nodes[n].key for n in some], keys[line : lines[stop]])
        pairs |= {some[i]: line + j for i, j in more}
    return pairs


def _around(weave: Weave, run: Run, pairs: Mapping[int, int]) -> tuple[int, int]:
    """Return the nearest nodes before and after a run that upstream has, or the weave's ends."""
    before = next((at for at in range(run.start - 1, -1, -1) if at in pairs), -1)
    size = len(weave.nodes)
    return before, next((at for at in range(run.end, size) if at in pairs), size)


def _state(weave: Weave, run: Run, here: list[bytes], missing: int, *, is_gone: bool) -> int | None:
    """Return the index of the last patch after which a run equals upstream's lines, or None.

    The result is -1 for the base. White space is ignored, but a state with exactly upstream's bytes
    is preferred to a later state that differs in white space.
    """
    if is_gone:
        return weave.last if weave.is_deleted else -1 if weave.is_made else None
    if missing:
        return None
    keys = [*map(bare, here)]
    states = [
        x for x in (*reversed(run.patches), -1) if [n.key for n in weave.state(run, x)] == keys
    ]
    exact = (x for x in states[1:] and states if [n.text for n in weave.state(run, x)] == here)
    return next(exact, states[0] if states else None)


def _fates_in_state(weave: Weave, run: Run, state: int) -> Iterator[tuple[Change, Fate]]:
    for at in range(run.start, run.end):
        events = weave.nodes[at].events
        for number, (patch, _) in enumerate(events):
            if patch > state:
                yield (at, number), Fate.OPEN
            else:
                is_last = number + 1 == len(events) or events[number + 1][0] > state
                # What undoes another patch's change leaves no trace of its own.
                yield (at, number), Fate.FOUND if is_last and number == 0 else Fate.REPLACED


def _fates_in_other_words(
    weave: Weave, run: Run, pairs: Mapping[int, int], absent: Fate, *, is_rewritten: bool
) -> Iterator[tuple[Change, Fate]]:
    """Yield the fates in a run where upstream's lines are those of no state of the series.

    `absent` is the fate of an added line that upstream lacks. If the run is rewritten (upstream has
    more new lines there than it lacks nodes beside the run), a deletion alone has not landed.
    """
    nodes, here = weave.nodes, range(run.start, run.end)
    lasting = [at for at in here if not nodes[at].is_base and nodes[at].is_alive(weave.last)]
    there = (nodes[at].events[-1][0] for at in lasting if at in pairs)
    latest = max(there, default=-1) if lasting else weave.last + 1
    adds = any(not node.is_base for node in nodes[run.start : run.end])
    for at in here:
        node = nodes[at]
        for number, (patch, _) in enumerate(node.events):
            is_last, fate = number + 1 == len(node.events), Fate.REPLACED
            if at in pairs:
                if node.puts_in(number):
                    fate = Fate.FOUND if number == 0 else Fate.REPLACED
                elif is_last:
                    fate = Fate.TAKEN
            elif node.puts_in(number):
                if is_last or latest <= patch:
                    fate = absent
            elif node.is_base and is_last:
                fate = Fate.FOUND if adds or not is_rewritten else Fate.TAKEN
            yield (at, number), fate


def _without_replaced(
    weave: Weave, run: Run, fates: Mapping[Change, Fate]
) -> Iterator[tuple[Change, Fate]]:
    """Yield the removals of a patch in a run where later patches replaced all that it adds."""
    # Without it B-fi-2813:+ and R-fi-0.6.16:+20 each drop a patch that never landed.
    here = [(at, n) for at in range(run.start, run.end) for n in range(len(weave.nodes[at].events))]
    for patch in run.patches:
        own = [change for change in here if weave.nodes[change[0]].events[change[1]][0] == patch]
        put_in = [change for change in own if weave.nodes[change[0]].puts_in(change[1])]
        if put_in and all(fates[change] is Fate.REPLACED for change in put_in):
            yield from ((c, Fate.REPLACED) for c in own if fates[c] is Fate.FOUND)


def _counts(weave: Weave, fates: Mapping[Change, Fate]) -> dict[HunkId, Count]:
    counted = {h: Counter(fates[c] for c in changes) for h, changes in weave.telling.items()}
    return {hunk: Count(*(fate[kind] for kind in Fate)) for hunk, fate in counted.items()}
