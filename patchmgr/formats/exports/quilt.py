"""A folder for quilt: every patch and the series file, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.formats.exports.form import Form, Item, Pinned


class Quilt(Form, frozen=True):
    """`QUILT_PATCHES=DIR quilt push -a`."""

    takes_all: bool = True

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep everything."""
        return (True,) * len(items)

    def losses(self, item: Item) -> tuple[str, ...]:
        """Say what quilt passes over."""
        patch, found = item.patch, []
        if item.line.guards:
            found.append("has guards, which quilt takes for comments: it will apply it")
        if any(file.binary is not None for file in patch.files):
            found.append("has a binary file, which quilt does not apply")
        return tuple(found)
