"""What a form of export is: a protocol, and the values that it works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from patchmgr.model.patch import Author, Patch
from patchmgr.model.series import SeriesLine


class DiffShape(Struct, frozen=True):
    """How git is to write the diffs of patches that cannot stay as they are.

    `folder` stands before each path, behind `a/` and `b/`.
    """

    finds_renames: bool = True
    folder: str = ""


class Pinned(Struct, frozen=True):
    """What an export knows besides patches: the pin, a package of npm, all lines of the series."""

    commit: str
    ref: str
    lines: tuple[SeriesLine, ...]
    package: str | None = None


class Item(Struct, frozen=True):
    """A patch that is exported: as it is, its line in the series, and who is named as author."""

    patch: Patch
    line: SeriesLine
    author: Author


class Parcel(Struct, frozen=True):
    """A patch as it leaves."""

    item: Item
    content: bytes

    @property
    def is_kept(self) -> bool:
        """Say whether it leaves byte for byte as it is in the series."""
        return self.content == self.item.patch.raw


class Form(Protocol):
    """One way to export a series."""

    @property
    def is_file(self) -> bool:
        """Say whether there is one file, under the empty path."""
        ...

    @property
    def takes_all(self) -> bool:
        """Say whether guards and conditions keep no patch out."""
        ...

    @property
    def is_whole(self) -> bool:
        """Say whether all patches together leave as one diff."""
        ...

    def shape(self, pinned: Pinned) -> DiffShape:
        """Return how diffs are to be written."""
        ...

    def check(self, items: Sequence[Item], pinned: Pinned) -> None:
        """Raise PatchmgrError for what the form cannot hold."""
        ...

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Say of each patch whether it can leave byte for byte."""
        ...

    def rewritten(self, item: Item, diff: bytes) -> bytes:
        """Return a patch in the form's own words, with a diff that git wrote."""
        ...

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return all files by path."""
        ...

    def losses(self, item: Item) -> tuple[str, ...]:
        """Return what readers of the form will not do of a patch, each as a clause."""
        ...
