"""The contrary of a patch: forth and back leaves every file as it was."""

from __future__ import annotations

import zlib
from base64 import b85encode

import pytest

from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.errors import PatchmgrError
from patchmgr.formats.patch_files import parse_listed, parse_patch, reversed_patch
from patchmgr.formats.series_files import parse_series
from patchmgr.model.ids import EMPTY_BLOB
from tests.engines.ports import MemoryBlobs
from tests.engines.series import Upstream, text
from tests.tables import table

OLD, NEW = text("a b c d e"), text("a x c d e f")
EDIT = b"--- a/f\n+++ b/f\n@@ -1,5 +1,6 @@\n a\n-b\n+x\n c\n d\n e\n+f\n"
MADE = b"--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+g\n"
GONE = b"--- a/h\n+++ /dev/null\n@@ -1 +0,0 @@\n-h\n"
MOVED = b"diff --git a/m b/n\nsimilarity index 100%\nrename from m\nrename to n\n"
MODE = b"diff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
OPEN = b"--- a/o\n+++ b/o\n@@ -1 +1 @@\n-o\n\\ No newline at end of file\n+p\n"
COPY = b"diff --git a/m b/n\nsimilarity index 100%\ncopy from m\ncopy to n\n"
EMPTY = zlib.compress(b"")
BINARY = (
    b"diff --git a/b b/b\nindex " + b"1" * 40 + b".." + EMPTY_BLOB.encode() + b" 100644\n"
    b"GIT binary patch\nliteral 0\nH" + b85encode(EMPTY) + b"\n\n"
)
FILES = {"f": OLD, "h": b"h\n", "m": b"m\n", "o": b"o"}


@table(
    "raw",
    {
        "edit": EDIT,
        "new-file": MADE,
        "deleted-file": GONE,
        "rename": MOVED,
        "mode": MODE,
        "no-last-newline": OPEN,
        "several-files": EDIT + MADE + GONE,
    },
)
def test_forth_and_back_leaves_the_files_as_they_were(raw: bytes) -> None:
    patch, blobs = parse_patch(raw, name="p"), MemoryBlobs()
    side = Overlay(Upstream(blobs, FILES))
    step_patch(side, patch, blobs)
    assert side.changes()
    step_patch(side, reversed_patch(patch), blobs)
    assert side.changes() == {}


def test_the_contrary_of_a_hunk_has_its_removed_lines_first() -> None:
    hunk = reversed_patch(parse_patch(EDIT, name="p")).files[0].hunks[0]
    assert hunk.lines == (b" a\n", b"-x\n", b"+b\n", b" c\n", b" d\n", b" e\n", b"-f\n")
    assert (hunk.old_count, hunk.new_count) == (6, 5)


def test_the_contrary_of_the_contrary_is_the_patch() -> None:
    patch = parse_patch(EDIT + MADE, name="p")
    assert reversed_patch(reversed_patch(patch)) == patch


@table(("line", "is_reversed"), [(b"p\n", False), (b"p -p1 -R\n", True)])
def test_a_line_of_a_series_file_says_which_way(line: bytes, is_reversed: bool) -> None:
    patch = parse_listed(MADE, parse_series(line).lines[0])
    assert patch.is_reversed == is_reversed
    assert (patch.files[0].new_path is None) == is_reversed
    assert patch.raw == MADE


@table(("raw", "why"), [(COPY, "copies a file: n"), (BINARY, "a binary file: b")])
def test_what_says_one_way_only_is_not_reversed(raw: bytes, why: str) -> None:
    with pytest.raises(PatchmgrError, match=why) as caught:
        reversed_patch(parse_patch(raw, name="p"))
    assert caught.value.kind == "unsupported"
    assert "git diff -R" in caught.value.hints[0]
