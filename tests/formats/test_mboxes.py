"""Mailboxes: split at separators, joined again, and mails without a patch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.mboxes import is_talk, joinable, split_mbox
from tests.tables import table

ZERO = b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
HEAD = b"From: Joe Doe <joe@example.org>\nDate: Thu, 14 May 2026 21:22:37 +0200\nSubject: x\n\n"
DIFF = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
MAIL = ZERO + HEAD + DIFF
THEIRS = b"From joe@example.org Thu May 14 21:22:37 2026\n" + HEAD + DIFF + b"\n"
ZONED = b"From - Thu May 14 21:22:37 CEST 2026\r\n" + HEAD + DIFF + b"\n"

MBOXES = {
    "nothing": (b"", []),
    "no separator": (DIFF, [DIFF]),
    "one": (MAIL, [MAIL]),
    "two": (MAIL + MAIL, [MAIL, MAIL]),
    "blank lines": (b"\n" + MAIL + b"\n" + MAIL, [b"\n" + MAIL + b"\n", MAIL]),
    "text first": (b"text\n" + MAIL, [b"text\n", MAIL]),
    "From in a text": (MAIL + b"From here on\nFrom a@b Mon Sep 17 00:00:00 2001\n", None),
    "an indented separator": (MAIL + b" " + MAIL, None),
    "CR LF": (MAIL.replace(b"\n", b"\r\n") * 2, [MAIL.replace(b"\n", b"\r\n")] * 2),
    "long ids": (MAIL.replace(b"0" * 40, b"a" * 64) * 2, [MAIL.replace(b"0" * 40, b"a" * 64)] * 2),
    "a mail program's": (THEIRS + THEIRS + ZONED, [THEIRS, THEIRS, ZONED]),
    "a mail program's after git's": (MAIL + b"\n" + THEIRS, None),
    "without a blank line": (THEIRS + b"text\nFrom a@b Thu May 14 21:22:37 2026\nA: b\n", None),
    "without a header": (THEIRS + b"From a@b Thu May 14 21:22:37 2026\nand so on\n", None),
    "without a time": (THEIRS + b"From here: to\nthere: is\n", None),
    "both": (THEIRS + MAIL + b"\n" + THEIRS, [THEIRS, MAIL + b"\n", THEIRS]),
}


@table(("raw", "mails"), MBOXES)
def test_a_mailbox_is_split_at_separators(raw: bytes, mails: list[bytes] | None) -> None:
    assert split_mbox(raw) == ([raw] if mails is None else mails)


PIECES = [
    ZERO,
    b"From x\n",
    b"\n",
    b"a",
    b"\r\n",
    b"From a@b Thu May 14 21:22:37 2026\n",
    b"A: b\n",
]


@given(st.lists(st.sampled_from(PIECES)).map(b"".join))
def test_split_mails_joined_are_the_mailbox(raw: bytes) -> None:
    mails = split_mbox(raw)
    assert b"".join(mails) == raw
    assert all(mails)
    assert joinable(mails) == (True,) * len(mails)


JOINS = {
    "git's": ([MAIL, MAIL], (True, True)),
    "a mail program's": ([THEIRS, THEIRS], (True, True)),
    "a mail program's behind git's": ([MAIL, THEIRS], (True, False)),
    "a mail program's behind one of ours": ([None, THEIRS], (False, False)),
    "one alone without a separator": ([HEAD + DIFF], (True,)),
    "the first one without a separator": ([HEAD + DIFF, MAIL], (True, True)),
    "a later one without a separator": ([MAIL, HEAD + DIFF], (True, False)),
    "two in one": ([MAIL + MAIL, MAIL], (False, True)),
    "no line feed at the end": ([MAIL + b"-- \n2.39", MAIL], (False, True)),
    "no line feed at the very end": ([MAIL, MAIL + b"-- \n2.39"], (True, True)),
    "none": ([], ()),
}


@table(("mails", "wanted"), JOINS)
def test_mails_that_are_found_again_in_a_mailbox(
    mails: list[bytes | None], wanted: tuple[bool, ...]
) -> None:
    assert joinable(mails) == wanted


SUBJECTS = {
    b"[PATCH 0/3] a series": True,
    b"[PATCH v2 00/12] a series": True,
    b"[RFC][PATCH 0/3] a series": True,
    b"Re: [PATCH 1/3] x": True,
    b"[list] Re: x": True,
    b"RE: x": True,
    b"[PATCH 1/3] x": False,
    b"[PATCH 10/30] x": False,
    b"Revert: x": False,
    b"x [PATCH 0/3]": False,
    b"divide 0/3": False,
}


@table(("subject", "wanted"), SUBJECTS.items())
@table("end", [b"\n", b"\r\n"])
def test_cover_letters_and_replies_are_known_by_their_subject(
    subject: bytes, wanted: bool, end: bytes
) -> None:
    mail = ZERO + b"From: x\nSubject: " + subject + b"\n\nSubject: Re: y\n"
    assert is_talk(mail.replace(b"\n", end)) is wanted
