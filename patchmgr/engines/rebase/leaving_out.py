"""Leave patches out on the new side alone: those after them are written on top of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.rebase.rebase import Item
from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.model.ports import Blobs, Tree


def leave_out(
    items: Sequence[Item], reasons: Mapping[str, str], base: Tree, blobs: Blobs
) -> tuple[Item, ...]:
    """Refuse the named patches, and give every patch that is in its steps on the old side."""
    if not reasons:
        return tuple(items)
    old = Overlay(base)
    placed = (_placed(item, old, blobs) for item in items)
    return tuple(
        replace(item, refusal=reasons[item.patch.name])
        if item.refusal is None and item.patch.name in reasons
        else item
        for item in placed
    )


def _placed(item: Item, old: Overlay, blobs: Blobs) -> Item:
    if item.refusal is not None or item.steps is not None or not item.is_on_base:
        return item
    return replace(item, steps=step_patch(old, item.patch, blobs))
