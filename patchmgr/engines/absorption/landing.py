"""Find which patches and hunks upstream has, which commit brought them, and what became of them.

A patch landed with the first commit after which upstream has most of its lines in their places.
Later commits may have changed, removed or reverted it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from patchmgr.engines.absorption.proof import Drop, why_needed
from patchmgr.engines.absorption.series import BASE, Line, Series
from patchmgr.engines.absorption.thresholds import (
    FEWEST_CAME,
    FEWEST_LINES,
    FEWEST_REVERSED,
    MOST,
    MOST_OPEN,
)
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.absorption.weave import CARRIED, Fate, HunkId
from patchmgr.engines.cause.pulls import pull_number
from patchmgr.engines.series.follow_ups import is_same, names_of
from patchmgr.engines.series.placement import PatchedFile, split_lines
from patchmgr.engines.text.distinctive import bare, is_telling
from patchmgr.model.outcome import How, Wording

Lines = Mapping[HunkId, Sequence[Line]]

_REVERT = re.compile(r"\brevert", re.IGNORECASE)


def reversal(series: Series, patches: Collection[int], landed: int) -> int | None:
    """Return the number of the upstream commit that reverted the given patches, or None."""
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
    """Return the lines that commit `landed` brought, by hunk, with their fate after `number`."""
    found = dict[HunkId, Sequence[Line]]()
    for hunk in series.hunks[patch]:
        pairs = zip(series.lines(hunk, landed), series.lines(hunk, number), strict=True)
        found[hunk] = [now for then, now in pairs if then[1] is Fate.FOUND]
    return found


def _is_reverse(series: Series, landed: int, number: int) -> bool:
    """Return whether commit `number` undoes what commit `landed` did, and little else."""
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
    """Return whether a landed patch is still in the target: in full, in part, or not at all."""
    fates = [line for some in lines.values() for line in some]
    if all(fate in (Fate.FOUND, Fate.REPLACED) for _, fate in fates):
        return Event.LANDED
    put_in = [fate for puts_in, fate in fates if puts_in] or [fate for _, fate in fates]
    return Event.EVOLVED if Fate.FOUND in put_in else Event.GONE


def restored(lines: Lines) -> set[HunkId]:
    """Return those hunks of a landed patch that upstream has since undone."""
    back = {
        hunk
        for hunk, some in lines.items()
        if all(fate is Fate.OPEN for _, fate in some) and not all(puts_in for puts_in, _ in some)
    }
    is_most = sum(len(lines[hunk]) for hunk in back) >= MOST * sum(map(len, lines.values()))
    return back if is_most else set()


Landings = Mapping[int, Sequence[int]]
"""Maps a patch to the numbers of the upstream commits that landed it, in order."""


def find_absorbed(series: Series) -> dict[int, Absorption]:
    """Return, for each patch by index, which hunks upstream has, and since which commit."""
    landings = _landings(series)
    found: dict[int, Absorption] = {}
    for patch in range(len(series.folded)):
        one = _landed(series, patch, landings)
        wrong = _refuted(series, patch, one) if one is not None else set()
        if one is not None and (not wrong or one.hunks - wrong):
            is_whole = one.is_whole and not wrong
            found[patch] = replace(one, hunks=one.hunks - wrong, is_whole=is_whole)
    return _with_undone(series, _with_inner(series, found))


def _with_inner(series: Series, found: Mapping[int, Absorption]) -> dict[int, Absorption]:
    """For each patch that landed with a merge, name the merged commit that brought most of it."""
    steps, named, landed = series.way.steps, dict(found), defaultdict[int, list[int]](list)
    for patch, one in found.items():
        landed[steps.index(one.step)].append(patch)
    for number, branch in series.inside(landed):
        landings, inner = _landings(branch), dict[int, Absorption]()
        for patch in landed[number]:
            first = landings.get(patch, (0,))[0]  # 0: what the branch started from
            there, now, before = (
                one.count_patch(patch, n).found
                for one, n in ((series, number), (branch, first), (branch, first - 1))
            )
            if first and now - before >= (1 - MOST_OPEN) * there:
                inner[patch] = replace(found[patch], step=branch.way.steps[first])
        for patch, one in _with_inner(branch, inner).items():  # it may be a merge, too
            named[patch] = replace(found[patch], inner=one.inner or one.step)
        vars(branch).clear()
    return named


def _refuted(series: Series, patch: int, one: Absorption) -> set[int]:
    """Return those hunks of an absorbed patch that must be kept, by a proof."""
    landed = series.way.steps.index(one.step)
    found = {number: series.count((patch, number), landed).found for number in one.hunks}
    enough = max(MOST * series.count_patch(patch, landed).total, FEWEST_LINES)
    wrong, rest = set[int](), 0
    for number in sorted(found, key=lambda number: (-found[number], number)):
        if _is_refuted(series, (patch, number), one):
            wrong.add(number)
        else:
            rest += found[number]
        if rest >= enough and series.is_own(patch, landed):
            return set()
    return wrong


def _is_refuted(series: Series, hunk: HunkId, one: Absorption) -> bool:
    """Return whether a proof forbids dropping a hunk, both at the landing and at the target."""
    step, number = series.steps[hunk]
    path, hunks = step.change.path, step.change.hunks
    base, theirs = series.text(step.base), series.text(step.theirs)
    landed = series.way.steps.index(one.step)
    adds = any(h.added() for each in series.folded[hunk[0]].steps for h in each.change.hunks)
    count = series.count(hunk, landed)
    if base is None or theirs is None or hunk in series.wholes or not count.total:
        return False
    if hunks[number].added() and (count.open or count.taken):
        return False
    file = PatchedFile(path, base, theirs, hunks, step.positions)
    dropped = {n - hunk[1] + number for n in one.hunks}
    for at in (series.way.end, *([landed] if adds else [])):
        entry = series.version(path, at)
        ours = series.text(entry)
        if ours is None or entry == step.theirs or series.is_state(path, at, hunk[0]):
            return False
        if not series.count(hunk, at).total:  # a later patch undoes it: its lines show nothing
            return False
        seen = series.effect_at(path, at)
        is_state = hunk not in seen.loose and hunk not in seen.spaced
        if why_needed(Drop(file, ours, number, dropped, is_state=is_state)) is None:
            return False
    return True


def _candidates(series: Series) -> list[int]:
    """Return the numbers of the upstream commits that may have landed any patch, in order."""
    found = {
        number
        for patch, steps in enumerate(series.traffic[0])
        for number, count in steps.items()
        if count >= FEWEST_CAME * series.size(patch)
    }
    # Lines that the series moves within a file do not come, as they were there before.
    paths = (path for path in series.paths if series.is_state(path, series.way.end))
    moved = ((path, number) for path in paths for number, _ in series.way.versions(path))
    return sorted(found | {number for path, number in moved if series.is_state(path, number)})


def _landings(series: Series) -> Landings:
    every, candidates = range(len(series.folded)), _candidates(series)
    touching = [series.touching(patch) for patch in every] if candidates else []
    found: dict[int, list[int]] = {}
    for number in candidates:
        counts = {p: series.count_patch(p, number) for p in every if number in touching[p]}
        landed = {
            patch
            for patch, count in counts.items()
            if _is_landed(series, patch, number, at=number)
            and not _is_landed(series, patch, number, at=number - 1)
        }
        if not landed:
            continue
        related = series.related
        asked = (p for p in every if p not in landed and (p in related or not series.size(p)))
        mute = {patch for patch in asked if not series.count_patch(patch, number).total}
        # Upstream has what a patch brings back before it has what the patch takes away.
        known = landed | found.keys() | mute
        landed = {
            patch
            for patch in landed
            if counts[patch].found >= counts[patch].replaced
            or all(one in known for one in related.get(patch, ()) if one < patch)
        }
        for patch in (*landed, *_along(mute, landed, related, len(every))):
            found.setdefault(patch, []).append(number)
    return found


def _is_landed(series: Series, patch: int, number: int, *, at: int) -> bool:
    """Return whether commit `at` has enough of a patch that commit `number` may have landed."""
    count = series.count_patch(patch, at)
    if count.adds and not count.came:
        return False  # upstream lacks what the patch removes: it may have deleted all of that code
    if count.found == count.total:
        return count.total > 0
    fewest = MOST if series.is_own(patch, number) else 1 - MOST_OPEN
    return count.found >= max(FEWEST_LINES, fewest * count.total)


def _along(
    mute: Set[int], landed: Set[int], related: Mapping[int, set[int]], size: int
) -> set[int]:
    """Return the `mute` patches, which leave no trace, that landed with the `landed` ones."""
    while out := {p for p in mute if not related.get(p, set()) <= mute | landed}:
        mute -= out
    found, others = set[int](), [p for p in range(size) if p not in mute]
    for patch in mute:
        at = bisect_left(others, patch)
        beside = {*others[max(at - 1, 0) : at + 1]}
        if not landed.isdisjoint(related.get(patch, ())) or (beside and beside <= landed):
            found.add(patch)
    while out := {p for p in found if not related.get(p, set()) <= found | landed}:
        found -= out  # R-fi-0.6.13:tip: a version that later patches raise further, and none landed
    return found


def _last_landing(series: Series, patch: int, landings: Landings) -> tuple[int, int | None]:
    """Return the number of the first landing that was not reverted, and None.

    If all were reverted, the result is the last landing and the number of the commit that reverted
    it.
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
    """Return what upstream has of a patch, or None if it has none of the hunks."""
    steps, end, every = series.way.steps, series.way.end, series.hunks[patch]
    is_landed = patch in landings
    landed, back = (
        _last_landing(series, patch, landings) if is_landed else (_since(series, patch), None)
    )
    if landed is None:
        return None
    if back is not None:
        none = frozenset[int]()
        return Absorption(none, steps[landed], Event.REVERTED, is_whole=False, since=steps[back])
    lines = at_step(series, patch, landed, end)
    here = _all_there(series, every, end)
    hunks = {h for h in lines if h in here or (is_landed and _is_in(series, h, landed))}
    hunks -= restored(lines)
    is_whole = len(hunks) == len(every)
    if not hunks or not (is_landed or is_whole or series.size(patch)):
        return None
    event = event_of(lines if is_landed else {hunk: lines[hunk] for hunk in hunks})
    homes = _now_in(series, patch, landed) if event is Event.GONE else ()
    later = {n: count for n, count in series.traffic[1][patch].items() if n > landed}
    changer = max(later, key=lambda n: (later[n], -n), default=None)
    # A mode or path that upstream never took is still needed.
    lacks = (all(series.lacks_header(h, n) for n in (landed, end)) for h in hunks)
    return Absorption(
        frozenset(number for _, number in hunks),
        steps[landed],
        Event.EVOLVED if homes else event,
        is_whole=is_whole and (event is Event.GONE or not any(lacks)),
        since=None if event is Event.LANDED or changer is None else steps[changer],
        how=_how(series, hunks, landed, event),
        wordings=tuple(w for hunk in sorted(hunks) for w in _wordings(series, hunk, landed)),
        now_in=homes[0] if len(homes) == 1 else None,
    )


