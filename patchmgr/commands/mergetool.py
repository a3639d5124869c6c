"""`mergetool`: resolve the conflicts of a rebase in progress with git's merge tool."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchmgr.commands.rebase import require_in_progress
from patchmgr.engines.text.marked import sides_of
from patchmgr.errors import UsageError
from patchmgr.model.recorded_conflict import RecordKind
from patchmgr.plumbing.outputs import write_output
from patchmgr.plumbing.programs import ToolFile, configured_settings, run_tool
from patchmgr.services.memory import Memory
from patchmgr.services.session import Session
from patchmgr.services.work_area import (
    Waiting,
    is_named,
    is_unresolved,
    original,
    read_work,
    work_file,
)
from patchmgr.workspace import Workspace


class ToolResult(Struct, frozen=True):
    """The files that this run resolved, and those still in conflict, as paths in the work area."""

    solved: tuple[str, ...]
    left: tuple[str, ...]


def run_mergetool(session: Session, names: Sequence[str], *, tool: str | None) -> ToolResult:
    """Open the merge tool for the named files, or for each file with conflict markers."""
    with session.writing():
        workspace = session.workspace
        chosen = _chosen(workspace, require_in_progress(session).waiting, names)
        settings = configured_settings(workspace.root)
        has_tool = tool is not None or any(name == "merge.tool" for name, _ in settings)
        if not has_tool:
            hint = "git config --global merge.tool vimdiff"
            raise UsageError(
                "git has no merge tool configured", hint, "or: patchmgr mergetool --tool TOOL"
            )
        if tool is not None and (not tool or tool.startswith("-") or not tool.isprintable()):
            raise UsageError(f"{tool!r} is not a valid merge tool name")
        if session.is_dry_run:
            return ToolResult((), tuple(item.file for item in chosen))
        solved: list[str] = []
        left: list[str] = []
        for item in chosen:
            is_done = _resolve(workspace, item, settings, tool)
            (solved if is_done else left).append(item.file)
        return ToolResult(tuple(solved), tuple(left))


def _chosen(
    workspace: Workspace, waiting: Sequence[Waiting], names: Sequence[str]
) -> tuple[Waiting, ...]:
    if not names:
        return tuple(item for item in waiting if is_unresolved(workspace, item))
    found: list[Waiting] = []
    for name in names:
        fitting = [item for item in waiting if is_named(workspace, item, [name])]
        if len(fitting) != 1:
            known = "; ".join(item.file for item in fitting or waiting)
            what = "matches several files" if fitting else "is not a file to resolve"
            raise UsageError(f"{name} {what}", f"files to resolve: {known}")
        found += fitting
    return tuple(found)


def _resolve(
    workspace: Workspace, item: Waiting, settings: tuple[tuple[str, str], ...], tool: str | None
) -> bool:
    """Run the tool on one file, save what it made, and return whether the file is resolved."""
    file, before = work_file(workspace, item), read_work(workspace, item)
    is_done, after = run_tool(_tool_file(workspace, item, before), settings, tool=tool)
    if not is_done:
        return False
    if after is None:
        file.unlink(missing_ok=True)
    elif after != before:
        write_output(file, after)
    return not is_unresolved(workspace, item)


def _tool_file(workspace: Workspace, item: Waiting, before: bytes | None) -> ToolFile:
    marked = original(workspace, item)
    if marked is not None:
        sides = sides_of(marked)
        return ToolFile(item.path, *sides, before)
    known = Memory(workspace).get(item.conflict)
    if known is None or known.kind is not RecordKind.FILE:
        hint = "resolve the file by hand, then run: patchmgr rebase --continue"
        raise UsageError(f"the versions of {item.file} to merge are not recorded", hint)
    return ToolFile(item.path, known.base, known.ours, known.theirs, before)
