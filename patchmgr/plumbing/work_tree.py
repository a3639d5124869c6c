"""Files of a work tree, read and written without following a symbolic link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, SYMLINK

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
SUFFIX = ".patchmgr-new"


class WorkTree:
    """A folder below which files are replaced by write-beside-and-rename."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str) -> tuple[str, bytes] | None:
        """Return mode (octal string) and content, None where nothing is there.

        Raises PatchmgrError "unsafe-path" where a parent is a symbolic link, or where there is
        no file but a folder or a device.
        """
        try:
            with self._parent(path, creates=False) as (parent, name):
                return self._read(parent, name, path)
        except FileNotFoundError:
            return None

    def _read(self, parent: int, name: str, path: str) -> tuple[str, bytes] | None:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            return SYMLINK, os.fsencode(os.readlink(name, dir_fd=parent))
        if not stat.S_ISREG(found.st_mode):
            raise PatchmgrError("unsafe-path", f"{path} is no file in {self.root}")
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=parent)
        with os.fdopen(descriptor, "rb") as file:
            return EXECUTABLE if found.st_mode & 0o100 else REGULAR, file.read()

    def write(self, path: str, mode: str, content: bytes) -> None:
        """Put a file in place; a hard link elsewhere keeps its old content."""
        with self._parent(path, creates=True) as (parent, name):
            beside = name + SUFFIX
            _remove(beside, parent)
            if mode == SYMLINK:
                os.symlink(os.fsdecode(content), beside, dir_fd=parent)
            else:
                self._write_file(beside, parent, mode, content, _old_mode(name, parent))
            os.replace(beside, name, src_dir_fd=parent, dst_dir_fd=parent)

    @staticmethod
    def _write_file(name: str, parent: int, mode: str, content: bytes, like: int | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        descriptor = os.open(name, flags, 0o777 if mode == EXECUTABLE else 0o666, dir_fd=parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if like is not None:
                executable = (like & 0o444) >> 2 if mode == EXECUTABLE else 0
                os.fchmod(file.fileno(), (like & 0o666) | executable)
            file.flush()
            os.fsync(file.fileno())

    def delete(self, path: str) -> None:
        """Delete a file and the folders that it leaves empty."""
        try:
            with self._parent(path, creates=False) as (parent, name):
                _remove(name, parent)
        except FileNotFoundError:
            return
        folder = os.path.dirname(path)
        while folder:
            try:
                with self._parent(folder, creates=False) as (parent, name):
                    os.rmdir(name, dir_fd=parent)
            except OSError:
                return
            folder = os.path.dirname(folder)

    @contextmanager
    def _parent(self, path: str, *, creates: bool) -> Iterator[tuple[int, str]]:
        *folders, name = path.split("/")
        at = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for folder in folders:
                at = self._enter(at, folder, path, creates)
            yield at, name
        finally:
            os.close(at)

    def _enter(self, at: int, folder: str, path: str, creates: bool) -> int:
        if creates:
            try:
                os.mkdir(folder, dir_fd=at)
            except FileExistsError:
                pass
        try:
            deeper = os.open(folder, _FOLDER, dir_fd=at)
        except OSError as fault:
            if fault.errno in (errno.ELOOP, errno.ENOTDIR):
                raise PatchmgrError(
                    "unsafe-path",
                    f"{path} leads through {folder}, which is no folder of {self.root}",
                ) from fault
            raise
        os.close(at)
        return deeper


def _old_mode(name: str, parent: int) -> int | None:
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None


def _remove(name: str, parent: int) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return
