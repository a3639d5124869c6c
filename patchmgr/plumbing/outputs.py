"""Write one file that a person named: whole or not at all, with the mode it has."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from patchmgr.plumbing.durable import unwritable


def write_output(path: Path, content: bytes) -> None:
    """Write beside and rename; what is no plain file, or has other names, is written in place."""
    try:
        found = path.lstat() if os.path.lexists(path) else None
        if found is not None and (not stat.S_ISREG(found.st_mode) or found.st_nlink > 1):
            path.write_bytes(content)
            return
        descriptor, name = tempfile.mkstemp(prefix=".patchmgr-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                mode = stat.S_IMODE(found.st_mode) if found is not None else 0o666 & ~_umask()
                os.fchmod(file.fileno(), mode)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as fault:
        raise unwritable(str(path), fault) from fault


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
