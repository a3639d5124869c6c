"""Which patches, and which hunks of them, upstream already has, and since which commit.

A patch landed in an upstream commit when most of its lines are found in the commit's tree at
their place, hardly any is still needed there, and they came with that commit. What became of
them on the way to the target is read from the later commits: a change that was taken back is
needed again, one that turned into something else or went away is not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.absorption.proof import Drop, Own, own_lines, text_of, why_needed
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.arrivals import Traffic, traffic
from patchmgr.engines.atoms import Folded, bare, interests, is_telling, patch_atoms
from patchmgr.engines.attribution import without_others
from patchmgr.engines.conflict_ids import conflict_regions
from patchmgr.engines.landing import (
    FEWEST_FOUND,
    FEWEST_LINES,
    Landing,
    find_landings,
    is_ours,
)
from patchmgr.engines.presence import Count, Fate
from patchmgr.engines.proof import is_short, proved_hunks
from patchmgr.engines.relocation_files import ChangedFiles
from patchmgr.engines.replaced import with_replaced
from patchmgr.engines.reversals import is_kept, relanding, restored, reversal
from patchmgr.engines.search import Search, Timelines, states_of
from patchmgr.model.merge import Clean, Conflicted
from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Blobs, Step, TextMerge
from patchmgr.model.snapshot import Entry

FEWEST_IN_TARGET = 0.9
_VERBATIM = (How.EXACT, How.WHITESPACE)


def find_absorbed(
    folded: Sequence[Folded],
    start: Mapping[str, Entry | None],
    target: Mapping[str, Entry | None],
    homes: Mapping[str, str],
    steps: Sequence[Step],
    *,
    blobs: Blobs,
    text: TextMerge,
    elsewhere: ChangedFiles | None = None,
) -> Mapping[int, Absorption]:
    """Return by patch number what upstream has of it; patches it has nothing of are left out.

    `start` and `target` give the base's and the target's file for every path of the series
    (the target's at the path's new home, as `homes` says). `elsewhere` has the files to which
    upstream may have moved what landed.
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
        (lambda path, lines, beside: ()) if elsewhere is None else elsewhere.gaining,
    )
    return without_refuted(search, with_replaced(search, _each(search)))


def _each(search: Search) -> dict[int, Absorption]:
    """Judge each patch by the commits that landed it, or else by the target."""
    seen = traffic(search)
    landings = find_landings(search, seen)
    found: dict[int, Absorption] = {}
    for patch in range(len(search.series)):
        absorption = None
        if patch in landings:
            absorption = _landed(search, seen, patch, landings)
        elif seen.came[patch]:
            absorption = _in_target(search, patch, seen.came[patch])
        if absorption is None and patch not in landings:
            absorption = _without_effect(search, patch)
        if absorption is not None:
            found[patch] = absorption
    return without_others(search, landings, found)


def _landed(
    search: Search, seen: Traffic, patch: int, landed_by: Mapping[int, Sequence[Landing]]
) -> Absorption | None:
    """Follow the best landing of a patch to the target.

    A patch that was in with others, none of whose lines are left, is needed again where an earlier
    one, whose lines it takes away, landed only later.
    """
    landings = landed_by[patch]
    best = max(landing.count.found for landing in landings)
    first = next(landing for landing in landings if landing.count.found >= 0.8 * best)
    together = _landed_together(landed_by, first)
    chosen = _followed(search, seen, patch, together, first)
    if isinstance(chosen, Absorption):
        return chosen
    if not chosen.count.total and _is_needed_again(search, patch, chosen, landed_by):
        return None
    event = _event(search, patch, chosen)
    homes = _now_in(search, patch, chosen) if event is Event.GONE else ()
    if homes:
        event = Event.EVOLVED
    proved = proved_hunks(search, patch, chosen)
    if event is not Event.LANDED:
        proved -= restored(search, patch, chosen)
    if not proved:
        return None
    wordings = tuple(_wordings(search, patch, chosen, proved))
    is_exact = event is Event.LANDED and not wordings
    return Absorption(
        hunks=proved,
        step=search.timelines.steps[chosen.number],
        event=event,
        is_whole=len(proved) == len(search.series[patch].hunks),
        since=_changer(search, seen, patch, chosen) if event is not Event.LANDED else None,
        how=_how(search, patch, chosen, together, is_exact=is_exact),
        wordings=wordings,
        now_in=homes[0] if len(homes) == 1 else None,
    )


