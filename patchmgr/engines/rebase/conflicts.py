"""Report a conflict that the program could not resolve, or apply a person's resolution."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.absorption.proposal import Proposal
from patchmgr.engines.conflicts.ids import conflict_id
from patchmgr.engines.rebase.ladder import CONFLICT, DECIDED, SOLVED, Collided, Sides
from patchmgr.engines.rebase.work import FileResult, Work
from patchmgr.engines.text.marked import split_marked
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import typed
from patchmgr.model.decision import Ruling
from patchmgr.model.merge import Clean, Conflicted
from patchmgr.model.outcome import ConflictKind, FileConflict
from patchmgr.model.snapshot import EXECUTABLE, FILE_MODES, GITLINK, REGULAR, Entry

if TYPE_CHECKING:
    from patchmgr.engines.rebase.work import Offers
    from patchmgr.engines.series.fold import FileStep
    from patchmgr.model.outcome import Suggestion
    from patchmgr.model.ports import Blobs

CHANGED_SINCE = "the file has changed since this conflict was resolved"

_COMMIT = re.compile(rb"Subproject commit ([0-9a-f]{40})\n?")


def collision(
    work: Work, step: FileStep, sides: Sides, collided: Collided, *, home: str, target: str
) -> FileResult:
    """Return the result for a file in conflict: the conflict, or a person's resolution of it.

    Raises PatchmgrError "bad-resolution" if the resolution cannot be used.
    """
    files, blobs = work.side.files, work.tools.blobs
    every = (sides.base, sides.ours, sides.theirs)
    contents = base, ours, theirs = tuple(shown_content(side, blobs) for side in every)
    known = _known(work, step, collided, (base, ours, theirs))
    if isinstance(known, Conflicted):
        collided = replace(collided, reason=CHANGED_SINCE, marked=known.marked, suggestions=())
    elif known is not None:
        (content,) = known
        path = step.change.path
        is_new = content is not None and sides.ours is None
        obstacle = files.obstacle(target, work.leaving) if is_new else None
        if obstacle is None:
            entry = None if content is None else solved_entry(content, sides, path, blobs)
            answers = tuple(SOLVED if a == CONFLICT else a for a in collided.answers)
            if entry == sides.ours and (entry is None or home == target):
                answers = (DECIDED,) * len(answers)
            return FileResult(step, target, answers, {home: None, target: entry})
        if (work.patch, path) in work.tools.solved:
            where = f"{work.patch}: {path}"
            raise PatchmgrError(
                "bad-resolution",
                f"{where} cannot be created: upstream has {obstacle}, which is in the way",
                f"delete the file, then run: patchmgr rebase --continue --accept {typed(path)}",
            )
    conflict = FileConflict(
        id=conflict_id(base, ours, theirs, collided.marked),
        path=step.change.path,
        new_path=target,
        reason=collided.reason,
        base=base,
        ours=ours,
        theirs=theirs,
        marked=collided.marked,
        kind=_kind(step, sides, collided, is_binary=b"\0" in b"".join(filter(None, contents))),
        suggestions=_candidates(collided, work.tools.offers),
        stages=every,
        home=home,
    )
    return FileResult(step, target, collided.answers, conflict=conflict)


def _candidates(collided: Collided, offers: Offers | None) -> tuple[tuple[Suggestion, ...], ...]:
    """Return the suggestions for each region, with resolutions by other people added."""
    if collided.marked is None or offers is None:
        return collided.suggestions
    regions = [one.region for one in split_marked(collided.marked).regions]
    known = (*collided.suggestions, *[()] * len(regions))
    found = []
    for region, each in zip(regions, known, strict=False):
        first, last = offers(*region.sides)
        found.append((*first, *each, *last))
    return tuple(found) if any(found) else collided.suggestions


def _kind(step: FileStep, sides: Sides, collided: Collided, *, is_binary: bool) -> ConflictKind:
    entries = filter(None, (sides.base, sides.ours, sides.theirs))
    if not FILE_MODES.issuperset(entry.mode for entry in entries):
        return ConflictKind.MODE
    if collided.has_moved:
        return ConflictKind.MOVED
    if sides.base is None:
        return ConflictKind.ADD_ADD
    if step.change.is_rename or sides.is_moved:
        return ConflictKind.RENAME
    if sides.ours is None or sides.theirs is None:
        return ConflictKind.MODIFY_DELETE
    return ConflictKind.BINARY if is_binary else ConflictKind.TEXT


def proposed(result: FileResult, proposals: tuple[Proposal, ...]) -> FileResult:
    """Add to a conflict the proposals for hunks that upstream seems to have in another form.

    If every hunk in conflict has a proposal, the conflict proposes to count the patch as absorbed.
    """
    if result.conflict is None or not proposals:
        return result
    is_all = len(proposals) == result.answers.count(CONFLICT)
    conflict = replace(
        result.conflict,
        proposal=Ruling.ABSORBED.value if is_all else None,
        resemblances=tuple(one.resemblance for one in proposals),
    )
    return replace(result, conflict=conflict, proposals=proposals)


Content = bytes | None
"""A file's content, or None if there is no file."""


