"""What became of a landed patch: there, evolved, gone, reverted, landed again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from patchmgr.engines.absorption.effect import Fate
from patchmgr.engines.absorption.series import Series
from patchmgr.engines.absorption.thresholds import FEWEST_REVERSED, MOST
from patchmgr.engines.absorption.verdict import Event
from patchmgr.engines.absorption.weave import HunkId

_REVERT = re.compile(r"\brevert", re.IGNORECASE)

Gone = Sequence[Mapping[int, int]]
"""By patch: how many of its lines each step took away."""


def reversal(series: Series, gone: Gone, patches: Collection[int], landed: int) -> int | None:
    """Return the step that took back what a step landed of some patches, None where none did.

    It takes most of their lines away and leaves their place as it was before; and it says that it
    reverts, or does the reverse of what the landing did.
    """
    later = Counter[int]()
    for patch in patches if "reverted" not in series.off else ():
        later.update({n: count for n, count in gone[patch].items() if n > landed})
    for number, _ in sorted(later.items(), key=lambda item: (-item[1], item[0]))[:2]:
        fates = [
            fate
            for patch in patches
            for hunk in series.hunks(patch)
            for fate in later_fates(series, hunk, landed, number)
        ]
        if fates and fates.count(Fate.OPEN) >= MOST * len(fates):
            subject = series.way.steps[number].subject
            if _REVERT.search(subject) or _is_reverse(series, landed, number):
                return number
    return None


def later_fates(
    series: Series, hunk: HunkId, landed: int, number: int, *, puts_in: bool | None = None
) -> list[Fate]:
    """Return what became, after a step, of the lines of a hunk that another one landed."""
    path = series.paths[hunk]
    if hunk in series.plain:
        return []
    then, now = (series.effect_at(path, n).fates for n in (landed, number))
    weave = series.weaves[path]
    return [
        now[at, event]
        for at, event in weave.changes.get(hunk, ())
        if then[at, event] is Fate.FOUND and puts_in in (None, weave.nodes[at].puts_in(event))
    ]


def _is_reverse(series: Series, landed: int, number: int) -> bool:
    """Say whether a step undoes what the landing did, and does little else.

    One that only takes away what was added may be a later clean-up: it must do nothing else.
    """
    added, removed = series.news(landed)
    back, away = series.news(number)
    undone = len(added & away) + len(removed & back)
    other = len(back - removed) + len(away - added)
    if not removed & back:
        return undone == len(added) + len(removed) and not other
    fewest = FEWEST_REVERSED * (len(added) + len(removed))
    return undone >= fewest and undone >= FEWEST_REVERSED * (undone + other)


def event_at_target(series: Series, patch: int, landed: int) -> Event:
    """Say what became of the landed lines of a patch by the target: of those that it puts in."""
    fates: dict[bool, list[Fate]] = {True: [], False: []}
    for hunk in series.hunks(patch):
        for side, found in fates.items():
            found += later_fates(series, hunk, landed, series.way.end, puts_in=side)
    if all(fate in (Fate.FOUND, Fate.REPLACED) for side in fates.values() for fate in side):
        return Event.LANDED
    return Event.EVOLVED if Fate.FOUND in (fates[True] or fates[False]) else Event.GONE


def restored(series: Series, patch: int, landed: int) -> frozenset[int]:
    """Return the hunks whose old text the target has again, where they are most of what landed."""
    if "old text" in series.off:
        return frozenset()
    fates = {h: later_fates(series, h, landed, series.way.end) for h in series.hunks(patch)}
    count = sum(map(len, fates.values()))
    back = {h for h, now in fates.items() if now and all(fate is Fate.OPEN for fate in now)}
    back = {hunk for hunk in back if _takes_out(series, hunk)}
    is_most = sum(len(fates[hunk]) for hunk in back) >= MOST * count
    return frozenset(number for _, number in back) if is_most else frozenset()


def _takes_out(series: Series, hunk: HunkId) -> bool:
    weave = series.weaves[series.paths[hunk]]
    return any(weave.nodes[at].is_base for at, _ in weave.changes.get(hunk, ()))
