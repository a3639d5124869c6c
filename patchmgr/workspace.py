"""The workspace on disk: upstream.lock, series/, conflicts/, and a lock for writers."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from msgspec import convert, to_builtins
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.lock_files import parse_lock
from patchmgr.formats.patch_files import parse_listed
from patchmgr.formats.recorded_conflict import (
    CONFLICTS,
    FILES,
    MAX_META,
    META,
    PULLED,
    SOURCE,
    is_conflict_id,
    parse_recorded,
    parse_source,
    size_limit,
)
from patchmgr.formats.series_files import parse_series
from patchmgr.formats.series_settings import parse_settings
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.model.recorded_conflict import Recorded, Source
from patchmgr.model.series import SeriesFile
from patchmgr.model.settings import SeriesSettings
from patchmgr.model.upstream import Lock, SeriesRecord, Upstream
from patchmgr.plumbing.durable import held, is_read_only, replace_file, writes
from patchmgr.plumbing.journal import LOCK, PRIVATE, Change, Journal, RefPlan
from patchmgr.plumbing.namespaces import claim, own_ref
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.operation_log import LOG, LogEntry, OperationLog
from patchmgr.plumbing.plain_files import folder_names, read_json, read_plain, refuse_links
from patchmgr.plumbing.stores import RefMove, cache_folder, move_refs

__all__ = [
    "LOCK",
    "PRIVATE",
    "Change",
    "Foreseen",
    "LogEntry",
    "RefPlan",
    "Workspace",
    "find_workspace",
]

T = TypeVar("T")

_PATIENCE = 5.0
_MANY = 100_000
_LARGEST = 1 << 30

# A command parses the lock many times, and the lock has usually not changed.
_parsed_lock = lru_cache(maxsize=16)(parse_lock)


class Workspace:
    """A directory that contains upstream.lock.

    `command` is what the operation log calls its changes (None: no log). A dry run changes nothing.
    """

    def __init__(self, root: Path, *, command: str | None = None, is_dry_run: bool = False) -> None:
        self.root = root
        self.command = command
        self.is_dry_run = is_dry_run

    @property
    def log(self) -> OperationLog:
        """Return the operation log of the workspace."""
        return OperationLog(self.root)

    def lock(self) -> Lock:
        """Return the content of upstream.lock."""
        return _parsed_lock(self.read(LOCK))

    def read(self, path: str) -> bytes:
        """Return a file's content; raise PatchmgrError "broken-workspace" if it cannot be read."""
        # without following links, so that a workspace cannot refer to files outside of it
        content = self.find(path)
        if content is None:
            reason = os.strerror(errno.ENOENT)
            raise PatchmgrError("broken-workspace", f"{path} cannot be read: {reason}")
        return content

    def find(self, path: str) -> bytes | None:
        """Return the content of a file, or None if the file does not exist."""
        return read_plain(self.root, path, limit=_LARGEST)

    def keep(self, path: str, value: object) -> None:
        """Write a value as JSON to a file in the workspace; raise OSError if that fails."""
        place = self.root / path
        try:
            refuse_links(self.root, path.rpartition("/")[0])
        except PatchmgrError as fault:
            raise OSError(errno.ELOOP, fault.message) from fault
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, json.dumps(to_builtins(value, enc_hook=str)).encode())

    def kept(self, path: str, kind: type[T]) -> T | None:
        """Return the value that `keep` wrote to a file, or None for a missing or malformed file."""
        try:
            return convert(read_json(self.root, path), kind)
        except (PatchmgrError, OSError, ValueError):
            return None

    def series_record(self, name: str) -> SeriesRecord:
        """Return a series' entry in upstream.lock, or raise PatchmgrError "unknown-series"."""
        lock = self.lock()
        if name not in lock.series:
            raise _unknown("series", name, lock.series)
        return lock.series[name]

    def upstream(self, name: str) -> Upstream:
        """Return an upstream's entry in upstream.lock; raise "unknown-upstream" if it has none."""
        lock = self.lock()
        if name not in lock.upstreams:
            raise _unknown("upstream", name, lock.upstreams)
        return lock.upstreams[name]

    def series_file(self, name: str) -> SeriesFile:
        """Parse a series file; each line also lists the groups of its patch that are off."""
        file = parse_series(self.read(f"series/{name}/series"))
        settings = self.settings(name)
        return SeriesFile(
            tuple(
                replace(line, off=settings.off_groups(line.name)) if line.name else line
                for line in file.lines
            )
        )

    def symbols(self) -> frozenset[str]:
        """Return the names that `--select` accepts: the symbols of all guards, and all groups."""
        lines = (line for name in self.lock().series for line in self.series_file(name).lines)
        guards = (guard.symbol for line in lines for guard in line.guards)
        return frozenset(guards).union(*(self.settings(name).groups for name in self.lock().series))

    def settings(
        self, name: str, *, changes: Mapping[str, bytes | None] | None = None
    ) -> SeriesSettings:
        """Return the settings of a series, from its series.toml or new content in `changes`."""
        path = f"series/{name}/series.toml"
        changed = (changes or {}).get(path)
        if changed is not None:
            return parse_settings(changed, series=name)
        raw = self.find(path)
        return SeriesSettings() if raw is None else parse_settings(raw, series=name)

    def is_free(self, series: str, name: str, content: bytes | None = None) -> bool:
        """Return whether a patch name is free: no file has it, or only one with this `content`."""
        place = self.root / f"series/{series}/{name}"
        is_same = content is not None and place.is_file() and place.read_bytes() == content
        return not os.path.lexists(place) or (is_same and not place.is_symlink())

    def names_beside(self, series: str, source: str | None = None) -> dict[str, str]:
        """Return the patches of the stack's other series except `source`, with their series."""
        lock = self.lock()
        upper = (name for name in lock.series if series in lock.below(name))
        others = {*lock.below(series), *upper} - {source}
        return {name: other for other in others for name in self.series_file(other).names()}

    def require_free(self, series: str, name: str, *, source: str | None = None) -> None:
        """Raise PatchmgrError "usage" if a file, or a patch in the stack, has this name.

        A patch of the series `source`, from which the patch is being moved, may have this name.
        """
        other = self.names_beside(series, source).get(name)
        if other is not None:
            message = f"{other} already has a patch {shown(name)}, and is in the same stack"
            raise UsageError(message, "choose another name")
        if not self.is_free(series, name):
            place = self.root / f"series/{series}/{name}"
            hint = f"move {shown(str(place))} aside, or choose another name"
            raise UsageError(f"the file {shown(name)} already exists", hint)

    def patches(self, name: str) -> tuple[Patch, ...]:
        """Parse the patches of a series, and return them in series order.

        Raises PatchmgrError "broken-workspace" if a file that the series lists is missing or empty.
        """
        return tuple(
            parse_listed(self.listed(name, line.name), line)
            for line in self.series_file(name).lines
            if line.name is not None
        )

    def listed(self, series: str, name: str) -> bytes:
        """Return a patch file's content; raise "broken-workspace" if it is missing or empty."""
        path = f"series/{series}/{name}"
        content = self.find(path)
        if content is None or not content.strip():
            hint = f"put the file back, or delete its line in series/{series}/series"
            what = "is missing" if content is None else "is empty"
            message = f"{shown(path)}, which the series lists, {what}"
            raise PatchmgrError("broken-workspace", message, hint)
        return content

    def sources(self) -> tuple[Source, ...]:
        """Return the sources from which resolutions were pulled, sorted by name."""
        names = folder_names(self.root, PULLED, limit=_MANY)
        files = (
            (name, read_plain(self.root, f"{PULLED}/{name}/{SOURCE}", limit=MAX_META))
            for name in names
        )
        return tuple(parse_source(name, raw) for name, raw in files if raw is not None)

    def conflicts(self, source: Source | None = None) -> tuple[str, ...]:
        """Return the sorted ids of the recorded conflicts, or of those pulled from `source`."""
        names = folder_names(self.root, _folder(source), limit=_MANY)
        return tuple(name for name in names if is_conflict_id(name))

    def conflict(self, name: str, source: Source | None = None) -> Recorded | None:
        """Return the recorded conflict whose id is `name`, or None if there is none.

        It is looked up among those pulled from `source` or, by default, in the workspace itself.
        Raises PatchmgrError "bad-conflict" if its folder is malformed.
        """
        # older versions of patchmgr left conflicts open without an id
        if not name:
            return None
        assert is_conflict_id(name)
        folder = f"{_folder(source)}/{name}"
        if read_plain(self.root, f"{folder}/{META}", limit=size_limit(META)) is None:
            return None
        found = {
            file: read_plain(self.root, f"{folder}/{file}", limit=size_limit(file))
            for file in FILES
        }
        return parse_recorded(name, {f: raw for f, raw in found.items() if raw is not None})

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the workspace while one command writes to it.

        Raises PatchmgrError "busy" at once if another process holds the lock.
        """
        private = self.root / PRIVATE
        with ExitStack() as held_now:
            try:
                held_now.enter_context(held(private, what=str(self.root)))
            except PatchmgrError as fault:
                top = private if private.exists() else self.root
                # a dry run works in a read-only workspace, and any other run fails when it writes
                if not is_read_only(top, fault.__cause__):
                    raise
            yield

    def settle(self) -> bool:
        """Finish a change that a killed command left incomplete; return whether there was one.

        Raises PatchmgrError "busy" if the command is still running after a few seconds.
        """
        end = time.monotonic() + _PATIENCE
        while Journal(self.root).is_there:
            try:
                with self.writing():
                    return self.recover()
            except PatchmgrError as fault:
                if fault.kind != "busy" or time.monotonic() > end:
                    raise
            time.sleep(0.05)
        return False

    def read_whole(self, read: Callable[[], T]) -> T:
        """Return the result of `read`; repeat the call if another process changed files meanwhile.

        Commands that only read need this, because they do not lock the workspace.
        """
        while True:
            before = self._last_change()
            self.settle()
            try:
                found = read()
            except PatchmgrError:
                if self._is_at(before):
                    raise
            else:
                if self._is_at(before):
                    return found

    def _is_at(self, last_change: int) -> bool:
        return self._last_change() == last_change and not Journal(self.root).is_there

    def _last_change(self) -> int:
        """Return the time of the operation log's last entry, or 0 without a log."""
        # a command writes its entry before it changes files
        with suppress(OSError):
            return (self.root / LOG).stat().st_mtime_ns
        return 0

    def recover(self) -> bool:
        """Finish a change that a killed command left in the journal; return whether it left one."""
        return Journal(self.root).recover(self._move_refs, _finish_step)

    def ref_at(self, git_dir: Path, name: str) -> str:
        """Return the name that this workspace's ref `name` has in a repository."""
        # workspaces share stores, so each has a namespace there
        is_store = git_dir.parent == cache_folder() / "stores"
        return own_ref(self.root, name) if is_store else name

    def _move_refs(self, plans: Sequence[RefPlan]) -> None:
        """Move refs of stores as planned, except those that were already moved."""
        claim(self.root)
        for plan in plans:
            store = Path(plan.store)
            # the plan may come from a journal that a stranger wrote
            if store.parent != cache_folder() / "stores" or not (store / "HEAD").exists():
                raise PatchmgrError("cache", f"there is no store {store}")
            name = self.ref_at(store, plan.name)
            try:
                move_refs(store, [RefMove(name, plan.new, plan.old)])
            except PatchmgrError:
                with ObjectReader(store) as reader:
                    if reader.commit(name) != plan.new:
                        raise

    def make(self, change: Change, *, told: LogEntry | None = None) -> None:
        """Make a change completely or not at all, and log the replaced contents."""
        if self.is_dry_run:
            return
        told = told or (LogEntry(self.command) if self.command is not None else None)
        if told is not None:
            with writes(str(self.root)):
                self.log.note(change, told)
        Journal(self.root).make(change, self._move_refs)
        if told is not None:
            self.log.prune()


