"""Headers of patch files as mail: read them, write the canonical one, name the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from patchmgr.errors import PatchmgrError
from patchmgr.formats.letters import Letter, author_of, fallback_subject, open_letter, read_date
from patchmgr.formats.mail_people import parse_person, squeezed, written_date, written_person
from patchmgr.formats.mail_text import (
    Body,
    clean_subject,
    is_cut,
    read_body,
    read_fields,
    stripped_space,
    without_stat,
)
from patchmgr.formats.mail_words import decoded, decoded_words, encoded, repaired
from patchmgr.formats.reader import split_lines, unmangled_lines
from patchmgr.formats.shown import shown
from patchmgr.model.ids import ZERO_ID
from patchmgr.model.patch import Author, Patch

MAX_SLUG = 52
CHARSET = (
    b"MIME-Version: 1.0",
    b"Content-Type: text/plain; charset=UTF-8",
    b"Content-Transfer-Encoding: 8bit",
)

ENVELOPE = f"From {ZERO_ID} Mon Sep 17 00:00:00 2001".encode()
_WIDTH = 78


class HeaderText(NamedTuple):
    """What a header says; the author's date is empty where it gives none."""

    subject: str
    message: bytes
    author: Author | None
    is_mailbox: bool
    fields: Mapping[str, str]


def read_header(header: bytes, *, name: str = "") -> HeaderText:
    """Read the part of a patch file before its diff, as git am would, and DEP-3 fields too.

    `name` is the patch's: it is named in errors, and is the subject where there is no other.
    Raises "bad-patch" for what git am would have to decode first, a bad date, or a NUL.
    """
    lines = _lines(header, name)
    letter = open_letter(lines, name)
    body = read_body(letter.body, letter.charset)
    for line in () if letter.is_mailbox else letter.body:
        decoded(line, letter.charset)  # as canonical_header will: refused now, not at a rebase
    subject = _subject(letter, body)
    message = stripped_space([subject, "", *body.lines])
    subject = subject or decoded(message.partition(b"\n")[0]) or fallback_subject(name)
    person = parse_person(body.headers.get("from", "")) or letter.person
    date = read_date(body.headers["date"], name) if "date" in body.headers else letter.date
    text = HeaderText(
        repaired(subject),
        message or encoded(f"{subject}\n"),
        author_of(person, date),
        letter.is_mailbox,
        _fields(lines, letter),
    )
    if "\0" in "".join([subject, *text.fields.values()]) or b"\0" in message:
        raise PatchmgrError("bad-patch", f"Patch {shown(name)} has a NUL in an encoded word.")
    return text


def canonical_header(patch: Patch, *, author: Author) -> bytes:
    """Return the header that a rewritten patch gets, as git format-patch would have written it.

    A mail's own header stays, all but its first line and the diffstat. Other headers become a
    mail's, with their text as its body; for these the author must have a date. Done again, this
    changes nothing.
    """
    size = len(split_lines(patch.header))
    lines = _lines(b"".join(unmangled_lines(patch.raw)[:size]), patch.name)
    letter = open_letter(lines, patch.name)
    if letter.is_mailbox:
        return _joined([ENVELOPE, *letter.head, b"", *without_stat(letter.body), b""])
    subject = _subject(letter, read_body(letter.body, letter.charset))
    body = [encoded(decoded(line, letter.charset)) for line in without_stat(letter.body)]
    head = mail_head(subject, author, is_ascii=b"".join(body).isascii())
    return _joined([ENVELOPE, *head, b"", *body, b""])


def slug(subject: str) -> str:
    """Return the file name, without number and suffix, that git format-patch makes of a subject."""
    words = re.sub(r"[^A-Za-z0-9._]+", "-", subject)
    words = re.sub(r"\.\.+", ".", words).strip("-").rstrip(".-")
    return words[:MAX_SLUG].lstrip(".-") or "patch"


def _lines(header: bytes, name: str) -> list[bytes]:
    """Return the lines without their newlines; refuse a NUL, which no commit message holds."""
    if b"\0" in header:
        line = header[: header.index(b"\0")].count(b"\n") + 1
        raise PatchmgrError("bad-patch", f"Patch {shown(name)} line {line}: a NUL in the header.")
    return header.removesuffix(b"\n").split(b"\n") if header else []


def _subject(letter: Letter, body: Body) -> str:
    return clean_subject(body.headers.get("subject", "")) or letter.subject


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _fields(lines: list[bytes], letter: Letter) -> dict[str, str]:
    """Return the fields of a header: encoded words are decoded in a mail's own ones only."""
    head = [decoded_words(line) for line in letter.head]
    rest = letter.body if letter.is_mailbox else lines
    body = []
    for line in rest:
        if is_cut(line):
            break
        body.append(decoded(line, letter.charset))
    return read_fields([*head, "", *body])


def mail_head(subject: str, author: Author, *, is_ascii: bool) -> list[bytes]:
    """Return the header lines of a mail; `is_ascii` says so of the text below them."""
    person = squeezed(written_person(author.name, author.email))
    lines = [
        encoded(f"From: {_encoded(person)}"),
        encoded(f"Date: {written_date(author.date)}"),
        *folded_field("Subject", subject),
    ]
    return lines if is_ascii and subject.isascii() else [*lines, *CHARSET]


def folded_field(name: str, text: str) -> list[bytes]:
    """Return a field of a mail's header, folded as git does."""
    return [encoded(line) for line in _folded(f"{name}: {_encoded(squeezed(text))}")]


def _encoded(text: str) -> str:
    """Return the text as an encoded word if it looks as if it had one in it, else as it is."""
    if "=?" not in text:
        return text
    quoted = "".join(chr(b) if chr(b).isalnum() and b < 128 else f"={b:02X}" for b in encoded(text))
    return f"=?UTF-8?q?{quoted}?="


def _folded(text: str) -> list[str]:
    """Return a header on lines of git's width, broken at spaces."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > _WIDTH:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line or lines else word
    return [*lines, line]
