"""Determine what became of a patch after it landed upstream: kept, changed, deleted or reverted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from patchmgr.engines.absorption.effect import Fate
from patchmgr.engines.absorption.series import Series
from patchmgr.engines.absorption.thresholds import FEWEST_REVERSED, MOST
from patchmgr.engines.absorption.verdict import Event
from patchmgr.engines.absorption.weave import HunkId
from patchmgr.engines.cause.pulls import pull_number
from patchmgr.engines.series.follow_ups import is_same, names_of

Lines = Mapping[HunkId, Sequence[tuple[bool, Fate]]]
"""Maps each hunk to its lines: whether it adds the line, and the line's fate."""

_REVERT = re.compile(r"\brevert", re.IGNORECASE)


def reversal(series: Series, patches: Collection[int], landed: int) -> int | None:
    """Return the index of the upstream commit that reverted the given patches, or None if none did.

    Only commits after the one with the index `landed` are considered. A reversal removes most lines
    of the patches and restores the old ones. It must also be called a revert in its subject, or be
    the exact reverse of the commit `landed`. If its message names what it reverts, most added lines
    need only be gone.
    """
    steps, later = series.way.steps, Counter[int]()
    names = {steps[landed].commit, f"#{pull_number(steps[landed].subject)}"}
    for patch in patches:
        later.update({n: count for n, count in series.traffic[1][patch].items() if n > landed})
        names |= names_of(series.folded[patch].patch, None)
    named = [
        number
        for number in range(landed + 1, len(steps))
        if any(is_same(one, name) for one in steps[number].reverts for name in names)
    ]
    most = sorted(later.items(), key=lambda item: (-item[1], item[0]))[:2]
    for number in (*named, *(number for number, _ in most)):
        is_named = number in named
        if is_named or _REVERT.search(steps[number].subject) or _is_reverse(series, landed, number):
            lines = (at_step(series, patch, landed, number) for patch in patches)
            found = [line for one in lines for some in one.values() for line in some]
            if is_named:
                found = [line for line in found if line[0]] or found
            gone = sum(f is Fate.OPEN or (is_named and f is Fate.TAKEN) for _, f in found)
            if found and gone >= MOST * len(found):
                return number
    return None


def at_step(series: Series, patch: int, landed: int, number: int) -> Lines:
    """Return, by hunk, the lines that commit `landed` brought, with their fate after `number`."""
    found = dict[HunkId, Sequence[tuple[bool, Fate]]]()
    for hunk in series.hunks(patch):
        then, now = (series.fates(hunk, n) for n in (landed, number))
        changes = [change for change, fate in then.items() if fate is Fate.FOUND]
        nodes = series.weave(series.path(hunk)).nodes if changes else ()
        found[hunk] = [(nodes[at].puts_in(event), now[at, event]) for at, event in changes]
        if hunk in series.wholes and not then and series.count(hunk, landed).found:
            is_new = series.steps[hunk][0].change.old_path != series.path(hunk)
            found[hunk] = [(is_new, series.fate_of_whole(hunk, number))]
    return found


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


def event_of(lines: Lines) -> Event:
    """Return whether a landed patch is still in the target: in full, in part, or not at all.

    `lines` are its landed lines as the target has them. If some are added lines, only these decide.
    """
    fates = [line for some in lines.values() for line in some]
    if all(fate in (Fate.FOUND, Fate.REPLACED) for _, fate in fates):
        return Event.LANDED
    put_in = [fate for puts_in, fate in fates if puts_in] or [fate for _, fate in fates]
    return Event.EVOLVED if Fate.FOUND in put_in else Event.GONE


def restored(lines: Lines) -> set[HunkId]:
    """Return the hunks of a landed patch that upstream has since undone.

    The set is empty unless these hunks have at least half of the lines that landed.
    """
    back = {
        hunk
        for hunk, some in lines.items()
        if all(fate is Fate.OPEN for _, fate in some) and not all(puts_in for puts_in, _ in some)
    }
    is_most = sum(len(lines[hunk]) for hunk in back) >= MOST * sum(map(len, lines.values()))
    return back if is_most else set()
