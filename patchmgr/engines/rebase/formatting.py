"""Merge by text once base and patch side have the format of upstream's own formatter."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.rebase.formatting_proof import Notation, notation_of
from patchmgr.engines.series.placement import split_lines
from patchmgr.model.merge import Clean
from patchmgr.model.ports import Formatter, Style, TextMerge

STABLE = 0.9  # share of upstream's lines that a formatter leaves alone if it is upstream's own


class _Sides(Struct, frozen=True):
    base: bytes
    upstream: bytes
    fork: bytes


def merge_formatted(
    base: bytes,
    upstream: bytes,
    fork: bytes,
    *,
    path: str,
    formatter: Formatter,
    text: TextMerge,
) -> bytes | None:
    """Merge with base and fork in upstream's format, None where that is not clean or not sure.

    Upstream's own text is not formatted. The result is not upstream's own text, says what a text
    merge of the formatted sides says, and formatting it again changes no line of the patch.
    """
    notation = notation_of(path)
    if notation is None:
        return None
    sides = _Sides(base, upstream, fork)
    for style in formatter.styles(path):
        tidy = style(upstream)
        if tidy is not None and stability(upstream, tidy) >= STABLE:
            merged = _merged(sides, style, notation, text)
            if merged is not None and _is_settled(merged, style(merged), upstream, tidy):
                return merged
    return None


def stability(before: bytes, after: bytes) -> float:
    """Return the share of lines that formatting a text leaves as they are, from 0 to 1."""
    old, new = (Counter(split_lines(side)) for side in (before, after))
    return (old & new).total() / most if (most := max(old.total(), new.total())) else 1.0


def _merged(sides: _Sides, style: Style, notation: Notation, text: TextMerge) -> bytes | None:
    base, fork = style(sides.base), style(sides.fork)
    if base is None or fork is None or (base, fork) == (sides.base, sides.fork):
        return None
    merge = text.merge(base, sides.upstream, fork)
    if not isinstance(merge, Clean) or merge.content == sides.upstream:
        return None
    if not notation.is_same(sides.base, base) or not notation.is_same(sides.fork, fork):
        return None
    formatted = replace(sides, base=base, fork=fork)
    return merge.content if _is_proved(merge.content, formatted, notation) else None


def _is_proved(merged: bytes, sides: _Sides, notation: Notation) -> bool:
    """Say whether the merge has lines of its sides alone, and says what these say."""
    old, new = Counter(split_lines(sides.upstream)), Counter(split_lines(merged))
    if not new - old <= Counter(split_lines(sides.fork)):
        return False
    if not old - new <= Counter(split_lines(sides.base)):
        return False
    if notation.is_same(sides.base, sides.upstream) and not notation.is_same(sides.fork, merged):
        return False
    return notation.is_sound(merged, sides.base, sides.upstream, sides.fork)


def _is_settled(merged: bytes, again: bytes | None, upstream: bytes, tidy: bytes) -> bool:
    """Say whether formatting the merge changes no line that it does not change of upstream's."""
    if again is None:
        return False
    if upstream == tidy:
        return merged == again
    before, after = (Counter(split_lines(side)) for side in (upstream, tidy))
    old, new = (Counter(split_lines(side)) for side in (merged, again))
    return old - new <= before - after and new - old <= after - before
