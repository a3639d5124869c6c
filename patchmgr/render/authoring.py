"""The results of commands that edit patches, and of `log`, as text and as JSON data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from patchmgr.model.comparison import Sameness
from patchmgr.model.operation import Operation, OperationKind, TargetFileChange, WorkspaceFileChange
from patchmgr.model.patch import Patch
from patchmgr.render.escape import clean, counted, first_few
from patchmgr.render.machine import fields
from patchmgr.render.view import View

if TYPE_CHECKING:
    from patchmgr.commands.applied import Listing
    from patchmgr.commands.edit import Edited
    from patchmgr.commands.move import Moved
    from patchmgr.commands.push import Pushed
    from patchmgr.commands.refresh import Distributed, Refreshed
    from patchmgr.commands.series import Guarded
    from patchmgr.commands.show import PatchFiles
    from patchmgr.commands.undo import Logged, UndoResult
    from patchmgr.model.edits import FileEdits
    from patchmgr.services.revising import Revised


_HOW: Mapping[Sameness, str] = {
    Sameness.IDENTICAL: "nothing to refresh",
    Sameness.POSITION: "only line numbers changed",
    Sameness.CONTEXT: "only context changed",
    Sameness.CHANGED: "content changed",
}
_MOST = 10


def pushed_text(done: Pushed, view: View) -> Iterator[str]:
    """Yield one line per patch that was pushed or popped, and the name of the new top patch."""
    push, pop = view.verb("Would push", "Pushed"), view.verb("Would pop", "Popped")
    yield from (f"{pop} {clean(name)}" for name in done.popped)
    yield from (f"{push} {clean(name)}" for name in done.pushed)
    yield from (f"  left out {clean(one.name)}: {clean(one.reason)}" for one in done.hidden)
    yield from (f"  rejected hunks are in {clean(path)}" for path in done.rejects)
    if done.failure is not None:
        yield f"Stopped: {clean(done.failure.message)}"
    yield f"Top is {clean(done.top)}" if done.top else "No patch is pushed"


def refreshed_text(done: Refreshed, view: View) -> Iterator[str]:
    """Yield the result of `refresh`: what changed in the patch, and which files were left out."""
    verb = view.verb("Would refresh", "Refreshed")
    if done.change is not Sameness.IDENTICAL:
        yield f"{verb} {clean(done.patch)}: {_HOW[done.change]}"
    elif done.is_rewritten:
        yield f"{verb} {clean(done.patch)}: different form, same change"
    else:
        yield f"{clean(done.patch)}: {_HOW[done.change]}"
    yield from (f"  {clean(path)}" for path in done.paths)
    yield from (f"  later patch {clean(one.name)}: {_HOW[one.change]}" for one in done.others)
    yield from _untracked(done.untracked)


def _untracked(paths: Sequence[str]) -> list[str]:
    if not paths:
        return []
    return [
        f"Left out, because git does not track them: {first_few([*map(clean, paths)], _MOST)}",
        "  to include a file: patchmgr refresh PATH, or git add -N PATH",
    ]


def distributed_text(done: Distributed, view: View) -> Iterator[str]:
    """Yield the result of `refresh --auto`: the patches that changed, and the edits left over."""
    verb = view.verb("Would refresh", "Refreshed")
    yield from (f"{verb} {clean(one.name)}: {_HOW[one.change]}" for one in done.patches)
    yield from (f"  later patch {clean(one.name)}: {_HOW[one.change]}" for one in done.others)
    for one in done.left:
        where = clean(one.path) + (f":{one.line}" if one.line is not None else "")
        yield f"Not in a patch yet: {where}  ({clean(one.reason)})"
    if done.left:
        yield "  to add a file to a patch: patchmgr refresh --patch PATCH PATH"
    if not (done.patches or done.others or done.left):
        yield "Nothing was edited."
    yield from _untracked(done.untracked)


def revised_text(done: Revised, view: View) -> Iterator[str]:
    """Yield the names of the dropped and rewritten patches, then all patches in series order."""
    drop, rewrite = view.verb("Would drop", "Dropped"), view.verb("Would rewrite", "Rewrote")
    yield from (f"{drop} {clean(name)}" for name in done.dropped)
    yield from (f"{rewrite} {clean(name)}" for name in done.rewritten)
    pushed = set(done.pushed)
    top = done.pushed[-1] if done.pushed else None
    for number, name in enumerate(done.patches, 1):
        mark = ">" if name == top else "+" if name in pushed else " "
        yield f"{mark} {number:3} {clean(name)}"


def moved_text(done: Moved, view: View) -> Iterator[str]:
    """Yield one line that names a moved patch, its old series and its new one."""
    verb = view.verb("Would move", "Moved")
    yield f"{verb} {clean(done.patch)} from {clean(done.source)} to {clean(done.target)}"


def edited_header_text(done: Edited, view: View) -> Iterator[str]:
    """Yield the result of `edit` or `rename`: the new subject or name, or that nothing changed."""
    if not done.is_changed:
        yield f"{clean(done.patch)} is unchanged"
        return
    if done.patch != done.old_name:
        verb = view.verb("Would rename", "Renamed")
        yield f"{verb} {clean(done.old_name)} to {clean(done.patch)}"
        return
    verb = view.verb("Would edit", "Edited")
    yield f"{verb} {clean(done.patch)}: {clean(done.subject)}"


def listing_text(found: Listing) -> Iterator[str]:
    """Yield one line per patch, with StGit's mark (`+`, `>`, `-` or `!`) before the name."""
    for row in found.patches:
        guards = f"  {clean(' '.join(row.guards))}" if row.guards else ""
        why = f"  ({clean(row.reason)})" if row.reason else ""
        yield f"{row.mark.value} {clean(row.name)}{guards}{why}"


