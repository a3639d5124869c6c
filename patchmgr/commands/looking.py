"""`files` and `changes`: what patches and edits do to the files of a checkout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.desk import Asked, Desk, desk_of
from patchmgr.commands.edits import edited_files, is_in, paths_of
from patchmgr.commands.revising import diffs_of
from patchmgr.commands.session import Session
from patchmgr.engines.layers import State
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import Entry


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
