"""A checkout as a target of `apply`: besides files, its HEAD and index change.

Record and journal live in the git directory of the work tree (`patchmgr/`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.model.ids import blob_id
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.applied import AppliedFile, Content, found_state
from patchmgr.plumbing.clones import Clone, open_clone
from patchmgr.plumbing.target import Exchange, Replacement, Target
from patchmgr.plumbing.work_tree import WorkFile


class Edit(Struct, frozen=True):
    """A person's edit of a file since the last command: the file before, and now."""

    path: str
    before: Content | None
    found: WorkFile | None


class CheckoutStep(Struct, frozen=True):
    """A change of files in a checkout that the command has locked.

    `edits` are a person's changes to these files, which the log records separately.
    """

    checkout: Checkout
    exchange: Exchange
    edits: tuple[Edit, ...] = ()

    @property
    def place(self) -> Path:
        """Return the folder of the checkout."""
        return self.checkout.root

    def prepare(self, decider: Path) -> str:
        """Write the complete change beside its destination and return a token for it."""
        return self.checkout.prepare(self.exchange, decider=decider)

    def finish(self, token: str) -> None:
        """Put the prepared change in place."""
        self.checkout.finish(token)

    def abandon(self) -> None:
        """Discard the prepared change."""
        self.checkout.abandon()


def finish_step(place: Path, token: str) -> None:
    """Finish a step after a crash; if the checkout is gone, there is nothing to finish.

    The checkout itself checks whether the change was decided.
    """
    with suppress(FileNotFoundError):
        if not place.is_dir():
            return
        try:
            checkout = Checkout(open_clone(place))
        except PatchmgrError:  # no repository any more
            return
        if checkout.is_interrupted:
            with checkout.held():
                checkout.recover()


_NOTED = "workspaces"


def serves(target: Target, workspace: Path) -> bool:
    """Return whether a person allowed commands of a workspace to change files here."""
    known = target.private / _NOTED
    return known.is_file() and os.fsencode(workspace) in known.read_bytes().split(b"\0")


def serve(target: Target, workspace: Path) -> None:
    """Record that a person named this target to a workspace."""
    if not serves(target, workspace):
        with open(target.private / _NOTED, "ab") as file:
            file.write(os.fsencode(workspace) + b"\0")


__all__ = ["Checkout", "Exchange", "Replacement", "Standing"]


class Standing(str, Enum):
    """How a file of the target compares with what was applied."""

    PATCHED = "patched"
    ORIGINAL = "original"
    EDITED = "edited"


class Checkout(Target):
    """A work tree that series are applied to."""

    fault = "dirty-checkout"
    mending = ("put the files back with git, then delete that one",)
    settling = ("commit or stash that edit, then run this again",)

    def __init__(self, clone: Clone) -> None:
        if clone.is_bare:
            raise PatchmgrError(
                "usage", f"{clone.root} has no work tree", ("use: patchmgr branch --repo",)
            )
        super().__init__(clone.root, clone.private / "patchmgr")
        self.clone = clone

    def standings(self, files: Sequence[AppliedFile]) -> tuple[Standing, ...]:
        """Return how files compare with what was applied; git's own conversions do not count."""
        stands = {file.path: self._standing(file) for file in files}
        edited = [f for f in files if f.after and stands[f.path] is Standing.EDITED]
        if edited:
            with suppress(PatchmgrError):  # what git cannot convert is as a person left it
                stands |= self._standings_as_git(edited)
        return tuple(stands[file.path] for file in files)

    def _standing(self, file: AppliedFile) -> Standing:
        try:
            found = self.tree.read(file.path)
        except PatchmgrError:  # a folder is in its place, or a file or a link in that of a parent
            return Standing.EDITED if file.after is not None else Standing.PATCHED
        state = found_state(found)
        if state == file.after:
            return Standing.PATCHED
        return Standing.ORIGINAL if state == file.before else Standing.EDITED

    def _standings_as_git(self, files: Sequence[AppliedFile]) -> dict[str, Standing]:
        """Say it by what git has of the files that are there."""
        found = {f.path: there for f in files if (there := self.tree.read(f.path)) is not None}
        kept = {
            f.path: WorkFile(f.before.mode, self.original(f.original), 0)
            for f in files
            if f.before is not None and f.original is not None and f.path in found
        }
        now, before = (self.clone.conversion.to_git(each) for each in (found, kept))
        stands = {}
        for file in files:
            path = file.path
            mode = found[path].mode if path in found else None
            if file.after and mode == file.after.mode and blob_id(now[path]) == file.blob:
                stands[path] = Standing.PATCHED
            elif path in kept and mode == kept[path].mode and now[path] == before[path]:
                stands[path] = Standing.ORIGINAL
        return stands

    def _is_resumable(self, journal: Mapping[str, Any]) -> bool:
        return self.clone.head() in journal["head"]

    def _stage_more(self, exchange: Exchange) -> None:
        if not exchange.index and not exchange.hidden:
            return
        present, staged = self.clone.private / "index", self._staging / "index"
        if (self.clone.private / "index.lock").exists():
            raise PatchmgrError(
                "busy",
                f"another git process is running in {self.clone.root}",
                (f"if none is, delete {self.clone.private / 'index.lock'}",),
            )
        if present.exists():
            shutil.copy2(present, staged)  # with its time, by which git tells what is racy
        self.clone.write_index(exchange.index, exchange.hidden, staged)

    def _finish_more(self, journal: Mapping[str, Any], *, is_fresh: bool) -> None:
        staged = self._staging / "index"
        if not is_fresh:
            # Somebody may have staged something since: what was prepared then is out of date.
            entries = {path: e and Entry(*e) for path, e in journal["index"].items()}
            self.clone.write_index(entries, journal["hidden"], None)
        elif staged.exists():
            os.replace(staged, self.clone.private / "index")
        old, new = journal["head"]
        if old != new and self.clone.head() != new:
            self.clone.move_head(old, new)
        if journal["index"]:
            self.clone.refresh()