def _is_needed_again(
    search: Search, patch: int, chosen: Landing, landed_by: Mapping[int, Sequence[Landing]]
) -> bool:
    """Say whether the target has lines that a patch takes away, of one that landed only later."""
    for hunk in search.series[patch].hunks:
        left = search.lines(search.states[hunk.path][chosen.last + 1])
        back = (hunk.removed - left) & search.lines(search.target[hunk.path])
        for earlier in range(patch):
            landed = landed_by.get(earlier, ())
            is_later = all(landing.number > chosen.number for landing in landed)
            hunks = search.series[earlier].hunks if is_later else ()
            if any(h.path == hunk.path and any(map(is_telling, h.added & back)) for h in hunks):
                return True
    return False


def _followed(
    search: Search, seen: Traffic, patch: int, together: Sequence[int], chosen: Landing
) -> Landing | Absorption:
    """Return the landing that lasts up to the target, or that the last one was reverted."""
    while True:
        back = reversal(search, seen, together, chosen)
        if back is not None and is_kept(search, patch, chosen, back):
            back = None
        if back is None and search.series[patch].is_telling:
            back = reversal(search, seen, [patch], chosen)
        if back is None:
            return chosen
        again = relanding(search, seen, together, chosen, back)
        if again is None:
            step, since = (search.timelines.steps[n] for n in (chosen.number, back))
            return Absorption(frozenset(), step, Event.REVERTED, is_whole=False, since=since)
        view = search.view(chosen.last, again)
        count = view.count_patch(search.series[patch])
        chosen = replace(chosen, number=again, view=view, count=count)


def _wordings(
    search: Search, patch: int, landing: Landing, proved: Collection[int]
) -> Iterator[Wording]:
    """Yield both texts of each place that the landing has in other words.

    Of a hunk that goes with its patch, though the landing does without it, there is one text.
    """
    version = search.version(landing.number)
    for number, hunk in enumerate(search.series[patch].hunks):
        landed, end = version[hunk.path], search.states[hunk.path][landing.last + 1]
        if landing.count.reworded or is_short(search, hunk, landed, end):
            yield from _in_other_words(search, patch, number, landed)
        if number in proved and _is_without(search, patch, number, landing):
            yield Wording(hunk.path, b"", search.hunk(patch, number).added_text())


def _is_without(search: Search, patch: int, number: int, landing: Landing) -> bool:
    """Say whether nothing of a hunk landed, though it fits there and the series keeps it."""
    hunk = search.series[patch].hunks[number]
    end = search.states[hunk.path][landing.last + 1]
    if landing.view.count(hunk).found or hunk.added.isdisjoint(search.lines(end)):
        return False
    landed = search.version(landing.number)[hunk.path]
    return isinstance(search.alone(patch, number, landed), Clean)


def _in_other_words(
    search: Search, patch: int, number: int, there: Entry | None
) -> Iterator[Wording]:
    """Yield both texts of each place of a hunk where an upstream file has something else."""
    merge = search.alone(patch, number, there)
    if isinstance(merge, Conflicted) and merge.marked is not None:
        for _, theirs, ours in conflict_regions(merge.marked):
            yield Wording(search.series[patch].hunks[number].path, theirs, ours)


def _landed_together(
    landed_by: Mapping[int, Sequence[Landing]], landing: Landing
) -> tuple[int, ...]:
    """Return the patches that one step landed."""
    number = landing.number
    return tuple(p for p, found in landed_by.items() if any(f.number == number for f in found))


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


def _now_in(search: Search, patch: int, landing: Landing) -> Sequence[str]:
    """Return the other files that have what landed of a hunk, and has left the hunk's own file.

    A line beside the hunk went there as well: `return None` alone may come to any file.
    """
    for number, hunk in enumerate(search.series[patch].hunks):
        fates = landing.view.fates(hunk).items()
        landed = (line for (is_added, line), fate in fates if is_added and fate is Fate.FOUND)
        lines = frozenset(filter(is_telling, landed))
        if not lines:
            continue
        whole = search.hunk(patch, number).lines
        beside = frozenset(filter(is_telling, (bare(x[1:]) for x in whole if x[:1] == b" ")))
        there = search.elsewhere(hunk.path, lines, beside) if beside else ()
        if there:
            return there
    return ()


def _changer(search: Search, seen: Traffic, patch: int, landing: Landing) -> Step | None:
    """Return the step after the landing that took most of the patch's lines away."""
    later = {n: c for n, c in seen.left[patch].items() if n > landing.number}
    if not later:
        return None
    return search.timelines.steps[max(later, key=lambda n: (later[n], -n))]


def _how(
    search: Search, patch: int, landing: Landing, together: Collection[int], *, is_exact: bool
) -> How:
    """Say how the patch is known to be in: by its bytes, by its words, or by its history.

    A patch that replaces another one of the same landing is in with it, as a range.
    """
    paths = search.series[patch].paths
    others = (other for other in together if search.series[other].paths & paths)
    if not all(landing.view.is_left(search.series[other]) for other in others):
        return How.RANGE
    if not is_exact or landing.count.found < landing.count.total:
        return How.HISTORY
    for hunk in search.series[patch].hunks:
        raw = search.raw_lines(search.target[hunk.path])
        wanted = search.raw_lines(search.states[hunk.path][landing.last + 1])
        added = {line for line in wanted if bare(line) in hunk.added}
        if not added <= raw:
            return How.WHITESPACE
    return How.EXACT


