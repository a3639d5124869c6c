"""What the authoring commands did, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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


def pushed_text(done: Pushed, *, is_dry_run: bool) -> str:
    """Return a line a patch that came or went, and what is the top now."""
    would = "Would " if is_dry_run else ""
    push, pop = (f"{would}push", f"{would}pop") if is_dry_run else ("Pushed", "Popped")
    lines = [f"{pop} {clean(name)}" for name in done.went]
    lines += [f"{push} {clean(name)}" for name in done.came]
    lines += [f"  passed over {clean(name)}: {clean(why)}" for name, why in done.hidden]
    lines += [f"  hunks without a place are in {clean(path)}" for path in done.rejects]
    if done.failure is not None:
        lines.append(f"Stopped: {clean(done.failure.message)}")
    lines.append(f"Top is {clean(done.top)}" if done.top else "No patch is pushed")
    return "\n".join(lines) + "\n"


def pushed_document(done: Pushed, command: str, *, is_dry_run: bool) -> str:
    """Return what was pushed or popped as JSON."""
    return document(
        command,
        dry_run=is_dry_run,
        target=str(done.target),
        pushed=done.came,
        popped=done.went,
        hidden=[{"name": name, "reason": why} for name, why in done.hidden],
        failure=done.failure.message if done.failure is not None else None,
        **fields(done, "series", "top", "rejects"),
    )


def refreshed_text(done: Refreshed, *, is_dry_run: bool) -> str:
    """Return what changed in a patch, and which files are not in."""
    verb = "Would refresh" if is_dry_run else "Refreshed"
    lines = [f"{verb} {clean(done.patch)}: {_HOW[done.sameness]}"]
    if done.sameness is Sameness.IDENTICAL:
        lines = [f"{clean(done.patch)}: {_HOW[done.sameness]}"]
        if done.is_rewritten:
            lines = [f"{verb} {clean(done.patch)}: another form, the same change"]
    lines += [f"  {clean(path)}" for path in done.paths]
    lines += [f"  {clean(name)} after it: {_HOW[same]}" for name, same in done.others]
    if done.untracked:
        names = ", ".join(clean(path) for path in done.untracked[:_MOST])
        more = len(done.untracked) - _MOST
        tail = f" and {more} more" if more > 0 else ""
        lines.append(f"Not in, for git does not track them: {names}{tail}")
        lines.append("  put one in with: patchmgr refresh PATH, or git add -N PATH")
    return "\n".join(lines) + "\n"


def refreshed_document(done: Refreshed, *, is_dry_run: bool) -> str:
    """Return what changed in a patch as JSON."""
    return document(
        "refresh",
        dry_run=is_dry_run,
        change=done.sameness,
        others=[{"name": name, "change": same.value} for name, same in done.others],
        rewritten=done.is_rewritten,
        **fields(done, "series", "patch", "paths", "untracked"),
    )


def arranged_text(done: Arranged, *, is_dry_run: bool) -> str:
    """Return what became of the series."""
    would = "Would " if is_dry_run else ""
    drop, rewrite = ("drop", "rewrite") if is_dry_run else ("Dropped", "Rewrote")
    lines = [f"{would}{drop} {clean(name)}" for name in done.gone]
    lines += [f"{would}{rewrite} {clean(name)}" for name in done.rewritten]
    pushed = set(done.pushed)
    top = done.pushed[-1] if done.pushed else None
    for number, name in enumerate(done.order, 1):
        mark = ">" if name == top else "+" if name in pushed else " "
        lines.append(f"{mark} {number:3} {clean(name)}")
    return "\n".join(lines) + "\n"


def arranged_document(done: Arranged, command: str, *, is_dry_run: bool) -> str:
    """Return what became of the series as JSON."""
    return document(
        command,
        dry_run=is_dry_run,
        patches=done.order,
        dropped=done.gone,
        **fields(done, "series", "pushed", "rewritten"),
    )


def crossed_text(done: Crossed, *, is_dry_run: bool) -> str:
    """Return which patch went where."""
    verb = "Would move" if is_dry_run else "Moved"
    return f"{verb} {clean(done.patch)} from {clean(done.source)} to {clean(done.target)}\n"


def crossed_document(done: Crossed, *, is_dry_run: bool) -> str:
    """Return which patch went where as JSON."""
    return document("move", dry_run=is_dry_run, **fields(done, "patch", "source", "target"))


def headed_text(done: Headed, *, is_dry_run: bool) -> str:
    """Return the new name or subject."""
    if not done.is_changed:
        return f"{clean(done.name)} is as it was\n"
    if done.name != done.old_name:
        verb = "Would rename" if is_dry_run else "Renamed"
        return f"{verb} {clean(done.old_name)} to {clean(done.name)}\n"
    verb = "Would edit" if is_dry_run else "Edited"
    return f"{verb} {clean(done.name)}: {clean(done.subject)}\n"


def headed_document(done: Headed, command: str, *, is_dry_run: bool) -> str:
    """Return the new name or subject as JSON."""
    return document(
        command,
        dry_run=is_dry_run,
        patch=done.name,
        changed=done.is_changed,
        **fields(done, "series", "old_name", "subject"),
    )


def listing_text(found: Listing) -> str:
    """Return a line a patch, with StGit's sign before its name."""
    lines = []
    for row in found.rows:
        guards = f"  {clean(row.guards)}" if row.guards else ""
        why = f"  ({clean(row.reason)})" if row.reason else ""
        lines.append(f"{row.mark.value} {clean(row.name)}{guards}{why}\n")
    return "".join(lines)


