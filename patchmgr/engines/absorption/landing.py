"""Find which patches and hunks upstream has, which commits made them, and what followed.

A patch has landed with the first commit after which upstream has most of its lines in their places.
Later commits may have changed, removed or reverted those lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from patchmgr.engines.absorption.proof import Drop, why_needed
from patchmgr.engines.absorption.series import BASE, Series
from patchmgr.engines.absorption.thresholds import FEWEST_LINES, FEWEST_REVERSED, MOST, MOST_OPEN
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.absorption.weave import Count, Fate, HunkId, Line
from patchmgr.engines.cause.pulls import pull_number
from patchmgr.engines.languages.file_types import language
from patchmgr.engines.languages.words import all_words
from patchmgr.engines.series.follow_ups import is_same, names_of
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.distinctive import bare, is_distinctive
from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Step

_REVERT = re.compile(r"\brevert", re.IGNORECASE)


def _undoing(series: Series, patches: Collection[int], landed: int) -> list[int]:
    """Return the commits after `landed` that undo lines of the patches; first the one with most."""
    later = sum((series.traffic[1][patch] for patch in patches), Counter[int]())
    return sorted((n for n in later if n > landed), key=lambda n: (-later[n], n))


def reversal(series: Series, patches: Collection[int], landed: int) -> int | None:
    """Return the number of the upstream commit that reverted the given patches, or None."""
    steps = series.way.steps
    names = {steps[landed].commit, f"#{pull_number(steps[landed].subject)}"}
    names.update(*(names_of(series.folded[patch].patch, None) for patch in patches))
    for number in _undoing(series, patches, landed)[:2]:
        is_named = any(is_same(one, name) for one in steps[number].reverts for name in names)
        if is_named or _REVERT.search(steps[number].subject) or _is_reverse(series, landed, number):
            hunks = (hunk for patch in patches for hunk in series.hunks[patch])
            fates = [fate for h in hunks for _, fate in at_step(series, h, landed, number)]
            gone = sum(fate is Fate.OPEN or (is_named and fate is Fate.TAKEN) for fate in fates)
            if fates and gone >= MOST * len(fates):
                return number
    return None


def at_step(series: Series, hunk: HunkId, landed: int, number: int) -> Sequence[Line]:
    """Return a hunk's lines that upstream has after `landed`, with their fates after `number`."""
    pairs = zip(series.lines(hunk, landed), series.lines(hunk, number), strict=False)
    return [now for then, now in pairs if then[1] is Fate.FOUND]


def _is_reverse(series: Series, landed: int, number: int) -> bool:
    """Return whether commit `number` undoes what commit `landed` did, and little else."""
    did, later = series.news(landed), series.news(number)
    undone = did & {(path, not adds, line) for path, adds, line in later}
    # What only removes added lines may clean up, unless it removes all of them (T-fi-3051).
    fewest = 1 if all(adds for _, adds, _ in undone) else FEWEST_REVERSED
    is_most = len(undone) >= fewest * max(len(did), len(later))
    steps, width = series.way.steps, series.way.width
    return is_most and MOST * width(steps[number]) <= width(steps[landed])


def event_of(lines: Sequence[Line]) -> Event:
    """Return what happened to landed lines, given their fates: kept, changed or removed."""
    if all(fate in (Fate.FOUND, Fate.REPLACED) for _, fate in lines):
        return Event.LANDED
    put_in = [fate for puts_in, fate in lines if puts_in] or [fate for _, fate in lines]
    return Event.EVOLVED if Fate.FOUND in put_in else Event.GONE


def restored(series: Series, patch: int, landed: int) -> set[HunkId]:
    """Return those hunks of a landed patch that upstream has since undone."""
    lines = {hunk: at_step(series, hunk, landed, series.end) for hunk in series.hunks[patch]}

    def is_undone(hunk: HunkId, number: int) -> bool:
        return all(fate is Fate.OPEN for _, fate in at_step(series, hunk, landed, number))

    undone = {hunk for hunk in lines if lines[hunk] and is_undone(hunk, series.end)}
    # Upstream may only have cleaned up added lines, so undone hunks count if they removed lines and
    # make up most of the patch, or if a commit that calls itself a revert undid them.
    back = {hunk for hunk in undone if not all(puts_in for puts_in, _ in lines[hunk])}
    if sum(len(lines[hunk]) for hunk in back) < MOST * sum(map(len, lines.values())):
        back = set()
    for number in _undoing(series, [patch], landed) if undone and series.size(patch) else ():
        step = series.way.steps[number]
        if step.reverts or _REVERT.search(step.subject):
            back |= {h for h in undone if is_undone(h, number) and not is_undone(h, number - 1)}
    return back


