"""Say whether one side's edits contain the other's."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.engines.structure.tokens_align import Edit, edits_between

SEPARATORS = frozenset(",;{}()[]:=\n")  # what stands between two elements or statements
_RUN = 4  # tokens in a row, on average, that are no chance


def contains_edits(base: Sequence[str], large: Sequence[str], small: Sequence[str]) -> bool:
    """Say whether large is what comes of small by more edits, beside what small changed.

    Something is added in common, nothing that small removed comes back, and nothing of the base
    moves. What large has more within small's additions are whole elements: an expression that
    was written in another way is none.
    """
    if not large or not small:
        return False
    earlier, later = edits_between(base, small), edits_between(small, large)
    adds = any(edit.first < edit.last for edit in earlier)
    if not adds or _removed(earlier) + _removed(later) > _removed(edits_between(base, large)):
        return False
    for edit in earlier:
        near = [more for more in later if edit.first <= more.end and more.start <= edit.last]
        if len(near) * _RUN > max(edit.last - edit.first, _RUN):
            return False
        if not all(_is_beside(edit, more, base, small, large) for more in near):
            return False
    return True


def _removed(edits: Sequence[Edit]) -> int:
    return sum(edit.end - edit.start for edit in edits)


def _is_beside(
    edit: Edit, more: Edit, base: Sequence[str], small: Sequence[str], large: Sequence[str]
) -> bool:
    """Say whether a later edit leaves an earlier one alone, though it is within or next to it."""
    overlaps = max(more.start, edit.first) < min(more.end, edit.last)
    removed, added = base[edit.start : edit.end], large[more.first : more.last]
    returns = {*removed} & {*added} - SEPARATORS
    if overlaps or returns:
        return False
    if not added:
        return _is_element(small, more.start, more.end)
    return _is_element(large, more.first, more.last)


def _is_element(tokens: Sequence[str], start: int, end: int) -> bool:
    before, after = tokens[max(start - 1, 0) : start], tokens[end : end + 1]
    begins = _is_edge(tokens[start]) or not before or _is_edge(before[0])
    return begins and (_is_edge(tokens[end - 1]) or not after or _is_edge(after[0]))


def _is_edge(text: str) -> bool:
    return text in SEPARATORS or text.startswith(("//", "/*", "#"))
