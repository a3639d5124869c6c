"""What a form of export is, and the values that it works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.series_files import without_strip, write_series
from patchmgr.model.patch import Author, FilePatch, Patch
from patchmgr.model.series import SeriesFile, SeriesLine


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


class Form(Struct, frozen=True):
    """One way to export a series; by default mails in a folder, with a series file.

    `is_file` says that there is one file, under the empty path, `takes_all` that guards and
    conditions keep no patch out, `is_whole` that all patches together leave as one diff.
    """

    is_file: bool = False
    takes_all: bool = False
    is_whole: bool = False

    def shape(self, pinned: Pinned) -> DiffShape:
        """Return how diffs are to be written."""
        return DiffShape()

    def check(self, items: Sequence[Item], pinned: Pinned) -> None:
        """Raise PatchmgrError for what the form cannot hold."""

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Say of each patch whether it can leave byte for byte: git am takes it as it is."""
        return tuple(is_mail(item) for item in items)

    def rewritten(self, item: Item, diff: bytes) -> bytes:
        """Return a patch in the form's own words, with a diff that git wrote."""
        return canonical_header(item.patch, author=item.author) + diff

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return all files by path: the patches under their names, and the series file.

        Comments of that stay where they are; a rewritten patch needs no -pN and no -R any more.
        """
        files = {p.item.patch.name: p.content for p in parcels}
        lines = tuple(x for x in pinned.lines if x.name is None or x.name in files)
        rewritten = {p.item.patch.name for p in parcels if not p.is_kept}
        return {**files, "series": write_series(without_strip(SeriesFile(lines), rewritten))}

    def losses(self, item: Item) -> tuple[str, ...]:
        """Return what readers of the form will not do of a patch, each as a clause."""
        return ()


def is_mail(item: Item) -> bool:
    """Say whether git am takes the patch as it is."""
    return item.patch.is_mailbox and item.line.is_usual


def moves_files(file: FilePatch) -> bool:
    """Say whether a change needs more than lines: what was somewhere else, or bytes."""
    return file.is_rename or file.is_copy or file.binary is not None
