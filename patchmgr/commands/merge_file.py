"""`merge-file` and git's merge driver: merge one file that is not part of a series."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from patchmgr.engines.rebase.crosscheck import check_file
from patchmgr.engines.rebase.rungs import Solved, solve_text
from patchmgr.engines.rebase.work import Mergers
from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import How, Reliability, Suggestion
from patchmgr.plumbing.answer_cache import Answers
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.formatters import TreeFormatter, work_tree_reader
from patchmgr.plumbing.merge_process import MergeProcess
from patchmgr.plumbing.outputs import read_named, write_output
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.text_merge import GitTextMerge
from patchmgr.services.memory import Memory
from patchmgr.workspace import Workspace, find_workspace


class MergedFile(Struct, frozen=True):
    """The result of a merge, and the bytes to write for it."""

    path: str
    content: bytes  # without conflict markers if the file is binary
    how: How | None  # None if a conflict remains
    used: tuple[str, ...]  # ids of replayed resolutions
    reliability: tuple[Reliability, ...] = ()  # of each region of a structural merge
    # in a conflict: the candidates of each region, the likeliest first
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()
    is_binary: bool = False
    notes: tuple[str, ...] = ()  # in a conflict: formatters that are missing
    warnings: tuple[str, ...] = ()  # what is suspicious in a clean merge


def near_workspace(start: Path, *, is_named: bool) -> Workspace | None:
    """Return the workspace around a folder, or None if there is none (an error if `is_named`)."""
    try:
        return find_workspace(start)
    except PatchmgrError:
        if is_named:
            raise
        return None


def merge_file(
    sides: Sequence[Path],
    path: str,
    *,
    upstream: str,
    workspace: Workspace | None,
    confidence: int | None = None,
) -> MergedFile:
    """Merge the files base, ours and theirs (`sides`) without writing anything.

    `upstream` is the side that is upstream's, "ours" or "theirs". A binary conflict keeps ours, as
    in git. A structural merge is used only if its rule was right in at least
    `confidence` percent of known cases.
    """
    base, ours, theirs = map(read_named, sides)
    is_upstream_ours = upstream == "ours"
    new, fork = (ours, theirs) if is_upstream_ours else (theirs, ours)
    recall = None if workspace is None else Memory(workspace)
    structure = MergeProcess(answers=Answers(), confidence=confidence)
    # for the settings of formatters
    read = work_tree_reader(Path.cwd())
    scratch = Scratch.outside()
    with closing(structure), scratch, Toolbox() as formatters:
        result = solve_text(
            base,
            new,
            fork,
            path,
            mergers=Mergers(
                text=GitTextMerge(scratch),
                recall=recall,
                structure=structure,
                formatter=None if read is None else TreeFormatter(read, formatters),
            ),
            is_upstream_ours=is_upstream_ours,
        )
        if isinstance(result, Solved):
            texts = (base, new, fork)
            warnings = check_file(texts, result.content, path, suspect=structure.suspect)
            return MergedFile(
                path, result.content, result.how, result.used, result.reliability, warnings=warnings
            )
    content = ours if result.marked is None else result.marked
    return MergedFile(
        path, content, None, result.used, suggestions=result.suggestions,
        is_binary=result.marked is None, notes=formatters.notes((path,)),
    )  # fmt: skip


def drive(
    sides: Sequence[Path], path: str, *, upstream: str, workspace: Workspace | None
) -> tuple[MergedFile, str | None]:
    """Merge three files for git, write the result to ours, and return (result, warning)."""
    problem = None
    try:
        merged = merge_file(sides, path, upstream=upstream, workspace=workspace)
    except PatchmgrError as fault:
        if workspace is None:
            raise
        # the workspace's records are malformed: none of them is used
        problem = fault.message
        merged = merge_file(sides, path, upstream=upstream, workspace=None)
    write_output(sides[1], merged.content)
    return merged, problem
