"""What forms have in common: mails that stay or are made canonical, and series files."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchmgr.formats.exports.form import DiffShape, Item, Parcel, Pinned
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.series_files import without_strip, write_series
from patchmgr.model.patch import FilePatch
from patchmgr.model.series import SeriesFile


class Basis(Struct, frozen=True):
    """A form that takes all that git can write, and writes mails."""

    is_file: bool = False
    takes_all: bool = False
    is_whole: bool = False

    def shape(self, pinned: Pinned) -> DiffShape:
        """Return git's usual form."""
        return DiffShape()

    def check(self, items: Sequence[Item], pinned: Pinned) -> None:
        """Take everything."""

    def rewritten(self, item: Item, diff: bytes) -> bytes:
        """Return a canonical patch."""
        return canonical_header(item.patch, author=item.author) + diff

    def losses(self, item: Item) -> tuple[str, ...]:
        """Lose nothing."""
        return ()


def is_mail(item: Item) -> bool:
    """Say whether git am takes the patch as it is."""
    return item.patch.is_mailbox and item.line.is_usual


def moves_files(file: FilePatch) -> bool:
    """Say whether a change needs more than lines: what was somewhere else, or bytes."""
    return file.is_rename or file.is_copy or file.binary is not None


def series_lines(pinned: Pinned, parcels: Sequence[Parcel]) -> bytes:
    """Return a series file of the exported patches: its comments stay where they are.

    A patch that is rewritten needs no -pN and no -R any more.
    """
    names = {p.item.patch.name for p in parcels}
    lines = [line for line in pinned.lines if line.name is None or line.name in names]
    rewritten = {p.item.patch.name for p in parcels if not p.is_kept}
    return write_series(without_strip(SeriesFile(tuple(lines)), rewritten))
