"""Changes to a workspace, made as a whole or not at all.

A change is written beside (`.patchmgr/staging`), described in a journal, and only then moved
into place: a reader after a crash finds the journal and finishes the move, or no journal and
the old state.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from errno import EISDIR
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path
from patchmgr.model.ids import is_full_id
from patchmgr.plumbing.durable import synced, uninterrupted, unwritable, write_synced
from patchmgr.plumbing.plain_files import read_json

LOCK = "upstream.lock"
PRIVATE = ".patchmgr"
_JOURNAL = f"{PRIVATE}/journal.json"
_STAGING = f"{PRIVATE}/staging"
_STAGED = re.compile(rf"{re.escape(_STAGING)}/\d+")
# What a change may write: nothing else of a workspace is ours.
_WORK = f"{PRIVATE}/rebase/"  # what waits for a person
_OURS = re.compile(
    r"upstream\.lock|\.gitignore|\.gitattributes|(series|conflicts)/.+"
    rf"|{re.escape(PRIVATE)}/(rebase/.+|log/\d+\.json)"
)
_ENTRY = re.compile(rf"{re.escape(PRIVATE)}/log/\d+\.json")  # of the log of operations
_SPENT = re.compile(rf"{re.escape(PRIVATE)}/[a-z]+/[a-z.]+")
_BRANCHES = "refs/heads/patchmgr/"


class RefPlan(Struct, frozen=True):
    """A ref of a store to move when a change is made: `old` None means whatever is there."""

    store: str
    name: str
    new: str | None
    old: str | None


RefMover = Callable[[Sequence[RefPlan]], None]


class Step(Protocol):
    """What a change does to a target: prepared first, and made once the change is decided."""

    @property
    def place(self) -> Path:
        """Return the folder of the target."""

    def prepare(self, decider: Path) -> str:
        """Write all of it beside and return its token."""

    def finish(self, token: str) -> None:
        """Make it."""

    def abandon(self) -> None:
        """Drop what was prepared."""


Finisher = Callable[[Path, str], None]
"""Finishes the step of a token in a target, after a crash."""


class Change(Struct):
    """Files to write (None: to delete) by path below the workspace, and refs to move.

    `spent` are private files (below `.patchmgr/`) that have no meaning any more once it is made,
    `steps` what changes in targets together with it.
    """

    files: dict[str, bytes | None] = field(default_factory=dict)
    refs: list[RefPlan] = field(default_factory=list)
    spent: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


class _Plan(Struct, frozen=True):
    """A change as it is kept while it is made: paths with their staged files, refs, and `spent`."""

    files: tuple[tuple[str, str | None], ...]
    refs: tuple[RefPlan, ...]
    spent: tuple[str, ...]
    steps: tuple[tuple[Path, str], ...] = ()


class Journal:
    """The journal of a workspace, and the one way to change files of it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def is_there(self) -> bool:
        """Say whether a change was described and not finished."""
        return (self._root / _JOURNAL).exists()

    @uninterrupted()
    def recover(self, move_refs: RefMover, finish_step: Finisher) -> bool:
        """Finish the change that a killed command had described; say whether there was one.

        A branch that cannot be moved any more (its store is gone, say) stays: it can be built.
        """
        if not self.is_there:
            shutil.rmtree(self._root / _STAGING, ignore_errors=True)
            return False
        journal = self._read()
        for plan in journal.refs:
            try:
                move_refs([plan])
            except PatchmgrError:
                continue
        self._finish(journal, finish_step)
        return True

    @uninterrupted()
    def make(self, change: Change, move_refs: RefMover) -> None:
        """Make a change, all of it or none."""
        for path in change.files:
            self._refuse_links(path)
        made: list[Path] = []
        ready: dict[str, Step] = {}
        try:
            for step in change.steps:
                ready[step.prepare(self._root)] = step
            self._stage(change, made, ready)
            journal = self._read()
            if journal.refs:
                move_refs(journal.refs)
        except OSError as fault:
            self._drop(made, ready)
            raise unwritable(str(self._root), fault) from fault
        except PatchmgrError:
            self._drop(made, ready)
            raise
        self._finish(journal, lambda place, token: ready[token].finish(token))

    def _stage(self, change: Change, made: list[Path], ready: Mapping[str, Step]) -> None:
        staging = self._root / _STAGING
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        entries: list[tuple[str, str | None]] = []
        for number, (path, content) in enumerate(_lock_last(change.files)):
            staged = None if content is None else f"{_STAGING}/{number}"
            if content is not None and staged is not None:
                if (self._root / path).is_dir():
                    raise IsADirectoryError(EISDIR, f"{path} is a folder")
                _make_folders((self._root / path).parent, made)
                write_synced(self._root / staged, content)
            entries.append((path, staged))
        refs = [(r.store, r.name, r.new, r.old) for r in change.refs]
        steps = [(os.fsdecode(step.place), token) for token, step in ready.items()]
        document = {"files": entries, "refs": refs, "spent": change.spent, "steps": steps}
        beside = staging / "journal.json"
        write_synced(beside, json.dumps(document).encode())
        beside.replace(self._root / _JOURNAL)
        synced(self._root / PRIVATE)

    def _drop(self, made: Sequence[Path], ready: Mapping[str, Step]) -> None:
        """Forget a change of which nothing was moved: its journal first."""
        (self._root / _JOURNAL).unlink(missing_ok=True)
        for step in ready.values():
            step.abandon()
        shutil.rmtree(self._root / _STAGING, ignore_errors=True)
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()

    def _read(self) -> _Plan:
        """Read the journal; it may have come with the workspace, so nothing in it is believed."""
        try:
            document = read_json(self._root, _JOURNAL)
            files = tuple(_checked_file(*row) for row in document["files"])
            refs = tuple(_checked_ref(*row) for row in document["refs"])
            spent = tuple(_checked(str(path), _SPENT) for path in document["spent"])
            steps = tuple((Path(place), str(token)) for place, token in document.get("steps", ()))
        except (PatchmgrError, ValueError, KeyError, TypeError, AttributeError) as fault:
            raise PatchmgrError(
                "broken-workspace",
                f"{_JOURNAL} cannot be read",
                ("delete it to go back to what was before",),
            ) from fault
        for path in (*(path for path, _ in files), *spent):
            self._refuse_links(path)
        return _Plan(files, refs, spent, steps)

    def _refuse_links(self, path: str) -> None:
        at = self._root
        for part in path.split("/"):
            at = at / part
            if at.is_symlink():
                raise PatchmgrError("unsafe-path", f"{path} leads through a symbolic link")

    def _finish(self, journal: _Plan, finish_step: Finisher) -> None:
        """Move the files into place; done again after a crash, this does what is left."""
        try:
            folders = {self._root: None}
            for path, staged in journal.files:
                target = self._root / path
                if staged is None:
                    target.unlink(missing_ok=True)
                    _remove_empty(target.parent, self._root)
                elif (self._root / staged).exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (self._root / staged).replace(target)
                    folders[target.parent] = None
            for place, token in journal.steps:
                finish_step(place, token)
            for path in journal.spent:
                (self._root / path).unlink(missing_ok=True)
            for folder in folders:
                synced(folder)
            (self._root / _JOURNAL).unlink()
        except OSError as fault:
            left = "a part was, and the next patchmgr command here finishes it"
            raise unwritable(str(self._root), fault, left=left) from fault
        shutil.rmtree(self._root / _STAGING, ignore_errors=True)


