"""Changes to a workspace, each made as a whole or not at all.

New files are first written to `.patchmgr/staging`, then listed in a journal, and only then moved
into place. After a crash, the next run finds either a journal, and finishes the change, or no
journal and the old state.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from errno import EACCES, EISDIR
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct, field

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path, parents_of
from patchmgr.model.operation import Commit, OwnBranch
from patchmgr.plumbing.durable import (
    all_synced,
    make_folders,
    remove_empty,
    synced,
    uninterrupted,
    unwritable,
    writes,
)
from patchmgr.plumbing.plain_files import read_json, refuse_links

if TYPE_CHECKING:
    from patchmgr.plumbing.checkout import Checkout, CheckoutStep

LOCK = "upstream.lock"
PRIVATE = ".patchmgr"
_JOURNAL = f"{PRIVATE}/journal.json"
_STAGING = f"{PRIVATE}/staging"
_Staged = Annotated[str, Meta(pattern=rf"^{re.escape(_STAGING)}/\d+\Z")]
# A change may write only these paths of a workspace.
_WORK = f"{PRIVATE}/rebase/"  # the files with conflict markers
_Ours = Annotated[
    str,
    Meta(
        pattern=r"^(upstream\.lock|\.gitignore|\.gitattributes|(series|conflicts)/.+"
        rf"|{re.escape(PRIVATE)}/(rebase/.+|log/\d+\.json))\Z"
    ),
]
_ENTRY = re.compile(rf"{re.escape(PRIVATE)}/log/\d+\.json")  # in the operation log
_Spent = Annotated[str, Meta(pattern=rf"^{re.escape(PRIVATE)}/[a-z]+/[a-z.]+\Z")]


class RefPlan(Struct, frozen=True, array_like=True):
    """A ref of a store that is moved together with a change."""

    store: str
    name: OwnBranch
    new: Commit | None
    old: Commit | None  # None: any value


RefMover = Callable[[Sequence[RefPlan]], None]


Finisher = Callable[[Path, str], None]
"""A function that, after a crash, finishes the change to a checkout; a token names the change."""


class Change(Struct):
    """A change to a workspace: the files to write, and the refs to move."""

    files: dict[str, bytes | None] = field(default_factory=dict)  # new contents (None: delete)
    refs: list[RefPlan] = field(default_factory=list)
    spent: list[str] = field(default_factory=list)  # private files to delete
    steps: list[CheckoutStep] = field(default_factory=list)  # made together with this change


class _Plan(Struct, frozen=True):
    """A change in the journal; `files` pairs each path with its staged file (None: delete)."""

    files: tuple[tuple[_Ours, _Staged | None], ...]
    refs: tuple[RefPlan, ...]
    spent: tuple[_Spent, ...]
    steps: tuple[tuple[str, str], ...] = ()


class Journal:
    """The journal of a workspace, through which all changes to its files are made."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def is_there(self) -> bool:
        """Return whether the journal exists, which means that a change is incomplete."""
        return (self._root / _JOURNAL).exists()

    @uninterrupted()
    def recover(self, move_refs: RefMover, finish_step: Finisher) -> bool:
        """Finish the change of an interrupted command; return whether there was one.

        A branch that can no longer be moved is left as it is.
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
        """Make the whole change, or change nothing if something cannot be written."""
        for path in change.files:
            refuse_links(self._root, path)
        made: list[Path] = []
        ready: dict[str, Checkout] = {}
        try:
            with writes(str(self._root)):
                for step in change.steps:
                    token = step.checkout.prepare(step.exchange, decider=self._root)
                    ready[token] = step.checkout
                self._stage(change, made, ready)
                journal = self._read()
                if journal.refs:
                    move_refs(journal.refs)
        except PatchmgrError:
            self._drop(made, ready)
            raise
        self._finish(journal, lambda place, token: ready[token].finish(token))

    def _stage(self, change: Change, made: list[Path], ready: Mapping[str, Checkout]) -> None:
        staging = self._root / _STAGING
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        entries: list[tuple[str, str | None]] = []
        files = sorted(change.files.items(), key=lambda item: (item[0] == LOCK, item[0]))
        for number, (path, content) in enumerate(files):
            staged = None if content is None else f"{_STAGING}/{number}"
            if content is not None and staged is not None:
                make_folders((self._root / path).parent, made)
                (self._root / staged).write_bytes(content)
            entries.append((path, staged))
        for path in (path for path, staged in entries if staged and (self._root / path).is_dir()):
            raise IsADirectoryError(EISDIR, f"{path} is a folder")
        for folder in {(self._root / path).parent for path, _ in entries}:
            if folder.is_dir() and not os.access(folder, os.W_OK):
                raise unwritable(str(folder), PermissionError(EACCES, os.strerror(EACCES)))
        steps = tuple((os.fsdecode(target.root), token) for token, target in ready.items())
        plan = _Plan(tuple(entries), tuple(change.refs), tuple(change.spent), steps)
        beside = staging / "journal.json"
        beside.write_bytes(json.dumps(msgspec.to_builtins(plan)).encode())
        written = [self._root / staged for _, staged in entries if staged is not None]
        all_synced([*written, beside, *{staging, *(folder.parent for folder in made)}])
        beside.replace(self._root / _JOURNAL)
        synced(self._root / PRIVATE)

    def _drop(self, made: Sequence[Path], ready: Mapping[str, Checkout]) -> None:
        """Abandon a change before any file is moved; the journal is deleted first."""
        (self._root / _JOURNAL).unlink(missing_ok=True)
        for checkout in ready.values():
            checkout.abandon()
        shutil.rmtree(self._root / _STAGING, ignore_errors=True)
        remove_empty(made)

    def _read(self) -> _Plan:
        """Read the journal; it may come from somebody else, so its content is not trusted."""
        try:
            plan = msgspec.convert(read_json(self._root, _JOURNAL), _Plan)
            for path, _ in plan.files:
                if _ENTRY.fullmatch(path) is None:
                    check_path(path.removeprefix(_WORK), what="the path")
        except (PatchmgrError, ValueError) as fault:
            raise PatchmgrError(
                "broken-workspace",
                f"{_JOURNAL} cannot be read",
                "delete this file to go back to the state before the interrupted command",
            ) from fault
        for path in (*(path for path, _ in plan.files), *plan.spent):
            refuse_links(self._root, path)
        return plan

    def _finish(self, journal: _Plan, finish_step: Finisher) -> None:
        """Move the files into place; after a crash, this completes what is missing."""
        left = "some files were written; the next patchmgr command here finishes the change"
        with writes(str(self._root), left=left):
            for path, staged in journal.files:
                target = self._root / path
                if staged is None:
                    target.unlink(missing_ok=True)
                    _remove_empty(target.parent, self._root)
                elif (self._root / staged).exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (self._root / staged).replace(target)
            for place, token in journal.steps:
                finish_step(Path(place), token)
            for path in journal.spent:
                (self._root / path).unlink(missing_ok=True)
            paths = (*(path for path, _ in journal.files), *journal.spent)
            changed = {"", *(folder for path in paths for folder in parents_of(path))}
            folders = [self._root / folder for folder in changed]
            all_synced([folder for folder in folders if folder.is_dir()])
            (self._root / _JOURNAL).unlink()
        shutil.rmtree(self._root / _STAGING, ignore_errors=True)


def is_decided(root: str, token: str) -> bool:
    """Return whether the journal of the workspace `root` contains the token of a change.

    If so, the change must be finished.
    """
    try:
        document = read_json(Path(root), _JOURNAL) or {}
        return any(named == token for _, named in document.get("steps", ()))
    except (OSError, PatchmgrError, ValueError, TypeError, AttributeError):
        return False


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.name not in ("series", "conflicts"):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
