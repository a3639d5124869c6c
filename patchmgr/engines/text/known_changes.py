"""Cache the changes between large texts, and test quickly whether a hunk is certain to apply."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

from patchmgr.engines.text.patience import equal_ends
from patchmgr.engines.text.separate_changes import Text, changes_between, widest

if TYPE_CHECKING:
    from patchmgr.engines.text.separate_changes import Area
    from patchmgr.model.patch import Hunk

text_of = lru_cache(8)(Text)  # the texts of one file, and a few more


@lru_cache(64)
def changes_of(base: bytes, side: bytes) -> tuple[Area, ...] | None:
    """Return the changes from base to one side, as `changes_between` does."""
    return changes_between(text_of(base), text_of(side))


@lru_cache(8)
def _unique(base: bytes) -> tuple[list[int], int]:
    """Return the indexes of the lines that occur once, and the largest gap between two of them."""
    text = text_of(base)
    places = [*text.single.values()]
    return places, widest(places, 0, len(text.lines))


def surely_applies(base: bytes, ours: bytes, hunk: Hunk, position: int) -> bool:
    """Return whether a hunk of `base` certainly applies to `ours` with all its context.

    `position` is the line of the hunk in base (from 0). False means that it is not certain, and git
    must decide.
    """
    old, new, changes = hunk.old(), hunk.new(), changes_of(base, ours)
    if changes is None or old == new:
        return False
    head, tail = equal_ends(old, new)
    end = position + len(old)
    places, gap = _unique(base)
    before, after = bisect_left(places, position + head), bisect_left(places, end - tail)
    if not before or after == len(places):
        return False
    first, last = places[before - 1], places[after]
    gap = max(gap, last - first - 1)
    if min(first - places[0], places[-1] - last) < gap:
        return False  # git may pair the lines before or after it differently
    again = map(text_of(base).single.get, new[head : len(new) - tail])
    if any(place is not None and not first < place < last for place in again):
        return False
    return all(
        (stop <= first and stop <= position) or (start > last and start >= end)
        for start, stop, _, _ in changes
    )
