"""The services that engines need from outside, as protocols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from patchmgr.model.merge import Merge
from patchmgr.model.snapshot import Entry


class Blobs(Protocol):
    """Contents by id."""

    def read(self, blob: str) -> bytes:
        """Return the content; raise PatchmgrError if the object is missing."""

    def add(self, content: bytes) -> str:
        """Keep a new content for the rest of the run and return its id."""


class Tree(Protocol):
    """The files of one upstream state."""

    def entry(self, path: str) -> Entry | None:
        """Return the file at the path, or None if there is none."""

    def is_directory(self, path: str) -> bool:
        """Return whether the path is a directory."""

    def files_below(self, path: str) -> Iterable[str]:
        """Yield the paths of all files below a directory."""


class Kept(Protocol):
    """Cached answers of earlier runs, by everything they depend on besides the program."""

    def get(self, question: Iterable[str | bytes]) -> list[Any] | None:
        """Return the answer as the only item of a list, or None if there is none."""

    def put(self, question: Iterable[str | bytes], answer: Any) -> None:
        """Keep an answer that JSON can hold."""


class TextMerge(Protocol):
    """The three-way merge of git."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """Merge two versions of a text over their base."""

    def merge_all(self, texts: Sequence[tuple[bytes, bytes, bytes]]) -> Sequence[Merge]:
        """Merge several texts, each given as base, ours and theirs."""


Style = Callable[[bytes], "bytes | None"]
"""Format a text, or None if the tool is not sure of it, or fails."""


class Formatter(Protocol):
    """The formatters that an upstream's own tree has settings for."""

    def styles(self, path: str) -> Sequence[Style]:
        """Return the ways in which upstream may format the file at a path, the likeliest first."""


class Step(Struct, frozen=True):
    """One upstream commit (or release) between base and target.

    `changes` maps each touched path to the file after the step, or None if it is deleted.
    """

    commit: str
    subject: str
    author: str
    changes: Mapping[str, Entry | None]


class Named(Struct, frozen=True):
    """The upstream object that a header field names: a pull request, a commit, or a release."""

    field: str
    pull: int | None = None
    commit: str | None = None
    release: str | None = None


class History(Protocol):
    """What upstream did between two states."""

    def steps(self, paths: Sequence[str]) -> Sequence[Step]:
        """Return the steps that touch any of the paths, oldest first."""

    def before(self, commit: str) -> str:
        """Return the commit before a step."""
