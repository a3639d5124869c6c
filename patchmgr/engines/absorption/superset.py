"""Recognise that upstream added what a hunk adds, in the same place, and more.

A hunk that removes nothing is in upstream if, in every conflict region, the patch's side is
contained in upstream's side in the same order, as lines of a block or members of a set, list or
call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from patchmgr.engines.absorption.layout import OPENERS, PIECE
from patchmgr.engines.conflicts.ids import conflict_regions, resolved_to_ours
from patchmgr.engines.series.placement import split_lines
from patchmgr.model.patch import Hunk

Row: TypeAlias = "list[bytes | list[Row]]"
"""The pieces between two commas. An opening bracket is followed by the rows in the brackets."""

Rows: TypeAlias = list[Row]


def is_superset(ours: bytes, marked: bytes, hunk: Hunk) -> bool:
    """Return whether upstream has everything that a hunk adds.

    `marked` is the merge of that hunk with conflict markers. Outside of the conflict regions, the
    merge must be equal to upstream's text.
    """
    regions = conflict_regions(marked)
    if not regions or not hunk.added() or resolved_to_ours(marked) != ours:
        return False
    for base, mine, theirs in regions:
        sides = [[x.rstrip(b"\r\n") for x in split_lines(x)] for x in (base, mine, theirs)]
        rest = iter(sides[1])
        is_part = not hunk.removed() and all(line in rest for line in sides[2])
        is_longer = is_part and len(sides[2]) >= len(sides[0])
        if not mine or not (is_longer if is_part else _adds_members(base, mine, theirs)):
            return False
    return True


def _adds_members(base: bytes, ours: bytes, theirs: bytes) -> bool:
    """Return whether theirs only adds list members to base, and ours has all of them."""
    old, more, new = (read_rows(PIECE.findall(side)) for side in (base, ours, theirs))
    if not old or not new or not more:
        return False
    return _is_among(old, new) and _is_among(new, more)


def read_rows(pieces: Sequence[bytes]) -> Rows | None:
    """Return tokens split at commas and nested by brackets, or None if the brackets do not match.

    The empty row after a trailing comma is left out.
    """
    opened: list[Rows] = [[[]]]
    for piece in pieces:
        if piece == b",":
            opened[-1].append([])
        elif piece not in OPENERS:
            opened[-1][-1].append(piece)
            opened += [[[]]] if piece in OPENERS.values() else []
        else:
            rows = opened.pop()
            if not opened or opened[-1][-1][-1] != OPENERS[piece]:
                return None
            opened[-1][-1].append(rows if rows[-1] else rows[:-1])
    rows = opened.pop()
    return None if opened else rows if rows[-1] else rows[:-1]


def _is_among(less: Rows, more: Rows) -> bool:
    """Return whether some rows occur among others in the same order."""
    rest = iter(more)
    return all(any(_is_same(row, other) for other in rest) for row in less)


def _is_same(row: Row, other: Row) -> bool:
    """Return whether a row equals another, except that the other may have more members in brackets.

    Arguments of a call without a name must have the same index, and so must all parameters of a
    definition.
    """
    for at, (one, more) in enumerate(zip(row, other, strict=False)):
        if isinstance(one, bytes) or isinstance(more, bytes):
            if one != more:
                return False
            continue
        numbered: Rows = []
        called = row[at - 2] if at > 1 and row[at - 1] == b"(" else b""
        if isinstance(called, list) or re.match(rb"\w", called):
            numbered = [x for x in one if b"def" in row or x[1:2] != [b"="]]
        if not _is_among(one, more) or not all(map(_is_same, numbered, more)):
            return False
    return len(row) == len(other)
