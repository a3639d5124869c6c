"""The steps of a patience diff: find lines that occur once, and those in the same order."""

from __future__ import annotations

from bisect import bisect_left
from itertools import compress, count
from operator import lt, ne

TYPE_CHECKING = False  # typing takes longer to load than a merge, and the merge driver waits for it
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeVar

    T = TypeVar("T")


def singles(lines: Sequence[T]) -> dict[T, int]:
    """Return each line that occurs only once, mapped to its index, in the order of the text."""
    last = dict(zip(lines, count(), strict=False))
    again = set(range(len(lines)))
    again.difference_update(last.values())
    for line in {lines[place] for place in again}:
        del last[line]
    return last


def anchors(old: dict[T, int], new: dict[T, int]) -> tuple[list[int], list[int]]:
    """Return the indexes, in each text, of lines that are unique in both and in the same order.

    As many lines as possible are returned. Other lines may be between them.
    """
    shared = [*filter(new.__contains__, old)]
    places, others = [*map(old.__getitem__, shared)], [*map(new.__getitem__, shared)]
    if any(map(lt, others[1:], others)):
        kept = longest_rising(others)
        places, others = [places[number] for number in kept], [others[number] for number in kept]
    return places, others


def equal_at_start(old: Iterable[T], new: Iterable[T], most: int) -> int:
    """Return how many items are equal from the start of two sequences, at most `most`."""
    return min(most, next(compress(count(), map(ne, old, new)), most))


def longest_rising(places: Sequence[int]) -> list[int]:
    """Return the indexes of the longest increasing subsequence. No number may occur twice."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, place in enumerate(places):
        at = bisect_left(ends, place)
        before.append(last[at - 1] if at else -1)
        ends[at : at + 1] = [place]
        last[at : at + 1] = [number]
    found: list[int] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(number)
        number = before[number]
    return found[::-1]
