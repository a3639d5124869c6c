"""What of a landed patch only another patch of the series accounts for: that is not its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.absorption import Absorption
from patchmgr.engines.atoms import is_telling
from patchmgr.engines.landing import Landing
from patchmgr.engines.presence import Fate
from patchmgr.engines.proof import is_touched
from patchmgr.engines.search import Search

Found = Mapping[int, Absorption]


def without_others(
    search: Search, landings: Mapping[int, Sequence[Landing]], found: Found
) -> dict[int, Absorption]:
    """Return what is found, less what other patches of the series account for.

    A patch of which a later one replaced more than landed is in only as a range with that one:
    it is left out where that one is not in whole. A hunk of which the landing has nothing, in a
    file that it left alone, is not in by other words that another patch brought there.
    """
    own: dict[int, Absorption] = {}
    for patch, absorption in found.items():
        landing = _landing_of(search, landings.get(patch, ()), absorption)
        if landing is None or not absorption.hunks:
            own[patch] = absorption
            continue
        if absorption.is_whole and _is_half_landed(search, patch, landing, found):
            continue
        foreign = _foreign_hunks(search, patch, landing, found)
        hunks = absorption.hunks - foreign
        is_whole = absorption.is_whole and not foreign
        own[patch] = replace(absorption, hunks=hunks, is_whole=is_whole)
    return own


def _landing_of(
    search: Search, landings: Sequence[Landing], absorption: Absorption
) -> Landing | None:
    steps = search.timelines.steps
    return next((found for found in landings if steps[found.number] == absorption.step), None)


def _foreign_hunks(search: Search, patch: int, landing: Landing, found: Found) -> frozenset[int]:
    """Return the hunks whose place has other words, which another patch of the series brought."""
    hunks: set[int] = set()
    for number, hunk in enumerate(search.series[patch].hunks):
        count = landing.view.count(hunk)
        if count.found or not count.needed or is_touched(search, landing, hunk):
            continue
        moves = search.timelines.moves().items()
        steps = [n for n, moved in moves if any(path == hunk.path for path, *_ in moved)]
        last = search.timelines.steps[steps[-1]] if steps else None
        others = (p for p, other in found.items() if p != patch and other.step == last)
        if any(hunk.path in search.series[other].paths for other in others):
            hunks.add(number)
    return frozenset(hunks)


def _is_half_landed(search: Search, patch: int, landing: Landing, found: Found) -> bool:
    """Say whether a later patch that is not in whole replaced more of a patch than landed."""
    if landing.count.superseded <= landing.count.found:
        return False
    others = [
        hunk
        for number in range(patch + 1, landing.last + 1)
        if number not in found or not found[number].is_whole
        for hunk in search.series[number].hunks
    ]
    for hunk in search.series[patch].hunks:
        replaced = {
            (not is_added, line)
            for (is_added, line), fate in landing.view.fates(hunk).items()
            if fate is Fate.SUPERSEDED and is_telling(line)
        }
        for other in others:
            lines = {(True, line) for line in other.added} | {
                (False, line) for line in other.removed
            }
            if other.path == hunk.path and replaced & lines:
                return True
    return False
