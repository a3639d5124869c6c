"""The log of operations, and what an undo did, as text and as JSON."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from patchmgr.model.operation import Operation, OperationKind
from patchmgr.render.clean import clean, counted
from patchmgr.render.machine import document, fields

if TYPE_CHECKING:
    from patchmgr.commands.history import Logged, Turn


def log_text(found: Logged, *, most: int) -> str:
    """Return a line an operation, newest first; `x` marks what was taken back."""
    lines = []
    for operation in reversed(found.operations[-most:] if most else found.operations):
        mark = "x" if operation.number in found.undone else " "
        at = time.strftime("%Y-%m-%d %H:%M", time.gmtime(operation.at))
        lines.append(f"{mark} {operation.number:5}  {at}  {clean(operation.command)}\n")
    return "".join(lines) or "nothing was changed yet\n"


def operation_text(operation: Operation) -> str:
    """Return what one operation touched."""
    at = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(operation.at))
    lines = [f"{operation.number}  {at}  {clean(operation.command)}"]
    if operation.of:
        verb = "takes back" if operation.kind is OperationKind.UNDO else "repeats"
        lines.append(f"  {verb} {', '.join(map(str, operation.of))}")
    lines += [f"  {_sign(f.before, f.after)} {clean(f.path)}" for f in operation.files]
    for target in operation.targets:
        lines.append(f"  in {clean(target.root)}")
        lines += [f"    {_sign(f.before, f.after)} {clean(f.path)}" for f in target.files]
    return "\n".join(lines) + "\n"


def _sign(before: object, after: object) -> str:
    return "A" if before is None else "D" if after is None else "M"


def log_document(found: Logged) -> str:
    """Return the log as JSON, oldest first."""
    return document(
        "log", operations=[_value(o, o.number in found.undone) for o in found.operations]
    )


def _value(operation: Operation, is_undone: bool) -> dict[str, Any]:
    return fields(
        operation,
        "number",
        "at",
        "command",
        "kind",
        "of",
        undone=is_undone,
        files=[{"path": f.path, "change": _sign(f.before, f.after)} for f in operation.files],
        targets=[
            {
                "root": target.root,
                "files": [
                    {"path": f.path, "change": _sign(f.before, f.after)} for f in target.files
                ],
            }
            for target in operation.targets
        ],
    )


def turn_text(done: Turn, *, is_dry_run: bool) -> str:
    """Return a line an operation, and what it touched."""
    verbs = {"redo": ("Would do again", "Did again")}
    verb = verbs.get(done.kind.value, ("Would undo", "Undid"))[not is_dry_run]
    lines = [f"{verb} {o.number}: {clean(o.command)}" for o in done.operations]
    counts = [(len(done.files), "the workspace")]
    counts += [(count, clean(root)) for root, count in done.targets]
    lines += [f"  {counted(count, 'file')} in {where}" for count, where in counts if count]
    return "\n".join(lines) + "\n"


def turn_value(done: Turn, *, is_dry_run: bool) -> dict[str, Any]:
    """Return what an undo did in plain values."""
    return {
        "dry_run": is_dry_run,
        "operations": [operation.number for operation in done.operations],
        "files": done.files,
        "targets": [{"root": root, "files": count} for root, count in done.targets],
    }
