"""Sections of files in diffs, git's and plain: their heads, their hunks, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from patchmgr.errors import PatchmgrError
from patchmgr.formats.reader import PatchReader, split_lines
from patchmgr.formats.sections import (
    Sections,
    is_hunk_head,
    read_git_section,
    read_hunks,
    read_plain_section,
    skip_noise,
    unquote,
)
from patchmgr.model.patch import BinaryChange, FilePatch, Hunk
from patchmgr.model.snapshot import EMPTY_BLOB, ZERO_ID, blob_id
from tests.tables import table

HUNK = b"@@ -1 +1 @@\n-a\n+b\n"
HUNKS = (Hunk(1, 1, 1, 1, b"", (b"-a\n", b"+b\n")),)
NEW = b"@@ -0,0 +1 @@\n+b\n"
NEWS = (Hunk(0, 0, 1, 1, b"", (b"+b\n",)),)
GONE = b"@@ -1 +0,0 @@\n-a\n"
GONES = (Hunk(1, 1, 0, 0, b"", (b"-a\n",)),)
MARKS = b"--- a/x\n+++ b/x\n"
X = b"diff --git a/x b/x\n"


def read(raw: bytes, strip: int = 1) -> FilePatch:
    reader = PatchReader("x.patch", split_lines(raw), strip=strip)
    file = read_git_section(reader)
    assert reader.line is None
    return file


def edit(old: bytes, new: bytes, title: bytes) -> bytes:
    return b"diff --git " + title + b"\n--- " + old + b"\n+++ " + new + b"\n" + HUNK


GOOD = {
    "an edit": (
        X + b"index 1234567..89abcde 100644\n" + MARKS + HUNK,
        FilePatch("x", "x", "100644", "100644", "1234567", "89abcde", hunks=HUNKS),
    ),
    "no index line, as hg": (X + MARKS + HUNK, FilePatch("x", "x", hunks=HUNKS)),
    "a mode": (X + b"old mode 100644\nnew mode 100755\n", FilePatch("x", "x", "100644", "100755")),
    "a mode and an edit": (
        X + b"old mode 100755\nnew mode 100644\nindex 1234567..89abcde\n"
        + MARKS + HUNK,
        FilePatch("x", "x", "100755", "100644", "1234567", "89abcde", hunks=HUNKS),
    ),
    "a new file": (
        X + b"new file mode 100755\nindex 0000000..89abcde\n"
        b"--- /dev/null\n+++ b/x\n" + NEW,
        FilePatch(None, "x", None, "100755", "0000000", "89abcde", hunks=NEWS),
    ),
    "a new empty file": (
        b"diff --git a/x y b/x y\nnew file mode 100644\nindex 0000000..e69de29\n",
        FilePatch(None, "x y", None, "100644", "0000000", "e69de29"),
    ),
    "a new link": (
        X + b"new file mode 120000\n--- /dev/null\n+++ b/x\n" + NEW,
        FilePatch(None, "x", None, "120000", hunks=NEWS),
    ),
    "a new submodule": (
        X + b"new file mode 160000\n--- /dev/null\n+++ b/x\n" + NEW,
        FilePatch(None, "x", None, "160000", hunks=NEWS),
    ),
    "a deleted file": (
        X + b"deleted file mode 100644\nindex 1234567..0000000\n"
        b"--- a/x\n+++ /dev/null\n" + GONE,
        FilePatch("x", None, "100644", None, "1234567", "0000000", hunks=GONES),
    ),
    "a deleted empty file": (
        X + b"deleted file mode 100644\nindex e69de29..0000000\n",
        FilePatch("x", None, "100644", None, "e69de29", "0000000"),
    ),
    "a rename": (
        b"diff --git a/x b/y/z\nsimilarity index 100%\nrename from x\nrename to y/z\n",
        FilePatch("x", "y/z"),
    ),
    "a rename with an edit and a mode": (
        b"diff --git a/x b/y\nold mode 100644\nnew mode 100755\nsimilarity index 90%\n"
        b"rename from x\nrename to y\nindex 1234567..89abcde\n--- a/x\n+++ b/y\n" + HUNK,
        FilePatch("x", "y", "100644", "100755", "1234567", "89abcde", hunks=HUNKS),
    ),
    "a copy": (
        b"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n",
        FilePatch("x", "y", is_copy=True),
    ),
    "a rewrite": (
        X + b"dissimilarity index 99%\nindex 1234567..89abcde 100644\n"
        + MARKS + HUNK,
        FilePatch("x", "x", "100644", "100644", "1234567", "89abcde", hunks=HUNKS),
    ),
    "names with spaces": (
        edit(b"a/x b/y\t", b"b/x b/y\t", b"a/x b/y b/x b/y"),
        FilePatch("x b/y", "x b/y", hunks=HUNKS),
    ),
    "a rename with spaces": (
        b"diff --git a/a b b/c d\nsimilarity index 100%\nrename from a b\nrename to c d\n",
        FilePatch("a b", "c d"),
    ),
    "quoted names": (
        edit(b'"a/\\303\\274"', b'"b/\\303\\274"\t', b'"a/\\303\\274" "b/\\303\\274"'),
        FilePatch("ü", "ü", hunks=HUNKS),
    ),
    "a quoted name that is not UTF-8": (
        edit(b'"a/\\374"', b'"b/\\374"', b'"a/\\374" "b/\\374"'),
        FilePatch("\udcfc", "\udcfc", hunks=HUNKS),
    ),
    "raw UTF-8": (
        edit("a/ü".encode(), "b/ü".encode(), "a/ü b/ü".encode()),
        FilePatch("ü", "ü", hunks=HUNKS),
    ),
    "only the new name quoted": (
        b'diff --git a/x y "b/\\303\\274"\nsimilarity index 100%\nrename from x y\n'
        b'rename to "\\303\\274"\n',
        FilePatch("x y", "ü"),
    ),
    "only the old name quoted": (
        b'diff --git "a/\\303\\274" b/x y\nsimilarity index 100%\nrename from "\\303\\274"\n'
        b"rename to x y\n",
        FilePatch("ü", "x y"),
    ),
    "prefixes of git diff": (edit(b"i/x", b"w/x", b"i/x w/x"), FilePatch("x", "x", hunks=HUNKS)),
    "a literal": (
        X + b"new file mode 100644\nindex " + ZERO_ID.encode() + b".."
        + blob_id(b"\0\1\2").encode() + b"\nGIT binary patch\nliteral 3\nKcmZQzWC8#H2LJ>B\n\n"
        b"literal 0\nHcmV?d00001\n\n",
        FilePatch(
            None, "x", None, "100644", ZERO_ID, blob_id(b"\0\1\2"),
            binary=BinaryChange("literal", b"\0\1\2"),
        ),
    ),
    "a deleted binary": (
        X + b"deleted file mode 100644\nindex " + b"1" * 40 + b".."
        + ZERO_ID.encode() + b"\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n"
        b"literal 3\nKcmZQzWC8#H2LJ>B\n\n",
        FilePatch(
            "x", None, "100644", None, "1" * 40, ZERO_ID, binary=BinaryChange("literal", b"")
        ),
    ),
    "a delta": (
        X + b"index " + b"1" * 40 + b".." + b"2" * 40 + b" 100644\n"
        b"GIT binary patch\ndelta 3\nKcmZQzWC8#H2LJ>B\n\n",
        FilePatch(
            "x", "x", "100644", "100644", "1" * 40, "2" * 40,
            binary=BinaryChange("delta", b"\0\1\2"),
        ),
    ),
    "ids of SHA-256": (
        X + b"index " + b"1" * 64 + b".." + b"2" * 64 + b" 100644\n"
        b"GIT binary patch\nliteral 3\nKcmZQzWC8#H2LJ>B\n\n",
        FilePatch(
            "x", "x", "100644", "100644", "1" * 64, "2" * 64,
            binary=BinaryChange("literal", b"\0\1\2"),
        ),
    ),
}  # fmt: skip


@table(("raw", "expected"), GOOD)
def test_a_section_of_git_is_read(raw: bytes, expected: FilePatch) -> None:
    assert read(raw) == expected


STRIPS = {
    "no prefixes": (edit(b"src/x", b"src/x", b"src/x src/x"), 0, "src/x"),
    "deeper": (edit(b"a/src/x", b"b/src/x", b"a/src/x b/src/x"), 2, "x"),
    "mode, no prefixes": (b"diff --git s/x s/x\nold mode 100644\nnew mode 100755\n", 0, "s/x"),
    "rename, deeper": (
        b"diff --git a/s/x b/s/y\nsimilarity index 100%\nrename from s/x\nrename to s/y\n",
        2,
        "y",
    ),
    "rename, no prefixes": (
        b"diff --git s/x s/y\nsimilarity index 100%\nrename from s/x\nrename to s/y\n", 0, "s/y"
    ),
}  # fmt: skip


@table(("raw", "strip", "path"), STRIPS)
def test_another_number_of_directories_is_stripped(raw: bytes, strip: int, path: str) -> None:
    assert read(raw, strip).path == path


RENAME = b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
BINARY = b"GIT binary patch\nliteral 3\nKcmZQzWC8#H2LJ>B\n\n"
FULL = b"index " + b"1" * 40 + b".." + b"2" * 40 + b" 100644\n"

BAD = {
    "nothing": (X, "changes nothing"),
    "index only": (X + b"index 1234567..1234567 100644\n", "changes nothing"),
    "same mode": (X + b"old mode 100644\nnew mode 100644\n", "changes nothing"),
    "names without hunks": (X + MARKS, "a hunk is expected"),
    "one name only": (X + b"--- a/x\n" + HUNK, r"a \+\+\+ line is expected"),
    "title of others": (b"diff --git a/y b/y\n" + MARKS + HUNK, "name different files"),
    "title swapped": (RENAME.replace(b"a/x b/y", b"a/y b/x"), "name different files"),
    "title of one": (b"diff --git a/x\n" + MARKS + HUNK, "name different files"),
    "title ambiguous": (
        b"diff --git a/x b/y\nold mode 100644\nnew mode 100755\n", "not name the same file twice"
    ),
    "title damaged": (
        b'diff --git "a/x "b/x"\nold mode 100644\nnew mode 100755\n', "does not name the same file"
    ),
    "title with a rest": (
        b'diff --git "a/x" "b/x"z\nold mode 100644\nnew mode 100755\n', "not name the same file"
    ),
    "title endless": (
        b"diff --git " + b"a " * 100_000 + b"\nold mode 100644\nnew mode 100755\n",
        "does not name the same file",
    ),
    "no prefixes": (edit(b"src/x", b"src/x", b"src/x src/x"), "lack the prefixes"),
    "no directories": (edit(b"x", b"x", b"x x"), "lack the prefixes"),
    "too few directories": (edit(b"x", b"b/x", b"x b/x"), "too few directories for -p1"),
    "names of two files": (edit(b"a/x", b"b/y", b"a/x b/y"), "but no rename or copy is stated"),
    "rename and names disagree": (RENAME + b"--- a/x\n+++ b/z\n" + HUNK, "name different files"),
    "rename of nothing": (RENAME + b"--- /dev/null\n+++ b/y\n" + NEW, "name different files"),
    "rename onto itself": (X + b"rename from x\nrename to x\n", "the rename has the same path"),
    "rename without from": (
        b"diff --git a/x b/y\nrename to y\n", "rename to line but no rename from line"
    ),
    "copy without to": (
        b"diff --git a/x b/y\ncopy from x\n", "copy from line but no copy to line"
    ),
    "mode without new": (X + b"old mode 100644\n", "old mode line but no new mode line"),
    "rename and copy": (RENAME + b"copy from x\ncopy to y\n", "rename from and copy from"),
    "new and deleted": (
        X + b"new file mode 100644\ndeleted file mode 100644\n",
        "new file mode and deleted file mode lines exclude",
    ),
    "new and old mode": (
        X + b"new file mode 100644\nold mode 100644\nnew mode 100755\n",
        "new file mode and old mode lines exclude",
    ),
    "said twice": (X + b"new file mode 100644\nnew file mode 100755\n", "a second new file"),
    "similarity": (RENAME.replace(b"100%", b"much"), "similarity index line cannot be read"),
    "dissimilarity": (X + b"dissimilarity index 1000%\n", "dissimilarity index line cannot be"),
    "setuid": (X + b"new file mode 104755\n", "mode is not one that git writes"),
    "group may write": (X + b"new file mode 100664\n", "mode is not one"),
    "a directory": (X + b"new file mode 040000\n", "mode is not one"),
    "a device": (X + b"old mode 100644\nnew mode 020666\n", "mode is not one"),
    "no mode": (X + b"new file mode \n", "mode is not one"),
    "a mode with CR": (X + b"new file mode 100644\r\n", "mode is not one"),
    "a mode in the index line": (
        X + b"index 1234567..89abcde 100666\n" + MARKS + HUNK, "mode is not one"
    ),
    "another mode in the index line": (
        X + b"old mode 100644\nnew mode 100755\nindex 1234567..89abcde 100644\n"
        + MARKS + HUNK,
        "the index line and the mode lines give different modes",
    ),
    "a file becomes a link": (X + b"old mode 100644\nnew mode 120000\n", "change a file.s type"),
    "index damaged": (X + b"index 12..34\n", "index line cannot be read"),
    "index of a merge": (X + b"index 12345,23456..34567\n", "index line cannot"),
    "new with an old name": (X + b"new file mode 100644\n" + MARKS + NEW, "disagree on whether"),
    "not new without an old name": (X + b"--- /dev/null\n+++ b/x\n" + NEW, "disagree on whether"),
    "deleted with a new name": (
        X + b"deleted file mode 100644\n" + MARKS + GONE, "disagree on whether"
    ),
    "no file at all": (X + b"--- /dev/null\n+++ /dev/null\n" + HUNK, "disagree on whether"),
    "new with old lines": (
        X + b"new file mode 100644\n--- /dev/null\n+++ b/x\n" + HUNK,
        "creates the file, but a hunk has old lines",
    ),
    "deleted with lines left": (
        X + b"deleted file mode 100644\n--- a/x\n+++ /dev/null\n" + HUNK,
        "deletes the file, but a hunk leaves lines",
    ),
    "binary without content": (
        X + b"index 1234567..89abcde 100644\nBinary files a/x and b/x differ\n",
        "content of the binary file is missing",
    ),
    "binary without ids": (X + b"index 1234567..89abcde 100644\n" + BINARY, "has no full index"),
    "binary without an index line": (X + BINARY, "has no full index"),
    "binary of another id": (X + FULL + BINARY, "does not match the index line"),
    "deleted binary with content": (
        X + b"deleted file mode 100644\n" + FULL.replace(b" 100644", b"") + BINARY,
        "deletes the file, but adds content",
    ),
    "quoted name damaged": (edit(b'"a/x', b'"b/x"', b'"a/x" "b/x"'), "quoted name cannot be read"),
    "quoted name with a rest": (
        edit(b'"a/x"z', b'"b/x"', b'"a/x" "b/x"'), "quoted name cannot be read"
    ),
    "quoted title damaged": (
        b'diff --git "a/x b/x\nold mode 100644\nnew mode 100755\n', "not name the same file twice"
    ),
    "quoted rename damaged": (
        b'diff --git a/x b/y\nrename from "x\nrename to y\n', "quoted name cannot be read"
    ),
    "quoted rename with a rest": (
        b'diff --git a/x b/y\nrename from "x"z\nrename to y\n', "quoted name cannot be read"
    ),
}  # fmt: skip


@table(("raw", "problem"), BAD)
def test_a_section_that_disagrees_with_itself_is_refused(raw: bytes, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        read(raw)
    assert caught.value.kind == "bad-patch"
    assert caught.value.message.startswith("patch x.patch line ")


HOSTILE = {
    "climbing": b"../x",
    "git directory in disguise": b"sub/.GIT /config",
    "carriage return": b"x\r",
    "NUL": b"x\0y",
    "empty": b"",
}


@table("path", HOSTILE)
@table("kind", ["edit", "new", "rename from", "copy to", "mode"])
def test_a_hostile_path_is_refused_in_every_header(path: bytes, kind: str) -> None:
    twice = b"diff --git a/" + path + b" b/" + path + b"\n"
    moved = b"diff --git a/%s b/%s\nsimilarity index 100%%\n%s from %s\n%s to %s\n"
    raw = {
        "edit": edit(b"a/" + path, b"b/" + path, b"a/" + path + b" b/" + path),
        "new": twice + b"new file mode 100644\n--- /dev/null\n+++ b/" + path + b"\n" + NEW,
        "rename from": moved % (path, b"q", b"rename", path, b"rename", b"q"),
        "copy to": moved % (b"q", path, b"copy", b"q", b"copy", path),
        "mode": twice + b"old mode 100644\nnew mode 100755\n",
    }[kind]
    with pytest.raises(PatchmgrError) as caught:
        read(raw)
    assert caught.value.kind == "unsafe-path"
    assert "patch x.patch line " in caught.value.message
    assert caught.value.message.isprintable()


@table("prefix", [b"..", b".git", b"C:", b"-x", b"\r"])
def test_a_hostile_directory_that_would_be_stripped_is_refused(prefix: bytes) -> None:
    for raw in (
        edit(prefix + b"/x", b"b/x", b"a/x b/x"),
        edit(b"a/x", b"b/x", prefix + b"/x b/x"),
        b"diff --git " + prefix + b"/x b/x\nold mode 100644\nnew mode 100755\n",
    ):
        with pytest.raises(PatchmgrError, match="the path"):
            read(raw)


def test_an_escaped_name_is_checked_after_it_is_decoded() -> None:
    with pytest.raises(PatchmgrError, match=r"the path \.\./x has a \.\. component"):
        read(edit(b'"a/\\056\\056/x"', b"b/x", b"a/x b/x"))


def test_a_link_for_gitmodules_is_refused() -> None:
    raw = b"diff --git a/.gitmodules b/.gitmodules\nnew file mode 120000\n"
    with pytest.raises(PatchmgrError, match="must not be a symbolic link"):
        read(raw + b"--- /dev/null\n+++ b/.gitmodules\n" + NEW)
    assert read(raw.replace(b"120000", b"100644")).path == ".gitmodules"


def test_the_empty_blob_is_a_sound_literal() -> None:
    raw = X + b"index " + b"1" * 40 + b".." + EMPTY_BLOB.encode() + b" 100644\n"
    file = read(raw + b"GIT binary patch\nliteral 0\nHcmV?d00001\n\n")
    assert file.binary == BinaryChange("literal", b"")


TODAY = b"2026-05-14 21:22:37.123456789 +0200"


def read_plain(old: bytes, new: bytes, hunk: bytes = HUNK, strip: int = 1) -> FilePatch:
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
    file = read_plain(old, new)
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
    file = read_plain(old, new, hunk)
    assert (file.old_path, file.new_path) == paths


@table(("strip", "path"), [(0, "a/b/x"), (1, "b/x"), (2, "x")])
def test_the_number_of_directories_to_strip_is_given(strip: int, path: str) -> None:
    assert read_plain(b"a/b/x", b"a/b/x", strip=strip).path == path


PLAIN_BAD = {
    "two files": (b"a/x", b"b/y", HUNK, "name different files"),
    "two files, one longer": (b"a/x", b"b/xy", HUNK, "name different files"),
    "two files, one deeper": (b"a/x", b"b/c/x", HUNK, "name different files"),
    "two files, one that ends like a backup": (
        b"a/a.c", b"b/bcd.orig", HUNK, "name different files"
    ),
    "no file": (b"/dev/null", b"/dev/null", HUNK, "name /dev/null"),
    "new with old lines": (b"/dev/null", b"b/x", HUNK, "a hunk has old lines"),
    "deleted with lines": (b"a/x", b"/dev/null", HUNK, "a hunk leaves lines"),
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
        "a hunk leaves lines",
    ),
    "carriage return": (b"a/x\r", b"b/x\r", HUNK, "has a control character"),
}  # fmt: skip


@table(("old", "new", "hunk", "problem"), PLAIN_BAD)
def test_a_vague_plain_section_fails(old: bytes, new: bytes, hunk: bytes, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem):
        read_plain(old, new, hunk)


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
    with pytest.raises(PatchmgrError, match="this file's section changes nothing"):
        skip_noise(PatchReader("x", [b"Index: x\n", b"=====\n", b"\n"]))


def files(*pairs: str) -> list[FilePatch]:
    """Make files of `old>new` and, for copies, `old=new`."""
    made = []
    for pair in pairs:
        old, new = pair.replace("=", ">").split(">")
        made.append(FilePatch(old or None, new or None, is_copy="=" in pair))
    return made


def clash(pairs: list[str]) -> tuple[int, str] | None:
    """Return the first section that contradicts an earlier one, with the reason."""
    sections = Sections()
    reasons = ((number, sections.add(file)) for number, file in enumerate(files(*pairs)))
    return next(((number, reason) for number, reason in reasons if reason is not None), None)


ORDER_GOOD = {
    "nothing": [],
    "different files": ["a>a", "b>b", ">c", "d>"],
    "a change of type": ["a>", ">a"],
    "two renames that swap": ["a>b", "b>a"],
    "a rename, and a new file in its place": [">a", "a>b"],
    "copies of one file, which is edited, too": ["a=b", "a=c", "a>a"],
    "a file becomes a directory": ["a>", ">a/b"],
    "a directory becomes a file": [">a", "a/b>"],
    "names that begin alike": [">a", ">ab", ">a.b/c"],
}


@table("pairs", ORDER_GOOD)
def test_these_files_go_together(pairs: list[str]) -> None:
    assert clash(pairs) is None


ORDER_BAD = {
    "edited twice": (["a>a", "b>b", "a>a"], (2, "there is a second section for a")),
    "made twice": ([">a", ">a"], (1, "there is a second section for a")),
    "deleted twice": (["a>", "a>"], (1, "there is a second section for a")),
    "edited and deleted": (["a>a", "a>"], (1, "there is a second section for a")),
    "renamed twice": (["a>b", "a>c"], (1, "there is a second section for c")),
    "two renames to one": (["a>c", "b>c"], (1, "there is a second section for c")),
    "a copy onto an edited file": (["b>b", "a=b"], (1, "there is a second section for b")),
    "made before it is deleted": ([">a", "a>"], (1, "a is created before it is deleted")),
    "below a new file": ([">a", ">a/b"], (1, "a/b is below a, which is a file")),
    "below a link, the other way": ([">a/b/c", ">a"], (1, "a/b/c is below a, which is a file")),
    "below a renamed file": (["x>a/b", ">a/b/c/d"], (1, "a/b/c/d is below a/b, which is a file")),
}


@table(("pairs", "expected"), ORDER_BAD)
def test_these_files_clash(pairs: list[str], expected: tuple[int, str]) -> None:
    assert clash(pairs) == expected


def read_all(raw: bytes) -> tuple[Hunk, ...]:
    reader = PatchReader("x.patch", split_lines(raw))
    hunks = read_hunks(reader)
    assert reader.line is None
    return hunks


def test_a_hunk_keeps_numbers_heading_kinds_and_line_ends() -> None:
    raw = b"@@ -3,3 +3,4 @@ def f():\r\n a\r\n-b\x85\x0c\n+c\xff\n+\n \xc3\xbc\n"
    (hunk,) = read_all(raw)
    assert hunk == Hunk(
        3, 3, 3, 4, b"def f():\r", (b" a\r\n", b"-b\x85\x0c\n", b"+c\xff\n", b"+\n", b" \xc3\xbc\n")
    )
    assert (hunk.added(), hunk.removed()) == (2, 1)


@table(
    ("raw", "lines"),
    {
        "counts left out": (b"@@ -1 +1 @@\n-a\n+b\n", [b"-a\n", b"+b\n"]),
        "new file": (b"@@ -0,0 +1,2 @@\n+a\n+b\n", [b"+a\n", b"+b\n"]),
        "deleted file": (b"@@ -1 +0,0 @@\n-a\n", [b"-a\n"]),
        "empty context line": (b"@@ -1,2 +1,2 @@\n\n-a\n+b\n", [b" \n", b"-a\n", b"+b\n"]),
        "lines that look like headers": (b"@@ -1,2 +1 @@\n--- a\n-++ b\n+-- \n",
            [b"--- a\n", b"-++ b\n", b"+-- \n"]),
        "no newline on both sides": (
            b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
            [b"-a", b"+b"]),
        "marker in another language": (b"@@ -1,2 +1 @@\n-b\n a\n\\ Kein Zeilenumbruch.\n",
            [b"-b\n", b" a"]),
        "CR without newline": (b"@@ -1 +1 @@\n-a\r\n+a\r\n\\ No newline at end of file",
            [b"-a\r\n", b"+a\r"]),
    },
)  # fmt: skip
def test_hunks_are_read(raw: bytes, lines: list[bytes]) -> None:
    assert list(read_all(raw)[0].lines) == lines


HUNKS_BAD = {
    "no hunk": (b"", "a hunk is expected here"),
    "header damaged": (b"@@ -1 +1\n-a\n", "header cannot be read"),
    "header of a merge": (b"@@@ -1 -1 +1 @@@\n", "header cannot be read"),
    "header cut off": (b"@@ -0,0 +1 @@", "header cannot be read"),
    "signs in numbers": (b"@@ -1,-1 +1 @@\n", "header cannot be read"),
    "numbers too long": (b"@@ -1,99999999999 +1 @@\n", "header cannot be read"),
    "a billion lines": (b"@@ -1,1000000000 +1,1000000000 @@\n a\n", "ends inside a hunk"),
    "old line zero": (b"@@ -0 +1 @@\n-a\n+b\n", "first line is 1"),
    "new line zero": (b"@@ -1 +0 @@\n-a\n+b\n", "first line is 1"),
    "truncated": (b"@@ -1,2 +1,2 @@\n a\n-b\n", "ends inside a hunk"),
    "too long on the new side": (b"@@ -1,2 +1 @@\n a\n b\n", "more lines than its header says"),
    "too short": (b"@@ -1,2 +1,2 @@\n a\n-b\n@@ -9 +9 @@\n", "fewer lines than its header says"),
    "no kind": (b"@@ -1,2 +1,2 @@\n a\nx\n", "fewer lines than its header says"),
    "bare CR line": (b"@@ -1,2 +1,2 @@\n\r\n-a\n+b\n", "fewer lines than its header says"),
    "only context": (b"@@ -1 +1 @@\n a\n", "changes nothing"),
    "nothing in it": (b"@@ -1,0 +1,0 @@\n", "changes nothing"),
    "overlap": (b"@@ -1,2 +1 @@\n-a\n b\n@@ -2 +1 @@\n-b\n+c\n", "overlaps"),
    "out of order": (b"@@ -5 +5 @@\n-a\n+b\n@@ -2 +2 @@\n-b\n+c\n", "overlaps"),
    "marker first": (b"@@ -1 +1 @@\n\\ No newline at end of file\n",
        "fewer lines than its header says"),
    "marker before the end": (b"@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-b\n+c\n",
        "follows the last line"),
    "hunk behind the end": (
        b"@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -3 +3 @@\n-a\n+b\n",
        "follows the last line"),
    "empty line without newline": (b"@@ -0,0 +1 @@\n+\n\\ No newline at end of file\n",
        "is marked as having no newline"),
    "last line cut off": (b"@@ -1 +1 @@\n-a\n+b", "has no newline"),
}  # fmt: skip


@table(("raw", "problem"), HUNKS_BAD)
def test_a_hunk_that_does_not_hold_together_is_refused(raw: bytes, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        read_all(raw)
    assert caught.value.kind == "bad-patch"
    assert caught.value.message.startswith("patch x.patch line ")


def test_a_hunk_ends_where_its_counts_say() -> None:
    reader = PatchReader("x.patch", split_lines(b"@@ -1,2 +1 @@\n-a\n b\n c\n"))
    assert read_hunks(reader)[0].lines == (b"-a\n", b" b\n")
    assert reader.line == b" c\n"


def test_hunks_that_touch_are_in_order() -> None:
    assert len(read_all(b"@@ -1 +1 @@\n-a\n+b\n@@ -2 +2 @@\n-c\n+d\n@@ -2,0 +3 @@\n+e\n")) == 3


def test_a_long_line_and_many_lines_are_read() -> None:
    (hunk,) = read_all(b"@@ -0,0 +1 @@\n+" + b"x" * 5_000_000 + b"\n")
    assert len(hunk.lines[0]) == 5_000_002
    (hunk,) = read_all(b"@@ -0,0 +1,50000 @@\n" + b"+x\n" * 50_000)
    assert hunk.added() == 50_000


def test_hunk_heads_are_known() -> None:
    assert is_hunk_head(b"@@ -1,2 +3 @@ f\n")
    assert not is_hunk_head(b" @@ -1,2 +3 @@\n")
    assert not is_hunk_head(b"@@ at all\n")


LINE = st.tuples(st.sampled_from([b" ", b"-", b"+"]), st.binary(max_size=5))


@given(st.lists(LINE, min_size=1), st.integers(1, 10**9), st.binary(max_size=9))
def test_what_is_written_is_read(parts: list[tuple[bytes, bytes]], at: int, tail: bytes) -> None:
    lines = [kind + text.replace(b"\n", b"") + b"\n" for kind, text in parts]
    old = sum(line[:1] != b"+" for line in lines)
    new = sum(line[:1] != b"-" for line in lines)
    head = b"@@ -%d,%d +%d,%d @@ " % (at, old, at, new) + tail.replace(b"\n", b"")
    raw = head + b"\n" + b"".join(lines)
    if old == new == sum(line[:1] == b" " for line in lines):
        with pytest.raises(PatchmgrError, match="changes nothing"):
            read_all(raw)
    else:
        (hunk,) = read_all(raw)
        assert hunk.lines == tuple(lines)
        assert (hunk.old_start, hunk.old_count, hunk.new_count) == (at, old, new)
        assert hunk.heading == tail.replace(b"\n", b"")


@given(st.lists(st.lists(LINE, min_size=1, max_size=8), min_size=1, max_size=4))
def test_unidiff_reads_the_same(parts: list[list[tuple[bytes, bytes]]]) -> None:
    raw, at = b"", 1
    for part in parts:
        lines = [kind + text.replace(b"\n", b"") + b"\n" for kind, text in [*part, (b"+", b"x")]]
        old, new = (sum(line[:1] != kind for line in lines) for kind in (b"+", b"-"))
        raw += b"@@ -%d,%d +%d,%d @@ f\n" % (at, old, at, new) + b"".join(lines)
        at += old + 1
    head = ["--- old\n", "+++ new\n"]
    (other,) = PatchSet(head + [line.decode("latin-1") for line in split_lines(raw)])
    assert [hunk.lines for hunk in read_all(raw)] == [
        tuple(f"{line.line_type}{line.value}".encode("latin-1") for line in hunk) for hunk in other
    ]


@table(
    ("raw", "expected"),
    {
        "plain": (b'"a"', (b"a", b"")),
        "with a rest": (b'"a b" rest', (b"a b", b" rest")),
        "empty": (b'""', (b"", b"")),
        "octal": (b'"\\303\\274"', (b"\xc3\xbc", b"")),
        "escapes": (b'"\\a\\b\\t\\n\\v\\f\\r\\"\\\\"', (b'\a\b\t\n\v\f\r"\\', b"")),
        "not quoted": (b"a", None),
        "nothing": (b"", None),
        "not closed": (b'"a', None),
        "unknown escape": (b'"\\x41"', None),
        "more than a byte": (b'"\\777"', None),
        "cut off": (b'"\\30', None),
        "newline": (b'"a\nb"', None),
    },
)
def test_names_quoted_by_git_are_read(raw: bytes, expected: tuple[bytes, bytes] | None) -> None:
    assert unquote(raw) == expected


@given(st.binary())
def test_every_name_survives_octal_quoting(name: bytes) -> None:
    quoted = "".join(f"\\{byte:03o}" for byte in name)
    assert unquote(f'"{quoted}"x'.encode()) == (name, b"x")
