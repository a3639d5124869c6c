"""Write output, completely or not at all, to a folder or to a file that the user named."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from patchmgr.errors import UsageError
from patchmgr.plumbing.durable import BESIDE, replace_file, synced, writes, written_beside


def refresh_folder(
    place: Path, files: Mapping[str, bytes], *, is_ours: Callable[[str], bool]
) -> None:
    """Write the files to a folder in the given order, then delete all other files from it.

    Raises PatchmgrError "usage" if `is_ours` rejects the name of an entry in the folder.
    """
    check_ours(place, is_ours=is_ours)
    with writes(str(place), left="some files were written; run the command again"):
        for path, content in files.items():
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, content)
        synced(place)
        tops = {path.partition("/")[0] for path in files}
        for name in sorted(set(os.listdir(place)) - tops):
            left = place / name
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink()


def check_ours(place: Path, *, is_ours: Callable[[str], bool]) -> None:
    """Raise a "usage" error if a folder contains an entry whose name `is_ours` rejects."""
    if not os.path.lexists(place):
        return
    is_free = place.is_dir() and not place.is_symlink()
    if not is_free or not all(is_ours(n.removesuffix(BESIDE)) for n in os.listdir(place)):
        raise UsageError(
            f"{place} already exists, but is not an overlay", "name another folder with --out"
        )


def read_named(path: Path, *, limit: int = -1) -> bytes:
    """Return the content of a file that the user named, but at most `limit` + 1 bytes.

    Raises PatchmgrError "usage" if the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read(limit + 1 if limit >= 0 else -1)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise UsageError(f"{path} cannot be read: {reason}") from fault


def make_folder(folder: Path) -> None:
    """Make a folder for output and its missing parents; raise "unwritable" if that fails."""
    with writes(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)


def write_output(path: Path, content: bytes) -> None:
    """Write a file by renaming a temporary file; write a special or hard-linked file in place."""
    found = path.lstat() if os.path.lexists(path) else None
    if found is not None and (not stat.S_ISREG(found.st_mode) or found.st_nlink > 1):
        with writes(str(path)):
            path.write_bytes(content)
        return
    with written_beside(path) as beside:
        Path(beside).write_bytes(content)
        mask = os.umask(0o022)
        os.umask(mask)
        os.chmod(beside, stat.S_IMODE(found.st_mode) if found is not None else 0o666 & ~mask)
