"""Whole patch files: where header, diff and signature are, and that nothing is ignored."""

import zlib
from base64 import b85encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.errors import PatchmgrError
from patchmgr.formats import patch_files
from patchmgr.formats.patch_files import (
    parse_listed,
    parse_patch,
    reversed_patch,
)
from patchmgr.formats.series_files import parse_series
from patchmgr.model.patch import Author, Patch
from patchmgr.model.snapshot import EMPTY_BLOB
from tests.engines.ports import MemoryBlobs
from tests.engines.series import Upstream, text
from tests.tables import table

MAIL = b"""\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: Joe Doe <joe@example.org>
Date: Thu, 14 May 2026 21:22:37 +0200
Subject: area: do a thing

Because.

Bug: https://example.org/1

"""
SECTION = b"""\
diff --git a/x b/x
index 1234567..89abcde 100644
--- a/x
+++ b/x
@@ -1 +1 @@
-a
+b
"""
PLAIN = b"--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"
SIGNATURE = b"-- \n2.39.5\n\n"


def parse(raw: bytes, strip: int = 1) -> Patch:
    patch = parse_patch(raw, name="x.patch", strip=strip)
    assert patch.raw == raw
    assert raw.startswith(patch.header + patch.diff)
    return patch


def test_a_mail_is_read_whole() -> None:
    patch = parse(MAIL + SECTION + SIGNATURE)
    assert (patch.name, patch.header, patch.diff) == ("x.patch", MAIL, SECTION)
    assert patch.subject == "area: do a thing"
    assert patch.message == b"area: do a thing\n\nBecause.\n\nBug: https://example.org/1\n"
    assert patch.author == Author("Joe Doe", "joe@example.org", "1778786557 +0200")
    assert patch.is_mailbox
    assert patch.fields["Bug"] == "https://example.org/1"
    assert patch.paths() == ("x",)


FILES = {
    "nothing": (b"", b"", []),
    "only a text": (b"only a text\n--- \nand -- more\n", b"", []),
    "only a diff": (b"", SECTION, ["x"]),
    "two sections": (b"Text.\n\n", SECTION + PLAIN, ["x", "y"]),
    "blank lines between": (b"", SECTION + b"\n\n" + PLAIN + b"\n", ["x", "y"]),
    "lines of other tools": (
        b"Text.\nOnly in a: z\n", b"Index: y\n=====\ndiff -u a/y b/y\n" + PLAIN, ["y"]
    ),
    "a command with a quoted option": (b"Text.\n", b"diff '-x*~' -u a/y b/y\n" + PLAIN, ["y"]),
    "lines of other tools twice": (
        b"", b"Index: y\n" + PLAIN + b"Index: z\n" + PLAIN.replace(b"/y", b"/z"), ["y", "z"]
    ),
    "words of other tools in the text": (
        b"Index: is a word.\n\ndiff -u is a command.\n--- a/y\nno\n\n", PLAIN, ["y"]
    ),
    "a diffstat": (b"Text.\n---\n x | 2 +-\n 1 file changed\n\n", SECTION, ["x"]),
    "an indented diff": (b"Text:\n\n    --- a/q\n    +++ b/q\n    @@ -1 +1 @@\n", PLAIN, ["y"]),
    "a change of type": (
        b"",
        b"diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n"
        b"-x\n\\ No newline at end of file\n"
        b"diff --git a/l b/l\nnew file mode 100644\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+y\n",
        ["l", "l"],
    ),
}  # fmt: skip


@table(("header", "diff", "paths"), FILES)
@table("end", {"no signature": b"", "signature": SIGNATURE})
def test_the_parts_are_told_apart(header: bytes, diff: bytes, paths: list[str], end: bytes) -> None:
    end = end if diff else b""
    patch = parse(header + diff + end)
    assert (patch.header, patch.diff) == (header, diff)
    assert [file.path for file in patch.files] == paths


@table(
    "signature",
    [
        b"-- \n",
        b"-- \n2.39.5",
        b"--\n2.50.1 (Apple Git-155)\n",
        b"-- \nJoe\nBig Corp\n\n____\nlist",
    ],
)
def test_a_signature_is_no_part_of_the_diff(signature: bytes) -> None:
    assert parse(SECTION + signature).diff == SECTION


def test_a_removed_line_that_looks_like_a_signature_belongs_to_its_hunk() -> None:
    diff = b"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-- \n-2\n+3\n"
    (file,) = parse(diff + SIGNATURE).files
    assert file.hunks[0].lines == (b"-- \n", b"-2\n", b"+3\n")


