"""File sections of git diffs."""

from __future__ import annotations

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.reader import PatchReader, split_lines
from patchmgr.formats.sections import read_git_section
from patchmgr.model.ids import EMPTY_BLOB, ZERO_ID, blob_id
from patchmgr.model.patch import BinaryChange, FilePatch, Hunk
from tests.tables import table

HUNK = b"@@ -1 +1 @@\n-a\n+b\n"
HUNKS = (Hunk(1, 1, 1, 1, b"", (b"-a\n", b"+b\n")),)
NEW = b"@@ -0,0 +1 @@\n+b\n"
NEWS = (Hunk(0, 0, 1, 1, b"", (b"+b\n",)),)
GONE = b"@@ -1 +0,0 @@\n-a\n"
GONES = (Hunk(1, 1, 0, 0, b"", (b"-a\n",)),)
MARKS = b"--- a/x\n+++ b/x\n"


def read(raw: bytes, strip: int = 1) -> FilePatch:
    reader = PatchReader("x.patch", split_lines(raw), strip=strip)
    file = read_git_section(reader)
    assert reader.line is None
    return file


def edit(old: bytes, new: bytes, title: bytes) -> bytes:
    return b"diff --git " + title + b"\n--- " + old + b"\n+++ " + new + b"\n" + HUNK


