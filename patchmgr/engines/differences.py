"""Which lines of two texts belong together, and which blocks of them differ."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

LARGEST_GAP = 100_000  # pairs of lines that are compared where no line is singular
DEEPEST = 30

Lines = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of the old text, and those of the new one in their place (0-based, end exclusive)."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changed_blocks(old: Lines, new: Lines) -> tuple[Block, ...]:
    """Return the blocks that differ, in order."""
    blocks: list[Block] = []
    at_old = at_new = 0
    for i, j in (*matched_lines(old, new), (len(old), len(new))):
        if i > at_old or j > at_new:
            blocks.append(Block(at_old, i, at_new, j))
        at_old, at_new = i + 1, j + 1
    return tuple(blocks)


def matched_lines(old: Lines, new: Lines) -> tuple[tuple[int, int], ...]:
    """Return the pairs of equal lines (0-based), increasing on both sides.

    Lines that both texts have once lead, as in a patience diff; between them the longest runs.
    """
    return tuple(_matched(old, new, (0, 0), 0))


def _matched(old: Lines, new: Lines, at: tuple[int, int], depth: int) -> Iterator[tuple[int, int]]:
    head = _same_at_start(old, new)
    tail = _same_at_start(old[head:][::-1], new[head:][::-1])
    yield from ((at[0] + n, at[1] + n) for n in range(head))
    ends = len(old) - tail, len(new) - tail
    yield from _between(
        old[head : ends[0]], new[head : ends[1]], (at[0] + head, at[1] + head), depth
    )
    yield from ((at[0] + ends[0] + n, at[1] + ends[1] + n) for n in range(tail))


def _same_at_start(old: Lines, new: Lines) -> int:
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _between(old: Lines, new: Lines, at: tuple[int, int], depth: int) -> Iterator[tuple[int, int]]:
    anchors = _anchors(old, new) if depth < DEEPEST else []
    if not anchors:
        if len(old) * len(new) <= LARGEST_GAP:
            yield from ((at[0] + i, at[1] + j) for i, j in _longest_runs(old, new))
        return
    done = (0, 0)
    for i, j in (*anchors, (len(old), len(new))):
        if i > done[0] and j > done[1]:
            start = at[0] + done[0], at[1] + done[1]
            yield from _matched(old[done[0] : i], new[done[1] : j], start, depth + 1)
        if i < len(old):
            yield at[0] + i, at[1] + j
        done = i + 1, j + 1


def _longest_runs(old: Lines, new: Lines) -> Iterator[tuple[int, int]]:
    for i, j, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        yield from ((i + n, j + n) for n in range(size))


def _anchors(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """Return the longest increasing run of lines that both sides have exactly once."""
    in_old, in_new = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if in_new[line] == 1}
    pairs = [(i, places[x]) for i, x in enumerate(old) if in_old[x] == 1 and x in places]
    ends: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        ends[at : at + 1] = [j]
        last[at : at + 1] = [number]
        before.append(last[at - 1] if at else None)
    found: list[tuple[int, int]] = []
    step = last[-1] if last else None
    while step is not None:
        found.append(pairs[step])
        step = before[step]
    return found[::-1]