def listing_document(found: Listing, command: str) -> str:
    """Return the list as JSON."""
    return document(
        command,
        series=found.series,
        target=None if found.target is None else str(found.target),
        patches=[
            fields(row, "name", "number", "mark", "subject", "reason", guards=row.guards.split())
            for row in found.rows
        ],
    )


def name_document(name: str, command: str) -> str:
    """Return the name of one patch as JSON."""
    return document(command, patch=name)


def edits_text(patch: Patch, files: Sequence[FileEdits]) -> str:
    """Return what a patch changes, in words: a line an edit, below the file's path."""
    lines = [f"{clean(patch.name)}: {clean(patch.subject)}"]
    for file in files:
        lines += ["", clean(file.path), *(f"  {clean(str(edit))}" for edit in file.edits)]
    return "".join(f"{line}\n" for line in lines)


def patch_document(patch: Patch, files: Sequence[FileEdits] | None = None) -> str:
    """Return a patch as JSON, with the edits of its files where they were asked for."""
    author = patch.author
    edits = [
        {"path": file.path, "symbol": edit.symbol or None, "text": edit.words}
        for file in files or ()
        for edit in file.edits
    ]
    return document(
        "show",
        patch=patch.name,
        subject=patch.subject,
        author=f"{author.name} <{author.email}>" if author else None,
        fields=dict(patch.fields),
        paths=list(patch.paths()),
        header=patch.header.decode("utf-8", "backslashreplace"),
        diff=patch.diff.decode("utf-8", "backslashreplace"),
        **({} if files is None else {"edits": edits}),
    )


def guards_text(found: Guarded) -> str:
    """Return a line a patch with its guards, and the groups that keep it out."""
    lines = []
    for line in found.lines:
        words = " ".join(str(guard).removeprefix("#") for guard in line.guards) or "no guards"
        off = "".join(f"  (group {clean(group)} is off)" for group in line.off)
        lines.append(f"{clean(str(line.name))}  {clean(words)}{off}\n")
    return "".join(lines) or f"{found.series} has {counted(0, 'guard')}\n"


def guards_document(found: Guarded, *, is_dry_run: bool) -> str:
    """Return the guards as JSON."""
    return document(
        "series guard",
        dry_run=is_dry_run,
        series=found.series,
        patches=[
            {
                "name": line.name,
                "guards": [str(guard).removeprefix("#") for guard in line.guards],
                "off": line.off,
            }
            for line in found.lines
        ],
    )
