"""Merge three sequences by what each side deletes, inserts and changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from patchmgr.engines.structure.python_tree import Unsure

T = TypeVar("T")
Pairs = Sequence[tuple[int, int]]

LARGEST_TABLE = 250_000  # pairs of items that are compared


class Edit(Struct, Generic[T], frozen=True):
    """Items of base that one side has not, and those that it has in their place."""

    start: int
    end: int
    items: tuple[T, ...]
    gone: tuple[T, ...]


class How(Struct, Generic[T], frozen=True):
    """How items are compared and merged; the functions raise `Unsure` where they cannot tell.

    `likeness` is 0 for items that do not belong together; `merge` takes base, upstream, fork;
    `join` takes what upstream and what the fork insert at one place;
    `overlap` takes what the three have where neither side's edits stand alone; `beside` is told
    of an edit of one side that touches a change of the other side.
    """

    likeness: Callable[[T, T], float]
    is_same: Callable[[T, T], bool]
    merge: Callable[[T, T, T], T]
    join: Callable[[Sequence[T], Sequence[T]], Sequence[T]]
    overlap: Callable[[Sequence[T], Sequence[T], Sequence[T]], Sequence[T]]
    beside: Callable[[Edit[T]], None]


def merge_sequences(
    base: Sequence[T], upstream: Sequence[T], fork: Sequence[T], how: How[T]
) -> list[T]:
    """Return the merged items, upstream's order kept."""
    sides = [_Side(base, side, matched(base, side, how.likeness)) for side in (upstream, fork)]
    return _Merge(base, sides[0], sides[1], how).run()


class _Merge(Generic[T]):
    """One merge: where each item of base is on the sides."""

    def __init__(self, base: Sequence[T], upstream: _Side[T], fork: _Side[T], how: How[T]) -> None:
        self.base, self.upstream, self.fork, self.how = base, upstream, fork, how

    def run(self) -> list[T]:
        """Walk through base and the edits of both sides."""
        merged: list[T] = []
        at = 0
        for ones, twos in _clusters(self.upstream.edits, self.fork.edits):
            start = min(edit.start for edit in (*ones, *twos))
            end = max(edit.end for edit in (*ones, *twos))
            merged += self._kept(at, start)
            merged += self._cluster(ones, twos, start, end)
            at = end
        return merged + self._kept(at, len(self.base))

    def _kept(self, start: int, end: int) -> list[T]:
        return [
            self.how.merge(self.base[n], self.upstream.items[n], self.fork.items[n])
            for n in range(start, end)
        ]

    def _cluster(
        self, ones: list[Edit[T]], twos: list[Edit[T]], start: int, end: int
    ) -> Sequence[T]:
        try:
            if not twos:
                return self._alone(ones[0], self.upstream, self.fork)
            if not ones:
                return self._alone(twos[0], self.fork, self.upstream)
            if len(ones) == len(twos) == 1:
                return self._both(ones[0], twos[0])
        except Unsure:
            pass
        return self.how.overlap(
            self.base[start:end],
            self.upstream.between(start, end, ones),
            self.fork.between(start, end, twos),
        )

    def _alone(self, edit: Edit[T], side: _Side[T], other: _Side[T]) -> Sequence[T]:
        if any(other.is_changed(n, self.base, self.how) for n in range(edit.start, edit.end)):
            raise Unsure  # deleted here, changed there
        if other.touches(edit, side, self.base, self.how):
            self.how.beside(edit)
        return edit.items

    def _both(self, one: Edit[T], two: Edit[T]) -> Sequence[T]:
        """Merge edits at one place."""
        if (one.start, one.end) == (two.start, two.end) and _are_same(one, two, self.how):
            return one.items
        if one.start == one.end and two.start == two.end:
            return self.how.join(one.items, two.items)
        if one.items or two.items:
            raise Unsure
        for edit, side, other in ((one, self.fork, two), (two, self.upstream, one)):
            for n in range(edit.start, edit.end):
                if not other.start <= n < other.end and side.is_changed(n, self.base, self.how):
                    raise Unsure
        return ()


def _are_same(one: Edit[T], two: Edit[T], how: How[T]) -> bool:
    return len(one.items) == len(two.items) and all(
        how.is_same(a, b) for a, b in zip(one.items, two.items, strict=True)
    )


