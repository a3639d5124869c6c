"""A folder to which series are applied: the record of what is applied, and changes to files.

New files are first written next to the files that they replace, then listed in the journal, and
only then moved into place. After a crash, the next run discards a change if no file was moved yet,
and finishes it otherwise.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.paths import parents_of, refusal
from patchmgr.model.snapshot import FILE_MODES, REGULAR, Entry
from patchmgr.plumbing.applied import (
    AppliedFile,
    Content,
    FileState,
    Record,
    found_state,
    read_record,
    record_document,
    state_of,
)
from patchmgr.plumbing.durable import (
    all_synced,
    held,
    synced,
    uninterrupted,
    unwritable,
    write_synced,
    writes,
)
from patchmgr.plumbing.journal import is_decided
from patchmgr.plumbing.work_tree import WorkFile, WorkTree


class Replacement(Struct, frozen=True):
    """A file to write, or to delete if `wanted` is None; its state must still be `before`."""

    path: str
    before: FileState | None
    wanted: Content | None
    permissions: int | None = None


class Exchange(Struct, frozen=True):
    """All changes that one command makes in a checkout or package."""

    files: tuple[Replacement, ...]
    record: Record | None
    originals: Mapping[str, bytes]  # contents to keep, by the record's names
    head: tuple[str, str] = ("", "")  # HEAD before and after, in a checkout
    index: Mapping[str, Entry | None] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()  # paths to mark skip-worktree


def _check_inside(*paths: str | None) -> None:
    """Raise an error if a record or journal, which is not trusted, names an unsafe path."""
    for path in paths:
        reason = None if path is None else refusal(path)
        if reason is not None:
            raise PatchmgrError(
                "unsafe-path", f"the record of applied patches names {path!a}, which {reason}"
            )


def keep_hint(series: str, words: str) -> str:
    """Return a hint that says how to remove a series but keep edits in a patch file.

    `words` are the options that specify the target.
    """
    # Only this command still works if the series has changed.
    what = "remove the series, and keep the edits in a patch file"
    return f"{what}: patchmgr unapply {series} {words} --force"


_Phase = Literal["staging", "waiting", "moving"]
_State = tuple[str, str]  # the mode and the sha256, as in `FileState`


class _FilePlan(Struct, frozen=True, array_like=True):
    """A file to change; `beside` is the temporary name of its new content (None: delete it)."""

    path: str
    beside: str | None
    before: _State | None
    after: _State | None


class PlannedExchange(Struct, frozen=True):
    """An exchange as the journal records it.

    In the phase `waiting`, the files are moved only if the journal of the workspace `decider`
    contains `token`.
    """

    phase: _Phase
    made: tuple[str, ...]  # folders that it creates
    files: tuple[_FilePlan, ...]
    record: dict[str, Any] | None
    head: tuple[str, str]
    index: dict[str, tuple[str, str] | None]
    hidden: tuple[str, ...]
    token: str = ""
    decider: str = ""


def _short_state(state: FileState | None, tree: WorkTree) -> _State | None:
    if state is None:
        return None
    mode = REGULAR if state.mode in FILE_MODES and not tree.has_modes else state.mode
    return mode, state.sha256


def _planned(tree: WorkTree, exchange: Exchange, *, decider: str = "") -> PlannedExchange:
    """Return the journal of a change: for each file, its temporary name and its new state."""
    leaving = {file.path for file in exchange.files if file.wanted is None}
    token, made = secrets.token_hex(8), dict[str, None]()
    rows: list[_FilePlan] = []
    for number, file in enumerate(exchange.files):
        beside = None
        if file.wanted is not None:
            place = tree.place(file.path, leaving)
            made.update(dict.fromkeys(place.missing))
            beside = f"{place.folder}/.patchmgr-{token}-{number}".removeprefix("/")
        states = (_short_state(each, tree) for each in (file.before, found_state(file.wanted)))
        rows.append(_FilePlan(file.path, beside, *states))
    return PlannedExchange(
        "staging",
        tuple(made),
        tuple(rows),
        None if exchange.record is None else record_document(exchange.record),
        exchange.head,
        {path: None if e is None else (e.mode, e.blob) for path, e in exchange.index.items()},
        tuple(sorted(exchange.hidden)),
        token,
        decider,
    )


def _document(journal: PlannedExchange) -> bytes:
    return json.dumps(msgspec.to_builtins(journal)).encode()


def _read_journal(path: Path) -> PlannedExchange | None:
    """Return a journal, or None without one; raise OSError or ValueError if it is unreadable."""
    try:
        journal = msgspec.convert(parse_json(path.read_bytes()), PlannedExchange)
    except FileNotFoundError:
        return None
    # The journal may come from somebody else, so its content is not trusted.
    _check_inside(*journal.made)
    for row in journal.files:
        _check_inside(row.path, row.beside)
    return journal


_RECORD = "applied.json"
_JOURNAL = "journal.json"
_DROPPED = "dropped.json"
# Bytes reserved for the last steps of a change (refs and their logs) on a disk that is nearly full.
_SPARE = 16 * 1024


class Target:
    """A folder to which series are applied; its record and journal are in the folder `private`.

    Subclasses define `_stage_more`, `_finish_more` and `_is_resumable` for their kind of target.
    """

    fault = "broken-target"
    mending: tuple[str, ...] = ()
    settling: tuple[str, ...] = ()

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.tree = WorkTree(root)
        self.private = folder
        self._staging = folder / "staging"

    def record(self) -> Record | None:
        """Return the record of the applied series, or None; raise "broken-target" if unreadable."""
        path = self.private / _RECORD
        if not path.exists():
            return None
        try:
            record = read_record(parse_json(path.read_bytes()))
            _check_inside(*(file.path for file in record.files), *record.rejects)
            return record
        except (OSError, ValueError, KeyError, TypeError) as fault:
            raise PatchmgrError("broken-target", f"{path} cannot be read", *self.mending) from fault

    def original(self, name: str) -> bytes:
        """Return the saved original `name`; raise "broken-target" if it cannot be read."""
        if not name.isdigit():
            raise PatchmgrError(
                "broken-target",
                f"the record in {self.private} is damaged: original {name!a} is not a number",
            )
        try:
            return (self.private / "originals" / name).read_bytes()
        except OSError as fault:
            raise PatchmgrError(
                "broken-target", f"{self.private}/originals/{name} cannot be read"
            ) from fault

    def original_file(self, file: AppliedFile) -> WorkFile | None:
        """Return the original of an applied file, or None if there was no file before.

        Raises PatchmgrError "broken-target" if the saved content was changed.
        """
        if file.before is None or file.original is None:
            return None
        content = self.original(file.original)
        if state_of(file.before.mode, content) != file.before:
            raise PatchmgrError(
                "broken-target", f"the saved original of {file.path} in {self.private} was changed"
            )
        return WorkFile(file.before.mode, content, file.permissions or 0o644)

    def patched_file(self, file: AppliedFile) -> WorkFile | None:
        """Return an applied file as the patches made it, or None if they deleted it."""
        # A record of an older version has only originals.
        if file.after is None or file.patched is None:
            return None if file.after is None else self.original_file(file)
        return WorkFile(file.after.mode, self.original(file.patched), 0)

    def held(self) -> AbstractContextManager[None]:
        """Hold a lock on the target in the `with` block; raise "busy" if another process does."""
        return held(self.private, what=str(self.root))

    @property
    def is_interrupted(self) -> bool:
        """Return whether a change was begun but not finished."""
        return (self.private / _JOURNAL).exists()

    @uninterrupted()
    def recover(self) -> str | None:
        """Finish or discard an interrupted change, and return a sentence about it, or else None.

        Raises PatchmgrError if a person has since edited files, or put only some of them back,
        because finishing the change would then undo that work.
        """
        path = self.private / _JOURNAL
        try:
            journal = _read_journal(path)
        except (OSError, ValueError) as fault:
            hint = f"check the files in {self.root}, then delete the unreadable file"
            raise PatchmgrError(self.fault, f"{path} cannot be read", hint) from fault
        if journal is None:
            shutil.rmtree(self._staging, ignore_errors=True)
            return None
        what = f"the change that an interrupted command had begun in {self.root}"
        if journal.phase != "staging" and self._is_put_back(journal.files):
            self._drop(journal)
            return f"Dropped {what}, because its files had already been put back"
        if journal.phase == "waiting" and is_decided(journal.decider, journal.token):
            self._finish_now(self._without_edited(journal), is_fresh=False)
            return f"Finished {what}"
        if journal.phase == "moving" and self._is_resumable(journal):
            now = self._states_now(journal.files)
            for row in journal.files:
                if now[row.path] not in (row.before, row.after):
                    where = f"{row.path} in {self.root}"
                    message = f"{where} was edited after a command was interrupted there"
                    raise PatchmgrError(self.fault, message, *self.settling)
            self._finish_now(journal, is_fresh=False)
            return f"Finished {what}"
        self._drop(journal)
        return f"Dropped {what}"

    def _is_put_back(self, rows: Sequence[_FilePlan]) -> bool:
        """Return whether a person put back all files that a change had moved.

        Raises PatchmgrError if only some of them were put back.
        """
        now = self._states_now(rows)
        changed = [row for row in rows if row.before != row.after]
        # A file in its old state, whose new content is no longer next to it, had been moved.
        back = [
            row.path
            for row in changed
            if now[row.path] == row.before and row.beside and self.tree.read(row.beside) is None
        ]
        moved = [row.path for row in changed if now[row.path] == row.after]
        if back and moved:
            raise PatchmgrError(
                self.fault,
                f"{back[0]} in {self.root} was restored after an interrupted command, "
                f"but {moved[0]} was not",
                "restore the other files of that change as well, then run the command again",
            )
        return bool(back)

    def _refuse_saved(self, journal: PlannedExchange) -> None:
        """If a file was edited meanwhile, discard the prepared change; raise an "edited" error."""
        now = self._states_now(journal.files)
        saved = [row.path for row in journal.files if now[row.path] != row.before]
        if saved:
            self._drop(journal)
            raise PatchmgrError(
                "edited",
                f"{saved[0]} in {self.root} was changed while the command ran; nothing was written",
                "run the command again",
            )

    @uninterrupted()
    def replace(self, exchange: Exchange) -> None:
        """Make the whole change, or change nothing if something cannot be written."""
        journal = self._staged(exchange, "moving")
        try:
            self._finish_now(journal)
        except (PatchmgrError, KeyboardInterrupt) as fault:
            try:
                if self._has_begun(journal.files):
                    raise
                self._drop(journal)
            except OSError:
                raise fault from fault.__cause__  # the next run continues
            if isinstance(fault.__cause__, OSError):
                raise unwritable(str(self.root), fault.__cause__) from fault
            raise

    @uninterrupted()
    def prepare(self, exchange: Exchange, *, decider: Path) -> str:
        """Write the new files next to the old ones, and return a token for the change.

        `finish` moves the files once the journal of the workspace `decider` contains the token.
        """
        return self._staged(exchange, "waiting", str(decider)).token

    def finish(self, token: str) -> None:
        """Finish the change with this token: move its new files into place."""
        journal = _read_journal(self.private / _JOURNAL)
        if journal is not None and journal.token == token:
            self._finish_now(journal)

    def abandon(self) -> None:
        """Give up the change: delete the new files that `prepare` wrote."""
        journal = _read_journal(self.private / _JOURNAL)
        if journal is not None:
            self._drop(journal)

    def _staged(self, exchange: Exchange, phase: _Phase, decider: str = "") -> PlannedExchange:
        """Stage a change, and drop it if a file cannot be written or was edited meanwhile."""
        journal = _planned(self.tree, exchange, decider=decider)
        try:
            with writes(str(self.root)):
                self._stage(exchange, journal, phase)
        except (PatchmgrError, KeyboardInterrupt):
            self._drop(journal)
            raise
        self._refuse_saved(journal)
        return journal

    def _finish_now(self, journal: PlannedExchange, *, is_fresh: bool = True) -> None:
        left = "some files were written; the next run of this command finishes the change"
        with writes(str(self.root), left=left):
            self._finish(journal, is_fresh=is_fresh)

    def _stage(self, exchange: Exchange, journal: PlannedExchange, phase: _Phase) -> None:
        """Write each new file next to the one that it replaces, then write the journal."""
        shutil.rmtree(self._staging, ignore_errors=True)
        (self._staging / "originals").mkdir(parents=True)
        self._write_journal(journal)
        for folder in journal.made:
            self.tree.make_folder(folder)
        for file, row in zip(exchange.files, journal.files, strict=True):
            if file.wanted is not None and row.beside is not None:
                mode, bits = file.wanted.mode, file.permissions
                self.tree.write(row.beside, mode, file.wanted.content, permissions=bits)
        kept = {self._staging / "originals" / name: raw for name, raw in exchange.originals.items()}
        for path, raw in kept.items():
            path.write_bytes(raw)
        all_synced([*kept])
        self._stage_more(exchange)
        write_synced(self._staging / _RECORD, json.dumps(journal.record, indent=1).encode())
        write_synced(self._staging / "spare", bytes(_SPARE))
        write_synced(self._staging / _DROPPED, _document(journal))
        self._write_journal(replace(journal, phase=phase))

    def _stage_more(self, exchange: Exchange) -> None:
        """Prepare the changes that do not concern files of the tree."""

    def _finish_more(self, journal: PlannedExchange, *, is_fresh: bool) -> None:
        """Make the changes that do not concern files of the tree; after a crash, repeat them."""

    def _is_resumable(self, journal: PlannedExchange) -> bool:
        """Return whether a change can be finished after some of its files were moved."""
        return True

    def _write_journal(self, journal: PlannedExchange) -> None:
        beside = self._staging / _JOURNAL
        write_synced(beside, _document(journal))
        synced(self._staging / "originals")
        synced(self._staging)
        os.replace(beside, self.private / _JOURNAL)
        synced(self.private)

    def _has_begun(self, rows: Sequence[_FilePlan]) -> bool:
        """Return whether any part of the change may have been made already."""
        now = self._states_now(rows)
        is_before = all(
            now[row.path] == row.before
            and (row.beside is None or self.tree.read(row.beside) is not None)
            for row in rows
        )
        return not (rows and is_before)

    def _drop(self, journal: PlannedExchange) -> None:
        """Delete the new files, and then the journal."""
        # Mark the journal as dropped first, so that the next run continues if this one is killed.
        with suppress(FileNotFoundError):  # a rename needs no space on the disk
            os.replace(self._staging / _DROPPED, self.private / _JOURNAL)
        written = [row.beside for row in journal.files if row.beside is not None]
        for beside in written:
            self.tree.remove(beside)
        for folder in reversed(journal.made):
            self.tree.remove_folder(folder)
        self.tree.sync(written)
        shutil.rmtree(self._staging, ignore_errors=True)
        (self.private / _JOURNAL).unlink(missing_ok=True)

    def _without_edited(self, journal: PlannedExchange) -> PlannedExchange:
        now = self._states_now(journal.files)
        kept = []
        for row in journal.files:
            if now[row.path] in (row.before, row.after):
                kept.append(row)
            elif row.beside is not None:
                self.tree.remove(row.beside)
        return replace(journal, files=tuple(kept))

    def _states_now(self, rows: Sequence[_FilePlan]) -> dict[str, _State | None]:
        changed = {row.path for row in rows}
        return {path: self._state_now(path, changed) for path in changed}

    def _state_now(self, path: str, changed: Collection[str]) -> _State | None:
        if self.is_below_file(path, changed) or self.tree.is_folder(path):
            return None
        return _short_state(found_state(self.tree.read(path)), self.tree)

    def is_below_file(self, path: str, changed: Collection[str]) -> bool:
        """Return whether some parent of the path is in `changed` and is not a folder."""
        return any(p in changed and not self.tree.is_folder(p) for p in parents_of(path))

    def _finish(self, journal: PlannedExchange, *, is_fresh: bool) -> None:
        """Move everything into place; after a crash, this completes what is missing.

        A file that somebody edited meanwhile is kept; PatchmgrError "edited" names it at the end.
        """
        changed = {row.path for row in journal.files}
        saved: list[str] = []
        for row in journal.files:
            path = row.path
            is_file = not self.is_below_file(path, changed) and not self.tree.is_folder(path)
            if row.beside is None and is_file:
                if self._state_now(path, changed) in (row.before, None):
                    self.tree.delete(path)
                else:
                    saved.append(path)
        for row in journal.files:
            if row.beside is None or not (is_fresh or self.tree.read(row.beside) is not None):
                continue
            if self._state_now(row.path, changed) in (row.before, None):
                self.tree.move(row.beside, row.path)
            else:
                saved.append(row.path)
                self.tree.remove(row.beside)
        self.tree.sync(row.path for row in journal.files)
        (self._staging / "spare").unlink(missing_ok=True)
        self._finish_more(journal, is_fresh=is_fresh)
        self._keep_record(is_applied=journal.record is not None)
        (self.private / _JOURNAL).unlink()
        shutil.rmtree(self._staging, ignore_errors=True)
        if saved:
            names = ", ".join(saved)
            raise PatchmgrError(
                "edited",
                f"files in {self.root} were changed while the command ran, and are left as they"
                f" are: {names}",
                "check these files: they do not contain the changes of the patches",
            )

    def _keep_record(self, *, is_applied: bool) -> None:
        kept, fresh = self.private / "originals", self._staging / "originals"
        if fresh.exists():
            shutil.rmtree(kept, ignore_errors=True)
            os.rename(fresh, kept)
        if not is_applied:
            (self.private / _RECORD).unlink(missing_ok=True)
            shutil.rmtree(kept, ignore_errors=True)
        elif (self._staging / _RECORD).exists():
            os.replace(self._staging / _RECORD, self.private / _RECORD)
