"""What the authoring commands did, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from patchmgr.model.comparison import Sameness
from patchmgr.model.patch import Patch
from patchmgr.render.clean import clean, counted
from patchmgr.render.machine import document, fields

if TYPE_CHECKING:
    from patchmgr.commands.arranging import Arranged
    from patchmgr.commands.crossing import Crossed
    from patchmgr.commands.guarding import Guarded
    from patchmgr.commands.heading import Headed
    from patchmgr.commands.listing import FileEdits, Listing
    from patchmgr.commands.pushing import Pushed
    from patchmgr.commands.refreshing import Refreshed

_HOW: Mapping[Sameness, str] = {
    Sameness.IDENTICAL: "nothing to refresh",
    Sameness.POSITION: "positions only",
    Sameness.CONTEXT: "context only",
    Sameness.CHANGED: "content changed",
}
_MOST = 10


def pushed_text(done: Pushed) -> str:
    """Return a line a patch that came or went, and what is the top now."""
    would = "Would " if done.is_dry_run else ""
    push, pop = (f"{would}push", f"{would}pop") if done.is_dry_run else ("Pushed", "Popped")
    lines = [f"{pop} {clean(name)}" for name in done.went]
    lines += [f"{push} {clean(name)}" for name in done.came]
    lines += [f"  passed over {clean(one.name)}: {clean(one.reason)}" for one in done.hidden]
    lines += [f"  hunks without a place are in {clean(path)}" for path in done.rejects]
    if done.failure is not None:
        lines.append(f"Stopped: {clean(done.failure.message)}")
    lines.append(f"Top is {clean(done.top)}" if done.top else "No patch is pushed")
    return "\n".join(lines) + "\n"


def refreshed_text(done: Refreshed) -> str:
    """Return what changed in a patch, and which files are not in."""
    verb = "Would refresh" if done.is_dry_run else "Refreshed"
    lines = [f"{verb} {clean(done.patch)}: {_HOW[done.sameness]}"]
    if done.sameness is Sameness.IDENTICAL:
        lines = [f"{clean(done.patch)}: {_HOW[done.sameness]}"]
        if done.is_rewritten:
            lines = [f"{verb} {clean(done.patch)}: another form, the same change"]
    lines += [f"  {clean(path)}" for path in done.paths]
    lines += [f"  {clean(one.name)} after it: {_HOW[one.change]}" for one in done.others]
    if done.untracked:
        names = ", ".join(clean(path) for path in done.untracked[:_MOST])
        more = len(done.untracked) - _MOST
        tail = f" and {more} more" if more > 0 else ""
        lines.append(f"Not in, for git does not track them: {names}{tail}")
        lines.append("  put one in with: patchmgr refresh PATH, or git add -N PATH")
    return "\n".join(lines) + "\n"


def arranged_text(done: Arranged) -> str:
    """Return what became of the series."""
    would = "Would " if done.is_dry_run else ""
    drop, rewrite = ("drop", "rewrite") if done.is_dry_run else ("Dropped", "Rewrote")
    lines = [f"{would}{drop} {clean(name)}" for name in done.gone]
    lines += [f"{would}{rewrite} {clean(name)}" for name in done.rewritten]
    pushed = set(done.pushed)
    top = done.pushed[-1] if done.pushed else None
    for number, name in enumerate(done.order, 1):
        mark = ">" if name == top else "+" if name in pushed else " "
        lines.append(f"{mark} {number:3} {clean(name)}")
    return "\n".join(lines) + "\n"


def crossed_text(done: Crossed) -> str:
    """Return which patch went where."""
    verb = "Would move" if done.is_dry_run else "Moved"
    return f"{verb} {clean(done.patch)} from {clean(done.source)} to {clean(done.target)}\n"


def headed_text(done: Headed) -> str:
    """Return the new name or subject."""
    if not done.is_changed:
        return f"{clean(done.name)} is as it was\n"
    if done.name != done.old_name:
        verb = "Would rename" if done.is_dry_run else "Renamed"
        return f"{verb} {clean(done.old_name)} to {clean(done.name)}\n"
    verb = "Would edit" if done.is_dry_run else "Edited"
    return f"{verb} {clean(done.name)}: {clean(done.subject)}\n"


def listing_text(found: Listing) -> str:
    """Return a line a patch, with StGit's sign before its name."""
    lines = []
    for row in found.rows:
        guards = f"  {clean(' '.join(row.guards))}" if row.guards else ""
        why = f"  ({clean(row.reason)})" if row.reason else ""
        lines.append(f"{row.mark.value} {clean(row.name)}{guards}{why}\n")
    return "".join(lines)


def edits_text(patch: Patch, files: Sequence[FileEdits]) -> str:
    """Return what a patch changes, in words: a line an edit, below the file's path."""
    lines = [f"{clean(patch.name)}: {clean(patch.subject)}"]
    for file in files:
        lines += ["", clean(file.path), *(f"  {clean(str(edit))}" for edit in file.edits)]
    return "".join(f"{line}\n" for line in lines)


def patch_document(patch: Patch, files: Sequence[FileEdits] | None = None) -> str:
    """Return a patch as JSON, with the edits of its files where they were asked for."""
    author = patch.author
    edits: list[dict[str, Any]] = [
        {"path": file.path, "symbol": edit.symbol or None, "text": edit.words}
        for file in files or ()
        for edit in file.edits
    ]
    more: dict[str, Any] = {} if files is None else {"edits": edits}
    return document(
        "show",
        patch=patch.name,
        subject=patch.subject,
        author=f"{author.name} <{author.email}>" if author else None,
        fields=dict(patch.fields),
        paths=list(patch.paths()),
        header=patch.header.decode("utf-8", "backslashreplace"),
        diff=patch.diff.decode("utf-8", "backslashreplace"),
        **more,
    )


def guards_text(found: Guarded) -> str:
    """Return a line a patch with its guards, and the groups that keep it out."""
    lines = []
    for line in found.lines:
        words = " ".join(str(guard).removeprefix("#") for guard in line.guards) or "no guards"
        off = "".join(f"  (group {clean(group)} is off)" for group in line.off)
        lines.append(f"{clean(str(line.name))}  {clean(words)}{off}\n")
    return "".join(lines) or f"{found.series} has {counted(0, 'guard')}\n"


def guards_value(found: Guarded) -> list[dict[str, Any]]:
    """Return the guards of each patch in plain values."""
    return [
        fields(line, "name", "off", guards=[str(guard).removeprefix("#") for guard in line.guards])
        for line in found.lines
    ]
