"""Which patches, and which hunks of them, upstream already has, and since which commit.

A patch landed in an upstream commit when most of its lines are found in the commit's tree at
their place, hardly any is still needed there, and they came with that commit. What became of
them on the way to the target is read from the later commits: a change that was taken back is
needed again, one that turned into something else or went away is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from patchmgr.engines.arrivals import Traffic, traffic
from patchmgr.engines.atoms import Folded, PatchAtoms, bare, interests, patch_atoms
from patchmgr.engines.landing import FEWEST_FOUND, FEWEST_LINES, Landing, find_landings, is_ours
from patchmgr.engines.presence import Count, Fate, View
from patchmgr.engines.proof import proved_hunks
from patchmgr.engines.search import Search, Timelines, states_of
from patchmgr.model.outcome import How
from patchmgr.model.ports import Blobs, Step, TextMerge
from patchmgr.model.snapshot import Entry

FEWEST_LEFT = 0.5
FEWEST_BACK = 0.5
FEWEST_BACK_IN_PART = 0.25
FEWEST_UNDONE = 0.95
MOST_ELSE = 0.05
FEWEST_RESTORED = 0.7
FEWEST_REVERSED = 0.8
FEWEST_AGAIN = 0.25
MOST_LANDINGS = 9
MOST_BESIDE = 0.25
FEWEST_IN_TARGET = 0.9

_REVERT = re.compile(r"\brevert", re.IGNORECASE)


class Event(str, Enum):
    """What happened to a patch's effect upstream."""

    LANDED = "landed"
    EVOLVED = "evolved"
    REVERTED = "reverted"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Absorption:
    """What upstream has of one patch.

    `hunks` numbers the absorbed hunks, in the order of the patch's files and hunks. `step` is
    the commit that landed it, `event` what became of it since, and `since` the commit that
    took it back. A reverted patch has no absorbed hunks.
    """

    hunks: frozenset[int]
    step: Step
    event: Event
    is_whole: bool
    since: Step | None = None
    how: How = How.HISTORY


def find_absorbed(
    folded: Sequence[Folded],
    start: Mapping[str, Entry | None],
    target: Mapping[str, Entry | None],
    homes: Mapping[str, str],
    steps: Sequence[Step],
    *,
    blobs: Blobs,
    text: TextMerge,
) -> Mapping[int, Absorption]:
    """Return by patch number what upstream has of it; patches it has nothing of are left out.

    `start` and `target` give the base's and the target's file for every path of the series
    (the target's at the path's new home, as `homes` says).
    """
    series = tuple(patch_atoms(item.patch) for item in folded)
    timelines = Timelines(steps, start, homes)
    search = Search(
        series,
        interests(series),
        states_of(folded, start),
        timelines,
        target,
        blobs,
        text,
        tuple(folded),
    )
    seen = traffic(search)
    landings = find_landings(search, seen)
    found: dict[int, Absorption] = {}
    for patch, atoms in enumerate(series):
        absorption = None
        if patch in landings:
            absorption = _landed(search, seen, patch, landings)
        elif seen.came[patch]:
            absorption = _in_target(search, atoms, seen.came[patch], search.view(patch, search.end))
        if absorption is not None:
            found[patch] = absorption
    return found


def _landed(
    search: Search, seen: Traffic, patch: int, landed_by: Mapping[int, Sequence[Landing]]
) -> Absorption | None:
    """Follow the best landing of a patch to the target."""
    landings = landed_by[patch]
    best = max(landing.count.found for landing in landings)
    chosen = next(landing for landing in landings if landing.count.found >= 0.8 * best)
    together = _landed_together(landed_by, chosen)
    for _ in range(MOST_LANDINGS):
        back = _reversal(search, seen, together, chosen)
        if back is not None and _is_kept(search, patch, chosen, back):
            back = None
        if back is None and search.series[patch].is_telling:
            back = _reversal(search, seen, [patch], chosen)
        if back is None:
            break
        again = _relanding(search, seen, together, chosen, back)
        if again is None:
            step, since = (search.timelines.steps[n] for n in (chosen.number, back))
            return Absorption(frozenset(), step, Event.REVERTED, is_whole=False, since=since)
        view = search.view(chosen.last, again)
        count = view.count_patch(search.series[patch])
        chosen = replace(chosen, number=again, view=view, count=count)
    event = _event(search, patch, chosen)
    proved = proved_hunks(search, patch, chosen)
    if event is Event.EVOLVED:
        proved -= _restored(search, patch, chosen)
    if not proved:
        return None
    return Absorption(
        hunks=proved,
        step=search.timelines.steps[chosen.number],
        event=event,
        is_whole=len(proved) == len(search.series[patch].hunks),
        since=_changer(search, seen, patch, chosen) if event is not Event.LANDED else None,
        how=_how(search, patch, chosen, event, together),
    )


