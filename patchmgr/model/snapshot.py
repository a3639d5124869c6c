"""Objects as git names them, and the files of a tree."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from msgspec import Struct

ZERO_ID = "0" * 40
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

REGULAR = "100644"
EXECUTABLE = "100755"
SYMLINK = "120000"
GITLINK = "160000"
FILE_MODES = frozenset({REGULAR, EXECUTABLE})


def object_id(kind: str, content: bytes) -> str:
    """Return the id (40 hex digits) that git gives an object with this kind and content."""
    head = f"{kind} {len(content)}\0".encode()
    digest = hashlib.sha1(head, usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def blob_id(content: bytes) -> str:
    """Return the id (40 hex digits) that git gives a blob with this content."""
    return object_id("blob", content)


def is_full_id(text: str) -> bool:
    """Return whether the text is a full lower-case object id (40 hex digits)."""
    return len(text) == 40 and all(c in "0123456789abcdef" for c in text)


class Entry(Struct, frozen=True):
    """One file of a tree: git's mode (octal string) and the id of its blob."""

    mode: str
    blob: str


def file_content(entry: Entry | None, read: Callable[[str], bytes]) -> bytes | None:
    """Return the content of a regular file, or None for anything else."""
    return None if entry is None or entry.mode not in FILE_MODES else read(entry.blob)


Changes = Mapping[str, tuple["Entry | None", "Entry | None"]]
"""Maps the path of each file that differs between two trees to its old and its new entry."""
