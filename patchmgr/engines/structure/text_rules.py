"""Solve one conflict region of C++ by its tokens; refuse where not sure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from patchmgr.engines.structure.regions import Region
from patchmgr.engines.structure.regions_widen import keeps_merged
from patchmgr.engines.structure.text_apart import are_apart
from patchmgr.engines.structure.text_contains import contains_edits
from patchmgr.engines.structure.text_counts import doubles, is_between
from patchmgr.engines.structure.tokens import (
    Token,
    contents,
    text_of,
    tokens_of,
)
from patchmgr.engines.structure.tokens_align import Edit
from patchmgr.engines.structure.tokens_merge import Meet, merge_tokens
from patchmgr.engines.structure.tokens_sides import Side

_LARGEST = 40_000  # tokens of a region, beyond which no rule is tried


class Answer(Struct, frozen=True):
    """The text of a region and the rule that gave it."""

    text: str
    rule: str


class Insertions(Struct, frozen=True):
    """What both sides insert in one place, and the tokens of the base around it."""

    fork: Sequence[Token]
    upstream: Sequence[Token]
    before: Sequence[Token]
    after: Sequence[Token]


Commute = Callable[[Insertions], bool]


def never_commute(_: Insertions) -> bool:
    """Refuse all that is inserted in one place by both sides."""
    return False


def solve_region(region: Region, commute: Commute) -> Answer | None:
    """Try the rules from the safest on: same, layout, absorbed, apart, both insert.

    `commute` says which insertions of both sides in one place may stand one after the other. The
    answer keeps what git had merged at the ends of a widened region.
    """
    sides = (region.base, region.upstream, region.fork)
    base, upstream, fork = (tokens_of("\n" + "".join(lines)) for lines in sides)
    if max(map(len, (base, upstream, fork))) > _LARGEST:
        return None
    answer = _solve((base, upstream, fork), commute)
    if answer is None or not keeps_merged(region, answer.text):
        return None
    return answer


_Three = tuple[tuple[Token, ...], tuple[Token, ...], tuple[Token, ...]]


def _solve(sides: _Three, commute: Commute) -> Answer | None:
    base, upstream, fork = sides
    if contents(upstream) == contents(fork):
        chosen = fork if text_of(upstream) == text_of(base) else upstream
        return _proved(chosen, upstream, "same")
    if contents(base) in (contents(upstream), contents(fork)):
        return _merged(sides, never_commute, "layout")
    for large, small in ((upstream, fork), (fork, upstream)):
        if contains_edits(contents(base)[:-1], contents(large)[:-1], contents(small)[:-1]):
            return _proved(large, large, "absorbed")
    return _merged(sides, never_commute, "apart") or _merged(sides, commute, "both insert")


def _merged(sides: _Three, commute: Commute, rule: str) -> Answer | None:
    def check(base: Sequence[Token], ours: Side, one: Edit, theirs: Side, other: Edit) -> Meet:
        met = are_apart(base, ours, one, theirs, other)
        if met is not Meet.CLASH or not one.start == one.end == other.start == other.end:
            return met
        inserted = Insertions(
            theirs.added(other),
            ours.added(one),
            base[: one.start],
            base[one.start :],
        )
        return Meet.BESIDE if commute(inserted) else Meet.CLASH

    merged = merge_tokens(*sides, check=check)
    if merged is None or not is_between(merged, *sides) or doubles(merged, *sides):
        return None
    return _proved(merged, merged, rule)


def _proved(merged: Sequence[Token], wanted: Sequence[Token], rule: str) -> Answer | None:
    """Give the text where it splits into the tokens that it should have."""
    text = text_of(merged)
    is_same = contents(tokens_of(text)) == contents(wanted)
    return Answer(text[1:], rule) if is_same and text[:1] == "\n" else None
