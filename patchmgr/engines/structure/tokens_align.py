"""Compare two sequences of tokens: which edits lead from one to the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from msgspec import Struct

_ENDS = frozenset({"\n", ";", "}", ","})
_STARTS = _ENDS | {"{", "(", "["}
_LARGEST = 100_000  # cells of a table that difflib may fill


class Edit(Struct, frozen=True):
    """Base tokens `start` to `end` become the other's tokens `first` to `last`.

    Where equal neighbours make its place uncertain, `low` and `high` bound where it could be.
    """

    start: int
    end: int
    first: int
    last: int
    low: int
    high: int


def edits_between(base: Sequence[str], other: Sequence[str]) -> tuple[Edit, ...]:
    """Return the edits from base to other, those that hardly anything parts as one."""
    runs = _significant(_runs(base, other), base, other)
    edits: list[Edit] = []
    start = first = 0
    for at, to, length in [*runs, (len(base), len(other), 0)]:
        if at > start or to > first:
            room = (start - edits[-1].end if edits else start, length)
            edits.append(_edit(base, other, (start, at, first, to), room))
        start, first = at + length, to + length
    return tuple(edits)


def _edit(
    base: Sequence[str],
    other: Sequence[str],
    place: tuple[int, int, int, int],
    room: tuple[int, int],
) -> Edit:
    """Make an edit, an insertion or removal moved to where it holds whole elements."""
    start, end, first, last = place
    if start < end and first < last:
        return Edit(start, end, first, last, start, end)
    text, at, to = (other, first, last) if start == end else (base, start, end)
    size = to - at
    before, after = 0, 0
    while before < room[0] and base[start - before - 1] == text[to - before - 1]:
        before += 1
    while after < room[1] and base[end + after] == text[at + after]:
        after += 1
    shifts = sorted(range(-before, after + 1), key=abs)
    best = max(shifts, key=lambda n: _wholeness(base, start + n, text[at + n : to + n]))
    start, end, first, last = (n + best for n in (start, end, first, last))
    if before + after < size:
        return Edit(start, end, first, last, start, end)
    return Edit(start, end, first, last, start - best - before, end - best + after)


def _wholeness(base: Sequence[str], at: int, text: Sequence[str]) -> int:
    """Say how well a stretch stands alone: it begins after a separator and ends with one."""
    previous = base[at - 1] if at else "\n"
    return 2 * (text[-1] in _ENDS) + (previous in _STARTS)


def _runs(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    for at, to in sorted(_pairs(a, b)):
        if runs and (at, to) == (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]):
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((at, to, 1))
    return runs


def _pairs(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Match by patience: common ends, then what is unique on both sides, then by difflib."""
    todo = [(0, len(a), 0, len(b))]
    while todo:
        a0, a1, b0, b1 = todo.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            yield a0, b0
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            yield a1, b1
        if a0 == a1 or b0 == b1:
            continue
        anchors = _anchors(a, b, (a0, a1, b0, b1))
        if anchors:
            for at, to in [*anchors, (a1, b1)]:
                todo.append((a0, at, b0, to))
                a0, b0 = at, to
        elif (a1 - a0) * (b1 - b0) <= _LARGEST:
            matcher = SequenceMatcher(None, a[a0:a1], b[b0:b1], autojunk=False)
            for at, to, size in matcher.get_matching_blocks():
                yield from ((a0 + at + n, b0 + to + n) for n in range(size))


def _anchors(
    a: Sequence[str], b: Sequence[str], box: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    a0, a1, b0, b1 = box
    in_a, in_b = _places(a, a0, a1), _places(b, b0, b1)
    common = [(at, in_b[token]) for token, at in in_a.items() if at >= 0]
    common = sorted((at, to) for at, to in common if to >= 0) if common else []
    chain = _longest_rising(common)
    return [pair for pair in chain if pair != (a0, b0)]


class _Places(dict[str, int]):
    def __missing__(self, key: str) -> int:
        return -1


def _places(tokens: Sequence[str], start: int, end: int) -> _Places:
    """Return where each token stands that stands once; -1 where more often."""
    places = _Places()
    for at in range(start, end):
        places[tokens[at]] = -1 if tokens[at] in places else at
    return places


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for n, (_, to) in enumerate(pairs):
        at = bisect_left(ends, to)
        ends[at:] = [to, *ends[at + 1 :]]
        last[at:] = [n, *last[at + 1 :]]
        before.append(last[at - 1] if at else -1)
    chain: list[tuple[int, int]] = []
    n = last[-1] if last else -1
    while n >= 0:
        chain.append(pairs[n])
        n = before[n]
    return chain[::-1]


def _significant(
    runs: Sequence[tuple[int, int, int]], base: Sequence[str], other: Sequence[str]
) -> list[tuple[int, int, int]]:
    """Leave out runs of equal tokens that weigh less than the edits on both their sides."""
    in_base, in_other = _weights(base), _weights(other)
    kept = list(runs)
    at = 0
    while at < len(kept):
        start, first, length = kept[at]
        before = kept[at - 1] if at else (0, 0, 0)
        after = kept[at + 1] if at + 1 < len(kept) else (len(base), len(other), 0)
        left = max(
            in_base[start] - in_base[before[0] + before[2]],
            in_other[first] - in_other[before[1] + before[2]],
        )
        right = max(
            in_base[after[0]] - in_base[start + length],
            in_other[after[1]] - in_other[first + length],
        )
        weight = in_base[start + length] - in_base[start]
        if left and right and weight <= left and weight <= right:
            del kept[at]
            at = max(at - 1, 0)
        else:
            at += 1
    return kept


def _weights(tokens: Sequence[str]) -> list[int]:
    """Return the weight of the tokens before each place: a comment counts its words."""
    return [0, *accumulate(text.count(" ") + 1 for text in tokens)]
