"""Edits of a patch's header: one part changes, and every other byte stays."""

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.header_edits import (
    HeaderEdit,
    check_fields,
    edited_header,
    new_header,
    with_diff,
    with_text,
)
from patchmgr.formats.patch_files import parse_patch
from patchmgr.model.patch import Author
from tests.tables import table

DIFF = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
NOBODY = Author("patchmgr", "patchmgr@localhost", "0 +0000")
MAIL = (
    b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
    b"From: A <a@example.org>\nDate: Thu, 1 Jan 2026 12:00:00 +0000\nX-Odd:  kept\n"
    b"Subject: one that is\n folded\n\n"
)


def edited(text: bytes, **what: object) -> bytes:
    """Return a mail's text (below its own header) after an edit; the header where it changed."""
    patch = parse_patch(MAIL + text + DIFF, name="p")
    found = edited_header(patch, HeaderEdit(**what), nobody=NOBODY)  # type: ignore[arg-type]
    parse_patch(found + DIFF, name="p")
    return found.removeprefix(MAIL)


@table(
    ("text", "what", "after"),
    [
        (b"t\n\n", {"message": "new"}, b"new\n\n"),
        (b"t\n\n", {"message": ""}, b""),
        (b"", {"message": "new"}, b"new\n\n"),
        (b"t\n---\nnote\n\n", {"message": "new"}, b"new\n---\nnote\n\n"),
        (b"t\n---\nnote\n", {"fields": (("Bug", "x"),)}, b"t\n\nBug: x\n---\nnote\n"),
        (b"Bug: x\n\n", {"fields": (("Bug", ""),)}, b""),
        (b"Bug: x\n y\nOrigin: o\n\n", {"fields": (("bug", "z"),)}, b"bug: z\nOrigin: o\n\n"),
        (b"t\n\n", {"fields": (("Bug", ""),)}, b"t\n\n"),
        (b"Bug: x\n more\n\n", {"fields": (("Origin", "o"),)}, b"Bug: x\n more\nOrigin: o\n\n"),
        (
            b"t\n\n", {"fields": (("Symptom", "one\n\ntwo"),)},
            b"t\n\nSymptom: one\n .\n two\n\n",
        ),
        (
            b"t\n\n", {"subject": "short"},
            MAIL.replace(b"one that is\n folded", b"short") + b"t\n\n",
        ),
        (
            b"t\n\n", {"author": ("B", "b@example.org")},
            MAIL.replace(b"A <a@", b"B <b@") + b"t\n\n",
        ),
        (
            b"t\n\n", {"message": "\u00fc"},
            MAIL[:-1] + b"MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
            b"Content-Transfer-Encoding: 8bit\n\n\xc3\xbc\n\n",
        ),
    ],
)  # fmt: skip
def test_one_part_changes(text: bytes, what: dict[str, object], after: bytes) -> None:
    assert edited(text, **what) == after


@table(
    ("header", "start"),
    {
        "none": (b"", b"Subject: p\n\n"),
        "words": (b"Words.\n\nMore.\n", b"Subject: new\n\nMore.\n\nBug: x\n\n"),
        "blank-lines-before": (b"\n\n" + MAIL + b"t\n\n", b"Subject: new\n\nt\n\nBug: x\n\n"),
    },
)
def test_any_header_can_be_edited(header: bytes, start: bytes) -> None:
    patch = parse_patch(header + DIFF, name="p.patch")
    edit = HeaderEdit(subject="new", fields=(("Bug", "x"),))
    found = edited_header(patch, edit, nobody=NOBODY)
    read = parse_patch(found + DIFF, name="p.patch")
    assert (read.subject, dict(read.fields)["Bug"]) == ("new", "x")
    assert found.endswith(start) or header == b""


def test_a_header_that_the_diff_would_become_a_part_of_is_refused() -> None:
    patch = parse_patch(DIFF, name="p")
    assert with_diff(patch, b"") == b""
    odd = parse_patch(MAIL + b"t\n" + DIFF, name="p")
    with pytest.raises(
        PatchmgrError, match="the new diff would change how the header of p is read"
    ):
        with_diff(odd, b"more words\n" + DIFF)


def test_a_new_header_reads_back() -> None:
    author = Author("J\u00f6rg", "j@example.org", "1700000000 +0100")
    raw = new_header("A subject", "Text.\n\nMore.\n", author)
    read = parse_patch(raw + DIFF, name="p")
    assert (read.subject, read.message, read.author) == (
        "A subject", b"A subject\n\nText.\n\nMore.\n", author,
    )  # fmt: skip
    assert new_header("A subject", "", author).endswith(b"Subject: A subject\n\n")


def test_two_texts_become_one() -> None:
    one = parse_patch(MAIL + b"t\n---\nnote\n" + DIFF, name="p")
    header = b"Subject: Gr\xc3\xb6\xc3\x9fer\nFrom: B <b@x.org>\n\nu\n\n"
    other = parse_patch(header + DIFF, name="q")
    found = with_text(one, other, nobody=NOBODY)
    assert b"charset=UTF-8" in found
    assert found.endswith("\n\nt\n\nGr\u00f6\u00dfer\n\nu\n---\nnote\n".encode())
    plain = parse_patch(DIFF, name="p.patch")
    assert with_text(plain, one, nobody=NOBODY).endswith(b"one that is folded\n\nt\n\n")


def test_a_field_that_cannot_be_read_back_is_refused() -> None:
    patch = parse_patch(MAIL + b"Bug: x\n" + DIFF, name="p")
    check_fields(patch, {"bug": "x", "Origin": ""})
    with pytest.raises(PatchmgrError, match="cannot hold"):
        check_fields(patch, {"Bug": "y"})
