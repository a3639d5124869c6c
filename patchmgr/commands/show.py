"""`show`, `files` and `changes`: a patch, its edits and files, and the diff of a checkout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from enum import Enum

from msgspec import Struct

from patchmgr.engines.series.fold import FileStep, step_patch
from patchmgr.engines.series.layers import State
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.edits import Edit, FileEdits
from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.answer_cache import Answers
from patchmgr.plumbing.merge_process import MergeProcess
from patchmgr.services.open_series import (
    CheckoutOptions,
    OpenSeries,
    edited_files,
    is_in,
    opened_series,
    paths_of,
)
from patchmgr.services.revising import chain_of, diffs_of
from patchmgr.services.session import Session


def show(
    session: Session, given: str | None, options: CheckoutOptions, *, edits: bool
) -> tuple[Patch, tuple[FileEdits, ...] | None]:
    """Return a patch of a series (by default the top), and with `edits`, its edits to each file."""
    with opened_series(session, options, only_reads=True, at_any_place=True) as opened:
        patch = opened.by_name[opened.pick_or_top(given)]
        if not edits:
            return patch, None
        chain = chain_of(opened)
        before = opened.ground.overlay(chain.states[chain.position(patch.name)])
        with closing(MergeProcess(answers=Answers())) as structure:
            return patch, tuple(
                _file_edits(opened, step, structure)
                for step in step_patch(before, patch, opened.scratch)
            )


def _file_edits(opened: OpenSeries, step: FileStep, structure: MergeProcess) -> FileEdits:
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
        texts = [opened.scratch.read(entry.blob) for entry in (step.base, step.theirs)]
        if change.binary is not None or any(b"\0" in text for text in texts):
            edits.append(Edit("", "replace its content, which is binary"))
        elif change.hunks:
            base, theirs = (text.decode("utf-8", "surrogateescape") for text in texts)
            edits += structure.edits([(base, theirs)], path)
    return FileEdits(path, tuple(edits))


class Sign(str, Enum):
    """Whether a patch adds, changes or deletes a file."""

    MADE = "+"
    CHANGED = "~"
    DELETED = "-"


class Touched(Struct, frozen=True, rename={"is_edited": "edited"}):
    """A file of a patch; `is_edited` says whether it has edits that are not in the patch yet."""

    path: str
    sign: Sign
    is_edited: bool


class PatchFiles(Struct, frozen=True):
    """The files of one patch: those in its diff, then other files with unrefreshed edits."""

    series: str
    patch: str
    files: tuple[Touched, ...]


def files_of(session: Session, given: str | None, options: CheckoutOptions) -> PatchFiles:
    """Return a patch's files (by default the top's); those of the top include unrefreshed edits."""
    with opened_series(session, options, only_reads=True, at_any_place=True) as opened:
        name = opened.pick_or_top(given)
        patch = opened.by_name[name]
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
    """Return the sign of each file: from the states of a pushed patch, or else from its diff."""
    if patch.name not in opened.names:
        signs: dict[str, Sign] = {}
        for change in patch.files:
            if change.old_path is not None and not change.is_copy:
                signs[change.old_path] = Sign.DELETED
            if change.new_path is not None:
                was_there = change.old_path == change.new_path
                signs[change.new_path] = Sign.CHANGED if was_there else Sign.MADE
        return signs
    at = opened.names.index(patch.name)
    new = {**opened.states[at + 1], **edits}
    layer = opened.ground.between(patch.name, opened.states[at], new)
    return {path: _sign(*pair) for path, pair in layer.files.items()}


def _sign(before: Entry | None, after: Entry | None) -> Sign:
    if before is None:
        return Sign.MADE
    return Sign.CHANGED if after is not None else Sign.DELETED


def changes(
    session: Session,
    given: Sequence[str],
    options: CheckoutOptions,
    *,
    since: str | None,
    until: str | None,
    is_reversed: bool,
) -> bytes:
    """Return the diff between two states of a checkout, by default its edits, in git's format.

    The diff starts before the pushed patch `since`, and ends after the pushed patch `until`. Raises
    PatchmgrError "no-patch" if `since` is above `until`.
    """
    with opened_series(session, options, only_reads=True, at_any_place=True) as opened:
        opened.need_checkout()
        paths = paths_of(opened, given)
        first, last = (
            None if end is None else opened.position(opened.pick(end)) for end in (since, until)
        )
        if first is not None and last is not None and first > last:
            message = f"{shown(opened.names[first])} is above {shown(opened.names[last])}"
            raise PatchmgrError("no-patch", message, "name the lower patch with --since")
        old = opened.state if first is None else opened.states[first]
        if last is None:
            new: State = {**opened.state, **edited_files(opened, paths)}
        else:
            new = opened.states[last + 1]
        if paths:
            old, new = (_only(opened, state, old, new, paths) for state in (old, new))
        if opened.ground.is_same(old, new):
            return b""
        return diffs_of(opened, (new, old) if is_reversed else (old, new))[0]


def _only(opened: OpenSeries, state: State, old: State, new: State, paths: Sequence[str]) -> State:
    """Return the files of `old` and `new` at or below the given paths, as they are in `state`."""
    return {p: opened.ground.entry(state, p) for p in (*old, *new) if is_in(p, paths)}