BAD = {
    "garbage between": (SECTION + b"garbage\n" + PLAIN, 8, "not part of any file's diff"),
    "garbage at the end": (SECTION + b"x", 8, "not part of any file's diff"),
    "a line too many in a hunk": (SECTION + b"+c\n", 8, "not part of any file's diff"),
    "only in": (SECTION + b"Only in b: y\n", 8, "not part of any file's diff"),
    "a hunk without names": (PLAIN + b"\n@@ -1 +1 @@\n-a\n+b\n", 7, "not part of any file's diff"),
    "a name without a hunk": (PLAIN + b"--- a/z\n", 7, r"a \+\+\+ line is expected"),
    "tools' lines alone": (PLAIN + b"Index: z\n=====\n", 6, "this file's section changes nothing"),
    "binary notice": (PLAIN + b"Binary files a/z and b/z differ\n", 6, "binary file is missing"),
    "a submodule's log": (b"Submodule a 1234567..89abcde:\n  > x\n" + PLAIN, 1, "full commit ids"),
    "merge": (b"diff --cc x\nindex 1,2..3\n", 1, "merge commit"),
    "merge behind": (SECTION + b"diff --combined x\n", 8, "merge commit"),
    "diff behind the signature": (
        SECTION + SIGNATURE + PLAIN, 11, "after the mail signature"
    ),
    "hunk behind the signature": (SECTION + b"-- \n+c\n", 9, "after the mail signature"),
    "damaged names in front": (
        b"Text.\n--- a/x\n++ b/x\n@@ -1 +1 @@\n-a\n+b\n" + SECTION, 4, "no --- and .* lines"
    ),
    "damaged names, nothing else": (
        b"dif --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n", 2, "no --- and .* lines"
    ),
    "damaged names of a binary file": (
        b"dif --git a/x b/x\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n", 2, "no diff --git line"
    ),
    "context diff": (
        b"*** a/x\n--- b/x\n***************\n*** 1,2 ****\n  a\n", 4, "context diffs are not"
    ),
    "binary notice in front": (
        b"Binary files a/x and b/x differ\n" + SECTION, 1, "the binary file is missing"
    ),
    "one file twice": (SECTION + PLAIN + SECTION, 13, "there is a second section for x"),
    "below a file": (
        b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n"
        b"diff --git a/l/p b/l/p\nnew file mode 100644\n--- /dev/null\n+++ b/l/p\n@@ -0,0 +1 @@\n"
        b"+x\n",
        7,
        "l/p is below l, which is a file",
    ),
    "CR in some header lines": (
        b"Text.\n" + SECTION.replace(b"\n", b"\r\n"), 3, "index line cannot be read"
    ),
}  # fmt: skip


@table(("raw", "line", "problem"), BAD)
def test_nothing_is_ignored(raw: bytes, line: int, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        parse(raw)
    assert caught.value.kind == "bad-patch"
    assert caught.value.message.startswith(f"patch x.patch line {line}: ")


def test_a_file_of_cr_lf_is_read_as_git_am_reads_it_and_kept_as_it_is() -> None:
    clean = MAIL + SECTION + SIGNATURE
    raw = clean.replace(b"\n", b"\r\n")
    patch, expected = parse(raw), parse(clean)
    assert patch.header == MAIL.replace(b"\n", b"\r\n")
    assert patch.diff == SECTION.replace(b"\n", b"\r\n")
    assert (patch.files, patch.message) == (expected.files, expected.message)


def test_cr_in_content_only_is_content() -> None:
    (file,) = parse(SECTION.replace(b"a\n+b\n", b"a\r\n+b\r\n")).files
    assert file.hunks[0].lines == (b"-a\r\n", b"+b\r\n")


def test_the_number_of_directories_to_strip_is_passed_on() -> None:
    with pytest.raises(PatchmgrError, match="name different files"):
        parse(PLAIN, strip=0)
    assert parse(PLAIN.replace(b"b/y", b"a/y"), strip=0).paths() == ("a/y",)


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patch_files, "MAX_PATCH", len(SECTION))
    parse(SECTION)
    with pytest.raises(PatchmgrError, match="is larger than"):
        parse(SECTION + b"\n")


def outcome(raw: bytes) -> Patch | PatchmgrError:
    try:
        return parse(raw)
    except PatchmgrError as error:
        return error


WORDS = st.sampled_from(
    [
        *MAIL.splitlines(keepends=True), *SECTION.splitlines(keepends=True),
        *PLAIN.splitlines(keepends=True), b"-- \n", b"2.39\n", b"\n", b"---\n", b" c\n",
        b"@@ -0,0 +1,2 @@\n", b"@@ -1,1000000000 +1 @@\n", b"\\ No newline at end of file\n",
        b"diff --git a/q b/q\n", b"new file mode 100644\n", b"deleted file mode 100644\n",
        b"rename from x\n", b"rename to q\n", b"copy from x\n", b"copy to q\n",
        b"similarity index 100%\n", b"old mode 100644\n", b"new mode 100755\n",
        b"--- /dev/null\n", b"+++ /dev/null\n", b"+++ b/q\n", b"--- a/.git/x\n",
        b"GIT binary patch\n", b"literal 3\n", b"KcmZQzWC8#H2LJ>B\n", b"delta 3\n",
        b"Index: x\n", b"Binary files a and b differ\n", b"Content-Type: multipart/mixed\n",
        b"Content-Type: text/plain; charset=utf-16\n", b"Date: never\n", b"\0", b"\r", b"\xff",
        b"Subject: =?utf-7?b?KzJBQS0=?=\n", b'--- "a/\\', b"Description: d\n", b" .\n",
    ]
)  # fmt: skip


@given(st.lists(WORDS, max_size=30).map(b"".join) | st.binary())
def test_any_bytes_are_a_patch_or_refused(raw: bytes) -> None:
    result = outcome(raw)
    if isinstance(result, Patch):
        assert raw[len(result.header + result.diff) :][:2] in (b"", b"--")
    else:
        assert result.kind in ("bad-patch", "unsafe-path")
        assert result.message.isprintable()


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
REVERSAL_FILES = {"f": OLD, "h": b"h\n", "m": b"m\n", "o": b"o"}


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
    side = Overlay(Upstream(blobs, REVERSAL_FILES))
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
