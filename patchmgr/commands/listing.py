"""The lists, `show`, `files`, `changes`: where a series stands in a checkout, and what it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from msgspec import Struct

from patchmgr.engines.merge.edits import Edit, edits_of
from patchmgr.engines.series.fold import FileStep, step_patch
from patchmgr.engines.series.layers import State
from patchmgr.engines.series.picking import pick
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import Entry
from patchmgr.services.authoring import Asked, Desk, desk_of
from patchmgr.services.edits import edited_files, is_in, paths_of
from patchmgr.services.revising import chain_of, diffs_of
from patchmgr.services.session import Session


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


class Sign(str, Enum):
    """What a patch does to a file."""

    MADE = "+"
    CHANGED = "~"
    DELETED = "-"


class Touched(Struct, frozen=True, rename={"is_edited": "edited"}):
    """A file of a patch; `is_edited` says that it has edits that no patch has yet."""

    path: str
    sign: Sign
    is_edited: bool


class Files(Struct, frozen=True, rename={"rows": "files"}):
    """The files of one patch, those of its diff first and in the diff's order."""

    series: str
    patch: str
    rows: tuple[Touched, ...]


def files_of(session: Session, given: str | None, asked: Asked) -> Files:
    """Return the files of a patch, the top unless it is named; edits count as the top's."""
    with desk_of(session, asked, only_reads=True, at_any_place=True) as desk:
        name = desk.pick_or_top(given)
        patch = desk.patches[name]
        edits = edited_files(desk) if name == desk.top else {}
        signs = _signs(desk, patch, edits)
        order = [path for path in _paths(patch) if path in signs]
        order += sorted(signs.keys() - set(order))
        rows = tuple(Touched(path, signs[path], path in edits) for path in order)
        return Files(desk.name, name, rows)


def _paths(patch: Patch) -> tuple[str, ...]:
    """Return the paths that a patch makes, changes or deletes, each once."""
    both = ((change.old_path, change.new_path) for change in patch.files)
    return tuple(dict.fromkeys(path for pair in both for path in pair if path is not None))


def _signs(desk: Desk, patch: Patch, edits: Mapping[str, Entry | None]) -> dict[str, Sign]:
    """Return what a patch does to each file: on what is pushed below it, or as it says."""
    if patch.name not in desk.names:
        return _stated(patch)
    at = desk.names.index(patch.name)
    new = {**desk.states[at + 1], **edits}
    layer = desk.ground.between(patch.name, desk.states[at], new)
    return {path: _sign(*pair) for path, pair in layer.files.items()}


def _sign(before: Entry | None, after: Entry | None) -> Sign:
    if before is None:
        return Sign.MADE
    return Sign.CHANGED if after is not None else Sign.DELETED


def _stated(patch: Patch) -> dict[str, Sign]:
    signs: dict[str, Sign] = {}
    for change in patch.files:
        if change.old_path is not None and not change.is_copy:
            signs[change.old_path] = Sign.DELETED
        if change.new_path is not None:
            was_there = change.old_path == change.new_path
            signs[change.new_path] = Sign.CHANGED if was_there else Sign.MADE
    return signs


class Reach(Struct, frozen=True):
    """From where to where changes are looked at: before one pushed patch, behind another.

    Without a first one they begin behind the top, without a last one they end with the checkout
    as it is. What is reversed leads back.
    """

    since: str | None = None
    until: str | None = None
    is_reversed: bool = False


def changes(
    session: Session, given: Sequence[str], asked: Asked, *, reach: Reach, cwd: Path
) -> bytes:
    """Return the diff between two states of a checkout, as a patch would have it."""
    with desk_of(session, asked, only_reads=True, at_any_place=True) as desk:
        desk.need_checkout()
        paths = paths_of(desk, given, cwd)
        _check(desk, reach)
        old = _before(desk, reach.since)
        new = _behind(desk, reach.until, paths)
        if paths:
            old, new = (_only(desk, state, old, new, paths) for state in (old, new))
        if desk.ground.is_same(old, new):
            return b""
        return diffs_of(desk, (new, old) if reach.is_reversed else (old, new))[0]


def _check(desk: Desk, reach: Reach) -> None:
    """Refuse a reach whose first patch stands on its last one."""
    if reach.since is None or reach.until is None:
        return
    first, last = (desk.position(desk.pick(end)) for end in (reach.since, reach.until))
    if first > last:
        message = f"{shown(desk.names[first])} stands on {shown(desk.names[last])}"
        raise PatchmgrError("no-patch", message, ("name the lower one with --since",))


def _before(desk: Desk, since: str | None) -> State:
    return desk.state if since is None else desk.states[desk.position(desk.pick(since))]


def _behind(desk: Desk, until: str | None, paths: Sequence[str]) -> State:
    if until is not None:
        return desk.states[desk.position(desk.pick(until)) + 1]
    return {**desk.state, **edited_files(desk, paths)}


def _only(desk: Desk, state: State, old: State, new: State, paths: Sequence[str]) -> State:
    """Return a state of the named paths alone."""
    return {p: desk.ground.entry(state, p) for p in (*old, *new) if is_in(p, paths)}
