"""Protocols of the services that the engines use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from patchmgr.model.merge import Merge
from patchmgr.model.snapshot import Entry


class Contents(Protocol):
    """File contents by blob id."""

    def read(self, blob: str) -> bytes:
        """Return the content of a blob; raise PatchmgrError if it is missing."""


class Blobs(Contents, Protocol):
    """File contents by blob id, to which new contents can be added."""

    def add(self, content: bytes) -> str:
        """Store new content until the run ends, and return its blob id."""


class Tree(Protocol):
    """The files of one state of an upstream."""

    def entry(self, path: str) -> Entry | None:
        """Return the file at the path, or None if there is no file."""

    def is_directory(self, path: str) -> bool:
        """Return whether the path is a directory."""

    def files_below(self, path: str) -> Iterable[str]:
        """Yield the paths of all files in a directory and its subdirectories."""


class AnswerCache(Protocol):
    """A cache of answers; a question contains everything that its answer depends on."""

    # the program itself is not part of a question
    def get(self, question: Iterable[str | bytes]) -> list[Any] | None:
        """Return the cached answer in a list of one item, or None if no answer is cached."""

    def put(self, question: Iterable[str | bytes], answer: Any) -> None:
        """Cache the answer to a question; JSON must be able to represent the answer."""


class TextMerge(Protocol):
    """Git's three-way merge of texts."""

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """Merge two versions of a text, given their common base."""

    def merge_all(self, texts: Sequence[tuple[bytes, bytes, bytes]]) -> Sequence[Merge]:
        """Merge several texts, each given as (base, ours, theirs)."""


Style = Callable[[bytes], "bytes | None"]
"""A function that formats the content of a file; it returns None if the formatter fails."""


class Formatter(Protocol):
    """The formatters that upstream's own files configure."""

    def styles(self, path: str) -> Sequence[Style]:
        """Return functions that format the file as upstream might, the likeliest first."""


class Step(Struct, frozen=True):
    """One upstream commit (or release) between two states."""

    commit: str
    subject: str
    author: str
    changes: Mapping[str, Entry | None]  # each touched file after the step (None: deleted)
    # commits and pull requests (`#N`) that the step's message says it reverts
    reverts: tuple[str, ...] = ()
    is_merge: bool = False  # the step merges a branch
    is_back: bool = False  # the step goes back to the last commit that both states have


class Named(Struct, frozen=True):
    """What a header field refers to upstream: a pull request, a commit, or a release."""

    field: str
    pull: int | None = None
    commit: str | None = None
    release: str | None = None


class History(Protocol):
    """What upstream did between two states, as a list of steps."""

    def steps(self, paths: Sequence[str]) -> Sequence[Step]:
        """Return the steps that touch any of the paths, oldest first."""

    def before(self, commit: str) -> str:
        """Return the upstream state directly before a commit."""
