"""`debian/patches` of a source package in the format 3.0 (quilt), for dpkg-source and gbp pq."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.errors import PatchmgrError
from patchmgr.formats.exports.form import DiffShape, Form, Item, Pinned, moves_files
from patchmgr.formats.shown import shown


class Gbp(Form, frozen=True):
    """As `gbp pq export` would: -p1, no renames, a header with author and subject."""

    def shape(self, pinned: Pinned) -> DiffShape:
        """Ask for whole files where one moves: dpkg-source reads no renames."""
        return DiffShape(finds_renames=False)

    def check(self, items: Sequence[Item], pinned: Pinned) -> None:
        """Refuse binary files, which dpkg-source does not take."""
        for item in items:
            for file in item.patch.files:
                if file.binary is not None:
                    path, name = shown(file.path), shown(item.patch.name)
                    raise PatchmgrError(
                        "not-exportable",
                        f"Patch {name} changes the binary file {path}, and debian/patches has none",
                        ("put such files into a patch of their own, behind a guard",),
                    )

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep what dpkg-source reads and what names an author."""
        return tuple(
            item.line.is_usual
            and item.patch.author is not None
            and not any(moves_files(file) for file in item.patch.files)
            for item in items
        )

    def losses(self, item: Item) -> tuple[str, ...]:
        """Say which changes have no lines: dpkg-source reads lines alone."""
        bare = [f for f in item.patch.files if not f.hunks and not moves_files(f)]
        modes = ((f, f.old_mode, f.new_mode) for f in item.patch.files if f.hunks)
        bits = [f for f, old, new in modes if old and new and old != new]
        return tuple(
            f"changes {shown(file.path)} by more than lines, which dpkg-source does not do"
            for file in [*bare, *bits]
        )