def _in_target(search: Search, patch: int, came: Mapping[int, int]) -> Absorption | None:
    """Judge a patch that no one commit landed by what the target has of it, hunk by hunk.

    A hunk may be there in other words where the commit that brought most of the patch is mostly
    this series'.
    """
    atoms, view = search.series[patch], search.view(patch, search.end)
    counts = [view.count(hunk) for hunk in atoms.hunks]
    number = max(came, key=lambda n: (came[n], -n))
    step = search.timelines.steps[number]
    fewest = FEWEST_FOUND if is_ours(search, number) else FEWEST_IN_TARGET
    news = [view.count_news(hunk) for hunk in atoms.hunks]
    here = frozenset(
        n for n, count in enumerate(counts) if count.total and _is_in(count, news[n], fewest)
    )
    if not here or not atoms.is_telling:
        return None
    is_whole = len(here) == len(counts)
    short = [n for n in sorted(here) if counts[n].found < counts[n].total]
    wordings = tuple(
        wording
        for n in short
        for wording in _in_other_words(search, patch, n, search.target[atoms.hunks[n].path])
    )
    how = How.HISTORY if short else How.EXACT
    return Absorption(here, step, Event.LANDED, is_whole=is_whole, how=how, wordings=wordings)


def _without_effect(search: Search, patch: int) -> Absorption | None:
    """Judge a patch by what merging it alone does: something at the base, nothing at the target."""
    atoms = search.series[patch]
    is_touched = any(search.target[path] != search.states[path][0] for path in atoms.paths)
    if not len(atoms) or not is_touched or not search.is_no_op(patch, search.end):
        return None
    if search.is_no_op(patch, -1):
        return None
    moves = search.timelines.moves()
    touching = [n for n, moved in moves.items() if any(path in atoms.paths for path, *_ in moved)]
    first = bisect_left(touching, True, key=lambda number: search.is_no_op(patch, number))
    if first == len(touching):
        return None
    step, hunks = search.timelines.steps[touching[first]], frozenset(range(len(atoms.hunks)))
    return Absorption(hunks, step, Event.LANDED, is_whole=True, how=How.EXACT)


def _is_in(count: Count, news: Count, fewest: float) -> bool:
    if count.needed or count.found == count.total:
        return not count.needed
    is_enough = count.found >= FEWEST_LINES and count.found > fewest * count.total
    return is_enough and news.found >= fewest * news.total


def without_refuted(search: Search, found: Mapping[int, Absorption]) -> dict[int, Absorption]:
    """Return what upstream has of a series, less the hunks of which a proof says otherwise."""
    own = own_lines(item.patch for item in search.folded)
    kept: dict[int, Absorption] = {}
    for patch, absorption in found.items():
        wrong = {n for n in absorption.hunks if _is_refuted(search, own, patch, absorption, n)}
        hunks = absorption.hunks - wrong
        if not wrong:
            kept[patch] = absorption
        elif hunks:
            kept[patch] = replace(absorption, hunks=hunks, is_whole=False)
    return kept


def _is_refuted(
    search: Search, own: Mapping[str, Own], patch: int, absorption: Absorption, number: int
) -> bool:
    """Say whether neither the tree of the landing nor the target has what a hunk does.

    What landed may have become something else since. A patch that only deletes has no landing to
    know it by: for it, the target must do.
    """
    path = search.series[patch].hunks[number].path
    first, step, at = next(
        (first, step, number - first)
        for first, step in search.numbered_steps(patch)
        if first <= number < first + max(1, len(step.change.hunks))
    )
    base = text_of(step.base, search.blobs)
    if base is None or step.theirs is None or not step.change.hunks:
        return False
    hunks = step.change.hunks
    landed = search.timelines.steps.index(absorption.step)
    adds = any(atoms.added for atoms in search.series[patch].hunks)
    for version in (search.target, *([search.version(landed)] if adds else [])):
        ours = text_of(version[path], search.blobs)
        if ours is None or version[path] == step.theirs:
            return False
        drop = Drop(
            path, base, ours, hunks[at], step.positions[at],
            own=own[step.change.path],
            beside=tuple(h for n, h in enumerate(hunks, first) if n not in absorption.hunks),
            is_verbatim=absorption.how in _VERBATIM,
        )  # fmt: skip
        if why_needed(drop) is None:
            return False
    return True
