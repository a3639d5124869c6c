"""Which upstream commit landed which patches of a series.

A commit that brought a good part of a patch's lines is looked at closely: the net change of the
series, up to the patch that fits best, is merged into the commit's tree.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from patchmgr.engines.arrivals import Traffic
from patchmgr.engines.atoms import Interest, PatchAtoms, is_telling
from patchmgr.engines.presence import Count, View
from patchmgr.engines.search import Search

FEWEST_CAME = 0.2
MOST_CANDIDATES = 4
MOST_TRIES = 3
MOST_NEEDED = 0.15
FEWEST_FOUND = 0.5
FEWEST_NEW = 0.3
FEWEST_ELSEWHERE = 0.85
FEWEST_LINES = 3
FEWEST_OURS = 0.5
MOST_INCONSISTENT = 0.2


class Landing(Struct, frozen=True):
    """A patch that a step landed; `view` compares the step's tree with the series up to `last`."""

    number: int
    last: int
    view: View
    count: Count


def find_landings(search: Search, traffic: Traffic) -> Mapping[int, Sequence[Landing]]:
    """Return by patch number the steps that landed it, oldest first."""
    found: dict[int, list[Landing]] = {}
    for number, ends in sorted(_candidates(search, traffic).items()):
        landed = _landed_at(search, traffic, number, ends[-1])
        start = _best_start(search, number, ends)
        if start != ends[-1]:
            landed |= _landed_at(search, traffic, number, start)
        for patch, landing in landed.items():
            found.setdefault(patch, []).append(landing)
    return found


def _candidates(search: Search, traffic: Traffic) -> dict[int, list[int]]:
    """Return step number to the patches, in order, of which the step brought a good part."""
    found: dict[int, list[int]] = {}
    for patch, steps in enumerate(traffic.came):
        size = search.survivors(patch) if steps else 0
        ranked = sorted(steps.items(), key=lambda item: (-item[1], item[0]))
        for number, count in ranked[:MOST_CANDIDATES]:
            if size and count >= FEWEST_CAME * size:
                found.setdefault(number, []).append(patch)
    return found


def _landed_at(search: Search, traffic: Traffic, number: int, start: int) -> dict[int, Landing]:
    last = _best_end(search, traffic, number, start)
    view = search.view(last, number)
    counts = [view.count_patch(atoms) for atoms in search.series[: last + 1]]
    mostly_ours = is_ours(search, number)
    landed = {
        patch: Landing(number, last, view, count)
        for patch, count in enumerate(counts)
        if _is_landed(count, traffic.came[patch].get(number, 0))
        and _has_its_words(search.series[patch], view, is_ours=mostly_ours)
    }
    for patch in _half_replaced(search, number, landed):
        del landed[patch]
    kinds = [
        _Kind.LANDED if patch in landed else _kind(search, traffic, number, view, patch, last + 1)
        for patch in range(last + 1)
    ]
    for patch in _carried_along(search.series, kinds, is_ours=mostly_ours):
        landed[patch] = Landing(number, last, view, counts[patch])
    return landed


def _is_landed(count: Count, new: int) -> bool:
    return (
        count.total > 0
        and count.found >= FEWEST_FOUND * count.total
        and count.needed <= MOST_NEEDED * count.total
        and new >= FEWEST_NEW * count.found
    )


def _has_its_words(atoms: PatchAtoms, view: View, *, is_ours: bool) -> bool:
    """Say whether what the patch adds is there, not only what it removes away.

    A part of it in other words is the patch only where enough is left to know it by, and half
    of it only in a commit that is mostly this series'. Lines that say nothing by themselves
    must all be there; those that only lay out anew what was there are not enough.
    """
    added = view.count_added(atoms)
    if not added.total:
        return not any(hunk.added for hunk in atoms.hunks)
    if added.found == added.total:
        return True
    fewest = FEWEST_FOUND if is_ours else FEWEST_ELSEWHERE
    is_enough = added.found >= FEWEST_LINES and added.found > fewest * added.total
    news = sum((view.count_news(hunk) for hunk in atoms.hunks), Count())
    return atoms.is_telling and is_enough and bool(news.found or not news.total)


def is_ours(search: Search, number: int) -> bool:
    """Say whether most of what a step adds to the paths of the series is in the series."""
    added, _ = search.difference(number)
    wanted = search.interests
    ours = sum(line in wanted.get(path, Interest()).added for path, line in added)
    return ours >= FEWEST_OURS * len(added)


def _half_replaced(search: Search, number: int, landed: Mapping[int, Landing]) -> list[int]:
    """Return the patches of which little is left because a patch that did not land replaced it.

    What such a patch was before it was replaced decides.
    """
    found: list[int] = []
    for patch, landing in landed.items():
        if landing.count.superseded <= landing.count.found:
            continue
        paths = search.series[patch].paths
        later = range(patch + 1, landing.last + 1)
        strangers = (p for p in later if p not in landed and landing.view.is_left(search.series[p]))
        if any(search.series[p].paths & paths for p in strangers):
            own = search.view(patch, number).count_patch(search.series[patch])
            if own.found < FEWEST_FOUND * own.total or own.needed > MOST_NEEDED * own.total:
                found.append(patch)
    return found


