"""Mailboxes: split at separators, joined again, and mails without a patch."""

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.mboxes import is_talk, joinable, read_tags, split_mbox
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
    ZERO, b"From x\n", b"\n", b"a", b"\r\n", b"From a@b Thu May 14 21:22:37 2026\n", b"A: b\n",
]  # fmt: skip


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
def test_mails_are_found_in_a_mailbox(mails: list[bytes | None], wanted: tuple[bool, ...]) -> None:
    assert joinable(mails) == wanted


SUBJECTS = {
    b"[PATCH 0/3] a series": True, b"[PATCH v2 00/12] a series": True,
    b"[RFC][PATCH 0/3] a series": True, b"Re: [PATCH 1/3] x": True, b"[list] Re: x": True,
    b"RE: x": True, b"[PATCH 1/3] x": False, b"[PATCH 10/30] x": False, b"Revert: x": False,
    b"x [PATCH 0/3]": False, b"divide 0/3": False,
}  # fmt: skip


@table(("subject", "wanted"), SUBJECTS.items())
@table("end", [b"\n", b"\r\n"])
def test_subjects_tell_cover_letters_and_replies(subject: bytes, wanted: bool, end: bytes) -> None:
    mail = ZERO + b"From: x\nSubject: " + subject + b"\n\nSubject: Re: y\n"
    assert is_talk(mail.replace(b"\n", end)) is wanted


TAGS_HEAD = b"From: a <a@b>\nSubject: x\n\n"
TAGS_DIFF = b"---\n f | 1 +\n\ndiff --git a/f b/f\n+Gbp-Pq: Name no.patch\n"

TAGGED = {
    "name": (b"Text.\n\nGbp-Pq: Name fix.patch\n", b"Text.\n", "fix.patch", False),
    "topic": (b"Gbp-Pq: Topic net/core\nGbp-Pq: Name a.diff\n", b"", "net/core/a.diff", False),
    "old topic": (b"Gbp-Pq-Topic: net\nGbp-Pq: Name a.diff\n", b"", "net/a.diff", False),
    "topic alone": (b"Text.\n\nGbp-Pq: Topic net\n", b"Text.\n", None, False),
    "ignore": (b"Text.\nGbp-Pq: Ignore\n", b"Text.\n", None, True),
    "old ignore": (b"Gbp: Ignore\n", b"", None, True),
    "bracket": (b"Gbp[-Pq]: Ignore\n", b"Gbp[-Pq]: Ignore\n", None, False),
    "case": (b"gbp-pq: NAME x\n", b"", "x", False),
    "below the tags": (b"Gbp-Pq: Name x\nSigned-off-by: a\n", b"Signed-off-by: a\n", "x", False),
    "unsafe": (b"Gbp-Pq: Name ../x\n", b"", None, False),
    "unsafe topic": (b"Gbp-Pq: Topic /etc/../..\nGbp-Pq: Name x\n", b"", None, False),
}


@table(("text", "kept", "wish", "is_ignored"), TAGGED)
def test_tags_leave_a_message(text: bytes, kept: bytes, wish: str | None, is_ignored: bool) -> None:
    tagged = read_tags(TAGS_HEAD + text + TAGS_DIFF)
    assert (tagged.wish, tagged.is_ignored) == (wish, is_ignored)
    assert tagged.raw == TAGS_HEAD + kept + TAGS_DIFF


@table(
    "text",
    [
        b"",
        b"Text.\n\n\n",
        b"Gbp-Pq: Unknown x\n",
        b" Gbp-Pq: Name x\n",
        b"Gbp-Dch: Full\n",
        b"\xff",
    ],
)
def test_a_mail_without_tags_keeps_its_bytes(text: bytes) -> None:
    raw = TAGS_HEAD + text + TAGS_DIFF
    assert read_tags(raw).raw == raw
    assert read_tags(raw).wish is None
