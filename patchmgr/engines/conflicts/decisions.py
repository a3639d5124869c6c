"""What a person can decide about a conflict, and which decisions of old hold here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.absorption.likeness import Comparison
from patchmgr.engines.conflicts.passages import (
    change_digest,
    is_there,
    passage,
    passage_of_place,
    whole_file,
)
from patchmgr.engines.rebase.conflicts import shown_content
from patchmgr.engines.rebase.ladder import CONFLICT
from patchmgr.engines.rebase.work import FileResult, NewSide
from patchmgr.model.decision import Decision, Finding, Passage
from patchmgr.model.outcome import PatchOutcome
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Blobs


def finding_of(
    patch: Patch, results: Sequence[FileResult], homes: Mapping[str, str], blobs: Blobs
) -> Finding | None:
    """Return what a person can decide about a patch in conflict, None where no file collides.

    `homes` maps paths of the old side that are elsewhere on the new one.
    """
    found = {p for result in results for p in _passages(result, homes, blobs)}
    return Finding(change_digest(patch), tuple(sorted(found))) if found else None


def _passages(result: FileResult, homes: Mapping[str, str], blobs: Blobs) -> Iterator[Passage]:
    """Yield the text of upstream that each colliding hunk of a file meets.

    Code that went to another file is met there; a file that moved as a whole keeps its old name.
    """
    conflict, change = result.conflict, result.step.change
    if conflict is None:
        return
    is_elsewhere = conflict.new_path != homes.get(change.path, change.path)
    path = conflict.new_path if is_elsewhere else change.path
    base, ours = shown_content(result.step.base, blobs), conflict.ours
    if base is None or ours is None or conflict.marked is None:
        yield whole_file(path, ours)
        return
    comparison = Comparison(change.path, base, ours)
    likely = {one.hunk: one.likeness for one in result.proposals}
    pairs = zip(change.hunks, result.step.positions, strict=True)
    for number, (hunk, position) in enumerate(pairs):
        if number in likely:
            lines = comparison.ours[likely[number].start : likely[number].end]
            yield passage(path, ours, lines)
        elif result.answers[number] == CONFLICT:
            yield passage_of_place(path, ours, comparison, hunk, position)


def standing_decision(
    decisions: Sequence[Decision], patch: Patch, side: NewSide, blobs: Blobs
) -> Decision | None:
    """Return the decision about a patch whose upstream text is all there, None where none is."""
    change = change_digest(patch) if decisions else ""
    for decision in decisions:
        if decision.change == change and all(
            is_there(shown_content(side.files.entry(side.home(p.path)), blobs), p)
            for p in decision.passages
        ):
            return decision
    return None


def tell(outcome: PatchOutcome, decision: Decision) -> PatchOutcome:
    """Say in an outcome that a person decided, and keep what another decision would be about."""
    why = f" by {decision.by}" if decision.by else ""
    return replace(
        outcome,
        reason=f"a person decided: {decision.ruling.value}{why}",
        finding=outcome.finding or Finding(decision.change, decision.passages),
    )