def _best_start(search: Search, number: int, ends: Sequence[int]) -> int:
    """Return the last patch up to which the series is in the step's tree, or fits it best.

    A later patch may have lines of an earlier one that the step landed without it.
    """
    best, best_fit, tries = ends[-1], _fit(search, ends[-1], number), 0
    for end in reversed(ends[:-1]):
        count = search.view(best, number).count_paths(search.interests)
        if count.found == count.total or tries == MOST_TRIES:
            break
        fit = _fit(search, end, number)
        best, best_fit, tries = (end, fit, 0) if fit > best_fit else (best, best_fit, tries + 1)
    return best


def _best_end(search: Search, traffic: Traffic, number: int, last: int) -> int:
    """Return the patch up to which the series fits the step's tree best, from `last` on."""
    paths = {hunk.path for atoms in search.series[: last + 1] for hunk in atoms.hunks}
    best, best_fit, tries = last, _fit(search, last, number), 0
    for end in range(last + 1, len(search.series)):
        if not search.series[end].paths & paths and number not in traffic.came[end]:
            continue
        fit = _fit(search, end, number)
        tries += 1
        if fit > best_fit:
            best, best_fit, tries = end, fit, 0
            paths |= search.series[end].paths
        if tries == MOST_TRIES:
            break
    return best


def _fit(search: Search, end: int, number: int) -> tuple[int, int]:
    """Return how many lines of the net change are in the step's tree, less those that are not.

    Of equal ones the better has more files that are there whole.
    """
    view = search.view(end, number)
    count = view.count_paths(search.interests)
    settled = sum(path.is_settled for path in view.paths.values())
    return count.found - count.needed - count.reworded, settled


def _carried_along(
    series: Sequence[PatchAtoms], kinds: Sequence[_Kind], *, is_ours: bool
) -> list[int]:
    """Return the patches that are in with landed ones, though no lines of their own say so.

    Settled ones beside a landed one in a file, and those that were replaced or taken back within
    the series, between landed ones. A mute patch goes with its neighbours where the commit is
    mostly this series'.
    """
    landed = {patch for patch, kind in enumerate(kinds) if kind is _Kind.LANDED}
    known = set(landed)
    paths = {path for patch in landed for path in series[patch].paths}
    for patch, kind in enumerate(kinds):
        if kind is _Kind.SETTLED and series[patch].paths & paths:
            known.add(patch)
    for patch, kind in enumerate(kinds):
        is_replaced = kind in (_Kind.REPLACED, _Kind.SETTLED)
        if is_replaced and _is_enclosed(kinds, patch, known, ends_count=True):
            known.add(patch)
    for patch, kind in enumerate(kinds):
        if kind is _Kind.MUTE and is_ours and _is_enclosed(kinds, patch, known, ends_count=False):
            known.add(patch)
    return sorted(known - landed)


def _is_enclosed(
    kinds: Sequence[_Kind], patch: int, known: Collection[int], *, ends_count: bool
) -> bool:
    """Say whether a landed patch is next on both sides, looking past replaced ones.

    An end of the range stands for one where `ends_count`, if the other side has one.
    """
    sides = []
    for way in (range(patch - 1, -1, -1), range(patch + 1, len(kinds))):
        stop = next((p for p in way if p in known or kinds[p] is _Kind.OTHER), None)
        sides.append(None if stop is None else stop in known)
    if not ends_count:
        return sides == [True, True]
    return True in sides and False not in sides


class _Kind(Enum):
    """What a patch is to the step that is looked at."""

    LANDED = 0
    SETTLED = 1
    REPLACED = 2
    MUTE = 3
    OTHER = 4


def _kind(search: Search, traffic: Traffic, number: int, view: View, patch: int, end: int) -> _Kind:
    """Classify a patch that did not land by itself.

    What it removes, and no later one brings back, must be absent from the step's tree: a patch
    that takes something back that upstream has is wanted. It is settled where its files have
    the whole net change. A line that stands elsewhere in the file, too, says nothing: then the
    patch must change nothing in the step's tree, or is mute. So is a patch without telling lines.
    """
    atoms = search.series[patch]
    is_left = view.is_left(atoms)
    is_new = not is_left or number in traffic.came[patch]
    if not is_new or not _is_consistent(search, number, patch, end):
        return _Kind.OTHER
    if atoms.is_telling and view.is_settled(atoms):
        return _Kind.SETTLED
    if is_left:
        return _Kind.OTHER
    if (atoms.is_telling and search.is_singular(patch)) or search.is_no_op(patch, number):
        return _Kind.REPLACED
    return _Kind.OTHER if atoms.is_telling else _Kind.MUTE


def _is_consistent(search: Search, number: int, patch: int, end: int) -> bool:
    """Say whether what the patch removes, and no later one brings back, is absent in a step's tree.

    `end` is the number of the first patch that does not count as a later one.
    """
    version = search.version(number)
    lines = present = 0
    for hunk in search.series[patch].hunks:
        there = search.lines(version[hunk.path])
        left = search.lines(search.states[hunk.path][end])
        removed = {line for line in hunk.removed - left if is_telling(line)}
        lines += len(removed)
        present += len(removed & there)
    return present <= MOST_INCONSISTENT * lines
