"""The workspace on disk: upstream.lock, series/, conflicts/, and who may change them when."""

from __future__ import annotations

import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.lock_files import parse_lock, write_lock
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.recorded import (
    CONFLICTS,
    FILES,
    META,
    is_conflict_id,
    parse_recorded,
    size_limit,
)
from patchmgr.formats.series_files import parse_series
from patchmgr.model.patch import Patch
from patchmgr.model.recorded import Recorded
from patchmgr.model.series import SeriesFile
from patchmgr.model.upstream import Lock, SeriesRecord, Upstream
from patchmgr.plumbing.durable import held
from patchmgr.plumbing.journal import LOCK, PRIVATE, Change, Journal, RefMover, RefPlan
from patchmgr.plumbing.plain_files import folder_names, read_plain

__all__ = ["LOCK", "PRIVATE", "Change", "RefPlan", "Workspace", "find_workspace", "lock_bytes"]

_PATIENCE = 5.0
_MANY = 100_000


class Workspace:
    """A directory with upstream.lock."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def lock(self) -> Lock:
        """Return the content of upstream.lock."""
        return parse_lock(self.read(LOCK))

    def read(self, path: str) -> bytes:
        """Return a file's content; raise PatchmgrError "broken-workspace" where it cannot be."""
        whole = self.root / path
        try:
            if not stat.S_ISREG(whole.stat().st_mode):
                raise PatchmgrError("broken-workspace", f"{path} is no plain file")
            return whole.read_bytes()
        except OSError as fault:
            reason = fault.strerror or str(fault)
            raise PatchmgrError("broken-workspace", f"{path} cannot be read: {reason}") from fault

    def series_record(self, name: str) -> SeriesRecord:
        """Return what the lock says of a series; raise PatchmgrError "unknown-series"."""
        lock = self.lock()
        if name not in lock.series:
            raise _unknown("series", name, lock.series)
        return lock.series[name]

    def upstream(self, name: str) -> Upstream:
        """Return an upstream; raise PatchmgrError "unknown-upstream"."""
        lock = self.lock()
        if name not in lock.upstreams:
            raise _unknown("upstream", name, lock.upstreams)
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

    def conflicts(self) -> tuple[str, ...]:
        """Return the ids of the conflicts on record, sorted."""
        names = folder_names(self.root, CONFLICTS, limit=_MANY)
        return tuple(name for name in names if is_conflict_id(name))

    def conflict(self, name: str) -> Recorded | None:
        """Return a conflict on record, None where there is none of that id.

        Raises PatchmgrError "bad-conflict" where its folder is not as it should be.
        """
        assert is_conflict_id(name)
        folder = f"{CONFLICTS}/{name}"
        if read_plain(self.root, f"{folder}/{META}", limit=size_limit(META)) is None:
            return None
        found = {
            file: read_plain(self.root, f"{folder}/{file}", limit=size_limit(file))
            for file in FILES
        }
        return parse_recorded(name, {f: raw for f, raw in found.items() if raw is not None})

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the workspace for one writing command.

        Raises PatchmgrError "busy" at once where another process holds it.
        """
        with held(self.root / PRIVATE, what=str(self.root)):
            yield

    def settle(self, move_refs: RefMover) -> bool:
        """Finish what a killed command left, before anything is read; say whether there was any.

        A command that is about to finish by itself gets a few seconds for that.
        """
        end = time.monotonic() + _PATIENCE
        while Journal(self.root).is_there:
            try:
                with self.writing():
                    return self.recover(move_refs)
            except PatchmgrError as fault:
                if fault.kind != "busy" or time.monotonic() > end:
                    raise
            time.sleep(0.05)
        return False

    def recover(self, move_refs: RefMover) -> bool:
        """Finish the change that a killed command had described; say whether there was one."""
        return Journal(self.root).recover(move_refs)

    def make(self, change: Change, move_refs: RefMover) -> None:
        """Make a change, all of it or none."""
        Journal(self.root).make(change, move_refs)


def _unknown(what: str, name: str, known: Collection[str]) -> PatchmgrError:
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    hints = (f"nearest names: {', '.join(close)}",) if close else ()
    there = ", ".join(sorted(known)) or "none"
    message = f"there is no {what} {name}"
    return PatchmgrError(f"unknown-{what}", message, hints or (f"{what} here: {there}",))


def lock_bytes(lock: Lock) -> bytes:
    """Return upstream.lock as it is written."""
    return write_lock(lock)


def find_workspace(start: Path) -> Workspace:
    """Return the workspace that holds the folder; raise PatchmgrError "no-workspace"."""
    if not start.is_dir():
        raise PatchmgrError("no-workspace", f"there is no folder {start}")
    for folder in (start, *start.parents):
        if (folder / LOCK).is_file():
            return Workspace(folder)
    raise PatchmgrError(
        "no-workspace",
        f"there is no upstream.lock in {start} or above",
        ("make a workspace with: patchmgr init", "or name one with: patchmgr -C DIR"),
    )