def find_absorbed(series: Series) -> dict[int, Absorption]:
    """Return, by patch index, which hunks of a patch upstream has, and since which commit."""
    landings = _landings(series)
    found = {n: one for n in range(len(series.folded)) if (one := _landed(series, n, landings))}
    landed = {patch: series.way.steps.index(one.step) for patch, one in found.items()}
    inner = _inner(series, series.way.steps, series.traffic[0], landed)
    return {patch: replace(one, inner=inner.get(patch)) for patch, one in found.items()}


def _inner(
    series: Series, steps: Sequence[Step], came: Sequence[Counter[int]], landed: Mapping[int, int]
) -> dict[int, Step]:
    """Map each patch that landed in a merge commit to the merged commit that added most of it.

    `landed` maps patches to the numbers of their landing commits among `steps`.
    """
    merges = [number for number in sorted({*landed.values()}) if steps[number].is_merge]
    branches = series.way.inside([steps[number] for number in merges]) if merges else {}
    found = dict[int, Step]()
    for number in merges:
        branch = branches.get(steps[number].commit, ())
        brought = series.traffic_of(series.versions_in(branch, dict.fromkeys(series.versions)))[0]
        at = dict[int, int]()
        for patch in (patch for patch, by in landed.items() if by == number):
            enough = (1 - MOST_OPEN) * came[patch][number]
            # The first step of a branch only has the files that the branch started from.
            most = [n for n, count in brought[patch].items() if n and count >= enough]
            at |= {patch: min(most)} if most else {}
        found |= {patch: branch[n] for patch, n in at.items()}
        found |= _inner(series, branch, brought, at)  # these may be merges, too
    return found


def _refuted(series: Series, patch: int, hunks: Set[HunkId], landed: int) -> Set[HunkId]:
    """Return the hunks of a landed patch that upstream does not have, as a proof shows."""
    wrong = set[HunkId]()
    for hunk in hunks:
        number, file, count = series.steps[hunk][1], series.file(hunk), series.count(hunk, landed)
        # If a later patch undoes the hunk, its lines show nothing.
        if file is None or not count.total or series.is_state(file.path, landed, patch):
            continue
        ours = series.text(series.version(file.path, landed))
        if ours is None or (file.hunks[number].added() and (count.open or count.taken)):
            continue
        is_state = hunk not in series.effect_at(file.path, landed).ways
        if why_needed(Drop(file, ours, number, is_state=is_state)) is not None:
            wrong.add(hunk)
    enough = max(MOST * series.count(patch, landed).total, FEWEST_LINES)
    rest = sum(series.count(hunk, landed).found for hunk in hunks - wrong)
    # None if the other hunks show well enough that this commit landed the patch.
    return set() if rest >= enough and series.is_own(patch, landed) else wrong


def _landings(series: Series) -> dict[int, list[int]]:
    """Map each landed patch to the numbers of the upstream commits that landed it, in order."""
    every, found = range(len(series.folded)), dict[int, list[int]]()
    for number in series.candidates():
        landed = {patch for patch in every if _has_landed(series, patch, number)}
        if not landed:
            continue
        # A count takes long; 12 of them for all 110 patches of SONiC on FRR took 4 s.
        rest = (p for p in every if p not in landed and not series.is_lasting(p))
        replaced, related = {p for p in rest if not series.count(p, number).total}, series.related
        # A patch that reverts an earlier one looks landed even before that one lands.
        known = landed | found.keys() | replaced
        mostly = {p for p in landed if (one := series.count(p, number)).found >= one.replaced}
        landed = mostly | {patch for patch in landed if related[patch] & {*range(patch)} <= known}
        for patch in (*landed, *_along(replaced, landed, related)):
            found.setdefault(patch, []).append(number)
    return found


