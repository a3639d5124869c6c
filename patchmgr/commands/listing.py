"""`applied`, `unapplied`, `top`, `next`, `prev`, `show`: where a series stands in a checkout."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.desk import Asked, Desk, desk_of
from patchmgr.commands.revising import chain_of
from patchmgr.commands.session import Session
from patchmgr.engines.fold import FileStep, step_patch
from patchmgr.engines.merge.edits import Edit, edits_of
from patchmgr.engines.picking import pick
from patchmgr.errors import PatchmgrError
from patchmgr.model.patch import Patch


class Mark(str, Enum):
    """How a patch stands, in the signs of StGit."""

    TOP = ">"
    PUSHED = "+"
    UNPUSHED = "-"
    HIDDEN = "!"


class Row(Struct, frozen=True):
    """A patch of a list: `number` is its place in the series from 1, `reason` why it is hidden."""

    name: str
    number: int
    mark: Mark
    subject: str
    guards: tuple[str, ...]
    reason: str | None


class Listing(Struct, frozen=True, rename={"rows": "patches"}):
    """Patches of a series in order, and the checkout that they are pushed to, if there is one."""

    series: str
    target: Path | None
    rows: tuple[Row, ...]


def listing(session: Session, asked: Asked) -> Listing:
    """Return all patches of a series with how each stands."""
    with desk_of(session, asked, only_reads=True) as desk:
        target = desk.checkout.root if desk.checkout is not None and desk.applied else None
        return Listing(desk.name, target, rows_of(desk))


def unpushed_listing(session: Session, asked: Asked) -> Listing:
    """Return the patches that are not pushed."""
    found = listing(session, asked)
    rows = tuple(row for row in found.rows if row.mark in (Mark.UNPUSHED, Mark.HIDDEN))
    return Listing(found.series, found.target, rows)


def pushed_listing(session: Session, asked: Asked) -> Listing:
    """Return the pushed patches, lowest first, wherever the series file has them by now."""
    with desk_of(session, asked, only_reads=True, at_any_place=True) as desk:
        target = desk.checkout.root if desk.checkout is not None and desk.applied else None
        rows = {row.name: row for row in rows_of(desk)}
        return Listing(desk.name, target, tuple(rows[name] for name in desk.names))


def rows_of(desk: Desk) -> tuple[Row, ...]:
    """Return a row a patch."""
    guards = {line.name: tuple(map(str, line.guards)) for line in desk.file.lines}
    return tuple(
        Row(
            name,
            number,
            _mark(desk, name),
            desk.patches[name].subject,
            guards.get(name, ()),
            None if name in desk.names else desk.hidden.get(name),
        )
        for number, name in enumerate(desk.file.names(), 1)
    )


def _mark(desk: Desk, name: str) -> Mark:
    if name == desk.top:
        return Mark.TOP
    if name in desk.names:
        return Mark.PUSHED
    return Mark.HIDDEN if name in desk.hidden else Mark.UNPUSHED


def neighbour(found: Listing, given: str | None, *, step: int) -> str:
    """Return the patch that comes next behind one (the top, if none is named), or before it.

    Raises PatchmgrError "no-patch" where there is none.
    """
    rows = [row.name for row in found.rows if row.mark is not Mark.HIDDEN]
    top = next((row.name for row in found.rows if row.mark is Mark.TOP), None)
    names = [row.name for row in found.rows]
    start = top if given is None else pick(given, names, series=found.series)
    if start is None and step <= 0:
        raise PatchmgrError("no-patch", f"no patch of {found.series} is pushed", ("patchmgr push",))
    at = (rows.index(start) if start in rows else -1) + step
    if not 0 <= at < len(rows):
        where = "before the first" if step < 0 else "after the last"
        raise PatchmgrError("no-patch", f"there is no patch {where} one")
    return rows[at]


class FileEdits(Struct, frozen=True):
    """What a patch does to a file, edit by edit."""

    path: str
    edits: tuple[Edit, ...]


def shown_patch(session: Session, given: str | None, asked: Asked) -> Patch:
    """Return a patch of a series, the top unless it is named."""
    with desk_of(session, asked, only_reads=True, at_any_place=True) as desk:
        return desk.patches[desk.pick_or_top(given)]


def shown_edits(
    session: Session, given: str | None, asked: Asked
) -> tuple[Patch, tuple[FileEdits, ...]]:
    """Return a patch of a series, the top unless it is named, and its edits by file."""
    with desk_of(session, asked, only_reads=True, at_any_place=True) as desk:
        patch = desk.patches[desk.pick_or_top(given)]
        chain = chain_of(desk)
        before = desk.ground.overlay(chain.states[chain.position(patch.name)])
        return patch, tuple(
            _file_edits(desk, step) for step in step_patch(before, patch, desk.bench)
        )


def _file_edits(desk: Desk, step: FileStep) -> FileEdits:
    change, path = step.change, step.change.path
    edits: list[Edit] = []
    if step.base is None:
        edits.append(Edit("", "add the file"))
    elif step.theirs is None:
        edits.append(Edit("", "delete the file"))
    else:
        if change.old_path != change.new_path:
            edits.append(Edit("", f"move it here from {change.old_path}"))
        if step.base.mode != step.theirs.mode:
            edits.append(Edit("", f"change its mode to {step.theirs.mode}"))
        texts = [desk.bench.read(entry.blob) for entry in (step.base, step.theirs)]
        if change.binary is not None or any(b"\0" in text for text in texts):
            edits.append(Edit("", "replace its content, which is binary"))
        elif change.hunks:
            base, theirs = (text.decode("utf-8", "surrogateescape") for text in texts)
            edits += edits_of(base, theirs, path)
    return FileEdits(path, tuple(edits))
