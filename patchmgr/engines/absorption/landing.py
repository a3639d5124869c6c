"""Find which patches and hunks upstream already has, and which upstream commit brought them.

A patch landed with the first commit after which upstream's files contain most of its lines in the
right places. Later commits may have changed, removed or reverted it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from patchmgr.engines.absorption.effect import Count, Fate
from patchmgr.engines.absorption.fate import at_step, event_of, restored, reversal
from patchmgr.engines.absorption.proof import Drop, why_needed
from patchmgr.engines.absorption.series import BASE, Series
from patchmgr.engines.absorption.thresholds import (
    FEWEST_CAME,
    FEWEST_LINES,
    MOST,
    MOST_OPEN,
)
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.absorption.weave import CARRIED, HunkId
from patchmgr.engines.text.telling import bare, is_telling
from patchmgr.model.outcome import How, Wording

Landings = Mapping[int, Sequence[int]]
"""Maps a patch to the numbers of the upstream commits that landed it, in order."""


def find_absorbed(series: Series) -> dict[int, Absorption]:
    """Return, for each patch by index, which hunks upstream has, and since which commit."""
    landings = _landings(series)
    found: dict[int, Absorption] = {}
    for patch in range(len(series.folded)):
        is_landed = patch in landings
        one = _landed(series, patch, landings) if is_landed else _in_target(series, patch)
        wrong = _refuted(series, patch, one) if one is not None else set()
        if one is not None and (not wrong or one.hunks - wrong):
            is_whole = one.is_whole and not wrong
            found[patch] = replace(one, hunks=one.hunks - wrong, is_whole=is_whole)
    return _with_undone(series, found)


def _refuted(series: Series, patch: int, one: Absorption) -> set[int]:
    """Return the hunks of an absorbed patch that a proof refutes.

    If the other hunks suffice to recognise the landing as the patch's own, the result is empty:
    then a refuted hunk is a part of the patch that landed in a different form.
    """
    landed = series.way.steps.index(one.step)
    found = {number: series.count((patch, number), landed).found for number in one.hunks}
    enough = max(MOST * series.count_patch(patch, landed).total, FEWEST_LINES)
    wrong, rest = set[int](), 0
    for number in sorted(found, key=lambda number: (-found[number], number)):
        if _is_refuted(series, (patch, number), one):
            wrong.add(number)
        else:
            rest += found[number]
        if rest >= enough and series.is_own(landed):
            return set()
    return wrong


def _is_refuted(series: Series, hunk: HunkId, one: Absorption) -> bool:
    """Return whether a proof forbids a drop, both at the landing and at the target.

    For a patch that only deletes, the target alone decides, as nothing else identifies its landing.
    A hunk that adds lines and landed in a different form is not refuted: its counts decide
    (S-fi-2777:i).
    """
    step, number = series.steps[hunk]
    base, path, hunks = series.text(step.base), step.change.path, step.change.hunks
    landed = series.way.steps.index(one.step)
    adds = any(h.added() for each in series.folded[hunk[0]].steps for h in each.change.hunks)
    count = series.count(hunk, landed)
    if base is None or step.theirs is None or hunk in series.wholes or not count.total:
        return False
    if hunks[number].added() and (count.open or count.taken):
        return False
    for at in (series.way.end, *([landed] if adds else [])):
        entry = series.version(path, at)
        ours = series.text(entry)
        if ours is None or entry == step.theirs or series.is_state(path, at, hunk[0]):
            return False
        if not series.count(hunk, at).total:  # a later patch undoes it: its lines show nothing
            return False
        first, seen = hunk[1] - number, series.effect_at(path, at)
        drop = Drop(
            path, base, ours, hunks[number], step.positions[number],
            tuple(h for n, h in enumerate(hunks, first) if n not in one.hunks),
            is_state=hunk not in seen.loose and hunk not in seen.spaced,
        )  # fmt: skip
        if why_needed(drop) is None:
            return False
    return True


def _landings(series: Series) -> Landings:
    candidates = {
        number
        for patch, steps in enumerate(series.traffic[0])
        for number, count in steps.items()
        if count >= FEWEST_CAME * series.size(patch)
    }
    # Lines that the series moves within a file do not come, as they were there before.
    candidates |= {
        number
        for path in series.paths
        if series.is_state(path, series.way.end)
        for number, _ in series.way.versions(path)
        if series.is_state(path, number)
    }
    every = range(len(series.folded))
    touching = [series.touching(patch) for patch in every] if candidates else []
    brought = dict[int, set[int]]()
    for number in sorted(candidates):
        is_own = series.is_own(number)
        brought[number] = {
            patch
            for patch in every
            if number in touching[patch]
            and _is_landed(series.count_patch(patch, number), is_own=is_own)
            and not _is_landed(series.count_patch(patch, number - 1), is_own=is_own)
            and _has_added(series, patch, number)
        }
    if not any(brought.values()):
        return {}
    related = _related(series)
    may_be_mute = {patch for patch in every if patch in related or not series.size(patch)}
    found: dict[int, list[int]] = {}
    for number, landed in brought.items():
        asked = may_be_mute - landed if landed else ()
        mute = {patch for patch in asked if not series.count_patch(patch, number).total}
        for patch in (*landed, *_along(mute, landed, related, len(every))):
            found.setdefault(patch, []).append(number)
    return _in_order(series, found)


def _in_order(series: Series, landings: Landings) -> dict[int, Sequence[int]]:
    """Leave out landings of a patch before the first one of a patch whose changes it undoes.

    Upstream then has what the patch brings back, because nothing has taken it away yet. A patch of
    which upstream has more than that is judged by the rest (R-fi-0.6.16:tip).
    """
    first = defaultdict[int, int](int)
    for _, weave in series.weaves():
        for earlier, (patch, _) in weave.replacements:
            first[patch] = max(first[patch], landings.get(earlier, (0,))[0])
    kept = dict[int, Sequence[int]]()
    for patch, numbers in landings.items():
        counts = {number: series.count_patch(patch, number) for number in numbers}
        found = [n for n, c in counts.items() if n >= first[patch] or c.found >= c.replaced]
        if found:
            kept[patch] = found
    return kept


def _is_landed(count: Count, *, is_own: bool) -> bool:
    if count.found == count.total:
        return count.total > 0
    fewest = MOST if is_own else 1 - MOST_OPEN
    return count.found >= max(FEWEST_LINES, fewest * count.total)


def _has_added(series: Series, patch: int, number: int) -> bool:
    """Return whether upstream has a line that a patch adds, or the patch adds no distinctive line.

    If upstream merely lacks what the patch removes, it may have deleted all of that code.
    """
    added = set[Fate]()
    for hunk in series.hunks(patch):
        for (at, event), fate in series.fates(hunk, number).items():
            nodes = series.weave(series.path(hunk)).nodes
            if nodes[at].puts_in(event) and is_telling(nodes[at].key):
                added.add(fate)
    return not added or not added <= {Fate.OPEN, Fate.TAKEN}


def _related(series: Series) -> Mapping[int, set[int]]:
    """Map each patch to the patches that undo some of its changes or whose changes it undoes."""
    found = defaultdict[int, set[int]](set)
    for _, weave in series.weaves():
        for one, (other, _) in weave.replacements:
            found[one].add(other)
            found[other].add(one)
    return found


def _along(
    mute: Set[int], landed: Set[int], related: Mapping[int, set[int]], size: int
) -> set[int]:
    """Return those of the `mute` patches that landed together with the `landed` ones.

    A patch is mute if other patches undo all its changes, so that no line shows whether it landed.
    It goes along if all these patches landed or go along too. In addition, one of them must have
    landed, or else the nearest other patches before and after it in the series.
    """
    while out := {p for p in mute if not related.get(p, set()) <= mute | landed}:
        mute -= out
    found = set[int]()
    for patch in mute:
        ways = range(patch - 1, -1, -1), range(patch + 1, size)
        stops = [next((p for p in way if p not in mute), None) for way in ways]
        beside = [stop in landed for stop in stops if stop is not None]
        if not landed.isdisjoint(related.get(patch, ())) or (beside and all(beside)):
            found.add(patch)
    while out := {p for p in found if not related.get(p, set()) <= found | landed}:
        found -= out  # R-fi-0.6.13:tip: a version that later patches raise further, and none landed
    return found


def _last_landing(series: Series, patch: int, landings: Landings) -> tuple[int, int | None]:
    """Return the first landing of a patch that was not reverted, and None.

    If all landings were reverted, return the last one and the commit that reverted it.
    """
    found = {number: series.count_patch(patch, number).found for number in landings[patch]}
    fewest = (1 - MOST_OPEN) * max(found.values())
    landed, back = landings[patch][0], None
    says = series.size(patch) or patch in {number for number, _ in series.wholes}
    for number in (n for n in found if found[n] >= fewest):
        if back is not None and number <= back:
            continue
        together = [other for other, numbers in landings.items() if number in numbers]
        is_own = says and found[number] > 0
        landed, back = number, reversal(series, [patch] if is_own else together, number)
        if back is None:
            break
    return landed, back


def _landed(series: Series, patch: int, landings: Landings) -> Absorption | None:
    """Return what upstream has of a patch that landed, or None if it has no hunk of the patch."""
    steps = series.way.steps
    landed, back = _last_landing(series, patch, landings)
    if back is not None:
        none = frozenset[int]()
        return Absorption(none, steps[landed], Event.REVERTED, is_whole=False, since=steps[back])
    end = series.way.end
    lines = at_step(series, patch, landed, end)
    hunks = {h for h in lines if _is_in(series, h, landed)}
    hunks |= _all_there(series, series.hunks(patch), end)
    hunks -= restored(lines)
    if not hunks:
        return None
    event = event_of(lines)
    homes = _now_in(series, patch, landed) if event is Event.GONE else ()
    later = {n: count for n, count in series.traffic[1][patch].items() if n > landed}
    changer = max(later, key=lambda n: (later[n], -n), default=None)
    return Absorption(
        frozenset(number for _, number in hunks),
        steps[landed],
        Event.EVOLVED if homes else event,
        is_whole=len(hunks) == len(series.hunks(patch))
        and (event is Event.GONE or not any(_never_took_header(series, h, landed) for h in hunks)),
        since=None if event is Event.LANDED or changer is None else steps[changer],
        how=_how(series, hunks, landed, event),
        wordings=tuple(w for hunk in sorted(hunks) for w in _wordings(series, hunk, landed)),
        now_in=homes[0] if len(homes) == 1 else None,
    )


def _never_took_header(series: Series, hunk: HunkId, landed: int) -> bool:
    """Return whether upstream, at the landing and now, lacks a patch's mode, or its move."""
    return all(series.lacks_header(hunk, number) for number in (landed, series.way.end))


