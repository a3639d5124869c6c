"""The files of a tree, as modes and blob ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

REGULAR = "100644"
EXECUTABLE = "100755"
SYMLINK = "120000"
GITLINK = "160000"
FILE_MODES = frozenset({REGULAR, EXECUTABLE})


class Entry(Struct, frozen=True):
    """One file of a tree: git's mode (octal string) and the id of its blob."""

    mode: str
    blob: str


def file_content(entry: Entry | None, read: Callable[[str], bytes]) -> bytes | None:
    """Return the content of a regular file, or None for anything else."""
    return None if entry is None or entry.mode not in FILE_MODES else read(entry.blob)


Changes = Mapping[str, tuple["Entry | None", "Entry | None"]]
"""Maps the path of each file that differs between two trees to its old and its new entry."""
