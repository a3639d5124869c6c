"""`files`: list the files of a patch."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import Entry
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, edited_files, opened_series
from patchmgr.services.session import Session


class Sign(str, Enum):
    """What a patch does to a file."""

    MADE = "+"
    CHANGED = "~"
    DELETED = "-"


class Touched(Struct, frozen=True, rename={"is_edited": "edited"}):
    """A file of a patch; `is_edited` says whether it has edits that are not in the patch yet."""

    path: str
    sign: Sign
    is_edited: bool


class PatchFiles(Struct, frozen=True, rename={"rows": "files"}):
    """The files of one patch: first the files in its diff, then other edited files."""

    series: str
    patch: str
    rows: tuple[Touched, ...]


def files_of(session: Session, given: str | None, options: CheckoutOptions) -> PatchFiles:
    """Return the files of a patch (by default the top).

    For the top patch, files with edits that are not refreshed yet are included.
    """
    with opened_series(session, options, only_reads=True, at_any_place=True) as opened:
        name = opened.pick_or_top(given)
        patch = opened.patches[name]
        edits = edited_files(opened) if name == opened.top else {}
        signs = _signs(opened, patch, edits)
        order = [path for path in _paths(patch) if path in signs]
        order += sorted(signs.keys() - set(order))
        rows = tuple(Touched(path, signs[path], path in edits) for path in order)
        return PatchFiles(opened.name, name, rows)


def _paths(patch: Patch) -> tuple[str, ...]:
    """Return the paths that a patch creates, changes or deletes, without repetitions."""
    both = ((change.old_path, change.new_path) for change in patch.files)
    return tuple(dict.fromkeys(path for pair in both for path in pair if path is not None))


def _signs(opened: OpenSeries, patch: Patch, edits: Mapping[str, Entry | None]) -> dict[str, Sign]:
    """Map each path to what a patch does to the file.

    For a pushed patch, the states before and after it are compared; for any other patch, the diff
    is read.
    """
    if patch.name not in opened.names:
        return _stated(patch)
    at = opened.names.index(patch.name)
    new = {**opened.states[at + 1], **edits}
    layer = opened.ground.between(patch.name, opened.states[at], new)
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
