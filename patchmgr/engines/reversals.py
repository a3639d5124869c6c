"""Whether upstream took a landed patch back, and whether it landed once more."""

from __future__ import annotations

import re
from collections.abc import Collection

from patchmgr.engines.arrivals import Traffic
from patchmgr.engines.atoms import HunkAtoms, is_telling
from patchmgr.engines.landing import FEWEST_LINES, Landing
from patchmgr.engines.presence import Fate, View
from patchmgr.engines.search import Search

FEWEST_BACK = 0.5
FEWEST_BACK_IN_PART = 0.25
FEWEST_OTHER_WORDS = 0.02
FEWEST_UNDONE = 0.95
MOST_ELSE = 0.05
FEWEST_RESTORED = 0.7
FEWEST_REVERSED = 0.8
FEWEST_AGAIN = 0.25
MOST_BESIDE = 0.25
FEWEST_LEFT = 0.5

_REVERT = re.compile(r"\brevert", re.IGNORECASE)


def reversal(
    search: Search, seen: Traffic, patches: Collection[int], landing: Landing
) -> int | None:
    """Return the step that took landed patches back, None where there is none.

    Such a step takes most of their lines away and leaves their place as it was before; it says
    that it reverts, or does the reverse of what the landing commit did.
    """
    later: dict[int, int] = {}
    for patch in patches:
        for number, count in seen.left[patch].items():
            if number > landing.number:
                later[number] = later.get(number, 0) + count
    found = sum(landing.view.count_patch(search.series[patch]).found for patch in patches)
    for number, count in sorted(later.items(), key=lambda item: (-item[1], item[0]))[:2]:
        if count < FEWEST_LEFT * found:
            break
        if count and _is_exact_reverse(search, landing.number, number):
            return number
        if _is_back(search, patches, landing, search.view(landing.last, number)):
            subject = search.timelines.steps[number].subject
            if _REVERT.search(subject) or _is_reverse(search, landing.number, number):
                return number
    return None


def _is_back(search: Search, patches: Collection[int], landing: Landing, later: View) -> bool:
    found = back = 0
    for hunk in (hunk for patch in patches for hunk in search.series[patch].hunks):
        now = later.fates(hunk)
        for line, fate in landing.view.fates(hunk).items():
            found += fate is Fate.FOUND
            back += fate is Fate.FOUND and now.get(line) is Fate.NEEDED
    return back >= FEWEST_BACK * found


def _is_reverse(search: Search, landed: int, number: int) -> bool:
    """Say whether a step undoes what the landing step did to the paths of the series.

    A step that only takes added lines away may be a later clean-up: it must do nothing else.
    """
    added, removed = search.difference(landed)
    back, away = search.difference(number)
    undone = len(added & away) + len(removed & back)
    done = len(added) + len(removed)
    other = len(back - removed) + len(away - added)
    restores = bool(removed) and len(removed & back) >= FEWEST_RESTORED * len(removed)
    if restores:
        return undone >= FEWEST_REVERSED * done and other <= MOST_BESIDE * (undone + other)
    return undone >= FEWEST_UNDONE * done and other <= MOST_ELSE * (undone + other)


def _is_exact_reverse(search: Search, landed: int, number: int) -> bool:
    """Say whether a step does the reverse of what the landing step did, and nothing else.

    What the landing took away may be another patch's: then its place is not as it was before.
    """
    added, removed = search.difference(landed)
    return bool(removed) and search.difference(number) == (removed, added)


def is_kept(search: Search, patch: int, landing: Landing, number: int) -> bool:
    """Say whether a step that took others back left the patch's lines."""
    left = search.view(landing.last, number).count_patch(search.series[patch]).found
    return left > FEWEST_LEFT * landing.count.found


def relanding(
    search: Search, seen: Traffic, patches: Collection[int], landing: Landing, back: int
) -> int | None:
    """Return the step after a reversal that brought the patches' lines once more.

    They may have come back in pieces: what the target has counts, too.
    """
    found = sum(landing.view.count_patch(search.series[patch]).found for patch in patches)
    again: dict[int, int] = {}
    for patch in patches:
        for number, count in seen.came[patch].items():
            if number > back:
                again[number] = again.get(number, 0) + count
    whole = next((n for n in sorted(again) if again[n] >= FEWEST_LEFT * found), None)
    if whole is None and again and _is_in_target(search, patches, landing):
        return max(again, key=lambda n: (again[n], -n))
    return whole


def _is_in_target(search: Search, patches: Collection[int], landing: Landing) -> bool:
    """Say whether the target has a part of the landed lines, and more than it lacks."""
    target = search.view(landing.last, search.end)
    fates = [
        target.fates(hunk).get(line)
        for patch in patches
        for hunk in search.series[patch].hunks
        for line, fate in landing.view.fates(hunk).items()
        if fate is Fate.FOUND
    ]
    kept = fates.count(Fate.FOUND)
    return kept >= FEWEST_AGAIN * len(fates) and kept >= fates.count(Fate.NEEDED)


def restored(search: Search, patch: int, landing: Landing) -> frozenset[int]:
    """Return the landed hunks whose place the target has as it was, with what they remove.

    Where they are little of the patch, it has evolved: then there are none. A patch that landed
    in other words counts as in only where nothing of it was taken back, hunks that only add too.
    What upstream moved is not taken back.
    """
    count = landing.count
    is_reworded = count.reworded >= max(FEWEST_LINES, FEWEST_OTHER_WORDS * count.total)
    target = search.view(landing.last, search.end)
    found: set[int] = set()
    lines = back = 0
    is_part = False
    for number, hunk in enumerate(search.series[patch].hunks):
        now = target.fates(hunk)
        then = [line for line, fate in landing.view.fates(hunk).items() if fate is Fate.FOUND]
        lines += len(then)
        is_back = all(now.get(line) is Fate.NEEDED for line in then)
        is_enough = is_reworded and len(then) >= FEWEST_LINES
        if is_back and is_enough and not hunk.removed and _is_moved(search, landing, hunk):
            continue
        if is_back and (is_enough or any(not is_added for is_added, _ in then)):
            found.add(number)
            back += len(then)
            is_part = is_part or is_enough
    return frozenset(found) if is_part or back >= FEWEST_BACK_IN_PART * lines else frozenset()


def _is_moved(search: Search, landing: Landing, hunk: HunkAtoms) -> bool:
    """Say whether the target has all that a hunk adds in another place, as often as it landed."""
    lines = frozenset(filter(is_telling, hunk.added))
    landed = search.version(landing.number)
    there, then = (search.line_counts(side[hunk.path]) for side in (search.target, landed))
    is_here = all(there[line] >= then[line] for line in lines)
    is_beside = any(
        lines <= search.lines(entry) and not lines <= search.lines(landed[path])
        for path, entry in search.target.items()
    )
    is_said = len(lines) >= FEWEST_LINES
    return is_said and bool(is_here or is_beside or search.elsewhere(hunk.path, lines, frozenset()))
