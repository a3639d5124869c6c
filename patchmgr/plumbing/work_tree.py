"""Read and write files of a work tree without following symbolic links."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import parents_of
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, SYMLINK
from patchmgr.plumbing import git_process
from patchmgr.plumbing.durable import sync_folder
from patchmgr.plumbing.plain_files import open_folder

_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_NO_FOLDER = (errno.ELOOP, errno.ENOTDIR)


class WorkFile(Struct, frozen=True):
    """A file on disk: its mode in git (octal string), its content, and its permission bits."""

    mode: str
    content: bytes
    permissions: int


class TemporaryPlace(Struct, frozen=True):
    """Where to write a file before it is moved: a folder, and the folders to make first."""

    folder: str
    missing: tuple[str, ...]


class WorkTree:
    """The files of a folder; new files get a temporary name, and are then moved into place."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def has_modes(self) -> bool:
        """Return whether the disk records which files are executable."""
        return True

    def read(self, path: str) -> WorkFile | None:
        """Return the file at the path, or None if nothing is there.

        Raises PatchmgrError "unsafe-path" if a parent is not a folder (for example, a symbolic
        link), or if the path is neither a file nor a link.
        """
        try:
            with self._parent(path) as (parent, name):
                return self._read(parent, name, path)
        except FileNotFoundError:
            return None

    def _read(self, parent: int, name: bytes, path: str) -> WorkFile:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        bits = stat.S_IMODE(found.st_mode) & 0o777
        if stat.S_ISLNK(found.st_mode):
            return WorkFile(SYMLINK, os.readlink(name, dir_fd=parent), bits)
        if not stat.S_ISREG(found.st_mode):
            is_folder = stat.S_ISDIR(found.st_mode)
            what = "a folder, not a file" if is_folder else "neither a file nor a symbolic link"
            raise PatchmgrError("unsafe-path", f"{path} in {self.root} is {what}")
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=parent)
        with os.fdopen(descriptor, "rb") as file:
            return WorkFile(EXECUTABLE if bits & 0o100 else REGULAR, file.read(), bits)

    def is_folder(self, path: str) -> bool:
        """Return whether the path is a folder, not a link to one."""
        try:
            with self._parent(path) as (parent, name):
                found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return stat.S_ISDIR(found.st_mode)

    def below(self, folder: str) -> Iterator[tuple[str, bool]]:
        """Yield each path below a folder, and whether that path is a folder."""
        top = os.path.join(os.fsencode(self.root), git_process.raw(folder))
        for at, folders, files in os.walk(top):
            for names, are_folders in ((folders, True), (files, False)):
                for name in names:
                    whole = os.path.join(at, name)
                    is_real = are_folders and not os.path.islink(whole)
                    yield folder + git_process.text(whole[len(top) :]), is_real

    def place(self, path: str, leaving: Collection[str]) -> TemporaryPlace:
        """Return where new content for the path can be written, on the path's file system."""
        missing: list[str] = []
        present = ""
        for folder in parents_of(path):
            # A file that becomes a folder, which cannot exist yet.
            if folder in leaving:
                return TemporaryPlace(present, ())
            if not missing:
                with suppress(FileNotFoundError), self._parent(f"{folder}/x", named=path):
                    present = folder
            if present != folder:
                missing.append(folder)
        return TemporaryPlace(missing[-1] if missing else present, tuple(missing))

    def make_folder(self, path: str) -> None:
        """Make a folder unless it exists."""
        with self._parent(path) as (parent, name), suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)

    def write(self, path: str, mode: str, content: bytes, *, permissions: int | None) -> None:
        """Write a new file; if `permissions` is None, the umask determines them."""
        with self._parent(path) as (parent, name):
            if mode == SYMLINK:
                os.symlink(content, name, dir_fd=parent)
                return
            bits = 0o777 if mode == EXECUTABLE else 0o666
            with os.fdopen(os.open(name, _FRESH, bits, dir_fd=parent), "wb") as file:
                file.write(content)
                if permissions is not None:
                    os.fchmod(file.fileno(), permissions)
                file.flush()
                os.fsync(file.fileno())

    def move(self, beside: str, path: str) -> None:
        """Move a file into place; other hard links to the file it replaces keep the old content."""
        for folder in parents_of(path):
            self.make_folder(folder)
        with self._parent(beside) as (source, old), self._parent(path) as (target, new):
            _give_owner(source, old, target, new)
            os.replace(old, new, src_dir_fd=source, dst_dir_fd=target)

    def sync(self, paths: Iterable[str]) -> None:
        """Wait until the entries of the folders that contain the paths are on disk."""
        for folder in sorted({os.path.dirname(path) for path in paths}):
            with (
                suppress(FileNotFoundError, PatchmgrError),
                self._parent(f"{folder}/x".lstrip("/")) as (parent, _),
            ):
                sync_folder(parent)

    def delete(self, path: str) -> None:
        """Delete a file if it exists, and the parent folders that become empty."""
        self.remove(path)
        folder = os.path.dirname(path)
        while folder and self.remove_folder(folder):
            folder = os.path.dirname(folder)

    def remove(self, path: str) -> None:
        """Delete a file if it exists."""
        with suppress(FileNotFoundError), self._parent(path) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def remove_folder(self, path: str) -> bool:
        """Delete a folder if it exists and is empty; return whether it was deleted."""
        try:
            with self._parent(path) as (parent, name):
                os.rmdir(name, dir_fd=parent)
        except OSError:
            return False
        return True

    @contextmanager
    def _parent(self, path: str, *, named: str | None = None) -> Iterator[tuple[int, bytes]]:
        above, _, name = path.rpartition("/")
        try:
            folder = open_folder(self.root, above)
        except OSError as fault:
            if fault.errno not in _NO_FOLDER:
                raise
            message = f"{named or path} in {self.root} leads through "
            message += f"{os.fsdecode(fault.filename)}, which is not a folder"
            raise PatchmgrError("unsafe-path", message) from fault
        try:
            yield folder, git_process.raw(name)
        finally:
            os.close(folder)


def _give_owner(source: int, old: bytes, target: int, new: bytes) -> None:
    """Give a file the owner of the file that it replaces, if permitted, but keep its mode."""
    try:
        wanted = os.stat(new, dir_fd=target, follow_symlinks=False)
    except FileNotFoundError:
        return
    found = os.stat(old, dir_fd=source, follow_symlinks=False)
    if (found.st_uid, found.st_gid) != (wanted.st_uid, wanted.st_gid):
        with suppress(PermissionError):
            os.chown(old, wanted.st_uid, wanted.st_gid, dir_fd=source, follow_symlinks=False)


def permissions_for(mode: str, found: WorkFile | None) -> int | None:
    """Return the permission bits for a file that replaces `found`, or None for the default."""
    if found is None or SYMLINK in (mode, found.mode):
        return None
    bits = found.permissions
    if mode == found.mode:
        return bits
    # Everybody who may read an executable file may execute it.
    return (bits & 0o666) | ((bits & 0o444) >> 2 if mode == EXECUTABLE else 0)