def _since(series: Series, patch: int) -> int | None:
    """Return the commit since which upstream has all that the target has of a patch, or None."""
    touching = series.touching(patch)
    # Any other hunk is as much there in the base as it is in the target.
    touched = [hunk for hunk in series.hunks[patch] if touching and series.is_touched(hunk)]
    come = _all_there(series, touched, series.way.end)

    def is_there(number: int) -> bool:
        return come <= _all_there(series, come, number)

    if not come or is_there(BASE) or not is_there(touching[-1]):
        return None
    return touching[bisect_left(touching, True, key=is_there)]


def _now_in(series: Series, patch: int, landed: int) -> Sequence[str]:
    """Return the other files that gained the lines of a landed hunk next to its context lines."""
    for hunk in series.hunks[patch]:
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
    """Return whether a hunk landed with its patch, perhaps reworded or without a few lines."""
    path = series.path(hunk)
    before, after = (series.version(path, number) for number in (landed - 1, landed))
    if not series.count(hunk, landed).open:
        if before != after or after is None or hunk in series.wholes:
            return True
        # What was in other words before the landing has not landed in other words.
        new = [fate for is_added, fate in series.lines(hunk, landed) if is_added]
        return Fate.TAKEN not in new or Fate.FOUND in new
    whole = series.count_patch(hunk[0], landed)
    is_small = whole.open <= MOST_OPEN * whole.total
    return before != after and is_small and series.is_own(hunk[0], landed)