def _has_landed(series: Series, patch: int, number: int) -> bool:
    """Return whether upstream has enough of a patch after commit `number`, and had not before."""

    def is_enough(at: int) -> bool:
        count = series.count(patch, at)
        new = {fate for h in series.hunks[patch] for adds, fate in series.lines(h, at) if adds}
        if new and new.isdisjoint((Fate.FOUND, Fate.REPLACED)):
            return False  # upstream lacks what the patch removes: it may have deleted all the code
        if count.is_all:
            return True
        fewest = MOST if series.is_own(patch, number) else 1 - MOST_OPEN
        return count.found >= max(FEWEST_LINES, fewest * count.total)

    return number in series.touching(patch) and is_enough(number) and not is_enough(number - 1)


def _along(replaced: Set[int], landed: Set[int], related: Sequence[Set[int]]) -> set[int]:
    """Return which of the patches landed whose lines were all `replaced` by later patches."""
    while True:
        others = [patch for patch in range(len(related)) if patch not in replaced]
        places = {patch: bisect_left(others, patch) for patch in replaced}
        beside = {patch: {*others[max(at - 1, 0) : at + 1]} for patch, at in places.items()}
        along = {p for p in replaced if related[p] & landed or set() < beside[p] <= landed}
        # R-fi-0.6.13:tip: a patch sets a version, later patches raise it, and none of them landed
        out = {patch for patch in along if not related[patch] <= along | landed}
        if not out:
            return along
        replaced = replaced - out


def _last_landing(
    series: Series, patch: int, landings: Mapping[int, Sequence[int]]
) -> tuple[int, int | None]:
    """Return (number, None) for the first landing that was not reverted.

    If all were reverted, returns the number of the last landing and that of its revert.
    """
    found = {number: series.count(patch, number).found for number in landings[patch]}
    fewest, landed, back = (1 - MOST_OPEN) * max(found.values()), BASE, BASE
    says = series.size(patch) or not series.wholes.isdisjoint(series.hunks[patch])
    for number in (n for n in found if found[n] >= fewest):
        together = [other for other, numbers in landings.items() if number in numbers]
        is_own = says and found[number] > 0
        undone = reversal(series, [patch] if is_own else together, number)
        if undone is None:
            return number, None
        landed, back = number, undone
    return landed, back


def _landed(series: Series, patch: int, known: Mapping[int, Sequence[int]]) -> Absorption | None:
    """Return which hunks of a patch upstream has (reverted: none), or None if it did not land."""
    steps, end, is_landed = series.way.steps, series.end, patch in known
    landed, back = (
        _last_landing(series, patch, known) if is_landed else (_since(series, patch), None)
    )
    if landed is None:
        return None
    if back is not None:
        event, since = Event.REVERTED, steps[back]
        return Absorption(frozenset(), steps[landed], event, is_whole=False, since=since)
    lines = {hunk: at_step(series, hunk, landed, end) for hunk in series.hunks[patch]}
    hunks = {hunk for hunk in lines if series.count(hunk, end).is_all}
    hunks |= {hunk for hunk in lines if is_landed and _is_in(series, hunk, landed)}
    hunks -= restored(series, patch, landed)
    hunks -= _refuted(series, patch, hunks, landed)
    if not hunks or not (is_landed or len(hunks) == len(lines) or series.size(patch)):
        return None
    event = event_of([line for h in (lines if is_landed else hunks) for line in lines[h]])
    homes = _now_in(series, patch, landed) if event is Event.GONE else ()
    # A mode or path that upstream never took is still needed.
    lacks = (all(series.lacks_header(h, n) for n in (landed, end)) for h in hunks)
    is_whole = len(hunks) == len(lines) and (event is Event.GONE or not any(lacks))
    names = [item.patch.name for item in series.folded]
    changers = [] if event is Event.LANDED else _undoing(series, [patch], landed)
    return Absorption(
        frozenset(number for _, number in hunks),
        steps[landed],
        Event.EVOLVED if homes else event,
        is_whole=is_whole,
        since=steps[changers[0]] if changers else None,
        how=_how(series, hunks, landed, event),
        wordings=tuple(w for hunk in sorted(hunks) for w in _wordings(series, hunk, landed)),
        undoes={h[1]: {names[n] for n in by} for h in hunks if (by := series.undone(h))},
        now_in=homes[0] if len(homes) == 1 else None,
    )