def _now_in(series: Series, patch: int, landed: int) -> Sequence[str]:
    """Return the other files that have landed lines of a hunk, and a line that was beside them."""
    for hunk in series.hunks(patch):
        step, number = series.steps[hunk]
        lines = step.change.hunks[number].lines if step.change.hunks else ()
        sides = ((bare(x[1:]) for x in lines if x[:1] == kind) for kind in (b"+", b" "))
        new, beside = (frozenset(filter(is_telling, side)) for side in sides)
        is_asked = series.count(hunk, landed).found and new and beside
        there = series.elsewhere(step.change.path, new, beside) if is_asked else ()
        if there:
            return there
    return ()


def _is_in(series: Series, hunk: HunkId, landed: int) -> bool:
    """Return whether a hunk landed with its patch, perhaps reworded or with few lines left out."""
    path = series.path(hunk)
    before, after = (series.version(path, number) for number in (landed - 1, landed))
    if not series.count(hunk, landed).open:
        if before != after or after is None or hunk in series.wholes:
            return True
        # What was in other words before the landing has not landed in other words.
        nodes, fates = series.weave(path).nodes, series.fates(hunk, landed)
        new = [fate for (at, event), fate in fates.items() if nodes[at].puts_in(event)]
        return Fate.TAKEN not in new or Fate.FOUND in new
    whole = series.count_patch(hunk[0], landed)
    is_small = whole.open <= MOST_OPEN * whole.total
    return before != after and is_small and series.is_own(landed)