def _is_kept(search: Search, patch: int, landing: Landing, number: int) -> bool:
    """Say whether a step that took others back left the patch's lines."""
    left = search.view(landing.last, number).count_patch(search.series[patch]).found
    return left > FEWEST_LEFT * landing.count.found


def _landed_together(
    landed_by: Mapping[int, Sequence[Landing]], landing: Landing
) -> tuple[int, ...]:
    """Return the patches that one step landed."""
    number = landing.number
    return tuple(p for p, found in landed_by.items() if any(f.number == number for f in found))


def _relanding(
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


def _event(search: Search, patch: int, landing: Landing) -> Event:
    """Say what became of the landed lines: of those that were added, if there are any."""
    target = search.view(landing.last, search.end)
    added: list[Fate | None] = []
    removed: list[Fate | None] = []
    for hunk in search.series[patch].hunks:
        now = target.fates(hunk)
        for (is_added, line), fate in landing.view.fates(hunk).items():
            if fate is Fate.FOUND:
                (added if is_added else removed).append(now.get((is_added, line)))
    if all(fate is Fate.FOUND for fate in added + removed):
        return Event.LANDED
    return Event.EVOLVED if Fate.FOUND in (added or removed) else Event.GONE


def _restored(search: Search, patch: int, landing: Landing) -> frozenset[int]:
    """Return the landed hunks whose place the target has as it was, with what they remove.

    Where they are little of the patch, it has evolved: then there are none.
    """
    target = search.view(landing.last, search.end)
    found: set[int] = set()
    lines = back = 0
    for number, hunk in enumerate(search.series[patch].hunks):
        now = target.fates(hunk)
        then = [line for line, fate in landing.view.fates(hunk).items() if fate is Fate.FOUND]
        lines += len(then)
        is_back = all(now.get(line) is Fate.NEEDED for line in then)
        if is_back and any(not is_added for is_added, _ in then):
            found.add(number)
            back += len(then)
    return frozenset(found) if back >= FEWEST_BACK_IN_PART * lines else frozenset()


def _changer(search: Search, seen: Traffic, patch: int, landing: Landing) -> Step | None:
    """Return the step after the landing that took most of the patch's lines away."""
    later = {n: c for n, c in seen.left[patch].items() if n > landing.number}
    if not later:
        return None
    return search.timelines.steps[max(later, key=lambda n: (later[n], -n))]


def _how(
    search: Search, patch: int, landing: Landing, event: Event, together: Collection[int]
) -> How:
    """Say how the patch is known to be in: by its bytes, by its words, or by its history.

    A patch that replaces another one of the same landing is in with it, as a range.
    """
    paths = search.series[patch].paths
    others = (other for other in together if search.series[other].paths & paths)
    if not all(landing.view.is_left(search.series[other]) for other in others):
        return How.RANGE
    if event is not Event.LANDED or landing.count.found < landing.count.total:
        return How.HISTORY
    for hunk in search.series[patch].hunks:
        raw = search.raw_lines(search.target[hunk.path])
        wanted = search.raw_lines(search.states[hunk.path][landing.last + 1])
        added = {line for line in wanted if bare(line) in hunk.added}
        if not added <= raw:
            return How.WHITESPACE
    return How.EXACT


def _reversal(
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


def _in_target(
    search: Search, atoms: PatchAtoms, came: Mapping[int, int], view: View
) -> Absorption | None:
    """Judge a patch that no one commit landed by what the target has of it, hunk by hunk.

    A hunk may be there in other words where the commit that brought most of the patch is mostly
    this series'.
    """
    counts = [view.count(hunk) for hunk in atoms.hunks]
    number = max(came, key=lambda n: (came[n], -n))
    step = search.timelines.steps[number]
    fewest = FEWEST_FOUND if is_ours(search, number) else FEWEST_IN_TARGET
    here = frozenset(n for n, count in enumerate(counts) if count.total and _is_in(count, fewest))
    if not here or not atoms.is_telling:
        return None
    is_whole = len(here) == len(counts)
    return Absorption(here, step, Event.LANDED, is_whole=is_whole, how=How.EXACT)


def _is_in(count: Count, fewest: float) -> bool:
    if count.needed or count.found == count.total:
        return not count.needed
    return count.found >= FEWEST_LINES and count.found > fewest * count.total
