"""Files that survive a crash, and locks on folders that only one process can hold at a time."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from patchmgr.errors import PatchmgrError

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
BESIDE = ".new"  # the suffix of a file that is being written
_LINK = "remove the link, then run the command again"
_AT_ONCE = 16  # 1,000 small files: 0.3 s; one after the other: 0.9 s
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def write_unlinked(path: Path, content: bytes) -> None:
    """Write a file; raise OSError if the path is a symbolic link, which may lead anywhere."""
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW)) as file:
        file.write(content)


def write_synced(path: Path, content: bytes) -> None:
    """Write a file as `write_unlinked` does, and wait until it is on disk."""
    write_unlinked(path, content)
    synced(path)


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically: after a crash, the path has the old content or the new."""
    beside = path.with_name(path.name + BESIDE)
    try:
        write_synced(beside, content)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


@contextmanager
def written_beside(place: Path) -> Iterator[str]:
    """Yield the name of a temporary file, which replaces `place` if the `with` block succeeds.

    Raises PatchmgrError "unwritable" or "no-space".
    """
    with writes(str(place)):
        descriptor, name = tempfile.mkstemp(prefix=".patchmgr-", dir=place.parent)
        os.close(descriptor)
        try:
            yield name
            os.replace(name, place)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


def make_folders(folder: Path, made: list[Path]) -> None:
    """Make a folder and its missing parents, and append each new folder to `made`."""
    if not folder.is_dir():
        make_folders(folder.parent, made)
        folder.mkdir()
        made.append(folder)


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove the folders that are empty, beginning with the last one."""
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def synced(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        sync_folder(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(descriptor: int) -> None:
    """Wait until the entries of an open folder are on disk, if its file system can do that."""
    try:
        os.fsync(descriptor)
    except OSError as fault:
        # Some network and FUSE file systems report these.
        if fault.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def all_synced(paths: Sequence[Path]) -> None:
    """Wait until each of the files and folders is on disk."""
    if len(paths) < _AT_ONCE:
        for path in paths:
            synced(path)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(synced, paths):
            pass


def unwritable(what: str, fault: OSError, *, left: str = "nothing was changed") -> PatchmgrError:
    """Return the error for `what`, which cannot be written; `left` says what was changed so far."""
    reason = fault.strerror or str(fault)
    return PatchmgrError(
        "no-space" if fault.errno in _NO_SPACE else "unwritable",
        f"{what} cannot be written: {reason}; {left}",
        "free some space or fix the permissions, then run the command again",
    )


@contextmanager
def writes(what: str, *, left: str = "nothing was changed") -> Iterator[None]:
    """Turn an OSError in the `with` block into the error that `unwritable` returns."""
    try:
        yield
    except OSError as fault:
        raise unwritable(what, fault, left=left) from fault


@contextmanager
def held(folder: Path, *, what: str) -> Iterator[None]:
    """Hold the lock file of a folder during the `with` block, and make the folder if needed.

    The folder is removed at the end if it is empty. Raises PatchmgrError "busy" at once if another
    process holds the lock.
    """
    try:
        folder.mkdir(exist_ok=True)
        if folder.is_symlink():
            raise PatchmgrError("unsafe-path", f"{folder} is a symbolic link, not a folder", _LINK)
        descriptor = os.open(folder / "lock", _LOCK, 0o666)
    except OSError as fault:
        if isinstance(fault, FileNotFoundError) and folder.parent.is_dir():
            raise _was_busy(what) from fault
        raise unwritable(what, fault) from fault
    try:
        _take(descriptor, what)
        try:
            yield
        finally:
            with suppress(OSError):
                (folder / "lock").unlink()
                folder.rmdir()
    finally:
        os.close(descriptor)


@contextmanager
def held_briefly(folder: Path, *, what: str) -> Iterator[None]:
    """Hold a lock as `held` does; also make the folder's parent, and remove it again if empty."""
    with writes(what):
        folder.parent.mkdir(exist_ok=True)
        if folder.parent.is_symlink():
            message = f"{folder.parent} is a symbolic link, not a folder"
            raise PatchmgrError("unsafe-path", message, _LINK)
    try:
        with held(folder, what=what):
            yield
    finally:
        with suppress(OSError):
            folder.parent.rmdir()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the `with` block ends; if the block raises an error, ignore Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    # Git processes that the block starts inherit this mask.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if came:
        signal.raise_signal(signal.SIGINT)


def is_read_only(folder: Path, fault: BaseException | None) -> bool:
    """Return whether an error means that this user may not write to the folder."""
    if not isinstance(fault, OSError):
        return False
    return fault.errno == errno.EROFS or (
        fault.errno in (errno.EACCES, errno.EPERM) and not os.access(folder, os.W_OK)
    )


def _take(descriptor: int, what: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as fault:
        owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
        raise PatchmgrError(
            "busy",
            f"another patchmgr (process {owner}) is running in {what}",
            "wait until it ends, then run the command again",
        ) from fault
    except OSError as fault:  # a file system without locks, such as some NFS mounts
        raise unwritable(what, fault) from fault
    if os.fstat(descriptor).st_nlink == 0:  # another process removed it just before
        raise _was_busy(what)
    with suppress(OSError):  # the process id is only for error messages
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)


def _was_busy(what: str) -> PatchmgrError:
    message = f"another patchmgr was running in {what} just now"
    return PatchmgrError("busy", message, "run the command again")
