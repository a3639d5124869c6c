"""Convert headers to mails: those of `git show` and `hg export`, and mails below other text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from patchmgr.formats.mail_text import is_blank, parse_date, squeezed, written_date

_ENVELOPE = re.compile(rb"From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\s*")
_FIELD = re.compile(rb"[!-9;-~]+:")
_COMMIT = re.compile(rb"commit [0-9a-f]{7,64}\b")
_IN_BODY = re.compile(rb"(?:from|subject|date):|\[PATCH\]\s", re.IGNORECASE)
_HG = b"# HG changeset patch"


def as_mail(lines: Sequence[bytes]) -> list[bytes] | None:
    """Convert a header in another form to the lines of a mail; return None for an unknown form.

    The lines have no newlines. What fits in no field of the mail is kept in its message.
    """
    found = next((at for at, line in enumerate(lines) if not is_blank(line)), len(lines))
    lines = lines[found:]
    if not lines:
        return None
    if _COMMIT.match(lines[0]):
        return _shown_commit(lines)
    if lines[0].rstrip() == _HG:
        return _hg_changeset(lines)
    return _below_a_text(lines)


def _below_a_text(lines: Sequence[bytes]) -> list[bytes] | None:
    """Move the text above the "From " line of a mail into the mail, as the start of its message."""
    at = next((n for n, line in enumerate(lines) if _ENVELOPE.fullmatch(line)), 0)
    above, mail = list(lines[:at]), lines[at + 1 :]
    while above and (is_blank(above[-1]) or above[-1].rstrip() in (b"--", b"---")):
        above.pop()
    if not above or not mail or not _FIELD.match(mail[0]) or _IN_BODY.match(above[0]):
        return None
    end = next((n for n, line in enumerate(mail) if is_blank(line)), len(mail))
    return [*mail[:end], b"", *above, b"", *mail[end + 1 :]]


def _shown_commit(lines: Sequence[bytes]) -> list[bytes] | None:
    """Convert the output of `git show` or `git log -p`: fields, and a message indented by four."""
    end = next((n for n, line in enumerate(lines) if is_blank(line)), len(lines))
    fields = {
        name.strip().lower(): value.strip()
        for name, colon, value in (line.partition(b":") for line in lines[1:end])
        if colon
    }
    if b"author" not in fields:
        return None
    date = fields.get(b"authordate", fields.get(b"date", b""))
    told = [line for line in lines[:end] if not line.lower().startswith((b"author", b"date:"))]
    message, rest = _indented(lines[end:])
    return _mail(fields[b"author"], date.decode("latin-1"), message, [*told, *rest])


def _indented(lines: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return the lines of an indented message without the indent, and the lines below it."""
    end = next((n for n, x in enumerate(lines) if x[:4] != b"    " and not is_blank(x)), len(lines))
    return [line[4:] for line in lines[:end]], list(lines[end:])


def _hg_changeset(lines: Sequence[bytes]) -> list[bytes] | None:
    """Convert the output of `hg export`: comments, and the message below them."""
    end = next((n for n, line in enumerate(lines) if line[:1] != b"#"), len(lines))
    users = [line[7:] for line in lines[:end] if line.startswith(b"# User ")]
    dates = [re.fullmatch(rb"# Date (\d{1,10}) (-?\d{1,5})\s*", line) for line in lines[:end]]
    when = next((match for match in dates if match is not None), None)
    if not users:
        return None
    date = ""
    if when is not None:
        minutes = -int(when[2]) // 60
        date = f"{int(when[1])} {'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}"
        date = written_date(f"{date}{abs(minutes) % 60:02}")
    told = [line for line in lines[1:end] if line.startswith((b"# Node ID", b"# Branch"))]
    return _mail(users[0], date, list(lines[end:]), told)


def _mail(
    person: bytes, date: str, message: Sequence[bytes], told: Sequence[bytes]
) -> list[bytes] | None:
    """Return the lines of a mail with this message and, below it, the lines in `told`."""
    start = next((n for n, line in enumerate(message) if not is_blank(line)), len(message))
    end = next((n for n in range(start, len(message)) if is_blank(message[n])), len(message))
    subject = squeezed(b" ".join(message[start:end]).decode("latin-1")).encode("latin-1")
    if not subject or b"@" not in person:
        return None
    when = [b"Date: " + date.encode("latin-1")] if parse_date(date) is not None else []
    body = list(message[end + 1 :])
    while body and is_blank(body[-1]):
        body.pop()
    gap = [b""] if body else []
    return [b"From: " + person, *when, b"Subject: " + subject, b"", *body, *gap, *told, b""]
