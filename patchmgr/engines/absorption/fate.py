"""Determine what became of a patch after it landed upstream: kept, changed, deleted or reverted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from patchmgr.engines.absorption.effect import Fate
from patchmgr.engines.absorption.series import Series
from patchmgr.engines.absorption.thresholds import FEWEST_REVERSED, MOST
from patchmgr.engines.absorption.verdict import Event
from patchmgr.engines.absorption.weave import HunkId

_REVERT = re.compile(r"\brevert", re.IGNORECASE)


def reversal(series: Series, patches: Collection[int], landed: int) -> int | None:
    """Return the number of the upstream commit that reverted some patches, or None if none did.

    Only commits after the one numbered `landed` are considered. A reversal removes most lines of
    the patches and restores the old ones. It must also be called a revert in its subject, or be the
    exact reverse of the commit `landed`.
    """
    later = Counter[int]()
    for patch in patches:
        later.update({n: count for n, count in series.traffic[1][patch].items() if n > landed})
    for number, _ in sorted(later.items(), key=lambda item: (-item[1], item[0]))[:2]:
        is_told = _REVERT.search(series.way.steps[number].subject)
        if is_told or _is_reverse(series, landed, number):
            hunks = [hunk for patch in patches for hunk in series.hunks(patch)]
            fates = [fate for hunk in hunks for _, fate in _fates(series, hunk, landed, number)]
            if fates and fates.count(Fate.OPEN) >= MOST * len(fates):
                return number
    return None


def _fates(series: Series, hunk: HunkId, landed: int, number: int) -> Iterator[tuple[bool, Fate]]:
    """Yield, for each line of a hunk in commit `landed`, if it was added, and its later fate."""
    then, now = (series.fates(hunk, n) for n in (landed, number))
    for (at, event), fate in then.items():
        if fate is Fate.FOUND:
            yield series.weaves[series.path(hunk)].nodes[at].puts_in(event), now[at, event]


def _is_reverse(series: Series, landed: int, number: int) -> bool:
    """Return whether a commit undoes what commit `landed` did, and little else.

    A commit that only removes added lines may be a clean-up, so it must do nothing else. One that
    touches far more files than `landed` is no reversal: A-dg-214:iv, A-dg-133:ii.
    """
    added, removed = (series.news(landed, adds=adds) for adds in (True, False))
    back, away = (series.news(number, adds=adds) for adds in (True, False))
    undone = len(added & away) + len(removed & back)
    other = len(back - removed) + len(away - added)
    fewest = FEWEST_REVERSED if removed & back else 1
    if undone < fewest * max(len(added) + len(removed), undone + other):
        return False
    width, most = (series.way.width(series.way.steps[n]) for n in (number, landed))
    return MOST * width <= most


def event_at_target(series: Series, patch: int, landed: int) -> Event:
    """Return what became of a patch that the upstream commit numbered `landed` brought.

    If the patch landed with added lines, only those are considered.
    """
    end = series.way.end
    fates = [fate for hunk in series.hunks(patch) for fate in _fates(series, hunk, landed, end)]
    if all(fate in (Fate.FOUND, Fate.REPLACED) for _, fate in fates):
        return Event.LANDED
    put_in = [fate for puts_in, fate in fates if puts_in] or [fate for _, fate in fates]
    return Event.EVOLVED if Fate.FOUND in put_in else Event.GONE


def restored(series: Series, patch: int, landed: int) -> set[HunkId]:
    """Return the hunks of a landed patch whose old text is back in the target.

    The set is empty unless these hunks are most of what landed.
    """
    end = series.way.end
    fates = {hunk: [*_fates(series, hunk, landed, end)] for hunk in series.hunks(patch)}
    back = {
        hunk
        for hunk, now in fates.items()
        if all(fate is Fate.OPEN for _, fate in now) and not all(puts_in for puts_in, _ in now)
    }
    is_most = sum(len(fates[hunk]) for hunk in back) >= MOST * sum(map(len, fates.values()))
    return back if is_most else set()
