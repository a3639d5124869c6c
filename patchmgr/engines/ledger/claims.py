"""What the rebase claims about the hunks of each patch, for the ledger to check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Protocol

from msgspec import Struct


class Fate(Enum):
    """What became of a hunk, according to the rebase: carried, absorbed, in conflict or given up.

    This claim decides what the ledger has to prove.
    """

    TEXT = "text"
    OTHERWISE = "otherwise"
    PERSON = "person"
    UPSTREAM = "upstream"
    CONFLICT = "conflict"
    GIVEN_UP = "given up"


CARRIED = (Fate.TEXT, Fate.OTHERWISE, Fate.PERSON)
"""The fates of hunks that the result should contain, at least in part."""


class FileClaim(Struct, frozen=True):
    """What the rebase claims about one file of a patch: its new paths, and the fate of each hunk.

    `path` is the path in the patch. A file without hunks has one fate.
    """

    path: str
    homes: tuple[str, ...]
    fates: tuple[Fate, ...]


class Claimed(Struct, frozen=True):
    """A patch, with what the rebase claims about its files.

    `rest` is the fate of hunks in files without a claim. `diff` is the patch without its header.
    `on_base` says whether the patch is applied to the old upstream state, so that later patches
    build on it. `cited` holds the upstream commits that the rebase names as evidence. `reworded`
    holds the parts of the patch that landed in a different form. `edited` holds the files that a
    person changed beyond what the patch changes.
    """

    name: str
    diff: bytes
    claims: tuple[FileClaim, ...] = ()
    rest: Fate = Fate.TEXT
    cited: tuple[str, ...] = ()
    on_base: bool = True
    is_reversed: bool = False
    reworded: tuple[bytes, ...] = ()
    edited: tuple[str, ...] = ()


class TreeFiles(Protocol):
    """All files of one tree: that of the base, the target of the rebase, or the rebased series."""

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, or None if the file does not exist."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None if the path is not a regular file."""


Cited = Callable[[str, str], "Iterable[tuple[bytes, bytes]]"]
"""A function that takes a cited commit and a path, and returns (old content, new content) pairs."""
