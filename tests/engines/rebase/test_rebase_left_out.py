"""Patches that are left out on the new side alone."""

from __future__ import annotations

from msgspec.structs import replace

from patchmgr.engines.rebase.rebase import Item, leave_out, rebase_series
from patchmgr.engines.rebase.work import Tools, UpstreamRange
from tests.engines.ports import MemoryBlobs, MemoryTree, PlainMerge
from tests.engines.series import NOBODY, edited, patch_of, text

BASE = text("a b c d e f g h i j k l")
FIRST = text("a B c d e f g h i j k l")
BOTH = text("a B c d e f g h i j K l")
ONTO = text("a X c d e f g h i j k l")


def test_a_patch_that_is_left_out_is_there_for_those_after_it() -> None:
    blobs = MemoryBlobs()
    base, onto = MemoryTree(blobs, {"f": BASE}), MemoryTree(blobs, {"f": ONTO})
    patches = [
        patch_of("one", edited("f", BASE, FIRST)),
        patch_of("guarded", edited("f", ONTO, BASE)),
        patch_of("two", edited("f", FIRST, BOTH)),
    ]
    items = [Item(patches[0]), Item(patches[1], "a guard"), Item(patches[2])]
    placed = leave_out(items, {"one": "skipped", "guarded": "skipped"}, base, blobs)
    assert [item.refusal for item in placed] == ["skipped", "a guard", None]
    assert placed[1].steps is None
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    judged, changes = rebase_series(placed, UpstreamRange(base, onto), tools)
    assert [one.outcome.verdict.value for one in judged] == ["skipped", "skipped", "unchanged"]
    entry = changes["f"]
    assert entry is not None
    assert blobs.read(entry.blob) == text("a X c d e f g h i j K l")


def test_nothing_is_placed_where_nothing_is_left_out() -> None:
    blobs = MemoryBlobs()
    base = MemoryTree(blobs, {"f": BASE})
    items = (Item(patch_of("one", edited("f", BASE, FIRST))),)
    assert leave_out(items, {}, base, blobs) == items
    (placed,) = leave_out(items, {"other": "skipped"}, base, blobs)
    assert placed.refusal is None
    assert placed.steps is not None
    (again,) = leave_out((placed,), {"one": "skipped"}, base, blobs)
    assert again == replace(placed, refusal="skipped")
