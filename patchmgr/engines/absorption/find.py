"""Which patches, and which hunks of them, upstream has already, and since which step.

A patch landed with the step after which upstream's files have most of its lines in their place.
What became of it on the way to the target is read from the later steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from patchmgr.engines.absorption.effect import Count, Fate
from patchmgr.engines.absorption.fate import event_at_target, restored, reversal
from patchmgr.engines.absorption.proof import Drop, Own, own_lines, why_needed
from patchmgr.engines.absorption.rules import ALL_ON
from patchmgr.engines.absorption.series import BASE, Series
from patchmgr.engines.absorption.thresholds import (
    FEWEST_CAME,
    FEWEST_ELSEWHERE,
    FEWEST_LINES,
    MOST,
    MOST_OPEN,
)
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.absorption.weave import CARRIED, HunkId
from patchmgr.engines.telling import bare, is_telling
from patchmgr.model.outcome import How, Wording

Landings = Mapping[int, Sequence[int]]
"""By patch: the steps that landed it, in order."""


def find_absorbed(series: Series) -> dict[int, Absorption]:
    """Return by patch number what upstream has of it; patches it has nothing of are left out."""
    came, gone = _traffic(series)
    landings = _landings(series, came)
    found: dict[int, Absorption] = {}
    for patch in range(len(series.folded)):
        if patch in landings:
            absorption = _landed(series, gone, patch, landings)
        else:
            absorption = _in_target(series, patch)
        if absorption is not None:
            found[patch] = absorption
    return _with_undone(series, _without_refuted(series, found))


def _without_refuted(series: Series, found: Mapping[int, Absorption]) -> dict[int, Absorption]:
    """Return what is found, less the hunks of which a proof says that they are needed.

    Where the rest of a patch is enough to know its own landing by, such a hunk is a part of it in
    other words.
    """
    own = own_lines(item.patch for item in series.folded)
    kept: dict[int, Absorption] = {}
    for patch, one in found.items():
        wrong = _refuted(series, own, patch, one)
        if one.hunks - wrong or not one.hunks:
            is_whole = one.is_whole and not wrong
            kept[patch] = replace(one, hunks=one.hunks - wrong, is_whole=is_whole)
    return kept


def _refuted(series: Series, own: Mapping[str, Own], patch: int, one: Absorption) -> frozenset[int]:
    """Return the hunks that a proof refutes; none where the others are enough, large ones first."""
    landed = series.way.steps.index(one.step)
    found = {number: series.count((patch, number), landed).found for number in one.hunks}
    enough = _enough(series.count_patch(patch, landed))
    wrong, rest = set[int](), 0
    for number in sorted(found, key=lambda number: (-found[number], number)):
        if _is_refuted(series, own, patch, one, number):
            wrong.add(number)
        else:
            rest += found[number]
        if rest >= enough and series.is_own(landed):
            return frozenset()
    return frozenset(wrong)


def _is_refuted(
    series: Series, own: Mapping[str, Own], patch: int, one: Absorption, number: int
) -> bool:
    """Say whether a proof speaks against a drop both where the patch landed and at the target.

    A patch that only deletes has no landing to know it by: for it, the target must do.
    """
    first, step = next(
        (first, step)
        for first, step in reversed([*series.folded[patch].numbered()])
        if first <= number
    )
    base, path, hunks = series.text(step.base), step.change.path, step.change.hunks
    landed = series.way.steps.index(one.step)
    adds = any(hunk.added() for hunk in series.folded[patch].hunks())
    if base is None or step.theirs is None or (patch, number) in series.plain:
        return False
    count = series.count((patch, number), landed)
    if not count.total:
        return False
    for at in (series.way.end, *([landed] if adds else [])):
        entry = series.version(path, at)
        ours = series.text(entry)
        if ours is None or entry == step.theirs:
            return False
        drop = Drop(
            path, base, ours, hunks[number - first], step.positions[number - first],
            own=own[path],
            beside=tuple(hunk for n, hunk in enumerate(hunks, first) if n not in one.hunks),
            is_verbatim=not count.open and not count.taken,
        )  # fmt: skip
        if why_needed(drop, off=series.off | _spared(series, drop, (patch, number), at)) is None:
            return False
    return True


def _spared(series: Series, drop: Drop, hunk: HunkId, number: int) -> Set[str]:
    """Return the proofs that need not be asked where upstream's text is a state of the series."""
    seen = series.effect_at(drop.path, number)
    if hunk in seen.loose or hunk in seen.spaced:
        return ALL_ON
    return {"order", "white space", *(["deletion"] if drop.hunk.added() else [])}


