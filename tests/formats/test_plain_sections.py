"""File sections of plain diffs."""

from __future__ import annotations

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.reader import PatchReader, split_lines
from patchmgr.formats.sections import read_plain_section, skip_noise
from patchmgr.model.patch import FilePatch
from tests.tables import table

HUNK = b"@@ -1 +1 @@\n-a\n+b\n"
NEW = b"@@ -0,0 +1 @@\n+b\n"
GONE = b"@@ -1 +0,0 @@\n-a\n"
TODAY = b"2026-05-14 21:22:37.123456789 +0200"


def read(old: bytes, new: bytes, hunk: bytes = HUNK, strip: int = 1) -> FilePatch:
    raw = b"--- " + old + b"\n+++ " + new + b"\n" + hunk
    reader = PatchReader("x.patch", split_lines(raw), strip=strip)
    file = read_plain_section(reader)
    assert reader.line is None
    return file


SAME = {
    "prefixes": (b"a/x", b"b/x"),
    "directories": (b"linux-1.orig/x", b"linux-1/x"),
    "time stamps": (b"a/x\t" + TODAY, b"b/x\t" + TODAY),
    "time stamps behind spaces": (b"a/x  " + TODAY, b"b/x " + TODAY[:16]),
    "dates of ctime": (b"a/x Mon Oct  7 15:10:46 2013", b"b/x  Mon Oct 17 15:10:46 UTC 2013"),
    "revisions": (b"a/x\t(revision 7)", b"b/x\t(working copy)"),
    "backup": (b"a/x.orig", b"b/x"),
    "tilde": (b"a/x~", b"b/x"),
    "new": (b"a/x", b"b/x.new"),
    "dot": (b"./x.orig", b"./x"),
    "quoted": (b'"a/\\170"', b'"b/x"\t' + TODAY),
}


@table(("old", "new"), SAME)
def test_two_names_of_one_file_give_its_path(old: bytes, new: bytes) -> None:
    file = read(old, new)
    assert (file.old_path, file.new_path) == ("x", "x")
    assert (file.old_mode, file.old_id, file.is_copy) == (None, None, False)


ENDS = {
    "new": (b"/dev/null", b"b/x", NEW, (None, "x")),
    "new with stamps": (b"/dev/null\t" + TODAY, b"b/x\t" + TODAY, NEW, (None, "x")),
    "new with a stamp behind spaces": (b"/dev/null", b"b/x  " + TODAY, NEW, (None, "x")),
    "deleted": (b"a/x", b"/dev/null", GONE, ("x", None)),
    "new by the epoch": (
        b"a/x\t1970-01-01 00:00:00.000000000 +0000", b"b/x\t" + TODAY, NEW, (None, "x")
    ),
    "new by the epoch, east": (
        b"a/x\t1970-01-01 05:30:00 +05:30", b"b/x\t" + TODAY, NEW, (None, "x")
    ),
    "deleted by the epoch, west": (
        b"a/x\t" + TODAY, b"b/x\t1969-12-31 16:00:00.0 -0800", GONE, ("x", None)
    ),
    "close to the epoch": (
        b"a/x\t1970-01-01 01:00:00.000000000 +0000", b"b/x\t" + TODAY, HUNK, ("x", "x")
    ),
    "an empty file that gets lines": (b"a/x", b"b/x", NEW, ("x", "x")),
    "a file that loses its lines": (b"a/x", b"b/x", GONE, ("x", "x")),
}  # fmt: skip


@table(("old", "new", "hunk", "paths"), ENDS)
def test_new_and_deleted_files_are_told_from_edited_ones(
    old: bytes, new: bytes, hunk: bytes, paths: tuple[str | None, str | None]
) -> None:
    file = read(old, new, hunk)
    assert (file.old_path, file.new_path) == paths


@table(("strip", "path"), [(0, "a/b/x"), (1, "b/x"), (2, "x")])
def test_the_number_of_directories_to_strip_is_given(strip: int, path: str) -> None:
    assert read(b"a/b/x", b"a/b/x", strip=strip).path == path


BAD = {
    "two files": (b"a/x", b"b/y", HUNK, "name different files"),
    "two files, one longer": (b"a/x", b"b/xy", HUNK, "name different files"),
    "two files, one deeper": (b"a/x", b"b/c/x", HUNK, "name different files"),
    "two files, one that ends like a backup": (
        b"a/a.c", b"b/bcd.orig", HUNK, "name different files"
    ),
    "no file": (b"/dev/null", b"/dev/null", HUNK, "name /dev/null"),
    "new with old lines": (b"/dev/null", b"b/x", HUNK, "new file with old lines"),
    "deleted with lines": (b"a/x", b"/dev/null", HUNK, "deleted file with lines left"),
    "too few directories": (b"x", b"x", HUNK, "too few directories for -p1"),
    "no hunk": (b"a/x", b"b/x", b"", "a hunk is expected"),
    "no name": (b"", b"", HUNK, "is empty"),
    "climbing": (b"a/../x", b"b/../x", HUNK, r"has a \.\. component"),
    "climbing before": (b"../x", b"../x", HUNK, r"has a \.\. component"),
    "absolute": (b"/x", b"/x", HUNK, "is absolute"),
    "epoch with another name": (
        b"a/x\t1970-01-01 00:00:00 +0000", b"b/y\t" + TODAY, NEW, "name different files"
    ),
    "epoch twice": (
        b"a/x\t1970-01-01 00:00:00 +0000",
        b"a/x\t1970-01-01 00:00:00 +0000",
        NEW,
        "deleted file with lines",
    ),
    "carriage return": (b"a/x\r", b"b/x\r", HUNK, "has a control character"),
}  # fmt: skip


@table(("old", "new", "hunk", "problem"), BAD)
def test_a_plain_section_that_says_no_one_thing_is_refused(
    old: bytes, new: bytes, hunk: bytes, problem: str
) -> None:
    with pytest.raises(PatchmgrError, match=problem):
        read(old, new, hunk)


def test_the_second_name_must_follow_the_first() -> None:
    with pytest.raises(PatchmgrError, match=r"a \+\+\+ line is expected"):
        read_plain_section(PatchReader("x", [b"--- a/x\n", b"@@ -1 +1 @@\n"]))


def test_lines_of_other_tools_above_a_section_are_stepped_over() -> None:
    lines = [b"Index: x\n", b"=====\n", b"diff -u a/x b/x\n", b"--- a/x\n"]
    reader = PatchReader("x", lines)
    skip_noise(reader)
    assert reader.line == b"--- a/x\n"
    skip_noise(reader)
    assert reader.line == b"--- a/x\n"


def test_lines_of_other_tools_without_a_section_are_refused() -> None:
    with pytest.raises(PatchmgrError, match="the section changes nothing"):
        skip_noise(PatchReader("x", [b"Index: x\n", b"=====\n", b"\n"]))