GOOD = {
    "an edit": (
        b"diff --git a/x b/x\nindex 1234567..89abcde 100644\n" + MARKS + HUNK,
        FilePatch("x", "x", "100644", "100644", "1234567", "89abcde", hunks=HUNKS),
    ),
    "no index line, as hg": (
        b"diff --git a/x b/x\n" + MARKS + HUNK,
        FilePatch("x", "x", hunks=HUNKS),
    ),
    "a mode": (
        b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        FilePatch("x", "x", "100644", "100755"),
    ),
    "a mode and an edit": (
        b"diff --git a/x b/x\nold mode 100755\nnew mode 100644\nindex 1234567..89abcde\n"
        + MARKS + HUNK,
        FilePatch("x", "x", "100755", "100644", "1234567", "89abcde", hunks=HUNKS),
    ),
    "a new file": (
        b"diff --git a/x b/x\nnew file mode 100755\nindex 0000000..89abcde\n"
        b"--- /dev/null\n+++ b/x\n" + NEW,
        FilePatch(None, "x", None, "100755", "0000000", "89abcde", hunks=NEWS),
    ),
    "a new empty file": (
        b"diff --git a/x y b/x y\nnew file mode 100644\nindex 0000000..e69de29\n",
        FilePatch(None, "x y", None, "100644", "0000000", "e69de29"),
    ),
    "a new link": (
        b"diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n" + NEW,
        FilePatch(None, "x", None, "120000", hunks=NEWS),
    ),
    "a new submodule": (
        b"diff --git a/x b/x\nnew file mode 160000\n--- /dev/null\n+++ b/x\n" + NEW,
        FilePatch(None, "x", None, "160000", hunks=NEWS),
    ),
    "a deleted file": (
        b"diff --git a/x b/x\ndeleted file mode 100644\nindex 1234567..0000000\n"
        b"--- a/x\n+++ /dev/null\n" + GONE,
        FilePatch("x", None, "100644", None, "1234567", "0000000", hunks=GONES),
    ),
    "a deleted empty file": (
        b"diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n",
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
        b"diff --git a/x b/x\ndissimilarity index 99%\nindex 1234567..89abcde 100644\n"
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
        b"diff --git a/x b/x\nnew file mode 100644\nindex " + ZERO_ID.encode() + b".."
        + blob_id(b"\0\1\2").encode() + b"\nGIT binary patch\nliteral 3\nKcmZQzWC8#H2LJ>B\n\n"
        b"literal 0\nHcmV?d00001\n\n",
        FilePatch(
            None, "x", None, "100644", ZERO_ID, blob_id(b"\0\1\2"),
            binary=BinaryChange("literal", b"\0\1\2"),
        ),
    ),
    "a deleted binary": (
        b"diff --git a/x b/x\ndeleted file mode 100644\nindex " + b"1" * 40 + b".."
        + ZERO_ID.encode() + b"\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n"
        b"literal 3\nKcmZQzWC8#H2LJ>B\n\n",
        FilePatch(
            "x", None, "100644", None, "1" * 40, ZERO_ID, binary=BinaryChange("literal", b"")
        ),
    ),
    "a delta": (
        b"diff --git a/x b/x\nindex " + b"1" * 40 + b".." + b"2" * 40 + b" 100644\n"
        b"GIT binary patch\ndelta 3\nKcmZQzWC8#H2LJ>B\n\n",
        FilePatch(
            "x", "x", "100644", "100644", "1" * 40, "2" * 40,
            binary=BinaryChange("delta", b"\0\1\2"),
        ),
    ),
    "ids of SHA-256": (
        b"diff --git a/x b/x\nindex " + b"1" * 64 + b".." + b"2" * 64 + b" 100644\n"
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
    "mode, no prefixes": (
        b"diff --git s/x s/x\nold mode 100644\nnew mode 100755\n", 0, "s/x"
    ),
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
    "nothing": (b"diff --git a/x b/x\n", "changes nothing"),
    "index only": (b"diff --git a/x b/x\nindex 1234567..1234567 100644\n", "changes nothing"),
    "same mode": (
        b"diff --git a/x b/x\nold mode 100644\nnew mode 100644\n", "changes nothing"
    ),
    "names without hunks": (b"diff --git a/x b/x\n" + MARKS, "a hunk is expected"),
    "one name only": (b"diff --git a/x b/x\n--- a/x\n" + HUNK, r"a \+\+\+ line is expected"),
    "title of others": (b"diff --git a/y b/y\n" + MARKS + HUNK, "names other files"),
    "title swapped": (
        RENAME.replace(b"a/x b/y", b"a/y b/x"), "names other files"
    ),
    "title of one": (b"diff --git a/x\n" + MARKS + HUNK, "names other files"),
    "title ambiguous": (
        b"diff --git a/x b/y\nold mode 100644\nnew mode 100755\n", "does not name one file twice"
    ),
    "title damaged": (
        b'diff --git "a/x "b/x"\nold mode 100644\nnew mode 100755\n', "does not name one file"
    ),
    "title with a rest": (
        b'diff --git "a/x" "b/x"z\nold mode 100644\nnew mode 100755\n', "does not name one file"
    ),
    "title endless": (
        b"diff --git " + b"a " * 100_000 + b"\nold mode 100644\nnew mode 100755\n",
        "does not name one file",
    ),
    "no prefixes": (edit(b"src/x", b"src/x", b"src/x src/x"), "have no prefixes"),
    "no directories": (edit(b"x", b"x", b"x x"), "have no prefixes"),
    "too few directories": (edit(b"x", b"b/x", b"x b/x"), "too few directories for -p1"),
    "names of two files": (edit(b"a/x", b"b/y", b"a/x b/y"), "different files without a rename"),
    "rename and names disagree": (
        RENAME + b"--- a/x\n+++ b/z\n" + HUNK, "lines disagree"
    ),
    "rename of nothing": (RENAME + b"--- /dev/null\n+++ b/y\n" + NEW, "lines disagree"),
    "rename onto itself": (
        b"diff --git a/x b/x\nrename from x\nrename to x\n", "a rename onto itself"
    ),
    "rename without from": (
        b"diff --git a/x b/y\nrename to y\n", "rename to line without its counterpart"
    ),
    "copy without to": (
        b"diff --git a/x b/y\ncopy from x\n", "copy from line without its counterpart"
    ),
    "mode without new": (
        b"diff --git a/x b/x\nold mode 100644\n", "old mode line without its counterpart"
    ),
    "rename and copy": (
        RENAME + b"copy from x\ncopy to y\n", "rename from and copy from disagree"
    ),
    "new and deleted": (
        b"diff --git a/x b/x\nnew file mode 100644\ndeleted file mode 100644\n",
        "new file mode and deleted file mode disagree",
    ),
    "new and old mode": (
        b"diff --git a/x b/x\nnew file mode 100644\nold mode 100644\nnew mode 100755\n",
        "new file mode and old mode disagree",
    ),
    "said twice": (
        b"diff --git a/x b/x\nnew file mode 100644\nnew file mode 100755\n", "a second new file"
    ),
    "similarity": (RENAME.replace(b"100%", b"much"), "similarity index cannot be read"),
    "dissimilarity": (
        b"diff --git a/x b/x\ndissimilarity index 1000%\n", "dissimilarity index cannot be read"
    ),
    "setuid": (b"diff --git a/x b/x\nnew file mode 104755\n", "mode is not one that git writes"),
    "group may write": (b"diff --git a/x b/x\nnew file mode 100664\n", "mode is not one"),
    "a directory": (b"diff --git a/x b/x\nnew file mode 040000\n", "mode is not one"),
    "a device": (b"diff --git a/x b/x\nold mode 100644\nnew mode 020666\n", "mode is not one"),
    "no mode": (b"diff --git a/x b/x\nnew file mode \n", "mode is not one"),
    "a mode with CR": (b"diff --git a/x b/x\nnew file mode 100644\r\n", "mode is not one"),
    "a mode in the index line": (
        b"diff --git a/x b/x\nindex 1234567..89abcde 100666\n" + MARKS + HUNK, "mode is not one"
    ),
    "another mode in the index line": (
        b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1234567..89abcde 100644\n"
        + MARKS + HUNK,
        "the index line disagrees with the mode lines",
    ),
    "a file becomes a link": (
        b"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", "cannot become a link"
    ),
    "index damaged": (b"diff --git a/x b/x\nindex 12..34\n", "index line cannot be read"),
    "index of a merge": (b"diff --git a/x b/x\nindex 12345,23456..34567\n", "index line cannot"),
    "new with an old name": (
        b"diff --git a/x b/x\nnew file mode 100644\n" + MARKS + NEW, "/dev/null and the new"
    ),
    "not new without an old name": (
        b"diff --git a/x b/x\n--- /dev/null\n+++ b/x\n" + NEW, "/dev/null and the new"
    ),
    "deleted with a new name": (
        b"diff --git a/x b/x\ndeleted file mode 100644\n" + MARKS + GONE, "/dev/null and the new"
    ),
    "no file at all": (
        b"diff --git a/x b/x\n--- /dev/null\n+++ /dev/null\n" + HUNK, "/dev/null and the new"
    ),
    "new with old lines": (
        b"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n" + HUNK,
        "new file with old lines",
    ),
    "deleted with lines left": (
        b"diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n" + HUNK,
        "deleted file with lines left",
    ),
    "binary without content": (
        b"diff --git a/x b/x\nindex 1234567..89abcde 100644\nBinary files a/x and b/x differ\n",
        "binary file without its content",
    ),
    "binary without ids": (
        b"diff --git a/x b/x\nindex 1234567..89abcde 100644\n" + BINARY, "without a full index"
    ),
    "binary without an index line": (
        b"diff --git a/x b/x\n" + BINARY, "without a full index"
    ),
    "binary of another id": (
        b"diff --git a/x b/x\n" + FULL + BINARY, "is not the one that the index line names"
    ),
    "deleted binary with content": (
        b"diff --git a/x b/x\ndeleted file mode 100644\n" + FULL.replace(b" 100644", b"") + BINARY,
        "deleted file with content",
    ),
    "quoted name damaged": (
        edit(b'"a/x', b'"b/x"', b'"a/x" "b/x"'), "quoted name cannot be read"
    ),
    "quoted name with a rest": (
        edit(b'"a/x"z', b'"b/x"', b'"a/x" "b/x"'), "quoted name cannot be read"
    ),
    "quoted title damaged": (
        b'diff --git "a/x b/x\nold mode 100644\nnew mode 100755\n', "does not name one file twice"
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
    assert caught.value.message.startswith("Patch x.patch line ")


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
    assert "Patch x.patch line " in caught.value.message
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
    raw = b"diff --git a/x b/x\nindex " + b"1" * 40 + b".." + EMPTY_BLOB.encode() + b" 100644\n"
    file = read(raw + b"GIT binary patch\nliteral 0\nHcmV?d00001\n\n")
    assert file.binary == BinaryChange("literal", b"")
