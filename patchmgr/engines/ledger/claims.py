"""What the rebase claims about the hunks of each patch, for the ledger to check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Protocol

from msgspec import Struct


class Fate(Enum):
    """What became of a hunk, as the rebase claims; the claim decides what the ledger must prove."""

    TEXT = "text"
    OTHERWISE = "otherwise"
    PERSON = "person"
    UPSTREAM = "upstream"
    CONFLICT = "conflict"
    GIVEN_UP = "given up"


CARRIED = (Fate.TEXT, Fate.OTHERWISE, Fate.PERSON)
"""The fates of hunks that the result should contain, at least in part."""


class FileClaim(Struct, frozen=True):
    """What the rebase claims about a file of a patch: its new paths, and the fate of each hunk."""

    path: str  # in the patch
    homes: tuple[str, ...]
    fates: tuple[Fate, ...]  # one for a file without hunks


class Claimed(Struct, frozen=True):
    """A patch, with what the rebase claims about its files."""

    name: str
    diff: bytes  # the patch without its header
    claims: tuple[FileClaim, ...] = ()
    rest: Fate = Fate.TEXT  # of hunks in files without a claim
    cited: tuple[str, ...] = ()  # upstream commits named as evidence
    on_base: bool = True  # later patches build on it
    is_reversed: bool = False
    reworded: tuple[bytes, ...] = ()  # parts that landed in another form
    edited: tuple[str, ...] = ()  # files that a person changed beyond the patch


class TreeFiles(Protocol):
    """All files of one tree: that of the base, the target of the rebase, or the rebased series."""

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, or None if the file does not exist."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None if the path is not a regular file."""


Cited = Callable[[str, str], "Iterable[tuple[bytes, bytes]]"]
"""A function that takes a cited commit and a path, and returns (old content, new content) pairs."""