def _traffic(series: Series) -> tuple[list[Counter[int]], list[Counter[int]]]:
    """Count by patch and step how many of its lines took effect, and how many lost it."""
    came = [Counter[int]() for _ in series.folded]
    gone = [Counter[int]() for _ in series.folded]
    for number, path, is_there, line in series.traffic():
        for puts_in, owners in series.wanted[path].items():
            for patch in owners.get(line, ()):
                (came if is_there == puts_in else gone)[patch][number] += 1
    return came, gone


def _landings(series: Series, came: Sequence[Counter[int]]) -> Landings:
    sizes = Counter(
        patch
        for sides in series.wanted.values()
        for lines in sides.values()
        for owners in lines.values()
        for patch in owners
    )
    candidates = {
        number
        for patch, steps in enumerate(came)
        for number, count in steps.items()
        if count >= FEWEST_CAME * sizes[patch]
    }
    related = _related(series)
    found: dict[int, list[int]] = {}
    for number in sorted(candidates):
        counts = [series.count_patch(patch, number) for patch in range(len(series.folded))]
        is_own = series.is_own(number)
        landed = {
            patch
            for patch, count in enumerate(counts)
            if _is_landed(count, is_own=is_own)
            and not _is_landed(series.count_patch(patch, number - 1), is_own=is_own)
        }
        along = () if "along" in series.off else _along(counts, landed, related)
        for patch in (*landed, *along):
            found.setdefault(patch, []).append(number)
    return found


def _is_landed(count: Count, *, is_own: bool) -> bool:
    if count.found == count.total:
        return count.total > 0
    fewest = MOST if is_own else FEWEST_ELSEWHERE
    return count.found >= max(FEWEST_LINES, fewest * count.total)


def _related(series: Series) -> Mapping[int, set[int]]:
    """Return by patch those that take out what it puts in, or the other way round."""
    found: dict[int, set[int]] = {}
    for weave in series.weaves.values():
        for node in weave.nodes:
            for (one, _), (other, _) in zip(node.events, node.events[1:], strict=False):
                found.setdefault(one, set()).add(other)
                found.setdefault(other, set()).add(one)
    return found


def _along(counts: Sequence[Count], landed: Set[int], related: Mapping[int, set[int]]) -> list[int]:
    """Return the patches that go with landed ones, though no line of their own says so.

    All that they did was undone by others, which go as well; one of these landed, or they stand
    between landed ones.
    """
    mute = {p for p, count in enumerate(counts) if not count.total and p not in landed}
    while out := {p for p in mute if not related.get(p, set()) <= mute | landed}:
        mute -= out
    found: list[int] = []
    for patch in sorted(mute):
        ways = range(patch - 1, -1, -1), range(patch + 1, len(counts))
        stops = [next((p for p in way if p not in mute), None) for way in ways]
        beside = [stop in landed for stop in stops if stop is not None]
        if not landed.isdisjoint(related.get(patch, ())) or (beside and all(beside)):
            found.append(patch)
    return found


def _last_landing(
    series: Series, gone: Sequence[Counter[int]], patch: int, landings: Landings
) -> tuple[int, int | None]:
    """Return the landing of a patch that lasts, or the last one with the step that took it back."""
    most = max(series.count_patch(patch, number).found for number in landings[patch])
    landed, back = landings[patch][0], None
    for number in landings[patch]:
        is_best = series.count_patch(patch, number).found >= FEWEST_ELSEWHERE * most
        if not is_best or (back is not None and number <= back):
            continue
        together = [other for other, numbers in landings.items() if number in numbers]
        is_mute = not series.count_patch(patch, number).found
        landed = number
        back = reversal(series, gone, together if is_mute else [patch], number)
        if back is None or "landed again" in series.off:
            break
    return landed, back


