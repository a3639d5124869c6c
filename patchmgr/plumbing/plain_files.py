"""Read regular files in a folder that may contain anything, without following symbolic links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.paths import encode_path

_LONGEST = 64 * 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def folder_names(root: Path, path: str, *, limit: int) -> tuple[str, ...]:
    """Return the sorted names in a folder, or () if the folder does not exist.

    Raises PatchmgrError "broken-workspace" if there are more than `limit` names, and "unsafe-path"
    if the path contains a symbolic link.
    """
    with _opened(root, path) as folder:
        if folder is None:
            return ()
        names = sorted(os.listdir(folder))
    if len(names) > limit:
        raise PatchmgrError("broken-workspace", f"{path} must not have more than {limit} entries")
    return tuple(names)


def read_plain(root: Path, path: str, *, limit: int) -> bytes | None:
    """Return the content of a file, or None if it does not exist.

    Raises PatchmgrError "unsafe-path" if the path contains a symbolic link, and "broken-workspace"
    if the file is not regular or is larger than `limit` bytes.
    """
    above, _, name = path.rpartition("/")
    with _opened(root, above) as folder:
        if folder is None:
            return None
        try:
            descriptor = os.open(name, _FILE, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise _unreadable(root, path, fault) from fault
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise PatchmgrError("broken-workspace", f"{path} must be a regular file")
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(limit + 1)
    if len(content) > limit:
        raise PatchmgrError("broken-workspace", f"{path} must not be larger than {limit} bytes")
    return content


def read_json(root: Path, path: str) -> Any:
    """Return the value in one of patchmgr's private JSON files, or None if the file is missing.

    Raises PatchmgrError as `read_plain` does, and "broken-workspace" if the file is not JSON.
    """
    raw = read_plain(root, path, limit=_LONGEST)
    try:
        return None if raw is None else parse_json(raw)
    except ValueError as fault:
        raise PatchmgrError("broken-workspace", f"{path} is not valid JSON") from fault


def refuse_links(root: Path, path: str) -> None:
    """Raise PatchmgrError "unsafe-path" if a part of the path is a symbolic link."""
    at = root
    for part in path.split("/"):
        at = at / part
        if at.is_symlink():
            raise PatchmgrError("unsafe-path", f"{path} leads through a symbolic link")


def open_folder(root: Path, path: str) -> int:
    """Open a folder below the root ("" is the root) without following links; return its descriptor.

    An OSError names the component that is missing or not a folder.
    """
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in encode_path(path).split(b"/") if path else ():
        try:
            deeper = os.open(part, _FOLDER, dir_fd=at)
        finally:
            os.close(at)
        at = deeper
    return at


@contextmanager
def _opened(root: Path, path: str) -> Iterator[int | None]:
    """Open a folder below the root; yield None if it is missing."""
    try:
        folder = open_folder(root, path)
    except FileNotFoundError:
        yield None
        return
    except OSError as fault:
        raise _unreadable(root, path, fault) from fault
    try:
        yield folder
    finally:
        os.close(folder)


def _unreadable(root: Path, path: str, fault: OSError) -> PatchmgrError:
    with suppress(OSError):
        refuse_links(root, path)
    reason = fault.strerror or str(fault)
    return PatchmgrError("broken-workspace", f"{path} cannot be read: {reason}")
