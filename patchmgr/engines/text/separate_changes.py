"""Merge two versions of a text whose changes lie far apart, exactly as git does but without git.

The result of a merge depends on how git's histogram diff pairs lines. This module merges only if
every possible pairing gives the same result. A line that occurs once in each text pairs with itself
or with nothing. Of several runs of equal lines, the diff takes the longest. So a run is certain if
the part from its first to its last unique line is longer than any run without unique lines can be.
No change can slide over a unique line. Between two certain runs, the pairing does not matter if
only one side changed the lines between them, because the merge takes the text of that side.
"""

from __future__ import annotations

from bisect import bisect_left
from io import BytesIO
from operator import sub

from patchmgr.engines.text.patience import anchors, equal_at_start, equal_runs, singles

TYPE_CHECKING = False  # as in patience.py
if TYPE_CHECKING:
    from collections.abc import Sequence

_BINARY_LOOK = 8000  # bytes at the start of a file in which git looks for a NUL
_FEW = 40  # most lines of a change that is looked for as the only change of a side


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


class Change:
    """A range of lines of the base, and the range of lines of one side that replaces it."""

    __slots__ = ("end", "new_end", "new_start", "start")

    def __init__(self, start: int, end: int, new_start: int, new_end: int) -> None:
        self.start, self.end, self.new_start, self.new_end = start, end, new_start, new_end


def changes_between(base: Text, side: Text) -> tuple[Change, ...] | None:
    """Return the changes from base to one side.

    Each change covers all lines that any diff could show as changed. Returns None if too few lines
    are unique to be sure of that.
    """
    if base.is_binary or side.is_binary:
        return None
    narrow = _narrow(base, side)
    if narrow is not None:
        return (narrow,)
    old, new = anchors(base.single, side.single)
    if not old:
        return None
    widest = min(_widest(old, len(base.lines)), _widest(new, len(side.lines)))
    runs = equal_runs(base.lines, side.lines, old, new)
    kept = [run for run in runs if run[1] - run[0] > widest]
    if not kept:
        return None
    ends = [(0, 0), *((end, new_end) for _, end, _, new_end in kept)]
    starts = [*((start, new_start) for start, _, new_start, _ in kept)]
    starts.append((len(base.lines), len(side.lines)))
    return tuple(
        Change(start, end, new_start, new_end)
        for (start, new_start), (end, new_end) in zip(ends, starts, strict=True)
        if base.lines[start:end] != side.lines[new_start:new_end]
    )


def _narrow(base: Text, side: Text) -> Change | None:
    """Return the change of a side if it is the only one, short and certain, or else None.

    A line outside the change that is unique in the base is also unique in the side, unless the
    change adds the same line. So the other lines of the side need not be counted.
    """
    old, new = base.lines, side.lines
    shift, most = len(new) - len(old), min(len(old), len(new))
    head = equal_at_start(old, new, most)
    end = len(old) - equal_at_start(reversed(old), reversed(new), most - head)
    if not 0 < max(end, end + shift) - head <= _FEW:
        return None
    known = map(base.single.get, new[head : end + shift])
    if any(place is not None and not head <= place < end for place in known):
        return None
    places = [*base.single.values()]
    before, after = places[: bisect_left(places, head)], places[bisect_left(places, end) :]
    start, stop = before[-1] + 1 if before else 0, after[0] if after else len(old)
    widest = max(_widest(places, len(old)), min(stop, stop + shift) - start)
    if not before or start - before[0] <= widest:
        start = 0
    if not after or after[-1] + 1 - stop <= widest:
        stop = len(old)
    return Change(start, stop, start, stop + shift) if start or stop < len(old) else None


def _widest(places: Sequence[int], size: int) -> int:
    """Return the length of the longest run of lines without any of the (sorted) `places`."""
    gaps = map(sub, (*places, size), (-1, *places))
    return int(max(gaps)) - 1


def merge_apart(
    base: Text,
    ours: Text,
    theirs: Text,
    our_changes: Sequence[Change] | None,
    their_changes: Sequence[Change] | None,
) -> bytes | None:
    """Return the merge of two sides, or None if their changes meet or are not certain.

    The changes of a side are None if they are not certain.
    """
    if our_changes is None or their_changes is None:
        return None
    changes = [(change, ours) for change in our_changes]
    changes += [(change, theirs) for change in their_changes]
    changes.sort(key=lambda pair: pair[0].start)
    merged: list[bytes] = []
    at = 0
    for number, (change, side) in enumerate(changes):
        if number and change.start <= changes[number - 1][0].end:
            return None
        merged += base.lines[at : change.start]
        merged += side.lines[change.new_start : change.new_end]
        at = change.end
    merged += base.lines[at:]
    return b"".join(merged)
