"""Hold all that is to be dropped against the proofs that it may not be.

This stands beside the engine: it asks what is dropped, never why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption
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
from patchmgr.engines.own_lines import Own, own_lines
from patchmgr.model.outcome import How, Verdict
from patchmgr.model.snapshot import FILE_MODES, Entry

if TYPE_CHECKING:
    from patchmgr.engines.absorption.proposal import Spot
    from patchmgr.engines.drop_proof import Drop
    from patchmgr.engines.search import Search
    from patchmgr.model.ports import Blobs, TextMerge

_VERBATIM = (How.EXACT, How.WHITESPACE)


def without_refuted(search: Search, found: Mapping[int, Absorption]) -> dict[int, Absorption]:
    """Return what upstream has of a series, less the hunks of which a proof says otherwise."""
    own = own_lines(item.patch for item in search.folded)
    kept: dict[int, Absorption] = {}
    for patch, absorption in found.items():
        wrong = {n for n in absorption.hunks if _is_refuted(search, own, patch, absorption, n)}
        hunks = absorption.hunks - wrong
        if not wrong:
            kept[patch] = absorption
        elif hunks:
            kept[patch] = replace(absorption, hunks=hunks, is_whole=False)
    return kept


def _is_refuted(
    search: Search, own: Mapping[str, Own], patch: int, absorption: Absorption, number: int
) -> bool:
    """Say whether neither the tree of the landing nor the target has what a hunk does.

    What landed may have become something else since. A patch that only deletes has no landing to
    know it by: for it, the target must do.
    """
    from patchmgr.engines.drop_proof import Drop, why_needed

    path = search.series[patch].hunks[number].path
    first, step, at = next(
        (first, step, number - first)
        for first, step in search.numbered_steps(patch)
        if first <= number < first + max(1, len(step.change.hunks))
    )
    base = _text(step.base, search.blobs)
    if base is None or step.theirs is None or not step.change.hunks:
        return False
    hunks = step.change.hunks
    landed = search.timelines.steps.index(absorption.step)
    adds = any(atoms.added for atoms in search.series[patch].hunks)
    for version in (search.target, *([search.version(landed)] if adds else [])):
        ours = _text(version[path], search.blobs)
        if ours is None or version[path] == step.theirs:
            return False
        drop = Drop(
            path, base, ours, hunks[at], step.positions[at],
            own=own[step.change.path],
            beside=[h for n, h in enumerate(hunks, first) if n not in absorption.hunks],
            is_verbatim=absorption.how in _VERBATIM,
        )  # fmt: skip
        if why_needed(drop) is None:
            return False
    return True


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
    from patchmgr.engines.absorption.proposal import marked_spots

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
    from patchmgr.engines.absorption.proposal import Spot

    start, end = drop.runs[0].start, drop.runs[-1].end
    return Spot(start, end, drop.in_ours(start), drop.in_ours(end, is_end=True))
