"""Solve one conflict region by rules that hold in any language; refuse where not sure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.structure.regions import Region
from patchmgr.engines.structure.regions_widen import keeps_merged
from patchmgr.engines.structure.text_apart import Sided, are_apart
from patchmgr.engines.structure.text_contains import contains_edits
from patchmgr.engines.structure.text_counts import doubles, is_between
from patchmgr.engines.structure.tokens import (
    Grammar,
    Token,
    contents,
    counts_indentation,
    indents,
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


Clash = Callable[[Sequence[Token], Sided, Sided], bool]
Commute = Callable[[Insertions], bool]


def never_clash(_base: Sequence[Token], _one: Sided, _other: Sided) -> bool:
    """Leave it to separators whether edits are apart."""
    return False


def never_commute(_: Insertions) -> bool:
    """Refuse all that is inserted in one place by both sides."""
    return False


class Language(Struct, frozen=True):
    """What the rules have to know of a language.

    `clash` says which edits are not apart though a separator is between them, `commute` which
    insertions of both sides in one place may stand one after the other.
    """

    grammar: Grammar
    clash: Clash = never_clash
    commute: Commute = never_commute


def solve_region(region: Region, language: Language) -> Answer | None:
    """Try the rules from the safest on: same, layout, absorbed, apart, both insert.

    The answer keeps what git had merged at the ends of a widened region.
    """
    grammar = language.grammar
    sides = (region.base, region.upstream, region.fork)
    base, upstream, fork = (tokens_of("\n" + "".join(lines), grammar) for lines in sides)
    if max(map(len, (base, upstream, fork))) > _LARGEST:
        return None
    answer = _solve((base, upstream, fork), language)
    if answer is None or not keeps_merged(region, answer.text):
        return None
    return answer


_Three = tuple[tuple[Token, ...], tuple[Token, ...], tuple[Token, ...]]


def _solve(sides: _Three, language: Language) -> Answer | None:
    base, upstream, fork = sides
    grammar = language.grammar
    if contents(upstream) == contents(fork):
        if counts_indentation(grammar) and indents(upstream) != indents(fork):
            return None
        chosen = fork if text_of(upstream) == text_of(base) else upstream
        return _proved(chosen, upstream, "same", grammar)
    if contents(base) in (contents(upstream), contents(fork)):
        return _merged(sides, Language(grammar), "layout")
    for large, small in ((upstream, fork), (fork, upstream)):
        if contains_edits(contents(base)[:-1], contents(large)[:-1], contents(small)[:-1]):
            return _proved(large, large, "absorbed", grammar)
    only_apart = replace(language, commute=never_commute)
    return _merged(sides, only_apart, "apart") or _merged(sides, language, "both insert")


def _merged(sides: _Three, language: Language, rule: str) -> Answer | None:
    def check(base: Sequence[Token], ours: Side, one: Edit, theirs: Side, other: Edit) -> Meet:
        met = are_apart(base, ours, one, theirs, other)
        if met is Meet.APART and language.clash(base, (ours, one), (theirs, other)):
            return Meet.CLASH
        if met is not Meet.CLASH or not one.start == one.end == other.start == other.end:
            return met
        inserted = Insertions(
            theirs.added(other),
            ours.added(one),
            base[: one.start],
            base[one.start :],
        )
        return Meet.BESIDE if language.commute(inserted) else Meet.CLASH

    merged = merge_tokens(*sides, grammar=language.grammar, check=check)
    if merged is None or not is_between(merged, *sides) or doubles(merged, *sides):
        return None
    return _proved(merged, merged, rule, language.grammar)


def _proved(
    merged: Sequence[Token], wanted: Sequence[Token], rule: str, grammar: Grammar
) -> Answer | None:
    """Give the text where it splits into the tokens that it should have."""
    text = text_of(merged)
    is_same = contents(tokens_of(text, grammar)) == contents(wanted)
    return Answer(text[1:], rule) if is_same and text[:1] == "\n" else None
