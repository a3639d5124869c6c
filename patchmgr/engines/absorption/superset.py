"""Recognize that upstream added what a hunk adds, and more, at the same position."""

from __future__ import annotations

import re

from patchmgr.engines.conflicts.ids import conflict_regions
from patchmgr.engines.languages.words import is_import
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import is_within
from patchmgr.engines.text.marked import sides_of
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.patch import Hunk

PIECE = late_pattern(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\d[\w.]*|\w+|[^\w\s]", re.DOTALL)
"""Matches strings, numbers, names and other signs, but no white space."""
_SET = b"= {"  # stands for a bracket whose members have no order


def is_superset(ours: bytes, marked: bytes, hunk: Hunk) -> bool:
    """Return whether upstream has everything that a hunk adds."""
    regions = conflict_regions(marked)
    if not regions or not hunk.added() or sides_of(marked)[1] != ours:
        return False
    for base, mine, theirs in regions:
        sides = [[x.rstrip(b"\r\n") for x in split_lines(x)] for x in (base, mine, theirs)]
        is_part = not hunk.removed() and is_within(sides[2], sides[1])
        if not mine or not (is_part or _adds_members(base, mine, theirs)):
            return False
    return True


def _adds_members(base: bytes, ours: bytes, theirs: bytes) -> bool:
    """Return whether theirs only adds members between brackets of base, and ours has them, too.

    Ours may have other members after them; in sets and in imports on one line, also among them.
    """
    groups = [_members(side) for side in (base, theirs, ours)]
    around = {tuple(bracket for bracket, _ in side) for side in groups}
    if not base.strip() or not groups[0] or len(around) > 1:
        return False
    is_line = is_import(base) and base.count(b"\n") <= 1
    return all(
        is_within(less, some)
        and (some == more[: len(some)] or ((is_line or bracket == _SET) and is_within(some, more)))
        for (bracket, less), (_, some), (_, more) in zip(*groups, strict=True)
    )


def _members(text: bytes) -> list[tuple[bytes, list[list[bytes]]]]:
    """Return (enclosing bracket, members) for each stretch of text between two brackets."""
    around, found = [b""], [(b"", [list[bytes]()])]
    for piece in PIECE.findall(text):
        words = found[-1][1][-1]
        if piece == b",":
            found[-1][1].append([])
        elif piece not in b"([{)]}":
            words.append(piece)
        else:
            if piece in b"([{":  # a name is before the sign in `x = {`, but not in `x[] = {`
                around.append(_SET if piece == b"{" and words[1:][-1:] == [b"="] else piece)
            elif len(around) > 1:
                around.pop()
            else:  # `a) + f(b` is in brackets that are not seen
                return []
            found.append((around[-1], [[]]))
    is_closed = len(around) == 1
    return [(bracket, [*filter(None, some)]) for bracket, some in found if is_closed]
