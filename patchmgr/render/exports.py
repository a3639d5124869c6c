"""What `export` wrote, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from patchmgr.render.clean import clean, counted
from patchmgr.render.machine import document

if TYPE_CHECKING:
    from patchmgr.commands.exports import Exported


def exported_text(done: Exported) -> str:
    """Return where the series is now, and a line for each patch that is not there as it was."""
    place, number = clean(str(done.asked.place)), len(done.delivered.written)
    verb = "Would export" if done.asked.is_dry_run else "Exported"
    what = f"{counted(len(done.patches), 'patch')} of {done.series} as {done.asked.form}"
    write, delete = ("to write", "to delete") if done.asked.is_dry_run else ("written", "deleted")
    change = f"{counted(number, 'file')} {write}" if number else "nothing to write"
    if done.delivered.deleted:
        change += f", {len(done.delivered.deleted)} {delete}"
    lines = [f"{verb} {what} to {place} ({change})"]
    if len(done.rewritten) > 1 and done.rewritten == done.patches:
        lines.append("  rewritten  all of them")
    else:
        lines += [f"  rewritten  {clean(name)}" for name in done.rewritten]
    lines += [f"  left out   {clean(name)}: {clean(reason)}" for name, reason in done.skipped]
    return "\n".join(lines) + "\n"


def exported_document(done: Exported) -> str:
    """Return the same as JSON."""
    return document(
        "export",
        dry_run=done.asked.is_dry_run,
        series=done.series,
        form=done.asked.form,
        out=str(done.asked.place),
        files=done.files,
        written=done.delivered.written,
        deleted=done.delivered.deleted,
        left=done.delivered.left,
        patches=[{"name": name, "kept": name not in done.rewritten} for name in done.patches],
        skipped=[{"name": name, "reason": reason} for name, reason in done.skipped],
    )
