"""An archive or a folder as an upstream; each snapshot becomes a commit without parents."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote, urlsplit

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.archives import ArchiveFile, read_archive, safe_path
from patchmgr.formats.git_urls import local_path
from patchmgr.formats.shown import shown
from patchmgr.model.progress import Progress
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, SYMLINK, blob_id
from patchmgr.model.upstream import Pin, Resolved, Upstream
from patchmgr.plumbing import git_process
from patchmgr.plumbing.downloads import download, sha256_of
from patchmgr.plumbing.history import ReleaseHistory
from patchmgr.plumbing.index_session import read_settings
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.package_index import Archive
from patchmgr.plumbing.package_upstream import NEWEST, imported, newest_ref
from patchmgr.plumbing.releases import write_snapshot
from patchmgr.plumbing.stores import RefMove, move_refs, references
from patchmgr.plumbing.upstream_kinds import OpenUpstream

SNAPSHOTS = "refs/upstream/snapshots/"
_NAME = "snapshot-"
_TRACKED = "upstream/main"
_SHORT = 12  # digits of a sha256 that name a snapshot


class ArchiveUpstream(OpenUpstream):
    """An upstream that is an archive or a folder.

    The name of a state is `snapshot-` and the first digits of a sha256: for an archive, the sha256
    of the file; for a folder, the sha256 of the list of its files.
    """

    def __init__(self, upstream: Upstream, reader: ObjectReader, progress: Progress) -> None:
        super().__init__(upstream, reader, progress)
        assert upstream.archive is not None
        self._location = upstream.archive

    def fetch(self, wanted: Sequence[str] = ()) -> str:
        """Import the archive or folder as it is now, and return the commit.

        Raises PatchmgrError "unknown-ref" if a state in `wanted` is not in the store.
        """
        found = self._take()
        for ref in wanted:
            self.resolve(ref)
        return found.commit

    def resolve(self, ref: str) -> Resolved:
        """Return the snapshot that `ref` names; for `upstream/main`, import one if none is stored.

        Raises PatchmgrError "unknown-ref" if there is no such snapshot.
        """
        known = references(self.store, SNAPSHOTS)
        if ref == _TRACKED:
            newest = self._newest()
            return self._take() if newest is None else self._resolved(newest)
        for name, commit in known.items():
            if ref == name or (len(ref) >= 4 and commit.startswith(ref)):
                return self._resolved(name)
        hints = (f"known states: {', '.join(known)}",) if known else ()
        message = f"upstream {self._name} has no state {shown(ref)}"
        raise PatchmgrError("unknown-ref", message, *hints)

    def _newest(self) -> str | None:
        newest = newest_ref(self.store)
        return None if newest is None else newest.removeprefix(SNAPSHOTS)

    def _resolved(self, name: str) -> Resolved:
        found = imported(self.store, name, SNAPSHOTS)
        assert found is not None
        return found

    def _take(self) -> Resolved:
        """Import the current content, unless the store has it."""
        with self._opened() as (filename, sha256, files):
            name = f"{_NAME}{sha256[:_SHORT]}"
            if name not in references(self.store, SNAPSHOTS):
                try:
                    trailers = f"Archive: {filename}\nSha256: {sha256}\n"
                    commit = write_snapshot(self.store, files, lambda: f"{name}\n\n{trailers}")
                    move_refs(self.store, [RefMove(SNAPSHOTS + name, commit)])
                except PatchmgrError as fault:
                    message = f"{shown(filename)} {fault.message}"
                    raise PatchmgrError(fault.kind, message, *fault.hints) from fault
        git_process.output(["symbolic-ref", NEWEST, SNAPSHOTS + name], git_dir=self.store)
        return self._resolved(name)

    @contextmanager
    def _opened(self) -> Iterator[tuple[str, str, Iterator[ArchiveFile]]]:
        """Yield the file name, sha256 and files of the archive or folder."""
        path = local_path(self._location)
        if path is not None and path.is_dir():
            below = list(_files_below(path))
            rows = (f"{file.mode} {blob_id(file.content)} {file.path}\0" for file in below)
            listing = hashlib.sha256(git_process.raw("".join(rows)))
            yield path.name or "folder", listing.hexdigest(), iter(below)
            return
        name = unquote(urlsplit(self._location).path).rpartition("/")[2]
        with tempfile.TemporaryDirectory(prefix="patchmgr-") as folder:
            if path is None:
                archive = Archive(name, self._location, None, "sdist")
                settings = read_settings(os.environ)
                path = download(archive, Path(folder), settings, progress=self._progress)
            try:
                opened = path.open("rb")
            except OSError as fault:
                message = f"{shown(str(path))} cannot be read: {fault.strerror}"
                raise PatchmgrError("unreachable-upstream", message) from fault
            with opened as file:
                yield path.name, sha256_of(file), read_archive(file)

    def version_of(self, pin: Pin) -> str:
        """Return the name of the pinned snapshot."""
        return pin.ref

    def bring_pin(self, pin: Pin) -> str:
        """Import the archive, whose content must be the pinned state, and return the state's name.

        Raises PatchmgrError "checksum-mismatch" if the content differs.
        """
        if self._take().commit != pin.commit:
            message = (
                f"{shown(self._location)} is not what upstream.lock pins (sha256 {pin.sha256})"
            )
            hint = "put the pinned content back there, then run the command again"
            raise PatchmgrError("checksum-mismatch", message, hint)
        return pin.ref

    def distance(self, pin: Pin) -> tuple[str | None, int | None]:
        """Return the newest snapshot, and 0 if it is the pin or else 1; None before a fetch."""
        newest = self._newest()
        return newest, None if newest is None else int(newest != pin.ref)

    def history(self, base: Resolved, target: Resolved) -> ReleaseHistory:
        """Return the history from one snapshot to another; it has at most one step."""

        def lookup(name: str) -> tuple[str, str]:
            return self.resolve(name).commit, f"{self._name} {name}"

        way = () if base.commit == target.commit else (target.ref,)
        return ReleaseHistory(self.store, base.commit, way, lookup)

    def between(
        self, start: Resolved, end: Resolved, every: int | None, say: Callable[[str], None]
    ) -> tuple[Resolved, ...]:
        """Return (), as no states between snapshots are known; raise "usage" if `every` is set."""
        if every is not None:
            raise UsageError("--every N counts commits, but an archive has none")
        return ()


def _files_below(root: Path) -> Iterator[ArchiveFile]:
    """Yield all files below a folder except `.git`, in a fixed order, with modification time 0."""

    def refuse(fault: OSError) -> NoReturn:
        message = f"{shown(fault.filename)} cannot be imported: {fault.strerror}"
        raise PatchmgrError("unreachable-upstream", message) from fault

    for folder, below, names in os.walk(root, onerror=refuse):
        below[:] = sorted(name for name in below if name != ".git")
        links = [name for name in below if os.path.islink(os.path.join(folder, name))]
        for name in sorted({*names, *links} - {".git"}):
            place = os.path.join(folder, name)
            try:
                yield _file(place, safe_path(os.path.relpath(place, root)))
            except (OSError, ValueError) as fault:
                message = f"{shown(place)} cannot be imported: {fault}"
                raise PatchmgrError("unreachable-upstream", message) from fault


def _file(place: str, path: str) -> ArchiveFile:
    found = os.lstat(place)
    if stat.S_ISLNK(found.st_mode):
        return ArchiveFile(path, SYMLINK, os.fsencode(os.readlink(place)), 0)
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("it must be a regular file, a folder or a symbolic link")
    mode = EXECUTABLE if found.st_mode & stat.S_IXUSR else REGULAR
    with open(place, "rb") as file:
        return ArchiveFile(path, mode, file.read(), 0)
