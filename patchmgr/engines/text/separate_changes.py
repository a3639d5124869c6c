"""Merge two versions of a text whose changes lie far apart, exactly as git does but without git."""

from __future__ import annotations

from bisect import bisect_left
from io import BytesIO
from itertools import islice
from operator import sub

from patchmgr.engines.text.patience import anchors, equal_ends, equal_runs, singles

TYPE_CHECKING = False  # as in patience.py
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    Area = tuple[int, int, int, int]  # from and to, in the base and in one side

NEAR = 200  # lines around touching changes that are merged together with them
_BINARY_LOOK = 8000  # bytes at the start of a file in which git looks for a NUL


class Text:
    """A text split into lines."""

    __slots__ = ("_single", "is_binary", "lines")

    def __init__(self, content: bytes) -> None:
        self.is_binary = b"\0" in content[:_BINARY_LOOK]
        self.lines = BytesIO(content).readlines()
        self._single: dict[bytes, int] | None = None

    @property
    def single(self) -> dict[bytes, int]:
        """The index of each line that occurs only once in the text, in order."""
        if self._single is None:
            self._single = singles(self.lines)
        return self._single


def changes_between(base: Text, side: Text) -> tuple[Area, ...] | None:
    """Return each change from base to a side as (start, end in base, start, end in the side).

    A change covers all lines that any diff could show as changed. Returns None if the texts do not
    determine these lines.
    """
    if base.is_binary or side.is_binary:
        return None
    kept = _certain(base.lines, side.lines, *_matched(base, side))
    if not kept:
        return None
    return tuple(
        area
        for area in _between(kept, (0, len(base.lines), 0, len(side.lines)))
        if base.lines[area[0] : area[1]] != side.lines[area[2] : area[3]]
    )


def _matched(base: Text, side: Text) -> tuple[list[int], list[int], list[Area]]:
    """Return the anchors in both texts, and the runs of equal lines between two anchors."""
    old, new = base.lines, side.lines
    shift, (head, tail) = len(new) - len(old), equal_ends(old, new)
    end = len(old) - tail
    added = new[head : end + shift]
    places = [*base.single.values()]
    first, last = bisect_left(places, head), bisect_left(places, end)
    before, after = places[:first], places[last:]
    # A line outside the changes that is unique in base is unique in the side, too, unless a change
    # adds it again.
    again = {*map(base.single.get, added)}.difference(places[first:last], (None,))
    if again:
        before, after = ([x for x in part if x not in again] for part in (before, after))
    behind = [place + shift for place in after] if shift else after
    inner = dict(islice(base.single.items(), first, last))
    here, there = anchors(inner, singles(added))
    there = [head + n for n in there]
    runs = [*equal_runs(old, new, here, there)] if here else []
    if before:
        runs.insert(0, (before[0], before[-1] + 1, before[0], before[-1] + 1))
    if after:
        runs.append((after[0], after[-1] + 1, behind[0], behind[-1] + 1))
    return before + here + after, before + there + behind, runs


def _certain(
    lines: Sequence[bytes],
    others: Sequence[bytes],
    old: Sequence[int],
    new: Sequence[int],
    runs: Sequence[Area],
) -> list[Area]:
    """Return, in order, those `runs` of equal lines that every diff would match.

    `old` and `new` are the indexes of the anchors.
    """
    # A merge depends on how git's histogram diff pairs lines. A line that occurs once in each text
    # pairs with itself or with nothing, and of several runs of equal lines, the diff takes the
    # longest. So a run is definite if the part from its first to its last unique line is longer
    # than any run without unique lines can be. The diff then compares the lines between two such
    # runs by themselves, and no change can slide over a unique line. If only one side changed the
    # lines between two such runs, their pairing does not matter, as the merge takes the text of
    # that side.
    found: list[Area] = []
    areas = [((0, len(lines), 0, len(others)), runs)] if runs else []
    while areas:
        area, runs = areas.pop()
        start, end, new_start, new_end = area
        here = old[bisect_left(old, start) : bisect_left(old, end)]
        there = new[bisect_left(new, new_start) : bisect_left(new, new_end)]
        kept = _longer(runs, min(widest(here, start, end), widest(there, new_start, new_end)))
        if not kept:
            gone, added = lines[start:end], others[new_start:new_end]
            here = _with_missing(here, gone, {*added}, start)
            there = _with_missing(there, added, {*gone}, new_start)
            kept = _longer(runs, min(widest(here, start, end), widest(there, new_start, new_end)))
        if not kept:
            continue
        found += kept
        for inner in _between(kept, area):
            inside = runs[bisect_left(runs, inner[:1]) : bisect_left(runs, inner[1:2])]
            if inside:
                areas.append((inner, inside))
    return sorted(found)