def _all_there(series: Series, hunks: Iterable[HunkId], number: int) -> set[HunkId]:
    """Return those of some hunks whose lines are all present after a commit."""
    counts = {hunk: series.count(hunk, number) for hunk in hunks}
    return {hunk for hunk, count in counts.items() if count.found == count.total > 0}


def _wordings(series: Series, hunk: HunkId, landed: int) -> Iterator[Wording]:
    """Yield upstream's text and the patch's for each place that did not land word for word."""
    count, path = series.count(hunk, landed), series.path(hunk)
    if hunk in series.wholes or not (count.open or count.taken):
        return
    nodes, words = series.weave(path).nodes, series.weave(path).words
    lines = (series.text(series.version(path, landed)) or b"").splitlines(keepends=True)
    fates = series.fates(hunk, landed).items()
    lacking = [change for change, fate in fates if fate in (Fate.OPEN, Fate.TAKEN)]
    for run, place in series.effect_at(path, landed).places.items():
        here = [change for change in lacking if run.start <= change[0] < run.end]
        new = (nodes[at].text for at, event in here if nodes[at].puts_in(event))
        ours = (line for line in lines[slice(*place)] if bare(line) not in words)
        if here:
            yield Wording(path, b"".join(ours), b"".join(new))


def _how(series: Series, hunks: Collection[HunkId], landed: int, event: Event) -> How:
    """Return how the hunks of a patch are known to have landed."""
    counts = [series.count(hunk, landed) for hunk in hunks]
    if any(count.replaced for count in counts):
        return How.RANGE
    if event is not Event.LANDED or any(count.found < count.total for count in counts):
        return How.HISTORY
    paths = {series.path(hunk) for hunk in hunks if hunk not in series.wholes}
    seen = [series.effect_at(path, series.way.end) for path in paths]
    if any(not effect.wider.isdisjoint(hunks) for effect in seen):
        return How.SUPERSET
    is_spaced = any(not effect.spaced.isdisjoint(hunks) for effect in seen)
    return How.WHITESPACE if is_spaced else How.EXACT


