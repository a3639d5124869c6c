"""Count what a merged text has of its sides: nothing lost, nothing doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

from patchmgr.engines.structure.tokens import Token, contents, text_of

_LONG_RUN = 20  # tokens
_LONG_LINE = 12  # letters and signs
_Thing = TypeVar("_Thing", bound=Hashable)


def is_possible(now: Counter[_Thing], sides: Sequence[Counter[_Thing]]) -> bool:
    """Say whether each count can come of the edits of base, upstream and fork together.

    Where one side left a count alone it is the other's; where both changed it, an edit of both
    may be one and the same.
    """
    base, upstream, fork = sides
    for thing in now | base | upstream | fork:
        old, mine, other = base[thing], upstream[thing], fork[thing]
        both = mine + other - old
        if old in (mine, other):
            if now[thing] != both:
                return False
        elif not min(mine, other, both) <= now[thing] <= max(mine, other, both):
            return False
    return True


def is_between(
    merged: Sequence[Token], base: Sequence[Token], upstream: Sequence[Token], fork: Sequence[Token]
) -> bool:
    """Say whether each token is there as often as the edits of both sides can make it."""
    now, *sides = (Counter(contents(t)) for t in (merged, base, upstream, fork))
    return is_possible(now, sides)


def doubles(
    merged: Sequence[Token], base: Sequence[Token], upstream: Sequence[Token], fork: Sequence[Token]
) -> bool:
    """Say whether what both sides added in their own places is there twice.

    A long run of tokens is enough, or half of the lines that a side added.
    """
    now, old, mine, other = (Counter(_runs(contents(t))) for t in (merged, base, upstream, fork))
    if any(now[run] > max(mine[run], other[run]) for run in (mine & other) - old):
        return True
    now, old, mine, other = (Counter(_long_lines(t)) for t in (merged, base, upstream, fork))
    added = mine - old, other - old
    twice = sum(max(0, now[line] - max(mine[line], other[line])) for line in added[0] & added[1])
    return twice > 0 and 2 * twice >= min(sum(lines.values()) for lines in added)


def _runs(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(texts[at : at + _LONG_RUN]) for at in range(len(texts) - _LONG_RUN + 1))


def _long_lines(tokens: Sequence[Token]) -> list[tuple[str, ...]]:
    lines = (tuple(line.split()) for line in text_of(tokens).split("\n"))
    return [line for line in lines if sum(map(len, line)) >= _LONG_LINE]