def _landed(
    series: Series, gone: Sequence[Counter[int]], patch: int, landings: Landings
) -> Absorption | None:
    """Follow a patch from its first landing to the last one that was not taken back."""
    steps = series.way.steps
    landed, back = _last_landing(series, gone, patch, landings)
    if back is not None:
        none = frozenset[int]()
        return Absorption(none, steps[landed], Event.REVERTED, is_whole=False, since=steps[back])
    end = series.way.end
    hunks = frozenset(
        h[1] for h in series.hunks(patch) if _is_in(series, h, landed) or _is_done(series, h, end)
    )
    hunks -= restored(series, patch, landed)
    if not hunks:
        return None
    event = event_at_target(series, patch, landed)
    homes = _now_in(series, patch, landed) if event is Event.GONE else ()
    event = Event.EVOLVED if homes else event
    later = {n: count for n, count in gone[patch].items() if n > landed}
    changer = max(later, key=lambda n: (later[n], -n), default=None)
    wordings = tuple(_wordings(series, patch, hunks, landed))
    return Absorption(
        hunks,
        steps[landed],
        event,
        is_whole=len(hunks) == len(series.hunks(patch)),
        since=None if event is Event.LANDED or changer is None else steps[changer],
        how=_how(series, patch, hunks, landed, is_there=event is Event.LANDED),
        wordings=wordings,
        now_in=homes[0] if len(homes) == 1 else None,
    )


def _now_in(series: Series, patch: int, landed: int) -> Sequence[str]:
    """Return the other files that have what landed of a hunk, and a line that stood beside it."""
    for number, hunk in enumerate(series.folded[patch].hunks()):
        path = series.paths[patch, number]
        count = series.count((patch, number), landed)
        sides = ((bare(x[1:]) for x in hunk.lines if x[:1] == kind) for kind in (b"+", b" "))
        new, beside = (frozenset(filter(is_telling, side)) for side in sides)
        there = series.elsewhere(path, new, beside) if count.found and new and beside else ()
        if there:
            return there
    return ()


def _is_in(series: Series, hunk: HunkId, landed: int) -> bool:
    """Say whether a hunk of a landed patch is in with it: there, in other words, or left out."""
    if _is_there(series, hunk, landed):
        return True
    whole, path = series.count_patch(hunk[0], landed), series.paths[hunk]
    if hunk in series.deletions and whole.found - series.count(hunk, landed).found < _enough(whole):
        return False
    is_small = whole.open <= MOST_OPEN * whole.total and "left out" not in series.off
    is_touched = series.version(path, landed) != series.version(path, landed - 1)
    has_mode = series.has_mode(hunk, landed)
    return is_touched and is_small and has_mode and series.is_own(landed)


def _enough(patch: Count) -> float:
    """Return how many lines of a patch are enough to know its own landing by."""
    return max(MOST * patch.total, FEWEST_LINES)


def _is_there(series: Series, hunk: HunkId, landed: int) -> bool:
    path = series.paths[hunk]
    if hunk in series.plain or not series.has_mode(hunk, landed):
        return hunk in series.plain and series.has_plain(hunk, landed)
    if hunk in series.deletions and series.weaves[path].is_deleted:
        return series.version(path, landed) is None
    return not series.count(hunk, landed).open


def _wordings(series: Series, patch: int, hunks: Collection[int], landed: int) -> Iterator[Wording]:
    """Yield both texts of each place that a landing has in other words, or does without."""
    for hunk in series.hunks(patch):
        path = series.paths[hunk]
        count = series.count(hunk, landed)
        if hunk[1] not in hunks or not (count.open or count.taken):
            continue
        weave, seen = series.weaves[path], series.effect_at(path, landed)
        lines = (series.text(series.version(path, landed)) or b"").splitlines(keepends=True)
        words = {node.key for node in weave.nodes}
        lacking = [
            change
            for change in weave.changes.get(hunk, ())
            if seen.fates[change] in (Fate.OPEN, Fate.TAKEN)
        ]
        for run, place in seen.places.items():
            here = [change for change in lacking if run.start <= change[0] < run.end]
            new = (weave.nodes[at].text for at, event in here if weave.nodes[at].puts_in(event))
            ours = (line for line in lines[slice(*place)] if bare(line) not in words)
            if here:
                yield Wording(path, b"".join(ours), b"".join(new))


