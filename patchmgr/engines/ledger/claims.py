"""What an engine claims about the hunks of each patch, and the states it refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Protocol

from msgspec import Struct


class Fate(Enum):
    """The fate of a hunk as the engine claims it, which decides what must be proved."""

    TEXT = "text"
    OTHERWISE = "otherwise"
    PERSON = "person"
    UPSTREAM = "upstream"
    CONFLICT = "conflict"
    GIVEN_UP = "given up"


CARRIED = (Fate.TEXT, Fate.OTHERWISE, Fate.PERSON)
"""The fates of hunks that the result should have, at least in part."""


class Claim(Struct, frozen=True):
    """The claim about one file of a patch: its paths on the new side, and the fate of each hunk.

    `path` is the path that the patch names. A file without hunks has one fate.
    """

    path: str
    homes: tuple[str, ...]
    fates: tuple[Fate, ...]


class Claimed(Struct, frozen=True):
    """A patch and the claims about it; `rest` is the fate of files without a claim.

    `diff` is the part of the patch file that is not a header. The other patches are not written on
    top of a patch that is not `on_base`. `cited` are upstream commits, `reworded` the texts of the
    patch that upstream landed in other words, as a person is told. `edited` are files that a person
    changed besides the patch.
    """

    name: str
    diff: bytes
    claims: tuple[Claim, ...] = ()
    rest: Fate = Fate.TEXT
    cited: tuple[str, ...] = ()
    on_base: bool = True
    is_reversed: bool = False
    reworded: tuple[bytes, ...] = ()
    edited: tuple[str, ...] = ()


class State(Protocol):
    """One state of all files."""

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, or None if there is no such file."""

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None if there is no such file."""


Cited = Callable[[str, str], "Iterable[tuple[bytes, bytes]]"]
"""Return the contents of a path before and after a cited commit."""
