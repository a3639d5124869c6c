"""What no rung carries: a conflict, or what a person made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.absorption.proposal import Proposal, resemblances
from patchmgr.engines.conflicts.resolutions import shown_content, solved_entry
from patchmgr.engines.rebase.ladder import CONFLICT, DECIDED, SOLVED, Collided, Sides
from patchmgr.engines.rebase.work import FileResult, Work
from patchmgr.model.decision import Ruling
from patchmgr.model.merge import Clean, Conflicted
from patchmgr.model.outcome import FileConflict

if TYPE_CHECKING:
    from patchmgr.engines.series.fold import FileStep
    from patchmgr.model.ports import Blobs

CHANGED_SINCE = "the file has changed since this conflict was resolved"


def collision(
    work: Work, step: FileStep, sides: Sides, collided: Collided, *, home: str, target: str
) -> FileResult:
    """Return a conflict, or what a person made of it: in this rebase, or of the like before."""
    from patchmgr.engines.conflicts.ids import conflict_id

    base, ours, theirs = (
        shown_content(side, work.tools.blobs) for side in (sides.base, sides.ours, sides.theirs)
    )
    known = _known(work, step, collided, (base, ours, theirs))
    if isinstance(known, Conflicted):
        collided = replace(collided, reason=CHANGED_SINCE, marked=known.marked, suggestions=())
    elif known is not None:
        solution = _solution(work, step, sides, collided, known, home=home, target=target)
        if solution is not None:
            return solution
    conflict = FileConflict(
        id=conflict_id(base, ours, theirs, collided.marked),
        path=step.change.path,
        new_path=target,
        reason=collided.reason,
        base=base,
        ours=ours,
        theirs=theirs,
        marked=collided.marked,
        suggestions=collided.suggestions,
    )
    return FileResult(step, target, collided.answers, conflict=conflict)


def proposed(
    result: FileResult, sides: Sides, proposals: tuple[Proposal, ...], blobs: Blobs
) -> FileResult:
    """Add to a conflict what upstream seems to have of it, and propose that where it is all."""
    if result.conflict is None or not proposals:
        return result
    is_all = len(proposals) == result.answers.count(CONFLICT)
    conflict = replace(
        result.conflict,
        proposal=Ruling.ABSORBED.value if is_all else None,
        resemblances=resemblances(sides, proposals, blobs),
    )
    return replace(result, conflict=conflict, proposals=proposals)


Content = bytes | None
"""A file's content, None where there is no file."""


def _known(
    work: Work, step: FileStep, collided: Collided, contents: tuple[Content, Content, Content]
) -> tuple[Content] | Conflicted | None:
    """Return what a person made of a file, None where nobody did.

    Where the file has changed since, as the conflict of an earlier patch was resolved, that is
    brought in; a conflict where it cannot be.
    """
    key = (work.patch, step.change.path)
    if key in work.tools.solved:
        content, ours = work.tools.solved[key], contents[1]
        before = work.tools.solved_on.get(key)
        if content is None or ours is None or before is None or before == ours:
            return (content,)
        merge = work.tools.text.merge(before, ours, content)
        if isinstance(merge, Clean):
            return (merge.content,)
        return (content,) if merge.marked is None else merge
    if collided.marked is not None or work.tools.recall is None:
        return None
    resolution = work.tools.recall.find_file(*contents)
    return None if resolution is None else (resolution.content,)


def _solution(
    work: Work,
    step: FileStep,
    sides: Sides,
    collided: Collided,
    known: tuple[Content],
    *,
    home: str,
    target: str,
) -> FileResult | None:
    """Take what a person made of the conflict as the file's state, None where it has no place."""
    (content,) = known
    files = work.side.files
    entry = None
    if content is not None:
        if sides.ours is None and files.obstacle(target, work.leaving) is not None:
            return None
        blobs = work.tools.blobs
        entry = solved_entry(
            content, sides.base, sides.ours, sides.theirs, path=step.change.path, blobs=blobs
        )
    answers = tuple(SOLVED if a == CONFLICT else a for a in collided.answers)
    if entry == sides.ours and (entry is None or home == target):
        answers = (DECIDED,) * len(answers)
    return FileResult(step, target, answers, {home: None, target: entry})