class Foreseen(Workspace):
    """A read-only view of a workspace in which `files` replaces some files (None: deleted)."""

    def __init__(self, workspace: Workspace, files: Mapping[str, bytes | None]) -> None:
        super().__init__(workspace.root, is_dry_run=True)
        self._files = files

    def find(self, path: str) -> bytes | None:
        """Return the content that a file will have, or None if the file will not exist."""
        return self._files[path] if path in self._files else super().find(path)


class Committed(Foreseen):
    """A read-only view of a workspace whose upstream.lock and series/ are those of a commit."""

    def find(self, path: str) -> bytes | None:
        """Return the content of a file: upstream.lock and series/ are read from the commit."""
        is_own = path == LOCK or path.startswith("series/")
        return self._files.get(path) if is_own else super().find(path)


def _folder(source: Source | None) -> str:
    return CONFLICTS if source is None else f"{PULLED}/{source.name}"


def _unknown(what: str, name: str, known: Collection[str]) -> PatchmgrError:
    close = get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    make = "patchmgr upstream add NAME --git URL, or --package NAME"
    hint = f"{what} here: {', '.join(sorted(known))}"
    if close:
        hint = f"nearest names: {', '.join(close)}"
    elif not known:
        hint = make if what == "upstream" else "patchmgr series new --help"
    return PatchmgrError(f"unknown-{what}", f"there is no {what} {name}", hint)


def _finish_step(place: Path, token: str) -> None:
    from patchmgr.plumbing.checkout import finish_step

    finish_step(place, token)


def find_workspace(
    start: Path, *, command: str | None = None, is_dry_run: bool = False
) -> Workspace:
    """Return the workspace that contains a folder, or raise PatchmgrError "no-workspace"."""
    if not start.is_dir():
        raise PatchmgrError("no-workspace", f"there is no folder {start}")
    for folder in (start, *start.parents):
        if (folder / LOCK).is_file():
            return Workspace(folder, command=command, is_dry_run=is_dry_run)
    raise PatchmgrError(
        "no-workspace",
        f"there is no upstream.lock in {start} or above",
        "make a workspace with: patchmgr init",
        "or name one with: patchmgr -C DIR",
    )