def edits_text(patch: Patch, files: Sequence[FileEdits]) -> Iterator[str]:
    """Yield a description of a patch: for each file its path, then one line per edit."""
    yield f"{clean(patch.name)}: {clean(patch.subject)}"
    for file in files:
        yield ""
        yield clean(file.path)
        yield from (f"  {clean(str(edit))}" for edit in file.edits)


def patch_value(patch: Patch, files: Sequence[FileEdits] | None = None) -> dict[str, Any]:
    """Return a patch as JSON data, with descriptions of its edits if `files` is given."""
    author = patch.author
    value = {
        "patch": patch.name,
        "subject": patch.subject,
        "author": f"{author.name} <{author.email}>" if author else None,
        "fields": dict(patch.fields),
        "paths": list(patch.paths()),
        "header": patch.header.decode("utf-8", "backslashreplace"),
        "diff": patch.diff.decode("utf-8", "backslashreplace"),
    }
    if files is None:
        return value
    edits = [
        {"path": file.path, "symbol": edit.symbol or None, "text": edit.words}
        for file in files
        for edit in file.edits
    ]
    return {**value, "edits": edits}


def guards_text(found: Guarded) -> Iterator[str]:
    """Yield one line per patch: its name, its guards, and those of its groups that are off."""
    for line in found.lines:
        words = " ".join(str(guard).removeprefix("#") for guard in line.guards) or "no guards"
        off = "".join(f"  (group {clean(group)} is off)" for group in line.off)
        yield f"{clean(str(line.name))}  {clean(words)}{off}"
    if not found.lines:
        yield f"{found.series} has no guards"


def guards_value(found: Guarded) -> list[dict[str, Any]]:
    """Return the guards of each patch as JSON data."""
    return [
        fields(line, "name", "off", guards=[str(guard).removeprefix("#") for guard in line.guards])
        for line in found.lines
    ]


def files_text(found: PatchFiles) -> Iterator[str]:
    """Yield one line per file of a patch, with `+`, `~` or `-` before the path."""
    for row in found.files:
        edited = "  (edited)" if row.is_edited else ""
        yield f"{row.sign.value} {clean(row.path)}{edited}"


def log_text(found: Logged) -> Iterator[str]:
    """Yield one line per operation, newest first; `x` marks undone operations."""
    for operation in reversed(found.operations):
        mark = "x" if operation.number in found.undone else " "
        at = time.strftime("%Y-%m-%d %H:%M", time.gmtime(operation.at))
        yield f"{mark} {operation.number:5}  {at}  {clean(operation.command)}"
    if not found.operations:
        yield "no operations yet"


def operation_text(operation: Operation) -> Iterator[str]:
    """Yield an operation of the log, with the files that it changed."""
    at = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(operation.at))
    yield f"{operation.number}  {at}  {clean(operation.command)}"
    if operation.of:
        verb = "undoes" if operation.kind is OperationKind.UNDO else "redoes"
        yield f"  {verb} {', '.join(map(str, operation.of))}"
    yield from (f"  {_sign(f.before, f.after)} {clean(f.path)}" for f in operation.files)
    for target in operation.targets:
        yield f"  in {clean(target.root)}"
        yield from (f"    {_sign(f.before, f.after)} {clean(f.path)}" for f in target.files)


def _sign(before: object, after: object) -> str:
    return "A" if before is None else "D" if after is None else "M"


def log_value(found: Logged) -> list[dict[str, Any]]:
    """Return the operations of the log as JSON data, oldest first."""
    return [
        fields(
            operation,
            *("number", "at", "command", "kind", "of"),
            undone=operation.number in found.undone,
            files=_changed_files(operation.files),
            targets=[
                {"root": target.root, "files": _changed_files(target.files)}
                for target in operation.targets
            ],
        )
        for operation in found.operations
    ]


def _changed_files(files: Sequence[WorkspaceFileChange | TargetFileChange]) -> list[dict[str, str]]:
    return [{"path": f.path, "change": _sign(f.before, f.after)} for f in files]


def undo_text(done: UndoResult, view: View) -> Iterator[str]:
    """Yield the result of `undo` or `redo`: the operations, and the numbers of changed files."""
    is_redo = done.kind.value == "redo"
    verb = view.verb("Would redo", "Redid") if is_redo else view.verb("Would undo", "Undid")
    yield from (f"{verb} {o.number}: {clean(o.command)}" for o in done.operations)
    counts = [(len(done.files), "the workspace")]
    counts += [(count, clean(root)) for root, count in done.targets]
    yield from (f"  {counted(count, 'file')} in {where}" for count, where in counts if count)


def undo_value(done: UndoResult) -> dict[str, Any]:
    """Return the result of `undo` or `redo` as JSON data."""
    return {
        "operations": [operation.number for operation in done.operations],
        "files": done.files,
        "targets": [{"root": root, "files": count} for root, count in done.targets],
    }
