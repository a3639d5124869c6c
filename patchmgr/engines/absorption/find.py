"""Which patches, and which hunks of them, upstream has already, and since which step.

A patch landed with the step after which upstream's files have most of its lines in their place.
What became of it on the way to the target is read from the later steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from patchmgr.engines.absorption.effect import Count, Fate
from patchmgr.engines.absorption.fate import event_at_target, restored, reversal
from patchmgr.engines.absorption.series import BASE, Series
from patchmgr.engines.absorption.thresholds import (
    FEWEST_CAME,
    FEWEST_ELSEWHERE,
    FEWEST_FOUND,
    MOST_CANDIDATES,
    MOST_OPEN,
)
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.absorption.weave import CARRIED, HunkId
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
    return _with_undone(series, found)


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
        for number, count in sorted(steps.items(), key=lambda item: (-item[1], item[0]))[
            :MOST_CANDIDATES
        ]
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
    fewest = FEWEST_FOUND if is_own else FEWEST_ELSEWHERE
    is_shut = is_own or count.open <= MOST_OPEN * count.total
    return count.total > 0 and count.found >= fewest * count.total and is_shut


def _related(series: Series) -> Mapping[int, set[int]]:
    """Return by patch those that take out what it puts in, or the other way round."""
    found: dict[int, set[int]] = {}
    for weave in series.weaves.values():
        for node in weave.nodes:
            for (one, _), (other, _) in zip(node.events, node.events[1:], strict=False):
                found.setdefault(one, set()).add(other)
                found.setdefault(other, set()).add(one)
    return found


def _along(
    counts: Sequence[Count], landed: Set[int], related: Mapping[int, set[int]]
) -> list[int]:
    """Return the patches that go with landed ones, though no line of their own says so.

    All that they did was undone by others, which go as well; one of these landed, or they stand
    between landed ones.
    """
    mute = {p for p, count in enumerate(counts) if not count.total and p not in landed}
    while out := {p for p in mute if any(q not in mute and q not in landed for q in related.get(p, ()))}:
        mute -= out
    found: list[int] = []
    for patch in sorted(mute):
        ways = range(patch - 1, -1, -1), range(patch + 1, len(counts))
        stops = [next((p for p in way if p not in mute), None) for way in ways]
        beside = [stop in landed for stop in stops if stop is not None]
        if not landed.isdisjoint(related.get(patch, ())) or (beside and all(beside)):
            found.append(patch)
    return found


def _landed(
    series: Series, gone: Sequence[Counter[int]], patch: int, landings: Landings
) -> Absorption | None:
    """Follow a patch from its first landing to the last one that was not taken back."""
    steps = series.way.steps
    most = max(series.count_patch(patch, number).found for number in landings[patch])
    landed, back = None, None
    for number in landings[patch]:
        is_best = series.count_patch(patch, number).found >= FEWEST_FOUND * most
        is_again = back is None or (number > back and "landed again" not in series.off)
        if not is_best or not is_again or (landed is not None and back is None):
            continue
        landed, back = number, None
        if "reverted" not in series.off:
            together = [other for other, numbers in landings.items() if number in numbers]
            back = reversal(series, gone, together, number)
            back = reversal(series, gone, [patch], number) if back is None else back
    assert landed is not None
    if back is not None:
        none = frozenset[int]()
        return Absorption(none, steps[landed], Event.REVERTED, is_whole=False, since=steps[back])
    hunks = frozenset(h[1] for h in series.hunks(patch) if _is_in(series, h, landed))
    hunks -= restored(series, patch, landed)
    if not hunks:
        return None
    event = event_at_target(series, patch, landed)
    later = {n: count for n, count in gone[patch].items() if n > landed}
    changer = max(later, key=lambda n: (later[n], -n), default=None)
    wordings = tuple(_wordings(series, patch, hunks, landed))
    return Absorption(
        hunks,
        steps[landed],
        event,
        is_whole=len(hunks) == len(series.hunks(patch)),
        since=None if event is Event.LANDED or changer is None else steps[changer],
        how=_how(series, patch, landed, is_verbatim=event is Event.LANDED and not wordings),
        wordings=wordings,
    )


def _is_in(series: Series, hunk: HunkId, landed: int) -> bool:
    """Say whether a hunk of a landed patch is in with it: there, or in other words."""
    if hunk in series.plain:
        return series.has_plain(hunk, landed)
    if not series.count(hunk, landed).open:
        return True
    whole, path = series.count_patch(hunk[0], landed), series.paths[hunk]
    is_touched = series.version(path, landed) != series.version(path, landed - 1)
    is_small = whole.open <= MOST_OPEN * whole.total and "left out" not in series.off
    return is_touched and is_small and series.is_own(landed)


def _wordings(
    series: Series, patch: int, hunks: Collection[int], landed: int
) -> Iterator[Wording]:
    """Yield both texts of each place that a landing has in other words, or does without."""
    for hunk in series.hunks(patch):
        path = series.paths[hunk]
        count = series.count(hunk, landed)
        if hunk[1] not in hunks or not (count.open or count.taken):
            continue
        weave, seen = series.weaves[path], series.effect_at(path, landed)
        lines = (series.text(series.version(path, landed)) or b"").splitlines(keepends=True)
        changed = {seen.fates[change]: change[0] for change in weave.changes.get(hunk, ())}
        for run in weave.runs:
            fates = {fate for fate, at in changed.items() if run.start <= at < run.end}
            if Fate.OPEN in fates or Fate.TAKEN in fates:
                texts = (n.text for n in weave.nodes[run.start : run.end] if n.is_alive(patch))
                ours = b"".join(lines[slice(*seen.places[run])])
                yield Wording(path, b"" if Fate.OPEN in fates else ours, b"".join(texts))


def _how(series: Series, patch: int, landed: int, *, is_verbatim: bool) -> How:
    """Say how a patch is known to be in: by its bytes, with others, or by its history."""
    count = series.count_patch(patch, landed)
    if count.replaced and any(_is_replaced(series, hunk, landed) for hunk in series.hunks(patch)):
        return How.RANGE
    if not is_verbatim or count.found < count.total:
        return How.HISTORY
    paths = {series.paths[hunk] for hunk in series.hunks(patch) if hunk not in series.plain}
    spaced = {hunk for path in paths for hunk in series.effect_at(path, series.way.end).spaced}
    return How.WHITESPACE if any(by == patch for by, _ in spaced) else How.EXACT


def _is_replaced(series: Series, hunk: HunkId, landed: int) -> bool:
    """Say whether another patch undoes a line of a hunk, or the hunk one of another's."""
    if hunk in series.plain:
        return False
    weave = series.weaves[series.paths[hunk]]
    return any(len(weave.nodes[at].events) > 1 for at, _ in weave.changes.get(hunk, ()))


def _in_target(series: Series, patch: int) -> Absorption | None:
    """Judge a patch that no step landed by the hunks that the target has every line of."""
    if "target" in series.off:
        return None

    def there(number: int) -> frozenset[int]:
        return frozenset(hunk[1] for hunk in series.hunks(patch) if _is_done(series, hunk, number))

    here, touching = there(series.way.end), series.touching(patch)
    if not here or here <= there(BASE):
        return None
    low, high = 0, len(touching) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if here <= there(touching[middle]) else (middle + 1, high)
    step, is_whole = series.way.steps[touching[low]], len(here) == len(series.hunks(patch))
    return Absorption(here, step, Event.LANDED, is_whole=is_whole, how=How.EXACT)


def _is_done(series: Series, hunk: HunkId, number: int) -> bool:
    if hunk in series.plain:
        return series.has_plain(hunk, number)
    count = series.count(hunk, number)
    return count.found == count.total > 0


def _with_undone(series: Series, found: Mapping[int, Absorption]) -> dict[int, Absorption]:
    """Note which hunks take away what earlier patches bring that may be carried."""
    from msgspec.structs import replace

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
