"""Results that are computed from contents alone, kept in the user's cache from run to run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.plumbing.outputs import write_output
from patchmgr.plumbing.stores import cache_folder


def key_of(parts: Iterable[object]) -> str:
    """Return a name for what a result is computed from: texts, numbers, values that print alike."""
    digest = hashlib.sha256()
    for part in parts:
        text = b"" if isinstance(part, bytes) else repr(part).encode("utf-8", "backslashreplace")
        content = part if isinstance(part, bytes) else text
        digest.update(b"%d:" % len(content) + content)
    return digest.hexdigest()


def program_key(folder: Path, pattern: str) -> str:
    """Return a name for some modules of the program as they are; a change forgets all results."""
    return key_of(path.read_bytes() for path in sorted(folder.glob(pattern)))


class Shelf:
    """The results of one place: what was not asked for since is not kept.

    A shelf that cannot be read is empty, and one that cannot be written is no fault.
    """

    def __init__(self, kind: str, owner: str) -> None:
        self._path = cache_folder() / kind / f"{key_of([owner])[:16]}.json"
        self._known: dict[str, Any] = {}
        self._asked: dict[str, Any] = {}
        with suppress(OSError, ValueError, RecursionError):
            found = parse_json(self._path.read_bytes())
            self._known = found if isinstance(found, dict) else {}

    def get(self, key: str) -> Any:
        """Return a result, None where there is none."""
        found = self._known.get(key)
        if found is not None:
            self._asked[key] = found
        return found

    def keep(self, key: str, value: Any) -> None:
        """Keep a result that JSON has a form for, and that is not None."""
        self._asked[key] = value

    def close(self) -> None:
        """Write what was asked for."""
        if self._asked == self._known:
            return
        with suppress(OSError, PatchmgrError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_output(self._path, json.dumps(self._asked, sort_keys=True).encode())
