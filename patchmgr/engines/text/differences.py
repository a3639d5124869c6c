"""Match the equal lines of two texts, and find the blocks in which they differ."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

from msgspec import Struct

from patchmgr.engines.languages.words import is_blank, is_import
from patchmgr.engines.text.patience import anchors, equal_ends, equal_runs, singles
from patchmgr.model.patch import Hunk

CONTEXT = 3  # lines around a change, as git's diffs have them
LARGEST_GAP = 100_000  # pairs of lines that are compared where no line is unique, at most
DEEPEST = 30  # levels of nested parts that are compared, at most

T = TypeVar("T")
_Run = tuple[int, int, int]


class Block(Struct, frozen=True):
    """A range of old lines, and the range of new lines that replaces it (from 0, end exclusive)."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class Run(Struct, frozen=True):
    """Consecutive changed lines of a hunk; `start` is their first line in base (from 0)."""

    start: int
    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]

    @property
    def end(self) -> int:
        """The number of the first line of the base after the changed lines."""
        return self.start + len(self.removed)

    def gap(self, block: Block) -> int:
        """Return the number of base lines between the changed lines and a block."""
        return max(0, block.old_start - self.end, self.start - block.old_end)

    @property
    def says_something(self) -> bool:
        """Whether any added line is neither blank nor an import."""
        return any(not is_blank(line) and not is_import(line) for line in self.added)


def runs_of(hunk: Hunk, position: int) -> Iterator[Run]:
    """Yield the runs of changed lines in a hunk that starts at the line `position` (from 0)."""
    line = start = position
    removed: list[bytes] = []
    added: list[bytes] = []
    for text in (*hunk.lines, b" "):
        if text[:1] == b" ":
            if removed or added:
                yield Run(start, tuple(removed), tuple(added))
            removed, added = [], []
            start = line + 1
        elif text[:1] == b"-":
            removed.append(text[1:])
        else:
            added.append(text[1:])
        line += text[:1] != b"+"


class Alignment(Struct, frozen=True):
    """The numbers (from 0) of the lines of two texts that match, in order.

    The pair (-1, -1) comes before all others, and the pair of the line counts comes last.
    """

    old: Sequence[int]
    new: Sequence[int]

    def place(self, line: int) -> int | None:
        """Return the number of the new line that matches an old line, or None."""
        at = bisect_left(self.old, line)
        return self.new[at] if self.old[at] == line else None

    def around(self, lines: range) -> tuple[range, range]:
        """Return the old and new lines between the nearest matches before and after `lines`."""
        above, below = bisect_left(self.old, lines.start) - 1, bisect_left(self.old, lines.stop)
        old, new = ((side[above] + 1, side[below]) for side in (self.old, self.new))
        return range(*old), range(*new)


def aligned(pairs: Iterable[tuple[int, int]], old: Sequence[T], new: Sequence[T]) -> Alignment:
    """Return the alignment of two texts, given the pairs of their equal lines in order."""
    pairs = [*pairs]
    starts, ends = [i for i, _ in pairs], [j for _, j in pairs]
    return Alignment([-1, *starts, len(old)], [-1, *ends, len(new)])


def changed_blocks(old: Sequence[T], new: Sequence[T]) -> tuple[Block, ...]:
    """Return the blocks in which two texts differ, in order."""
    blocks: list[Block] = []
    at_old = at_new = 0
    for i, j, size in (*matched_runs(old, new), (len(old), len(new), 0)):
        if i > at_old or j > at_new:
            blocks.append(Block(at_old, i, at_new, j))
        at_old, at_new = i + size, j + size
    return tuple(blocks)


_WORD = re.compile(rb"\w")


def undone_changes(original: bytes, patched: bytes, now: bytes) -> list[bool]:
    """Return, for each change from `original` to `patched`, whether `now` has it undone.

    A change is undone if `now` has all lines that it removes, and none that it adds.
    """
    old, new, found = (text.splitlines(keepends=True) for text in (original, patched, now))
    kept, added = dict(matched_lines(old, found)), dict(matched_lines(new, found))
    if not new:
        return [2 * len(kept) > len(found)]
    results = []
    for block in changed_blocks(old, new):
        lines = range(block.new_start, block.new_end)
        counted = [line for line in lines if _WORD.search(new[line])] or lines
        is_back = all(line in kept for line in range(block.old_start, block.old_end))
        results.append(is_back and not any(line in added for line in counted))
    return results


def is_within(less: Iterable[T], more: Iterable[T]) -> bool:
    """Return whether `more` has all elements of `less`, in the same order."""
    rest = iter(more)
    return all(one in rest for one in less)


def matched_lines(old: Sequence[T], new: Sequence[T]) -> tuple[tuple[int, int], ...]:
    """Return the equal lines of two texts, as (old, new) pairs of line numbers (from 0)."""
    runs = matched_runs(old, new)
    return tuple((i + n, j + n) for i, j, size in runs for n in range(size))


def matched_runs(
    old: Sequence[T], new: Sequence[T], at: tuple[int, int] = (0, 0), depth: int = 0
) -> Iterator[_Run]:
    """Yield (old start, new start, number of lines) for each run of equal lines in two texts.

    If `old` and `new` are parts of larger texts, `at` is where they start in those, and the results
    count from the start of the larger texts.
    """
    head, tail = equal_ends(old, new)
    if head:
        yield at[0], at[1], head
    ends = len(old) - tail, len(new) - tail
    if head < min(ends):
        yield from _between(
            old[head : ends[0]], new[head : ends[1]], (at[0] + head, at[1] + head), depth
        )
    if tail:
        yield at[0] + ends[0], at[1] + ends[1], tail


def _between(old: Sequence[T], new: Sequence[T], at: tuple[int, int], depth: int) -> Iterator[_Run]:
    places, others = anchors(singles(old), singles(new)) if depth < DEEPEST else ([], [])
    if not places:
        if len(old) * len(new) <= LARGEST_GAP and not set(old).isdisjoint(new):
            matcher = SequenceMatcher(None, old, new, autojunk=False)
            blocks = matcher.get_matching_blocks()
            yield from ((at[0] + i, at[1] + j, size) for i, j, size in blocks if size)
        return
    done = (0, 0)
    runs = equal_runs(old, new, places, others)
    for i, end, j, new_end in (*runs, (len(old), len(old), len(new), len(new))):
        if i > done[0] and j > done[1]:
            start = at[0] + done[0], at[1] + done[1]
            yield from matched_runs(old[done[0] : i], new[done[1] : j], start, depth + 1)
        if end > i:
            yield at[0] + i, at[1] + j, end - i
        done = end, new_end
