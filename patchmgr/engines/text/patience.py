"""The parts of a patience diff: lines that occur once, and those of them in the same order."""

from __future__ import annotations

from bisect import bisect_left
from itertools import count

TYPE_CHECKING = False  # typing takes longer to load than a merge, and the merge driver waits for it
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    T = TypeVar("T")


def singles(lines: Sequence[T]) -> dict[T, int]:
    """Return the place of each line that occurs once, in order."""
    last = dict(zip(lines, count(), strict=False))
    again = set(range(len(lines)))
    again.difference_update(last.values())
    for line in {lines[place] for place in again}:
        del last[line]
    return last


def longest_rising(places: Sequence[int]) -> list[int]:
    """Return the numbers of the longest rising sequence of different places."""
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