def _since(series: Series, patch: int) -> int | None:
    """Return the first commit that has all hunks of a patch that the target has, or None."""

    def are_there(number: int) -> bool:
        return all(series.count(hunk, number).is_all for hunk in come)

    way, end = series.way, series.end
    paths = ((hunk, series.path(hunk)) for hunk in series.hunks[patch])
    # A file that upstream did not change has the same of each hunk at base and target.
    changed = (hunk for hunk, path in paths if way.start.get(path) != way.target.get(path))
    come = [h for h in changed if series.count(h, end).is_all and not series.count(h, BASE).is_all]
    touching = sorted(series.touching(patch))
    if not come or not touching or not are_there(touching[-1]):
        return None
    return touching[bisect_left(touching, True, key=are_there)]


def _now_in(series: Series, patch: int, landed: int) -> Sequence[str]:
    """Return the other files that gained the lines of a landed hunk, and that have its context."""
    for hunk in series.hunks[patch]:
        step, number = series.steps[hunk]
        lines = step.change.hunks[number].lines if step.change.hunks else ()
        sides = ((bare(x[1:]) for x in lines if x[:1] == kind) for kind in (b"+", b" "))
        new, beside = (frozenset(filter(is_distinctive, side)) for side in sides)
        is_asked = new and beside and series.count(hunk, landed).found
        if is_asked and (there := series.elsewhere.gaining(step.change.path, new, beside)):
            return there
    return ()


def _is_in(series: Series, hunk: HunkId, landed: int) -> bool:
    """Return whether a hunk landed with its patch, even if reworded or without a few lines."""
    path, count = series.path(hunk), series.count(hunk, landed)
    before, after = (series.version(path, number) for number in (landed - 1, landed))
    if count.open:
        whole = series.count(hunk[0], landed)
        is_small = whole.open <= MOST_OPEN * whole.total
        is_superseded = before != after and is_small and series.is_own(hunk[0], landed)
        return is_superseded and not _says_more(series, hunk, landed)
    # Where the file had other text even before the landing, the hunk did not land reworded.
    new = [fate for is_added, fate in series.lines(hunk, landed) if is_added]
    return before != after or Fate.TAKEN not in new


def _says_more(series: Series, hunk: HunkId, landed: int) -> bool:
    """Return whether a hunk that did not land does something that its patch does not do elsewhere.

    None of its added lines landed, and it adds words that no landed hunk has, or no code at all.
    Words in comments and long strings do not count: a review may reword them (case S-fi-2777).
    """

    def new_words(one: HunkId) -> set[str] | None:
        file = series.file(one)
        if file is None:
            return None
        drop, spoken = Drop(file, b"", series.steps[one][1]), language(file.path)
        added = [line for _, lines in drop.runs for line in lines]
        code = [drop.mine.lines[line] for line in added if line not in drop.mine.quoted]
        words = {*all_words(code, spoken)}
        new = words.difference(all_words([*drop.hunk.old()], spoken))
        return new if new or (added and not words) else None  # None: no code is added

    counts = {one: series.count(one, landed) for one in series.hunks[hunk[0]]}
    if counts[hunk].found and any(adds for adds, _ in series.lines(hunk, landed)):
        return False
    others = (new_words(one) for one, count in counts.items() if count.found or count.taken)
    own = new_words(hunk)
    return own is None or not own <= set[str]().union(*filter(None, others))


def _wordings(series: Series, hunk: HunkId, landed: int) -> Iterator[Wording]:
    """Yield upstream's text and the patch's text wherever a hunk landed in a different form."""
    count, path = series.count(hunk, landed), series.path(hunk)
    if hunk in series.wholes or not (count.open or count.taken):
        return
    weave, seen = series.weave(path), series.effect_at(path, landed)
    lines = split_lines(series.text(series.version(path, landed)) or b"")
    for run, place in seen.places:
        here = [c for c in run if c.by == hunk and seen.fates[c] in (Fate.OPEN, Fate.TAKEN)]
        ours = (line for line in lines[place.start : place.stop] if bare(line) not in weave.words)
        if here:
            new = b"".join(change.node.text for change in here if change.adds)
            yield Wording(path, b"".join(ours), new)


def _how(series: Series, hunks: Set[HunkId], landed: int, event: Event) -> How:
    count = Count.of(line for hunk in hunks for line in series.lines(hunk, landed))
    if count.replaced:
        return How.RANGE
    if event is not Event.LANDED or count.found < count.total:
        return How.HISTORY
    texts = hunks - series.wholes
    ways = {series.effect_at(series.path(h), series.end).ways.get(h) for h in texts}
    return next((how for how in (How.SUPERSET, How.WHITESPACE) if how in ways), How.EXACT)
