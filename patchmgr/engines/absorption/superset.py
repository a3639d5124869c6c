"""Recognize that upstream added what a hunk adds, and more, at the same position."""

from __future__ import annotations

import re
from collections.abc import Sequence

from patchmgr.engines.conflicts.ids import conflict_regions
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.marked import sides_of
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.patch import Hunk

PIECE = late_pattern(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\d[\w.]*|\w+|[^\w\s]", re.DOTALL)
"""Matches strings, numbers, names and other signs, but no white space."""


def is_superset(ours: bytes, marked: bytes, hunk: Hunk) -> bool:
    """Return whether upstream has everything that a hunk adds."""
    regions = conflict_regions(marked)
    if not regions or not hunk.added() or sides_of(marked)[1] != ours:
        return False
    for base, mine, theirs in regions:
        sides = [[x.rstrip(b"\r\n") for x in split_lines(x)] for x in (base, mine, theirs)]
        is_part = not hunk.removed() and is_among(sides[2], sides[1])
        is_longer = is_part and len(sides[2]) >= len(sides[0])
        if not mine or not (is_longer if is_part else _adds_members(base, mine, theirs)):
            return False
    return True


def _adds_members(base: bytes, ours: bytes, theirs: bytes) -> bool:
    """Return whether theirs only adds members between the brackets of base, and ours has them."""
    (brackets, old), (others, more), (wanted, new) = map(_members, (base, ours, theirs))
    pairs = (b"(", b")"), (b"[", b"]"), (b"{", b"}")
    is_open = any(brackets.count(start) != brackets.count(end) for start, end in pairs)
    if not base.strip() or is_open or not brackets == others == wanted:
        return False
    for number, (less, some, all_of_them) in enumerate(zip(old, new, more, strict=True)):
        before = old[number - 1][-1:] if number and brackets[number - 1] == b"(" else []
        if before and re.search(rb"\w\Z", before[0]) and not before[0].endswith(b"import"):
            if some[: len(less)] != less or all_of_them[: len(some)] != some:
                return False  # the position of an argument matters
        elif not (is_among(less, some) and is_among(some, all_of_them)):
            return False
    return True


def _members(text: bytes) -> tuple[list[bytes], list[list[bytes]]]:
    """Return the brackets of a text, and the members between each bracket and the next one."""
    pieces = PIECE.findall(text)
    signs = {b",": b"\0"} | dict.fromkeys((b"(", b")", b"[", b"]", b"{", b"}"), b"\1")
    groups = b" ".join(signs.get(piece, piece) for piece in pieces).split(b"\1")
    members = [[x.strip() for x in group.split(b"\0") if x.strip()] for group in groups]
    return [piece for piece in pieces if signs.get(piece) == b"\1"], members


def is_among(less: Sequence[object], more: Sequence[object]) -> bool:
    """Return whether `more` has all members in `less`, in the same order."""
    rest = iter(more)
    return all(one in rest for one in less)