def _how(series: Series, patch: int, hunks: Collection[int], landed: int, *, is_there: bool) -> How:
    """Say how hunks are known to be in: by their bytes, with others, or by their history."""
    counts = [series.count((patch, number), landed) for number in hunks]
    if any(_is_replaced(series, (patch, number), landed) for number in hunks):
        return How.RANGE
    is_all = all(_is_there(series, (patch, number), landed) for number in hunks)
    if not (is_there and is_all) or any(count.found < count.total for count in counts):
        return How.HISTORY
    here = {(patch, number) for number in hunks} - series.plain.keys()
    seen = [series.effect_at(series.paths[hunk], series.way.end) for hunk in here]
    if any(not here.isdisjoint(effect.wider) for effect in seen):
        return How.SUPERSET
    spaced = any(not here.isdisjoint(effect.spaced) for effect in seen)
    return How.WHITESPACE if spaced else How.EXACT


def _is_replaced(series: Series, hunk: HunkId, landed: int) -> bool:
    """Say whether another patch undoes a line of a hunk, or the hunk one of another's."""
    if hunk in series.plain:
        return False
    path = series.paths[hunk]
    weave, fates = series.weaves[path], series.effect_at(path, landed).fates
    return any(
        fates[at, event] is Fate.REPLACED and len(weave.nodes[at].events) > 1
        for at, event in weave.changes.get(hunk, ())
    )


def _in_target(series: Series, patch: int) -> Absorption | None:
    """Judge a patch that no step landed by the hunks that the target has every line of."""
    if "target" in series.off:
        return None

    def there(number: int) -> frozenset[int]:
        return frozenset(hunk[1] for hunk in series.hunks(patch) if _is_done(series, hunk, number))

    here, touching = there(series.way.end), series.touching(patch)
    if not here or here <= there(BASE) or not (touching and here <= there(touching[-1])):
        return None
    low, high = 0, len(touching) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if here <= there(touching[middle]) else (middle + 1, high)
    step, is_whole = series.way.steps[touching[low]], len(here) == len(series.hunks(patch))
    if not is_whole and not _says_something(series, patch):
        return None
    return Absorption(here, step, Event.LANDED, is_whole=is_whole, how=How.EXACT)


def _says_something(series: Series, patch: int) -> bool:
    """Say whether a patch puts a telling line in."""
    sides = (sides[True] for sides in series.wanted.values())
    return any(patch in owners for lines in sides for owners in lines.values())


def _is_done(series: Series, hunk: HunkId, number: int) -> bool:
    if hunk in series.plain or not series.has_mode(hunk, number):
        return hunk in series.plain and series.has_plain(hunk, number)
    if hunk in series.deletions and series.weaves[series.paths[hunk]].is_deleted:
        return series.version(series.paths[hunk], number) is None
    count = series.count(hunk, number)
    return count.found == count.total > 0


def _with_undone(series: Series, found: Mapping[int, Absorption]) -> dict[int, Absorption]:
    """Note which hunks take away what earlier patches bring that may be carried."""
    undoes: dict[int, dict[int, set[str]]] = {}
    for weave in series.weaves.values():
        for node in weave.nodes:
            for (earlier, _), (patch, hunk) in zip(node.events, node.events[1:], strict=False):
                if hunk != CARRIED and (earlier not in found or not found[earlier].is_whole):
                    name = series.folded[earlier].patch.name
                    undoes.setdefault(patch, {}).setdefault(hunk, set()).add(name)
    return {
        patch: replace(
            one, undoes={hunk: frozenset(names) for hunk, names in undoes.get(patch, {}).items()}
        )
        for patch, one in found.items()
    }