def _all_there(series: Series, hunks: Iterable[HunkId], number: int) -> set[HunkId]:
    """Return those of the hunks whose lines upstream has completely after a commit."""
    counts = {hunk: series.count(hunk, number) for hunk in hunks}
    return {hunk for hunk, count in counts.items() if count.found == count.total > 0}


def _wordings(series: Series, hunk: HunkId, landed: int) -> Iterator[Wording]:
    """Yield upstream's text and the patch's text wherever a hunk did not land word for word."""
    count, path = series.count(hunk, landed), series.path(hunk)
    if hunk in series.wholes or not (count.open or count.taken):
        return
    weave, seen = series.weave(path), series.effect_at(path, landed)
    lines = split_lines(series.text(series.version(path, landed)) or b"")
    lacking = [c for c in weave.hunks[hunk] if seen.fates[c] in (Fate.OPEN, Fate.TAKEN)]
    for run, place in seen.places.items():
        here = [c for c in lacking if run.start <= c.at < run.end]
        ours = (line for line in lines[place.start : place.stop] if bare(line) not in weave.words)
        if here:
            new = b"".join(change.node.text for change in here if change.adds)
            yield Wording(path, b"".join(ours), new)


def _how(series: Series, hunks: Collection[HunkId], landed: int, event: Event) -> How:
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


def _with_undone(series: Series, found: Mapping[int, Absorption]) -> dict[int, Absorption]:
    """Record which hunks remove lines or files of earlier patches that are not wholly absorbed."""
    if not found:
        return {}
    undoes = defaultdict[int, defaultdict[int, set[str]]](lambda: defaultdict(set))
    for path in series.paths:
        for earlier, (patch, by) in series.weave(path).replacements:
            if earlier in found and found[earlier].is_whole:
                continue
            hunks = [(patch, by)] if by != CARRIED else series.hunks[patch]
            for hunk in hunks:
                if by != CARRIED or series.steps[hunk][0].change.old_path == path:
                    undoes[patch][hunk[1]].add(series.folded[earlier].patch.name)
    return {
        patch: replace(one, undoes={h: frozenset(names) for h, names in undoes[patch].items()})
        for patch, one in found.items()
    }