def is_decided(root: str, token: str) -> bool:
    """Say whether the journal of a workspace names a step: then it is to be finished."""
    try:
        document = read_json(Path(root), _JOURNAL) or {}
        return any(named == token for _, named in document.get("steps", ()))
    except (OSError, PatchmgrError, ValueError, TypeError, AttributeError):
        return False


def _checked(text: str, form: re.Pattern[str]) -> str:
    if form.fullmatch(text) is None:
        raise ValueError(text)
    return text


def _checked_file(path: str, staged: str | None) -> tuple[str, str | None]:
    if _ENTRY.fullmatch(_checked(path, _OURS)) is None:
        check_path(path.removeprefix(_WORK), what="the path")
    return path, None if staged is None else _checked(staged, _STAGED)


def _checked_ref(store: str, name: str, new: str | None, old: str | None) -> RefPlan:
    if not name.startswith(_BRANCHES) or not all(v is None or is_full_id(v) for v in (new, old)):
        raise ValueError(name)
    return RefPlan(str(store), name, new, old)


def _lock_last(files: Mapping[str, bytes | None]) -> list[tuple[str, bytes | None]]:
    return sorted(files.items(), key=lambda item: (item[0] == LOCK, item[0]))


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it, and note which were made."""
    if not folder.is_dir():
        _make_folders(folder.parent, made)
        folder.mkdir()
        made.append(folder)


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.name not in ("series", "conflicts"):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
