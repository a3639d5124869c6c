"""The steps of a patience diff: find the unique lines of two texts that are in the same order."""

from __future__ import annotations

from bisect import bisect, bisect_left
from itertools import compress, count, pairwise
from operator import lt, ne, sub

TYPE_CHECKING = False  # for the merge driver: importing typing would take longer than a merge
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    T = TypeVar("T")


def singles(lines: Sequence[T]) -> dict[T, int]:
    """Map each line that occurs only once to its index, in the order of the text."""
    last = dict(zip(lines, count(), strict=False))
    if len(last) < len(lines):
        again = bytearray(b"\1") * len(lines)
        for place in last.values():
            again[place] = 0
        for line in set(compress(lines, again)):
            del last[line]
    return last


def anchors(old: dict[T, int], new: dict[T, int]) -> tuple[list[int], list[int]]:
    """Return the indexes, in both texts, of lines that are unique in both and in the same order."""
    shared = [*filter(new.__contains__, old)]
    places, others = [*map(old.__getitem__, shared)], [*map(new.__getitem__, shared)]
    if any(map(lt, others[1:], others)):
        kept = longest_rising(others)
        places, others = [places[number] for number in kept], [others[number] for number in kept]
    return places, others


def equal_runs(
    old: Sequence[T], new: Sequence[T], places: Sequence[int], new_places: Sequence[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (start, end, new start, new end) of each run of equal lines from one anchor to another.

    `places` and `new_places` are the indexes of the anchors.
    """
    shifts = list(map(sub, new_places, places))
    turns = compress(range(1, len(places)), map(ne, shifts[1:], shifts))
    for first, end in pairwise((0, *turns, len(places))):
        start, shift, stop = places[first], shifts[first], places[end - 1] + 1
        differs = map(ne, old[start:stop], new[start + shift : stop + shift])
        for breach in (*compress(count(start), differs), stop):
            behind = bisect(places, breach, first, end)
            if behind > first:
                last = places[behind - 1] + 1
                yield places[first], last, places[first] + shift, last + shift
            first = behind


def equal_ends(old: Sequence[T], new: Sequence[T]) -> tuple[int, int]:
    """Return how many lines of two texts are equal at the start, and how many more at the end."""
    most = min(len(old), len(new))
    head = next(compress(count(), map(ne, old, new)), most)
    tail = next(compress(count(), map(ne, reversed(old), reversed(new))), most)
    return head, min(tail, most - head)


def longest_rising(places: Sequence[int]) -> list[int]:
    """Return the indexes of the longest increasing subsequence of different numbers."""
    head, tail = equal_ends(places, sorted(places))  # most numbers are where they belong
    behind = len(places) - tail
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, place in enumerate(places[head:behind]):
        # Most numbers are larger than all before them.
        at = bisect_left(ends, place) if ends and place < ends[-1] else len(ends)
        before.append(last[at - 1] if at else -1)
        ends[at : at + 1] = [place]
        last[at : at + 1] = [number]
    found: list[int] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(head + number)
        number = before[number]
    return [*range(head), *found[::-1], *range(behind, len(places))]
