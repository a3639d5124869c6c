"""Forced patches: hunks that fit are applied, the others are rejected, and nothing is guessed."""

import pytest

from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.series.forcing import force_patch, reject_text
from patchmgr.errors import PatchmgrError
from tests.engines.ports import MemoryBlobs, MemoryTree
from tests.engines.series import binary, created, deleted, edited, moved, patch_of
from tests.tables import table

OLD = b"".join(b"line %d\n" % n for n in range(30))
NEW = OLD.replace(b"line 3\n", b"three\n").replace(b"line 25\n", b"twentyfive\n")
DRIFTED = OLD.replace(b"line 24\n", b"other\n")


def forced(files: dict[str, bytes], *changes: object) -> tuple[dict[str, bytes], list[str]]:
    """Return the files afterwards, and the paths with rejects."""
    blobs = MemoryBlobs()
    side = Overlay(MemoryTree(blobs, files))
    rejected = force_patch(side, patch_of("p", *changes), blobs)  # type: ignore[arg-type]
    paths = {*files, *side.changes()}
    entries = {path: side.entry(path) for path in paths}
    contents = {path: blobs.read(e.blob) for path, e in entries.items() if e is not None}
    return contents, [each.change.path for each in rejected]


@table(
    ("files", "change", "after", "rejects"),
    {
        "fits": ({"f": OLD}, edited("f", OLD, NEW), {"f": NEW}, []),
        "one-hunk": ({"f": DRIFTED}, edited("f", OLD, NEW),
            {"f": DRIFTED.replace(b"line 3\n", b"three\n")}, ["f"]),
        "no-hunk": ({"f": b"x\n"}, edited("f", OLD, NEW), {"f": b"x\n"}, ["f"]),
        "no-file": ({}, edited("f", OLD, NEW), {}, ["f"]),
        "made-already": ({"f": b"x\n"}, created("f", b"new\n"), {"f": b"x\n"}, ["f"]),
        "not-deleted": ({"f": b"x\n"}, deleted("f", OLD), {"f": b"x\n"}, ["f"]),
        "not-moved": ({"g": b"x\n"}, moved("f", "g", OLD, NEW), {"g": b"x\n"}, ["g"]),
    },
)  # fmt: skip
def test_hunks_that_do_not_fit_are_rejected(
    files: dict[str, bytes], change: object, after: dict[str, bytes], rejects: list[str]
) -> None:
    assert forced(files, change) == (after, rejects)


@table("change", {"binary": binary("f", b"\0old", b"\0new"), "move": moved("f", "g", OLD, OLD)})
def test_a_change_that_cannot_be_a_reject_is_refused(change: object) -> None:
    with pytest.raises(PatchmgrError, match="does not apply"):
        forced({"f": b"x\n", "g": b"y\n"}, change)


def test_a_reject_is_a_diff_of_the_hunks() -> None:
    blobs = MemoryBlobs()
    side = Overlay(MemoryTree(blobs, {"f": b"x\n"}))
    change = edited("f", b"a\nb", b"a\nc")
    (rejected,) = force_patch(side, patch_of("p", change), blobs)
    assert reject_text(rejected) == (
        b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n"
        b"+c\n\\ No newline at end of file\n"
    )
    (made,) = force_patch(side, patch_of("p", created("f", b"1\n")), blobs)
    assert reject_text(made).startswith(b"--- /dev/null\n+++ b/f\n")
    (gone,) = force_patch(side, patch_of("p", deleted("f", b"1\n")), blobs)
    assert reject_text(gone).startswith(b"--- a/f\n+++ /dev/null\n")
