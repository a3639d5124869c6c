"""Which upstream commit landed which patches of a series.

A commit that brought a good part of a patch's lines is looked at closely: the net change of the
series, up to the patch that fits best, is merged into the commit's tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from patchmgr.engines.arrivals import Traffic
from patchmgr.engines.atoms import PatchAtoms
from patchmgr.engines.presence import Count, View
from patchmgr.engines.search import Search

FEWEST_CAME = 0.2
MOST_CANDIDATES = 4
MOST_TRIES = 3
MOST_NEEDED = 0.15
FEWEST_FOUND = 0.5
FEWEST_NEW = 0.3
MOST_INCONSISTENT = 0.2


@dataclass(frozen=True, slots=True)
class Landing:
    """A patch that a step landed; `view` compares the step's tree with the series up to `last`."""

    number: int
    last: int
    view: View
    count: Count


def find_landings(search: Search, traffic: Traffic) -> Mapping[int, Sequence[Landing]]:
    """Return by patch number the steps that landed it, oldest first."""
    found: dict[int, list[Landing]] = {}
    for number, last in sorted(_candidates(search, traffic).items()):
        for patch, landing in _landed_at(search, traffic, number, last).items():
            found.setdefault(patch, []).append(landing)
    return found


def _candidates(search: Search, traffic: Traffic) -> dict[int, int]:
    """Return step number to the last patch of which the step brought a good part."""
    last: dict[int, int] = {}
    for patch, steps in enumerate(traffic.came):
        size = search.survivors(patch)
        ranked = sorted(steps.items(), key=lambda item: (-item[1], item[0]))
        for number, count in ranked[:MOST_CANDIDATES]:
            if size and count >= FEWEST_CAME * size:
                last[number] = max(patch, last.get(number, -1))
    return last


def _landed_at(
    search: Search, traffic: Traffic, number: int, first_last: int
) -> dict[int, Landing]:
    last = _best_end(search, traffic, number, first_last)
    view = search.view(last, number)
    counts = [view.count_patch(atoms) for atoms in search.series[: last + 1]]
    landed = {
        patch: Landing(number, last, view, count)
        for patch, count in enumerate(counts)
        if _is_landed(count, traffic.came[patch].get(number, 0))
        and _has_its_words(search.series[patch], view)
    }
    for patch in _carried_along(search, number, counts, landed):
        landed[patch] = Landing(number, last, view, counts[patch])
    return landed


def _is_landed(count: Count, new: int) -> bool:
    return (
        count.total > 0
        and count.found >= FEWEST_FOUND * count.total
        and count.needed <= MOST_NEEDED * count.total
        and new >= FEWEST_NEW * count.found
    )


def _has_its_words(atoms: PatchAtoms, view: View) -> bool:
    """Say whether what the patch adds is there, not only what it removes away.

    Lines that say nothing by themselves must all be there.
    """
    added = view.count_added(atoms)
    fewest = FEWEST_FOUND if atoms.is_telling else 1.0
    return added.found >= fewest * added.total


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


def _fit(search: Search, end: int, number: int) -> int:
    """Return how many lines of the net change are in the step's tree, less those that are not."""
    view = search.view(end, number)
    lines = dict.fromkeys(
        (hunk.path, is_added, line)
        for atoms in search.series[: end + 1]
        for hunk in atoms.hunks
        for is_added, side in ((True, hunk.added), (False, hunk.removed))
        for line in side
    )
    count = view.count_lines(lines)
    return count.found - count.needed - count.reworded


def _carried_along(
    search: Search, number: int, counts: Sequence[Count], landed: Mapping[int, Landing]
) -> list[int]:
    """Return the patches of which nothing is left in the net change, between landed ones.

    They were replaced or taken back within the series. What they remove must be absent from
    the step's tree: a patch that takes something back that upstream has is wanted.
    """
    found: list[int] = []
    run: list[int] = []
    is_bounded = True
    for patch, count in enumerate(counts):
        if patch in landed:
            found += run if is_bounded else []
            run, is_bounded = [], True
        elif count.total == 0 and _is_consistent(search, number, patch, len(counts)):
            run.append(patch)
        else:
            run, is_bounded = [], False
    return found + (run if is_bounded and landed else [])


def _is_consistent(search: Search, number: int, patch: int, end: int) -> bool:
    """Say whether what the patch removes, and no later one brings back, is absent."""
    version = search.version(number)
    lines = present = 0
    for hunk in search.series[patch].hunks:
        there = search.lines(version[hunk.path])
        removed = hunk.removed - search.lines(search.states[hunk.path][end])
        lines += len(removed)
        present += len(removed & there)
    return present <= MOST_INCONSISTENT * lines