def _in_target(series: Series, patch: int) -> Absorption | None:
    """Return the absorption of a patch without a landing, if the target has whole hunks of it."""
    touching, every = series.touching(patch), series.hunks(patch)
    # Any other hunk is as much there in the base as it is in the target.
    touched = [hunk for hunk in every if series.is_touched(hunk)] if touching else []
    come = _all_there(series, touched, series.way.end)

    def is_there(number: int) -> bool:
        return come <= _all_there(series, touched, number)

    if not come or is_there(BASE) or not is_there(touching[-1]):
        return None
    here = _all_there(series, every, series.way.end)
    step = series.way.steps[touching[bisect_left(touching, True, key=is_there)]]
    is_whole = len(here) == len(every)
    hunks = frozenset(number for _, number in here)
    if not is_whole and not series.size(patch):
        return None
    return Absorption(hunks, step, Event.LANDED, is_whole=is_whole, how=How.EXACT)


def _with_undone(series: Series, found: Mapping[int, Absorption]) -> dict[int, Absorption]:
    """Record which hunks remove lines or files of earlier patches that are not wholly absorbed."""
    if not found:
        return {}
    undoes = defaultdict[int, defaultdict[int, set[str]]](lambda: defaultdict(set))
    makers = defaultdict[str | None, list[int]](list)
    for (patch, number), (step, _) in sorted(series.steps.items()):
        change = step.change
        is_leaving = change.new_path != change.old_path and not change.is_copy
        for maker in makers[change.old_path] if is_leaving else ():
            if maker not in found or not found[maker].is_whole:
                undoes[patch][number].add(series.folded[maker].patch.name)
        if step.base is None and change.new_path is not None:
            makers[change.new_path].append(patch)
    for path, weave in series.weaves():
        for earlier, (patch, by) in weave.replacements:
            if earlier in found and found[earlier].is_whole:
                continue
            hunks = [(patch, by)] if by != CARRIED else series.hunks(patch)
            for hunk in hunks:
                if by != CARRIED or series.steps[hunk][0].change.old_path == path:
                    undoes[patch][hunk[1]].add(series.folded[earlier].patch.name)
    return {
        patch: replace(one, undoes={h: frozenset(names) for h, names in undoes[patch].items()})
        for patch, one in found.items()
    }