class _Side(Generic[T]):
    """One side: its items that base has, by their place in base, and its edits."""

    def __init__(self, base: Sequence[T], side: Sequence[T], pairs: Pairs) -> None:
        self.items = {i: side[j] for i, j in pairs}
        self.edits = edits_of(base, side, pairs)

    def is_changed(self, n: int, base: Sequence[T], how: How[T]) -> bool:
        """Say whether the side has not that item of base as it was."""
        return n not in self.items or not how.is_same(base[n], self.items[n])

    def touches(self, edit: Edit[T], other: _Side[T], base: Sequence[T], how: How[T]) -> bool:
        """Say whether the side changes something right beside the edit of the other side.

        What both sides make of an item in the same way is no change of this side's own.
        """
        if any(mine.end == edit.start or mine.start == edit.end for mine in self.edits):
            return True
        beside = [n for n in (edit.start - 1, edit.end) if 0 <= n < len(base)]
        changed = (n for n in beside if self.is_changed(n, base, how))
        return not all(self._agrees(other, n, how) for n in changed)

    def _agrees(self, other: _Side[T], n: int, how: How[T]) -> bool:
        """Say whether both sides have an item of base, and the same."""
        both = n in self.items and n in other.items
        return both and how.is_same(self.items[n], other.items[n])

    def between(self, start: int, end: int, edits: list[Edit[T]]) -> Sequence[T]:
        """Return the side's items in the place of those of base, with these of its edits."""
        found: list[T] = []
        at = start
        for edit in edits:
            found += [self.items[n] for n in range(at, edit.start)]
            found += edit.items
            at = edit.end
        return found + [self.items[n] for n in range(at, end)]


def _clusters(
    upstream: list[Edit[T]], fork: list[Edit[T]]
) -> list[tuple[list[Edit[T]], list[Edit[T]]]]:
    """Group the edits that meet."""
    clusters: list[tuple[list[Edit[T]], list[Edit[T]]]] = []
    both = [(e.start, e.end, 0, e) for e in upstream] + [(e.start, e.end, 1, e) for e in fork]
    for _, _, side, edit in sorted(both, key=lambda entry: entry[:3]):
        last = clusters[-1] if clusters else ([], [])
        if any(_meet(edit, other) for other in last[1 - side]):
            last[side].append(edit)
        else:
            clusters.append(([edit], []) if side == 0 else ([], [edit]))
    return clusters


def _meet(one: Edit[T], two: Edit[T]) -> bool:
    """Say whether two edits overlap, or insert at one place."""
    if one.start == one.end and two.start == two.end:
        return one.start == two.start
    return one.start < two.end and two.start < one.end


def edits_of(base: Sequence[T], side: Sequence[T], pairs: Pairs) -> list[Edit[T]]:
    """Return what lies between the matched items."""
    edits: list[Edit[T]] = []
    at, to = 0, 0
    for i, j in (*pairs, (len(base), len(side))):
        if i > at or j > to:
            edits.append(Edit(at, i, tuple(side[to:j]), tuple(base[at:i])))
        at, to = i + 1, j + 1
    return edits


def refuse_replacement(edit: Edit[T]) -> None:
    """Refuse items in the place of others."""
    if edit.items and edit.start < edit.end:
        raise Unsure


def refuse_deletion(edit: Edit[T]) -> None:
    """Refuse items that go."""
    if not edit.items:
        raise Unsure


def matched(
    one: Sequence[T], other: Sequence[T], likeness: Callable[[T, T], float]
) -> list[tuple[int, int]]:
    """Return the pairs that belong together, in order, the likeness of all of them greatest."""
    head = 0
    while head < min(len(one), len(other)) and likeness(one[head], other[head]) >= EQUAL:
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and (
        likeness(one[-1 - tail], other[-1 - tail]) >= EQUAL
    ):
        tail += 1
    rows, columns = len(one) - head - tail, len(other) - head - tail
    if rows * columns > LARGEST_TABLE:
        raise Unsure
    table = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    like = [[likeness(one[head + i], other[head + j]) for j in range(columns)] for i in range(rows)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            here = table[i + 1][j + 1] + like[i][j] if like[i][j] else 0.0
            table[i][j] = max(here, table[i + 1][j], table[i][j + 1])
    middle = [(head + i, head + j) for i, j in _path(table, like)]
    ends = range(tail, 0, -1)
    return [
        *((n, n) for n in range(head)),
        *middle,
        *((len(one) - n, len(other) - n) for n in ends),
    ]


EQUAL = 4.0
"""The likeness of equal items."""


def _path(table: list[list[float]], like: list[list[float]]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(like) and j < len(like[0]):
        if like[i][j] and table[i][j] == table[i + 1][j + 1] + like[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i][j] == table[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
