"""Merge three token sequences where the edits of the two sides stand apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.structure.tokens import Token, contents
from patchmgr.engines.structure.tokens_align import Edit
from patchmgr.engines.structure.tokens_layout import (
    Layout,
    beside,
    on_lines,
    on_own_line,
    reindented,
)
from patchmgr.engines.structure.tokens_sides import Side, side_of

_MOST_EDITS = 1_000
_NEAR = 64  # tokens between two edits within which a check has a say


class Meet(Enum):
    """How two edits of different sides stand to each other."""

    SAME = "same"
    APART = "apart"
    BESIDE = "beside"  # two insertions in one place, the fork's before upstream's
    CLASH = "clash"


Check = Callable[[Sequence[Token], Side, Edit, Side, Edit], Meet]


class _Step(Struct, frozen=True):
    edit: Edit
    side: Side
    is_upstream: bool


def merge_tokens(
    base: tuple[Token, ...],
    upstream: tuple[Token, ...],
    fork: tuple[Token, ...],
    *,
    check: Check,
) -> tuple[Token, ...] | None:
    """Return the base with the edits of both sides, or None where two of them clash."""
    ours, theirs = side_of(base, upstream), side_of(base, fork)
    if max(len(ours.edits), len(theirs.edits)) > _MOST_EDITS:
        return None
    steps = _steps(base, ours, theirs, check)
    if steps is None:
        return None
    layout = Layout(base, ours, theirs)
    merged: list[Token] = []
    at, forked = 0, -1  # where the fork has just inserted
    for step in (*steps, None):
        kept = [layout.kept(n) for n in range(at, len(base) if step is None else step.edit.start)]
        for token in kept:
            if token is None:
                return None
            merged.append(token)
        if step is not None:
            new = _inserted(step, base, layout)
            new = on_own_line(new, merged[-1:], step.side.before(step.edit.first))
            if forked == step.edit.start:
                new = beside(new, theirs.tokens[theirs.kept[forked]].gap)
            merged += new
            at = step.edit.end
            forked = at if not step.is_upstream and step.edit.start == at else -1
    return tuple(on_lines(merged))


def _steps(
    base: Sequence[Token], ours: Side, theirs: Side, check: Check
) -> tuple[_Step, ...] | None:
    steps = [_Step(edit, ours, True) for edit in ours.edits]
    for edit in theirs.edits:
        near = [other for other in ours.edits if _is_near(edit, other)]
        meets = [check(base, ours, other, theirs, edit) for other in near]
        if Meet.CLASH in meets:
            return None
        if Meet.SAME not in meets:
            steps.append(_Step(edit, theirs, False))
    return tuple(sorted(steps, key=lambda s: (s.edit.start, s.edit.end, s.is_upstream)))


def _is_near(one: Edit, other: Edit) -> bool:
    return one.low <= other.high + _NEAR and other.low <= one.high + _NEAR


def is_same(ours: Side, one: Edit, theirs: Side, other: Edit) -> bool:
    """Say whether two edits put the same tokens in the same place."""
    is_place = (one.start, one.end) == (other.start, other.end)
    return is_place and contents(ours.added(one)) == contents(theirs.added(other))


def _inserted(step: _Step, base: Sequence[Token], layout: Layout) -> list[Token]:
    """Return an edit's new tokens in the merged layout; the first stands where the old stood."""
    edit = step.edit
    new = reindented(edit, step.side, layout)
    old = layout.kept(edit.start) if edit.start < edit.end else None
    if new and old is not None and step.side.added(edit)[0].gap == base[edit.start].gap:
        new[0] = replace(new[0], gap=old.gap)
    return new
