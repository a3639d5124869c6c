"""A git checkout as a target: `apply` changes its files, its HEAD and its index."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.model.snapshot import FILE_MODES, REGULAR, Entry, blob_id
from patchmgr.plumbing.applied import AppliedFile, Content, FileState, found_state, state_of
from patchmgr.plumbing.clones import Clone, Indexed, open_clone
from patchmgr.plumbing.target import Exchange, PlannedExchange, Target
from patchmgr.plumbing.work_tree import WorkFile, WorkTree


class CheckoutEdit(Struct, frozen=True):
    """A file that a person edited since the last command, before and after the edit."""

    path: str
    before: Content | None
    found: WorkFile | None


class CheckoutStep(Struct, frozen=True):
    """A change to the files of a checkout that the running command has locked."""

    checkout: Checkout
    exchange: Exchange
    edits: tuple[CheckoutEdit, ...] = ()  # made by a person; the log records these separately


def finish_step(place: Path, token: str) -> None:
    """Finish an interrupted change to a checkout; do nothing if the checkout is gone."""
    # The token is not needed: the journal says whether the change must be finished.
    with suppress(FileNotFoundError):
        try:
            checkout = Checkout(open_clone(place))
        except PatchmgrError:  # the folder or its repository is gone
            return
        if checkout.is_interrupted:
            with checkout.held():
                checkout.recover()


_NOTED = "workspaces"


def serves(target: Target, workspace: Path) -> bool:
    """Return whether the user allowed a workspace's commands to change a checkout or package."""
    known = target.private / _NOTED
    return known.is_file() and os.fsencode(workspace) in known.read_bytes().split(b"\0")


def serve(target: Target, workspace: Path) -> None:
    """Record that the user allowed a workspace's commands to change a checkout or package."""
    if not serves(target, workspace):
        with open(target.private / _NOTED, "ab") as file:
            file.write(os.fsencode(workspace) + b"\0")


class FileStanding(str, Enum):
    """Whether a file of a checkout is patched, original or edited."""

    PATCHED = "patched"
    ORIGINAL = "original"
    EDITED = "edited"


class _CheckoutTree(WorkTree):
    """The files of a checkout; if git ignores modes there, modes are not read from the disk."""

    def __init__(self, checkout: Checkout) -> None:
        super().__init__(checkout.root)
        self._checkout = checkout

    @property
    def has_modes(self) -> bool:
        """Return whether git compares the modes of files."""
        return self._checkout.clone.conversion.settings.has_modes

    def read(self, path: str) -> WorkFile | None:
        """Return a file as `WorkTree.read` does.

        If git ignores modes, the mode is the recorded one or, without a record, the index's.
        """
        found = super().read(path)
        if found is None or found.mode not in FILE_MODES or self.has_modes:
            return found
        # If git ignores modes, the mode is that of the applied state with this content, or else
        # that of the patched file, or else that in the index.
        states = [state for state in self._checkout.applied_states(path) if state is not None]
        modes = [s.mode for s in states if s == state_of(s.mode, found.content)]
        modes += [state.mode for state in states]
        if path in self._checkout.indexed:
            modes.append(self._checkout.indexed[path].entry.mode)
        return replace(found, mode=next((m for m in modes if m in FILE_MODES), REGULAR))


class Checkout(Target):
    """A git work tree to which series are applied."""

    fault = "dirty-checkout"
    mending = ("restore the files with git, then delete the unreadable file",)
    settling = ("commit or stash that edit, then run the command again",)

    def __init__(self, clone: Clone) -> None:
        if clone.is_bare:
            raise UsageError(
                f"{clone.root} has no work tree", "use patchmgr branch --repo, which needs none"
            )
        super().__init__(clone.root, clone.private / "patchmgr")
        self.clone = clone
        self.tree = _CheckoutTree(self)
        self._states: dict[str, tuple[FileState | None, ...]] | None = None

    def applied_states(self, path: str) -> tuple[FileState | None, ...]:
        """Return a file's recorded states, with and without patches; () if none are recorded."""
        if self._states is None:
            record = self.record()
            files = record.files if record is not None else ()
            self._states = {file.path: (file.after, file.before) for file in files}
        return self._states.get(path, ())

    @cached_property
    def indexed(self) -> Mapping[str, Indexed]:
        """Return the entries of the index by path, as they were when this was first called."""
        return self.clone.index()

    def _keep_record(self, *, is_applied: bool) -> None:
        super()._keep_record(is_applied=is_applied)
        self._states = None

    def standings(self, files: Sequence[AppliedFile]) -> tuple[FileStanding, ...]:
        """Return for each file whether it is patched, original or edited."""
        stands = {file.path: self._standing(file) for file in files}
        edited = [f for f in files if f.after and stands[f.path] is FileStanding.EDITED]
        # Differences that git's own conversions make (in line endings, for example) are not edits.
        if edited:
            with suppress(PatchmgrError):  # a file that git cannot convert counts as edited
                stands |= self._standings_as_git(edited)
        return tuple(stands[file.path] for file in files)

    def _standing(self, file: AppliedFile) -> FileStanding:
        try:
            found = self.tree.read(file.path)
        except PatchmgrError:  # a folder is at the path, or a parent of the path is not a folder
            return FileStanding.EDITED if file.after is not None else FileStanding.PATCHED
        state = found_state(found)
        if state == file.after:
            return FileStanding.PATCHED
        return FileStanding.ORIGINAL if state == file.before else FileStanding.EDITED

    def _standings_as_git(self, files: Sequence[AppliedFile]) -> dict[str, FileStanding]:
        """Find patched and original files by the contents that git would store for them."""
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
                stands[path] = FileStanding.PATCHED
            elif path in kept and mode == kept[path].mode and now[path] == before[path]:
                stands[path] = FileStanding.ORIGINAL
        return stands

    def _is_resumable(self, journal: PlannedExchange) -> bool:
        return self.clone.head() in journal.head

    def _stage_more(self, exchange: Exchange) -> None:
        if not exchange.index and not exchange.hidden:
            return
        present, staged = self.clone.private / "index", self._staging / "index"
        self.clone.refuse_locked()
        if present.exists():
            shutil.copy2(present, staged)  # keep its time: git compares it with file times
        self.clone.write_index(exchange.index, exchange.hidden, staged)

    def _finish_more(self, journal: PlannedExchange, *, is_fresh: bool) -> None:
        staged = self._staging / "index"
        if not is_fresh:
            # Somebody may have staged files since then, so the prepared index is out of date.
            entries = {path: e and Entry(*e) for path, e in journal.index.items()}
            self.clone.write_index(entries, journal.hidden, None)
        elif staged.exists():
            os.replace(staged, self.clone.private / "index")
        old, new = journal.head
        if old != new and self.clone.head() != new:
            self.clone.move_head(old, new)
        if journal.index:
            self.clone.refresh()
