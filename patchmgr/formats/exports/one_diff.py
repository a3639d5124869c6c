"""One diff of all that the series does, as `pull/N.diff` of a forge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from patchmgr.formats.exports.form import Form, Item, Parcel, Pinned


class OneDiff(Form, frozen=True):
    """`git apply FILE`."""

    is_file: bool = True
    is_whole: bool = True

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep a single patch that has no header: it is such a diff already."""
        only = items[0] if len(items) == 1 else None
        is_it = only is not None and only.line.is_usual and not only.patch.header.strip()
        return (is_it,) * len(items)

    def rewritten(self, item: Item, diff: bytes) -> bytes:
        """Return the diff of all."""
        return diff

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the diff."""
        return {"": parcels[0].content if parcels else b""}