def _longer(runs: Sequence[Area], size: int) -> list[Area]:
    return [run for run in runs if run[1] - run[0] > size]


def _between(runs: Sequence[Area], area: Area) -> Iterator[Area]:
    """Yield the areas before, between and after the runs inside `area`."""
    at, new_at = area[0], area[2]
    for start, end, new_start, new_end in (*runs, (area[1], 0, area[3], 0)):
        yield at, start, new_at, new_start
        at, new_at = end, new_end


def _with_missing(
    places: Sequence[int], lines: Sequence[bytes], others: Collection[bytes], start: int
) -> list[int]:
    """Return `places` and the indexes of the lines that `others` lacks, in order."""
    missing = (start + number for number, line in enumerate(lines) if line not in others)
    return sorted({*places, *missing})


def widest(places: Sequence[int], start: int, end: int) -> int:
    """Return the largest number of consecutive lines, from `start` to `end`, not in `places`."""
    gaps = map(sub, (*places, end), (start - 1, *places))
    return int(max(gaps)) - 1


def merge_apart(
    base: Text,
    ours: Text,
    theirs: Text,
    our_changes: Sequence[Area] | None,
    their_changes: Sequence[Area] | None,
) -> bytes | None:
    """Return the merge of two sides, or None if their changes touch or are uncertain."""
    merged = merge_around(base, ours, theirs, our_changes, their_changes)
    return merged[0] if merged is not None and merged[1] is None else None


def merge_around(
    base: Text,
    ours: Text,
    theirs: Text,
    our_changes: Sequence[Area] | None,
    their_changes: Sequence[Area] | None,
) -> tuple[bytes, tuple[bytes, bytes, bytes] | None, bytes] | None:
    """Merge two sides except for the part in which their changes touch.

    Returns the merged text before that part, the part in base, ours and theirs (None: no changes
    touch), and the merged text after it. Returns None if a side's changes are uncertain.
    """
    if our_changes is None or their_changes is None:
        return None
    changes = [(change, ours) for change in our_changes]
    changes += [(change, theirs) for change in their_changes]
    changes.sort(key=lambda pair: pair[0][0])
    touching: list[int] = []
    start = at = -1
    for (first, last, _, _), _ in changes:
        if first <= at:
            touching += (start, max(at, last))
        else:
            start = first
        at = max(at, last)
    if not touching:
        return _joined(base, changes, 0, len(base.lines)), None, b""
    start, end = touching[0], max(touching)
    before = [pair for pair in changes if pair[0][1] < start]
    after = [pair for pair in changes if pair[0][0] > end]
    first = max(start - NEAR, before[-1][0][1] if before else 0)
    last = min(end + NEAR, after[0][0][0] if after else len(base.lines))
    # If changes are definite in the texts and in the part, git merges the part alone just as it
    # would within the texts.
    parts = [base.lines[first:last]]
    for side, some in ((ours, our_changes), (theirs, their_changes)):
        inner = [change for change in some if change[1] >= start and change[0] <= end]
        gone = [change for change in some if change[1] < start]
        new_first, new_last = (
            place + (known[-1][3] - known[-1][1] if known else 0)
            for place, known in ((first, gone), (last, gone + inner))
        )
        parts.append(side.lines[new_first:new_last])
        known = [(a - first, b - first, c - new_first, d - new_first) for a, b, c, d in inner]
        found = changes_between(*(Text(b"".join(part)) for part in (parts[0], parts[-1])))
        if found is None or not all(any(_is_within(a, one) for one in known) for a in found):
            return None
        if any(b"\r" in line for line in parts[-1]):
            return None  # git takes the line ending of its markers from the base's first line
    sides = tuple(map(b"".join, parts))
    tail = _joined(base, after, last, len(base.lines))
    return _joined(base, before, 0, first), (sides[0], sides[1], sides[2]), tail


def _is_within(area: Area, other: Area) -> bool:
    is_in_base = other[0] <= area[0] and area[1] <= other[1]
    return is_in_base and other[2] <= area[2] and area[3] <= other[3]


def _joined(base: Text, changes: Sequence[tuple[Area, Text]], at: int, end: int) -> bytes:
    """Apply changes inside a range of the base's lines, and return the new lines of the range."""
    merged: list[bytes] = []
    for (first, last, new_first, new_last), side in changes:
        merged += base.lines[at:first]
        merged += side.lines[new_first:new_last]
        at = last
    merged += base.lines[at:end]
    return b"".join(merged)
