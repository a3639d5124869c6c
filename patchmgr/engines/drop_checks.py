"""Hold all that is to be dropped against the proofs that it may not be.

This stands beside the engine: it asks what is dropped, never why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.ladder import (
    ABSORBED_REWORDED,
    CARRIED_TEXT,
    CONFLICT,
    DECIDED,
    SAME_LINES,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.own_lines import Own
from patchmgr.model.outcome import Verdict
from patchmgr.model.snapshot import FILE_MODES, Entry

if TYPE_CHECKING:
    from patchmgr.engines.both_texts import Spot
    from patchmgr.engines.drop_proof import Drop
    from patchmgr.model.ports import Blobs, TextMerge

def _text(entry: Entry | None, blobs: Blobs) -> bytes | None:
    if entry is None or entry.mode not in FILE_MODES:
        return None
    content = blobs.read(entry.blob)
    return None if b"\0" in content[:8000] else content


def checked(
    sides: Sides, merged: Merged | Collided, *, blobs: Blobs, text: TextMerge, own: Own
) -> Merged | Collided:
    """Return a merge of a file in which no hunk is absorbed that a proof says is needed.

    Such a hunk is in conflict, but for one that upstream's bytes carry. A conflict about lines that
    a hunk deletes says what became of them.
    """
    if not sides.hunks or not _is_asked(merged) or sides.ours == sides.theirs:
        return merged
    base, ours, theirs = (_text(entry, blobs) for entry in (sides.base, sides.ours, sides.theirs))
    if base is None or ours is None or theirs is None:
        return merged
    from patchmgr.engines.drop_proof import rewritten_deletion, why_needed

    answers, whys = list(merged.answers), list[str]()
    refuted: list[Drop] = []
    for number, answer in enumerate(answers[: len(sides.hunks)]):
        is_dropped = answer[0] is Verdict.ABSORBED and answer != DECIDED
        if not is_dropped and (answer != CONFLICT or sides.hunks[number].added()):
            continue
        drop = _drop(sides, merged, number, (base, ours), own)
        found = why_needed(drop) if is_dropped else rewritten_deletion(drop)
        if found is not None:
            answers[number] = CARRIED_TEXT if found.is_done else CONFLICT
            whys += [] if found.is_done else [found.why]
            refuted += [drop] if is_dropped and not found.is_done else []
    if not whys:
        return replace(merged, answers=tuple(answers))
    if isinstance(merged, Collided) and merged.reason != SAME_LINES:
        whys.insert(0, merged.reason)
    reason = "; ".join(dict.fromkeys(whys))
    if isinstance(merged, Collided) and (not refuted or merged.marked is None):
        return replace(merged, reason=reason, answers=tuple(answers))
    from patchmgr.engines.both_texts import marked_spots

    marked = marked_spots(base, ours, theirs, [_spot(drop) for drop in refuted], text)
    return Collided(reason, marked, tuple(answers))


def _is_asked(merged: Merged | Collided) -> bool:
    return any(verdict in (Verdict.ABSORBED, Verdict.CONFLICT) for verdict, _ in merged.answers)


def _drop(
    sides: Sides, merged: Merged | Collided, number: int, texts: tuple[bytes, bytes], own: Own
) -> Drop:
    from patchmgr.engines.drop_proof import Drop

    pairs = zip(sides.hunks, merged.answers, strict=False)
    return Drop(
        sides.path, *texts, sides.hunks[number], sides.positions[number],
        own=own,
        beside=[hunk for hunk, (verdict, _) in pairs if verdict is not Verdict.ABSORBED],
        is_verbatim=merged.answers[number] != ABSORBED_REWORDED,
    )  # fmt: skip


def _spot(drop: Drop) -> Spot:
    """Return the lines of base that a hunk changes, and what upstream has there."""
    from patchmgr.engines.both_texts import Spot

    start, end = drop.runs[0].start, drop.runs[-1].end
    return Spot(start, end, drop.in_ours(start), drop.in_ours(end, is_end=True))
