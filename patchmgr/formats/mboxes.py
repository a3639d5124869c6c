"""Mailboxes: where one mail ends and the next begins, and mails that bring no patch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from patchmgr.formats.mail_text import is_blank
from patchmgr.model.ids import ZERO_ID

_OURS = re.compile(rb"^From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\r?$", re.MULTILINE)
# What git mailsplit takes for a mail program's line: a time and a year (mailsplit.c, is_from_line).
_ANY = rb"From \S[^\n]* \d{1,2}:\d\d:\d\d (?:\S+ )?(?:19|20)\d\d(?: \S+)?\r?\n"
_HEADER = rb"(?=[!-9;-~]+:)"
_FIRST = re.compile(rb"\s*(?!From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001)" + _ANY + _HEADER)
_NEXT = re.compile(rb"(?<=\n)\r?\n(" + _ANY + _HEADER + rb")")
_TALK = re.compile(
    rb"^subject:[ \t]*(?:(?:\[[^]\n]*\][ \t]*)*re:|(?:\[[^]\n]*\][ \t]*)*\[[^]\n]*\b0+/\d+)",
    re.IGNORECASE | re.MULTILINE,
)
_STAND_IN = f"From {ZERO_ID} Mon Sep 17 00:00:00 2001\n".encode()


def split_mbox(raw: bytes) -> list[bytes]:
    """Return the mails of a file, which joined give the file.

    A line of git's ends a mail anywhere, one of a mail program's only in a file that begins with
    one, below a blank line and above a header: "From " in a text ends none.
    """
    starts = {match.start() for match in _OURS.finditer(raw)}
    if _FIRST.match(raw):
        starts |= {match.start(1) for match in _NEXT.finditer(raw)}
    ordered = sorted(starts)
    if is_blank(raw[: ordered[0] if ordered else 0]):
        ordered[:1] = [0]
    else:
        ordered.insert(0, 0)
    ends = [*ordered[1:], len(raw)]
    return [raw[start:end] for start, end in zip(ordered, ends, strict=True) if start < end]


def joinable(mails: Sequence[bytes | None]) -> tuple[bool, ...]:
    """Say which mails are found again in the mailbox that all of them make; None is a mail of ours.

    Where mail programs' lines would not be taken for separators, only mails with git's line are.
    """
    filled = [_STAND_IN if mail is None else mail for mail in mails]
    if split_mbox(b"".join(filled)) == filled:
        return tuple(mail is not None for mail in mails)
    last = len(mails) - 1
    return tuple(
        mail is not None and _is_one(mail) and (at == last or mail.endswith(b"\n"))
        for at, mail in enumerate(mails)
    )


def _is_one(mail: bytes) -> bool:
    return [match.start() for match in _OURS.finditer(mail)] == [0]


def is_talk(mail: bytes) -> bool:
    """Say whether a mail is a cover letter or a reply, by its subject."""
    head = mail.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return _TALK.search(head) is not None
