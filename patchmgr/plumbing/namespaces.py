"""The refs of one workspace in a store that all workspaces of the user share.

The workspace's `refs/heads/x` is `refs/patchmgr/<id>/heads/x` in a store. The id is in the private
folder of the workspace, and the cache folder has the path of the workspace with each id: a copy of
a workspace gets a new id.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.durable import replace_file, unwritable, writes
from patchmgr.plumbing.journal import LOCK, PRIVATE
from patchmgr.plumbing.plain_files import read_plain
from patchmgr.plumbing.stores import cache_folder

REFS = "refs/patchmgr/"
_FILE = f"{PRIVATE}/id"
_ID = re.compile(r"[0-9a-f]{16}")
# A workspace counts as gone once it has been missing for this many seconds. Until then, its disk
# may just be unmounted.
_KEPT = 90 * 24 * 60 * 60
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def own_ref(root: Path, name: str) -> str:
    """Return the full name that a ref of the workspace has in a store."""
    return f"{REFS}{_own_id(root) or _made_of(root)}/{name.removeprefix('refs/')}"


def claim(root: Path) -> None:
    """Give a workspace an id unless it has one, and record its path in the cache folder."""
    try:
        if _own_id(root) is None:
            if (root / PRIVATE).is_symlink():
                raise PatchmgrError("unsafe-path", f"{PRIVATE} is a symbolic link, not a folder")
            (root / PRIVATE).mkdir(exist_ok=True)
            replace_file(root / _FILE, secrets.token_hex(8).encode())
    except OSError as fault:
        if fault.errno not in _READ_ONLY:
            raise unwritable(str(root), fault) from fault
    # The id of a read-only workspace is a digest of its path.
    note = _notes() / (_own_id(root) or _made_of(root))
    with writes(str(note)):
        if _noted(note) != root.resolve():
            note.parent.mkdir(parents=True, exist_ok=True)
            replace_file(note, os.fsencode(root.resolve()))
        with suppress(PermissionError):
            os.utime(note)


def gone() -> Iterator[str]:
    """Yield the ids of workspaces that no longer exist and have not been used for 90 days."""
    with suppress(OSError):
        for note in sorted(_notes().iterdir()):
            root = _noted(note)
            if root is None or not _ID.fullmatch(note.name):
                continue
            is_made = note.name == _made_of(root) and (root / LOCK).is_file()
            is_there = is_made or _read(root) == note.name
            if not is_there and time.time() - note.stat().st_mtime > _KEPT:
                yield note.name


def forget(name: str) -> None:
    """Delete the record of a workspace id."""
    (_notes() / name).unlink(missing_ok=True)


def _made_of(root: Path) -> str:
    """Return the id that is used for a workspace without an id: a digest of its path."""
    return hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]


def _own_id(root: Path) -> str | None:
    """Return the workspace's own id, or None if it has none or is a copy of another workspace."""
    name = _read(root)
    noted = None if name is None else _noted(_notes() / name)
    is_copy = noted is not None and _read(noted) == name and not noted.samefile(root)
    return None if is_copy else name


def _read(root: Path) -> str | None:
    try:
        name = (read_plain(root, _FILE, limit=100) or b"").decode("latin-1")
    except (OSError, PatchmgrError):
        return None
    return name if _ID.fullmatch(name) else None


def _noted(note: Path) -> Path | None:
    try:
        return Path(os.fsdecode(note.read_bytes()))
    except OSError:
        return None


def _notes() -> Path:
    return cache_folder() / "workspaces"
