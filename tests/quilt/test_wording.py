"""What the shim says in the words of quilt, diff and patch."""

from __future__ import annotations

import pytest

from patchmgr.model.patch import FilePatch, Hunk
from tests.quilt.wording import Labels, failures, no_file, quilt_diff

RULE = b"=" * 67 + b"\n"
EDIT = (
    b"diff --git a/d/f b/d/f\nindex 1..2 100644\n--- a/d/f\n+++ b/d/f\n"
    b"@@ -1,2 +1,2 @@ heading\n a\n-b\n+c\n"
)
GONE = (
    b"diff --git a/f b/f\ndeleted file mode 100644\nindex 1..0\n--- a/f\n+++ /dev/null\n"
    b"@@ -1 +0,0 @@\n-b\n"
)
SPACED = b"diff --git a/s p b/s p\n--- a/s p\t\n+++ b/s p\t\n@@ -1 +1 @@\n-b\n+c\n"
MODE = b"diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"


@pytest.mark.parametrize(
    ("diff", "form", "head"),
    [
        pytest.param(b"", "1", b"", id="nothing"),
        pytest.param(MODE, "1", b"", id="mode"),
        pytest.param(EDIT, "1", b"Index: p/d/f\n" + RULE + b"--- p.orig/d/f\n+++ p/d/f\n", id="p1"),
        pytest.param(EDIT, "0", b"Index: d/f\n" + RULE + b"--- d/f.orig\n+++ d/f\n", id="p0"),
        pytest.param(EDIT, "ab", b"Index: b/d/f\n" + RULE + b"--- a/d/f\n+++ b/d/f\n", id="ab"),
        pytest.param(GONE, "0", b"Index: f\n" + RULE + b"--- f\n+++ /dev/null\n", id="deletion"),
        pytest.param(
            SPACED, "ab", b"Index: b/s p\n" + RULE + b'--- "a/s p"\n+++ "b/s p"\n', id="space"
        ),
    ],
)
def test_a_diff_has_the_header_lines_of_quilt(diff: bytes, form: str, head: bytes) -> None:
    found = quilt_diff(diff, Labels(form, "p"))
    start = found.find(b"@@ -")
    assert found[: max(start, 0)] == head
    assert b"heading" not in found


def test_the_index_line_can_be_left_out() -> None:
    assert quilt_diff(EDIT, Labels("ab", "p", has_index=False)).startswith(b"--- a/d/f\n")


TWO = FilePatch(
    "f", "f", hunks=(Hunk(1, 1, 1, 1, b"", (b"-a\n", b"+b\n")), Hunk(9, 1, 9, 1, b"", ()))
)


@pytest.mark.parametrize(
    ("message", "rejected", "lines"),
    [
        pytest.param(
            "p does not apply: f: hunk 2 at line 9: no place",
            None,
            ["Hunk #2 FAILED at 9.", "1 out of 2 hunks FAILED -- rejects in file f"],
            id="by-the-message",
        ),
        pytest.param(
            "p does not apply: other: hunk 1 at line 3: no place",
            b"--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n",
            ["Hunk #1 FAILED at 1.", "1 out of 2 hunks FAILED -- rejects in file f"],
            id="by-the-reject-file",
        ),
    ],
)
def test_hunks_without_a_place_are_told_as_patch_does(
    message: str, rejected: bytes | None, lines: list[str]
) -> None:
    found = failures(TWO, message, rejected)
    assert list(found.lines(is_quiet=False, is_forced=False)) == lines


def test_a_file_that_is_not_there_is_told_as_patch_does() -> None:
    told = no_file(TWO, "words\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n").split("\n")
    assert told[2:4] == ["|--- a/f", "|+++ b/f"]
    assert told[-1] == "2 out of 2 hunks ignored"