def _known(
    work: Work, step: FileStep, collided: Collided, contents: tuple[Content, Content, Content]
) -> tuple[Content] | Conflicted | None:
    """Return a person's resolution of a file as a 1-tuple, or None if there is none.

    If a side has changed since, that change is merged in; if this fails, returns the conflict.
    """
    key = (work.patch, step.change.path)
    if key in work.tools.solved:
        content, (_, ours, theirs) = work.tools.solved[key], contents
        seen_ours, seen_theirs = work.tools.solved_on.get(key, (None, None))
        merged = work.tools.text.merge
        if content is not None and seen_ours is not None and ours not in (None, seen_ours):
            merge = merged(seen_ours, ours, content)
            if isinstance(merge, Conflicted) and merge.marked is not None:
                return merge
            content = merge.content if isinstance(merge, Clean) else content
        if seen_theirs is not None and theirs not in (None, seen_theirs):
            if content is None:  # the person deleted the file before the patch was edited
                return Conflicted(collided.marked)
            merge = merged(seen_theirs, theirs, content)
            if isinstance(merge, Conflicted):
                return merge
            content = merge.content
        return (content,)
    if collided.marked is not None or work.tools.recall is None:
        return None
    resolution = work.tools.recall.find_file(*contents)
    return None if resolution is None else (resolution.content,)


def shown_content(entry: Entry | None, blobs: Blobs) -> bytes | None:
    """Return a file's content, or None; for a submodule, `Subproject commit ...` as in a diff."""
    if entry is None:
        return None
    if entry.mode == GITLINK:
        return f"Subproject commit {entry.blob}\n".encode()
    return blobs.read(entry.blob)


def solved_entry(content: bytes, sides: Sides, path: str, blobs: Blobs) -> Entry:
    """Return the tree entry (mode and blob) of a file that a person resolved to `content`.

    Raises PatchmgrError "bad-resolution" if it can be neither a regular file nor the link or
    submodule of a side.
    """
    present = [side for side in (sides.ours, sides.theirs) if side is not None]
    target = content.removesuffix(b"\n")
    for side in present:
        if side.mode not in FILE_MODES:
            shown = shown_content(side, blobs) or b""
            if target == shown.removesuffix(b"\n"):
                return side
    modes = [side.mode for side in present if side.mode in FILE_MODES]
    if modes:
        mode = EXECUTABLE if EXECUTABLE in modes else REGULAR
        if sides.base is not None and sides.base.mode in FILE_MODES:
            mode = next((mode for mode in modes if mode != sides.base.mode), sides.base.mode)
        return Entry(mode, blobs.add(content))
    links = [side.mode for side in present]
    match = _COMMIT.fullmatch(content)
    if GITLINK in links and match is not None:
        return Entry(GITLINK, match[1].decode())
    link = next((mode for mode in links if mode != GITLINK), None)
    if link is None:
        hint = "write one line: `Subproject commit` and the 40 hex digits of the commit"
        raise PatchmgrError("bad-resolution", f"{path}: a submodule must name one commit", hint)
    if not target or b"\n" in target or b"\0" in target:
        hint = "write this path alone, on one line"
        raise PatchmgrError(
            "bad-resolution", f"{path}: the content of a link must be the path it points to", hint
        )
    return Entry(link, blobs.add(target))
