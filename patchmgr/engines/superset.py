"""Whether upstream has all that a hunk adds, and more of the same.

A hunk that removes nothing is in where its side of every collision is part of upstream's, in
order: lines of a block, or members of a set, a list or a call. Where it merges, it is in if the
display that it adds members to has them already, elsewhere, and the language says that they have
no order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from patchmgr.engines.displays import (
    LARGEST_DISPLAY,
    Group,
    Order,
    Row,
    is_among,
    members_around,
    order_at,
    read_rows,
    rows_of_lines,
)
from patchmgr.engines.placement import split_lines
from patchmgr.model.patch import Hunk

# What can switch off the lines behind it: conditions of a preprocessor, comments, strings.
_SWITCH = re.compile(rb"\s*(?:#\s*(?:if|el|endif)|/\*|\*/|\"\"\"|''')")

_WORD = re.compile(rb"\w+")

_Lines = Sequence[bytes]
_Rows = tuple[Row, ...]


def is_superset(ours: bytes, marked: bytes, hunk: Hunk) -> bool:
    """Say whether upstream has what a colliding hunk adds, given the merge of it alone.

    Outside of the collisions the merge must be upstream's own bytes.
    """
    from patchmgr.engines.conflict_ids import conflict_regions, resolved_to_ours

    regions = conflict_regions(marked)
    if not regions or not hunk.added() or resolved_to_ours(marked) != ours:
        return False
    is_in = _adds_members if hunk.removed() else _is_part
    return all(region[1] and is_in(*map(split_lines, region)) for region in regions)


def added_members(hunk: Hunk) -> tuple[Row, ...] | None:
    """Return the members of a display that a hunk adds, None where it does anything else."""
    added = [line[1:] for line in hunk.lines if line[:1] == b"+"]
    return None if hunk.removed() else rows_of_lines(added)


def may_have_members(ours: bytes, hunk: Hunk) -> bool:
    """Say whether a hunk adds nothing but members of a display, and upstream has all their words.

    Only such a hunk can be a superset of which `is_superset` and `has_members` are true.
    """
    if added_members(hunk) is None:
        return False
    added = b"".join(line for line in hunk.lines if line[:1] == b"+")
    return all(word in ours for word in _WORD.findall(added))


def has_members(
    path: str, base: bytes, position: int, ours: bytes, merged: bytes, hunk: Hunk
) -> bool:
    """Say whether a hunk that merges adds members that upstream put elsewhere in the display.

    Only members without an order: of a list or a call each place means something else.
    """
    rows, size = added_members(hunk), hunk.added()
    if rows is None:
        return False
    before = next(n for n, line in enumerate(hunk.lines) if line[:1] == b"+")
    new, mine = split_lines(merged), split_lines(ours)
    at = next((n for n, line in enumerate(mine) if line != new[n]), len(mine))
    if [*mine[:at], *new[at : at + size], *mine[at:]] != new:
        return False
    if any(order_at(path, new, line) is not Order.NONE for line in range(at, at + size)):
        return False
    old = members_around(split_lines(base), position + before)
    there = members_around(mine, at)
    if old is None or there is None:
        return False
    return all(row in there and row not in old for row in rows)


def _is_part(base: _Lines, ours: _Lines, theirs: _Lines) -> bool:
    """Say whether the lines of theirs are among those of ours, in order.

    The others may be anything that does not switch them off.
    """
    rest = _without(ours, theirs)
    if rest is None:
        return _adds_members(base, ours, theirs)
    return len(theirs) >= len(base) and not (theirs and any(map(_SWITCH.match, rest)))


def _without(whole: _Lines, part: _Lines) -> list[bytes] | None:
    """Return the whole without a part that is in it in order, None where it is not."""
    rest: list[bytes] = []
    at = 0
    for line in whole:
        if at < len(part) and line.rstrip(b"\r\n") == part[at].rstrip(b"\r\n"):
            at += 1
        else:
            rest.append(line)
    return rest if at == len(part) else None


def _adds_members(base: _Lines, ours: _Lines, theirs: _Lines) -> bool:
    """Say whether theirs only adds members to a display of base, and ours has these and more."""
    if max(len(base), len(ours), len(theirs)) > LARGEST_DISPLAY:
        return False
    old, mine, wanted = (read_rows(b"".join(side)) for side in (base, ours, theirs))
    if old is None or mine is None or wanted is None:
        return False
    return old not in ((), wanted) and _adds(old, mine, wanted)


def _adds(base: _Rows, ours: _Rows, theirs: _Rows) -> bool:
    """Say whether rows of theirs are in base or, where they are new, in ours."""
    if is_among(base, theirs) and is_among(theirs, ours):
        return True
    if not len(base) == len(ours) == len(theirs):
        return False
    return all(_adds_in_row(*rows) for rows in zip(base, ours, theirs, strict=True))


def _adds_in_row(base: Row, ours: Row, theirs: Row) -> bool:
    if base == theirs:
        return True
    if not len(base) == len(ours) == len(theirs):
        return False
    return all(_adds_in_place(*place) for place in zip(base, ours, theirs, strict=True))


def _adds_in_place(base: str | Group, ours: str | Group, theirs: str | Group) -> bool:
    if base == theirs:
        return True
    groups = [side for side in (base, ours, theirs) if isinstance(side, Group)]
    if len(groups) < 3 or len({group.opener for group in groups}) > 1:
        return False
    old, mine, wanted = groups
    if wanted.is_call and not _keeps_places(mine.members, wanted.members):
        return False
    return _adds(old.members, mine.members, wanted.members)


def _keeps_places(ours: _Rows, theirs: _Rows) -> bool:
    """Say whether arguments without a name are at the same place."""
    return all("=" in row or row == there for row, there in zip(theirs, ours, strict=False))
