"""Put the conflicts of a rebase on record, and what a person made of them in the work area."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.conflicts.memory import Missed, compare
from patchmgr.formats.recorded import CONFLICTS, FILES
from patchmgr.model.outcome import SeriesOutcome, Verdict
from patchmgr.model.recorded import Kind, Origin, Resolution
from patchmgr.services.memory import Additions, Memory, of_conflict, of_lesson
from patchmgr.services.work_area import Unfinished, Waiting, original

if TYPE_CHECKING:
    from patchmgr.store import Workspace

SolvedFiles = Mapping[str, Mapping[tuple[str, str], bytes | None]]
"""What a person made of files, by series, then by patch and path."""


def open_conflicts(memory: Memory, outcomes: Sequence[SeriesOutcome]) -> Additions:
    """Return what is to be put on record of the conflicts that a rebase leaves."""
    additions = Additions(memory)
    for outcome in outcomes:
        for patch in outcome.patches:
            for conflict in patch.conflicts if patch.verdict is Verdict.CONFLICT else ():
                for recorded in of_conflict(conflict, seen=f"{outcome.name}/{patch.name}"):
                    additions.add(recorded)
    return additions


def solved_in_work(
    workspace: Workspace, memory: Memory, unfinished: Unfinished, solved: SolvedFiles
) -> tuple[Additions, tuple[str, ...]]:
    """Return what a person's files teach, and a line for each thing that they do not."""
    additions = Additions(memory)
    missed: list[str] = []
    skipped = set(unfinished.skipped)
    for item in unfinished.waiting:
        files = solved.get(item.series, {})
        if (item.patch, item.path) not in files or (item.series, item.patch) in skipped:
            continue
        content = files[item.patch, item.path]
        for reason in _learn(workspace, memory, item, content, additions):
            missed.append(f"{item.series}/{item.patch}: {item.path}: not recorded: {reason}")
    return additions, tuple(missed)


def _learn(
    workspace: Workspace,
    memory: Memory,
    item: Waiting,
    content: bytes | None,
    additions: Additions,
) -> list[str]:
    seen = f"{item.series}/{item.patch}"
    resolution = Resolution(content, Origin.REBASE, seen)
    marked = original(workspace, item)
    if marked is None:
        known = memory.get(item.conflict) if item.conflict else None
        if known is None or known.kind is not Kind.FILE:
            return []
        return _told(additions.add(replace(known, resolution=resolution)))
    if content is None:
        return ["the file was deleted"]
    reasons: list[str] = []
    for found in compare(marked, content):
        if isinstance(found, Missed):
            reasons.append(f"{found.id}: {found.reason}")
        else:
            lesson = of_lesson(found, path=item.path, seen=seen, resolution=resolution)
            reasons += [f"{found.id}: {told}" for told in _told(additions.add(lesson))]
    return reasons


def _told(reason: str | None) -> list[str]:
    return [] if reason is None else [reason]


def closed_files(
    memory: Memory, opened: Sequence[str], kept: Additions | None = None
) -> dict[str, bytes | None]:
    """Return the files of conflicts that a rebase put on record and nobody has solved: to delete.

    A group goes where none of its parts is solved.
    """
    added = kept.recorded() if kept is not None else ()
    solved = {recorded.id for recorded in added if recorded.resolution is not None}
    files: dict[str, bytes | None] = {}
    for name in opened:
        known = memory.get(name)
        if known is None or known.resolution is not None or name in solved:
            continue
        parts = [memory.get(part) for part in known.parts]
        is_part_solved = any(
            part is not None and (part.resolution is not None or part.id in solved)
            for part in parts
        )
        if not is_part_solved:
            files.update(folder_files(name))
    return files


def folder_files(name: str) -> dict[str, bytes | None]:
    """Return the files of a conflict's folder, all of them to delete."""
    return {f"{CONFLICTS}/{name}/{file}": None for file in FILES}
