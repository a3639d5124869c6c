"""The workspace on disk: upstream.lock, series/, conflicts/, and how changes to it are made.

A change is written beside (`.patchmgr/staging`), described in a journal, and only then moved
into place: a reader after a crash finds the journal and finishes the move, or no journal and
the old state.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.lock_files import parse_lock, write_lock
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import parse_series
from patchmgr.model.patch import Patch
from patchmgr.model.series import SeriesFile
from patchmgr.model.upstream import Lock, SeriesRecord, Upstream

LOCK = "upstream.lock"
PRIVATE = ".patchmgr"
_JOURNAL = f"{PRIVATE}/journal.json"
_STAGING = f"{PRIVATE}/staging"


@dataclass(frozen=True, slots=True)
class RefPlan:
    """A ref of a store to move when a change is made: `old` None means whatever is there."""

    store: str
    name: str
    new: str | None
    old: str | None


RefMover = Callable[[Sequence[RefPlan]], None]


@dataclass(slots=True)
class Change:
    """Files to write (None: to delete) by path below the workspace, and refs to move."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    refs: list[RefPlan] = field(default_factory=list)


class Workspace:
    """A directory with upstream.lock."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def lock(self) -> Lock:
        """Return the content of upstream.lock."""
        return parse_lock(self.read(LOCK))

    def read(self, path: str) -> bytes:
        """Return a file's content; raise PatchmgrError "broken-workspace" where it cannot be."""
        try:
            return (self.root / path).read_bytes()
        except OSError as fault:
            reason = fault.strerror or str(fault)
            raise PatchmgrError("broken-workspace", f"{path} cannot be read: {reason}") from fault

    def series_record(self, name: str) -> SeriesRecord:
        """Return what the lock says of a series; raise PatchmgrError "unknown-series"."""
        lock = self.lock()
        if name not in lock.series:
            known = ", ".join(sorted(lock.series)) or "none"
            raise PatchmgrError(
                "unknown-series", f"there is no series {name}", (f"series here: {known}",)
            )
        return lock.series[name]

    def upstream(self, name: str) -> Upstream:
        """Return an upstream; raise PatchmgrError "unknown-upstream"."""
        lock = self.lock()
        if name not in lock.upstreams:
            known = ", ".join(sorted(lock.upstreams)) or "none"
            raise PatchmgrError(
                "unknown-upstream", f"there is no upstream {name}", (f"upstreams here: {known}",)
            )
        return lock.upstreams[name]

    def series_file(self, name: str) -> SeriesFile:
        """Return a series' quilt series file."""
        return parse_series(self.read(f"series/{name}/series"))

    def patches(self, name: str) -> tuple[Patch, ...]:
        """Return the patches of a series in order, parsed."""
        lines = [line for line in self.series_file(name).lines if line.name is not None]
        return tuple(
            parse_patch(self.read(f"series/{name}/{line.name}"), name=line.name, strip=line.strip)
            for line in lines
            if line.name is not None
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the workspace for one writing command; finish what a killed one left.

        Raises PatchmgrError "busy" at once where another process holds it.
        """
        private = self.root / PRIVATE
        try:
            private.mkdir(exist_ok=True)
            file = open(private / "lock", "a+", encoding="ascii")
        except OSError as fault:
            raise _unwritable(fault, PRIVATE) from fault
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as fault:
                file.seek(0)
                owner = file.read().strip() or "unknown"
                raise PatchmgrError(
                    "busy",
                    f"another patchmgr (process {owner}) is at work in {self.root}",
                    ("wait for it to end, then run this again",),
                ) from fault
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    def recover(self, move_refs: RefMover) -> bool:
        """Finish the change that a killed command had described; say whether there was one."""
        journal = self.root / _JOURNAL
        if not journal.exists():
            shutil.rmtree(self.root / _STAGING, ignore_errors=True)
            return False
        self._finish(json.loads(journal.read_bytes()), move_refs)
        return True

    def make(self, change: Change, move_refs: RefMover) -> None:
        """Make a change, all of it or none."""
        try:
            self._stage(change)
        except OSError as fault:
            shutil.rmtree(self.root / _STAGING, ignore_errors=True)
            (self.root / f"{_JOURNAL}.new").unlink(missing_ok=True)
            raise _unwritable(fault, "the change") from fault
        self._finish(json.loads((self.root / _JOURNAL).read_bytes()), move_refs)

    def _stage(self, change: Change) -> None:
        staging = self.root / _STAGING
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        entries: list[list[str | None]] = []
        for number, (path, content) in enumerate(_lock_last(change.files)):
            self._refuse_links(path)
            staged = None if content is None else f"{_STAGING}/{number}"
            if content is not None and staged is not None:
                _write_synced(self.root / staged, content)
            entries.append([path, staged])
        refs = [[r.store, r.name, r.new, r.old] for r in change.refs]
        document = json.dumps({"files": entries, "refs": refs}).encode()
        beside = self.root / f"{_JOURNAL}.new"
        _write_synced(beside, document)
        beside.replace(self.root / _JOURNAL)
        _sync_folder(self.root / PRIVATE)

    def _refuse_links(self, path: str) -> None:
        at = self.root
        for part in path.split("/"):
            at = at / part
            if at.is_symlink():
                raise PatchmgrError("unsafe-path", f"{path} leads through a symbolic link")

    def _finish(self, journal: Mapping[str, list[list[str | None]]], move_refs: RefMover) -> None:
        refs = [RefPlan(str(r[0]), str(r[1]), r[2], r[3]) for r in journal["refs"]]
        if refs:
            move_refs(refs)
        for path, staged in journal["files"]:
            target = self.root / str(path)
            if staged is None:
                target.unlink(missing_ok=True)
                _remove_empty(target.parent, self.root)
            elif (self.root / staged).exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                (self.root / staged).replace(target)
        (self.root / _JOURNAL).unlink()
        shutil.rmtree(self.root / _STAGING, ignore_errors=True)


def lock_bytes(lock: Lock) -> bytes:
    """Return upstream.lock as it is written."""
    return write_lock(lock)


def _lock_last(files: Mapping[str, bytes | None]) -> list[tuple[str, bytes | None]]:
    return sorted(files.items(), key=lambda item: (item[0] == LOCK, item[0]))


def _write_synced(path: Path, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.name not in ("series", "conflicts"):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _unwritable(fault: OSError, what: str) -> PatchmgrError:
    reason = fault.strerror or str(fault)
    return PatchmgrError(
        "no-space" if fault.errno == 28 else "unwritable",
        f"{what} cannot be written: {reason}; nothing was changed",
        ("free some space or mend the permissions, then run it again",),
    )


def find_workspace(start: Path) -> Workspace:
    """Return the workspace that holds the folder; raise PatchmgrError "no-workspace"."""
    for folder in (start, *start.parents):
        if (folder / LOCK).is_file():
            return Workspace(folder)
    raise PatchmgrError(
        "no-workspace",
        f"there is no upstream.lock in {start} or above",
        ("make a workspace with: patchmgr init", "or name one with: patchmgr -C DIR"),
    )
