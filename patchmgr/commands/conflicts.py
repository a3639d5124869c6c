"""`conflicts`: list and show recorded conflicts; resolve, accept or forget them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.conflicts.memory import Lesson, Missed, compare, ended, fits_region
from patchmgr.engines.series.picking import matching_ids
from patchmgr.engines.text.leftover import leftover_marker
from patchmgr.errors import PatchmgrError
from patchmgr.formats.recorded_conflict import MAX_SIDE
from patchmgr.model.patch import Patch
from patchmgr.model.recorded_conflict import Origin, Recorded, RecordKind, RegionSides, Resolution
from patchmgr.plumbing.answer_cache import Answers
from patchmgr.plumbing.merge_process import MergeProcess
from patchmgr.plumbing.outputs import read_named
from patchmgr.services.decisions import match_id
from patchmgr.services.memory import Additions, Memory, folder_files, waiting_with
from patchmgr.services.session import Session
from patchmgr.services.work_area import original, waiting_files, work_file
from patchmgr.workspace import Change, Workspace

SIDES = ("ours", "theirs")


class Listed(Struct, frozen=True):
    """A recorded conflict; `recorded` is None if its files are malformed, and `fault` says why."""

    id: str
    recorded: Recorded | None
    fault: str = ""
    hints: tuple[str, ...] = ()


class SideEdits(Struct, frozen=True):
    """Descriptions of the edits that each side of a conflict makes, from top to bottom."""

    ours: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()


def list_conflicts(session: Session) -> tuple[Listed, ...]:
    """Return all recorded conflicts, including those whose files are malformed."""
    memory = Memory(session.workspace)
    return tuple(_listed(memory, name) for name in session.workspace.conflicts())


def _listed(memory: Memory, name: str) -> Listed:
    try:
        recorded = memory.get(name)
    except PatchmgrError as problem:
        return Listed(name, None, problem.message, problem.hints)
    return Listed(name, recorded, "" if recorded is not None else "has no meta.toml")


class ShownConflict(Struct, frozen=True):
    """A conflict, followed by its regions if it has several, and what is known about each."""

    recorded: tuple[Recorded, ...]
    patches: tuple[Patch, ...] = ()  # patches of the rebase in progress that have the conflict
    edits: tuple[SideEdits, ...] = ()  # for each of `recorded`


def show_conflict(session: Session, name: str) -> ShownConflict:
    """Return the conflict whose id starts with `name`, with all that is known about it."""
    memory = Memory(session.workspace)
    found = require(memory, name)
    recorded = (found, *_parts(memory, found))
    with closing(MergeProcess(answers=Answers())) as structure:
        edits = tuple(_edits_in(one, structure) for one in recorded)
    return ShownConflict(recorded, tuple(_patches_waiting(memory, found)), edits)


def _edits_in(recorded: Recorded, structure: MergeProcess) -> SideEdits:
    """Return what the two sides of a conflict change; nothing if a side is binary or missing."""
    texts = [recorded.base, recorded.ours, recorded.theirs]
    if any(text is None or b"\0" in text for text in texts):
        return SideEdits()
    base, *sides = (text.decode("utf-8", "surrogateescape") for text in texts if text is not None)
    told = (structure.edits([(base, side)], recorded.path) for side in sides)
    return SideEdits(*(tuple(map(str, edits)) for edits in told))


def is_resolved(memory: Memory, name: str) -> bool:
    """Return whether a recorded conflict, or each of its regions, has a resolution."""
    found = _listed(memory, name).recorded
    each = () if found is None else [_listed(memory, part).recorded for part in found.parts]
    known = each or (found,)
    return all(one is not None and one.resolution is not None for one in known)


def _patches_waiting(memory: Memory, found: Recorded) -> Iterator[Patch]:
    """Yield the patches of the rebase in progress that have this conflict, or a region of it."""
    waiting = {(item.series, item.patch): None for item in waiting_with(memory, found)}
    for series in dict.fromkeys(series for series, _ in waiting):
        patches = memory.workspace.patches(series)
        yield from (patch for patch in patches if (series, patch.name) in waiting)


def resolve_conflict(session: Session, name: str, file: Path) -> tuple[Recorded, ...]:
    """Record a file's content as the resolution of a conflict; return the resolved conflicts.

    The file is the whole resolved file or, for a single region, may be the resolved lines alone.
    """
    content = read_named(file, limit=MAX_SIDE)
    if len(content) > MAX_SIDE:
        raise PatchmgrError("bad-resolution", f"{file} is larger than {MAX_SIDE} bytes")
    with session.writing():
        memory = Memory(session.workspace)
        found = require(memory, name)
        if found.kind is RecordKind.FILE:
            left = leftover_marker(content, found.sides)
            if left is not None:
                message = f"{file}:{left[0]}: a conflict marker is left"
                hint = "remove the markers, then run the command again"
                raise PatchmgrError("bad-resolution", message, hint)
            pairs = [(found, content)]
        else:
            lessons = _lessons(memory, found, content, file)
            pairs = [(require(memory, one.id), one.resolution) for one in lessons]
        solved = [_with(one, text, Origin.RESOLVE, "") for one, text in pairs]
        return record(memory, solved)


def accept_side(session: Session, name: str, side: str) -> tuple[Recorded, ...]:
    """Record one side ("ours" or "theirs") of a conflict as its resolution."""
    with session.writing():
        memory = Memory(session.workspace)
        found = require(memory, name)
        each = _parts(memory, found) or (found,)
        # None, if the file does not exist on that side: the resolution deletes it
        texts = [one.ours if side == "ours" else one.theirs for one in each]
        solved = [
            _with(one, text, Origin.ACCEPT, side) for one, text in zip(each, texts, strict=True)
        ]
        return record(memory, solved)


def forget_conflict(session: Session, name: str) -> tuple[str, ...]:
    """Forget the resolutions of a conflict, its regions and its file; return all their ids."""
    with session.writing():
        memory = Memory(session.workspace)
        full = _full_name(memory.workspace, name)
        names, open_ids = [full], _open_ids(memory)
        recorded = _listed(memory, full).recorded
        if recorded is not None:
            names += [part.id for part in _parts(memory, recorded)]
            names += _whole_files(memory, recorded.path, names)
        change = Change()
        for one in names:
            known = _listed(memory, one).recorded if one in open_ids else None
            # conflicts of the rebase in progress stay recorded, without a resolution
            reopened = known and Additions.files_of([replace(known, resolution=None)])
            change.files.update(reopened or folder_files(one))
        memory.workspace.make(change)
        return tuple(names)


def _whole_files(memory: Memory, path: str, names: Collection[str]) -> Iterator[str]:
    """Yield the ids of conflicts recorded for the whole file at a path, except those in `names`."""
    for name in memory.workspace.conflicts():
        found = None if name in names else _listed(memory, name).recorded
        if found is None or found.kind is not RecordKind.FILE or found.path != path:
            continue
        if None not in (found.base, found.ours, found.theirs):
            yield name


def _open_ids(memory: Memory) -> set[str]:
    """Return the ids of the conflicts in the rebase in progress, and of their regions."""
    found = {item.conflict for item in waiting_files(memory.workspace) if item.conflict}
    known = [_listed(memory, name).recorded for name in found]
    return found | {part for one in known if one is not None for part in one.parts}


def _full_name(workspace: Workspace, name: str) -> str:
    """Return the id that starts with `name`; raise PatchmgrError unless there is exactly one."""
    known = workspace.conflicts()
    for item in () if matching_ids(name, known) else waiting_files(workspace):
        if matching_ids(name, (item.conflict,)):
            file = work_file(workspace, item)
            problem = "is not recorded, because lines outside it look like conflict markers"
            reason = f"the conflict {name} {problem}"
            raise PatchmgrError("unknown-conflict", reason, f"resolve it by hand in {file}")
    return match_id(name, known, "is not the id of a recorded conflict")


def require(memory: Memory, name: str) -> Recorded:
    """Return the conflict whose id starts with `name`; raise PatchmgrError if there is none."""
    full = _full_name(memory.workspace, name)
    found = memory.get(full)
    if found is None:
        hint = f"patchmgr conflicts forget {full}"
        raise PatchmgrError("bad-conflict", f"conflicts/{full} has no meta.toml", hint)
    return found


def _parts(memory: Memory, found: Recorded) -> tuple[Recorded, ...]:
    parts = [memory.get(part) for part in found.parts]
    missing = [p for p, part in zip(found.parts, parts, strict=True) if part is None]
    if missing:
        hint = f"patchmgr conflicts forget {found.id}"
        message = f"conflicts/{found.id} refers to {missing[0]}, which is not recorded"
        raise PatchmgrError("bad-conflict", message, hint)
    return tuple(part for part in parts if part is not None)


def _lessons(memory: Memory, found: Recorded, content: bytes, file: Path) -> Sequence[Lesson]:
    """Return the resolution of each region of a conflict.

    `content` is the whole resolved file or, for a single region, may be the resolved lines alone.
    """
    wanted = found.parts or (found.id,)
    reasons: list[str] = []
    for marked in _originals(memory, found):
        told = [one for one in compare(marked, content) if one.id in wanted]
        lessons = [one for one in told if isinstance(one, Lesson)]
        if len(lessons) == len(wanted):
            return lessons
        reasons += [f"{one.id}: {one.reason}" for one in told if isinstance(one, Missed)]
    if found.kind is RecordKind.REGION:
        assert found.base is not None and found.ours is not None and found.theirs is not None
        region = RegionSides(found.base, found.ours, found.theirs)
        text = ended(content)
        refused = fits_region(region, text, whole=next(_originals(memory, found), None))
        if refused is None:
            return [Lesson(found.id, region, text)]
        reasons.append(refused)
    elif not reasons:
        reasons.append("the file in conflict is known only while the rebase is in progress")
    raise PatchmgrError(
        "bad-resolution",
        f"{file} does not resolve {found.id}: {reasons[-1]}",
        "give the lines that replace the conflict, or the whole file with nothing else changed",
        *(f"patchmgr conflicts resolve {part} FILE" for part in found.parts),
    )


def _originals(memory: Memory, found: Recorded) -> Iterator[bytes]:
    """Yield the content, with markers, of each file of the rebase that has the conflict."""
    marked = (original(memory.workspace, item) for item in waiting_with(memory, found))
    yield from (content for content in marked if content is not None)


def _with(known: Recorded, content: bytes | None, origin: Origin, source: str) -> Recorded:
    return replace(known, resolution=Resolution(content, origin, source))


def record(memory: Memory, solved: Sequence[Recorded]) -> tuple[Recorded, ...]:
    """Record and return resolutions; raise "solved-otherwise" if a conflict has a different one."""
    additions = Additions(memory)
    for one in solved:
        reason = additions.add(one)
        if reason is not None:
            hint = f"patchmgr conflicts forget {one.id}"
            raise PatchmgrError("solved-otherwise", f"{one.id}: {reason}", hint)
    if additions.recorded():
        memory.workspace.make(Change(additions.files()))
    return tuple(solved)
