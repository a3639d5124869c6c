"""What became of the mode and the move of a file, beside its content."""

from __future__ import annotations

from patchmgr.engines.rebase.ladder import (
    ABSORBED_EXACT,
    CARRIED_IDENTICAL,
    CARRIED_MOVED,
    CARRIED_TEXT,
    DRIFTED_TEXT,
    Answer,
    Sides,
)
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import FilePatch


def with_header(
    sides: Sides, change: FilePatch, answers: tuple[Answer, ...], *, moves: tuple[str, str]
) -> tuple[Answer, ...]:
    """Add the answer for the mode and the move, where those for the content do not imply it."""
    header = _header_answer(sides, change, moves)
    if header is None:
        return answers
    if not change.hunks and change.binary is None:
        return (header,)
    is_absorbed = all(answer[0] is Verdict.ABSORBED for answer in answers)
    is_implied = header != DRIFTED_TEXT and is_absorbed == (header == ABSORBED_EXACT)
    return answers if is_implied else (*answers, header)


def _header_answer(sides: Sides, change: FilePatch, moves: tuple[str, str]) -> Answer | None:
    """Return what became of the mode and the move, None where the patch changes neither."""
    base, ours, theirs = sides.base, sides.ours, sides.theirs
    is_absorbed = [moves[0] == moves[1]] if change.is_rename else []
    if base and ours and theirs and base.mode != theirs.mode:
        is_absorbed.append(ours.mode == theirs.mode)
    if not is_absorbed:
        return None
    if any(is_absorbed):
        return ABSORBED_EXACT if all(is_absorbed) else DRIFTED_TEXT
    if sides.is_moved:
        return CARRIED_MOVED
    return CARRIED_IDENTICAL if ours == base else CARRIED_TEXT
