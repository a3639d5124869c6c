"""Patch headers in mail format: read them, write their canonical form, and derive file names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.mail_text import (
    MAIL_START,
    Body,
    blank_at,
    clean_subject,
    decoded,
    decoded_words,
    is_blank,
    is_cut,
    joined,
    parse_date,
    parse_person,
    read_body,
    read_fields,
    repaired,
    squeezed,
    stripped_space,
    text_at,
    without_last_blanks,
    without_stat,
    written_date,
    written_person,
)
from patchmgr.formats.paths import encode_path
from patchmgr.formats.reader import merge_hints, split_lines, unmangled_lines
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Author, Patch
from patchmgr.model.snapshot import ZERO_ID

_HEADER = re.compile(rb"([!-9;-~]+):(.*)", re.DOTALL)
_NEEDED = frozenset({"from", "date", "subject"})
_TRANSPORT = frozenset({"mime-version", "content-type", "content-transfer-encoding"})
_DEP3 = frozenset(
    {"author", "description", "origin", "bug", "forwarded", "reviewed-by", "acked-by"}
    | {"last-update", "applied-upstream"}
)
_REASONS = frozenset(
    {"symptom", "cause", "workaround", "requires-flags", "needed-when", "ensures", "drop-when"}
)
_FIELDS = _NEEDED | _TRANSPORT | _DEP3 | _REASONS | {"message-id", "to", "cc"}
_CHARSET = re.compile(r'charset\s*=\s*"?([^";\s]+)', re.IGNORECASE)


class _Field(Struct, frozen=True):
    """A header field: its name in lower case, the index of its first line, and its text."""

    name: str
    at: int
    lines: tuple[bytes, ...]

    def text(self) -> str:
        """Return the field's text on one line, with encoded words decoded."""
        return squeezed(decoded_words(b"".join(self.lines)))


class _Header(Struct, frozen=True):
    """A parsed patch header: the header lines of a mail, and the lines below, without newlines.

    For a header that is not a mail, `head` is empty, and `body` contains all lines except those
    whose content is in `subject`, `person` and `date`.
    """

    head: tuple[bytes, ...]
    body: tuple[bytes, ...]
    subject: str
    person: tuple[str, str] | None
    date: str
    charset: str | None
    is_mailbox: bool


def _parse_header(lines: Sequence[bytes], name: str) -> _Header:
    """Parse a patch header; the patch's `name` is used in errors and as the default subject."""
    lines = _without_envelope(lines)
    block, end = _read_block(lines)
    named = {field.name: field for field in block}
    is_mailbox = named.keys() >= _NEEDED and (end == len(lines) or is_blank(lines[end]))
    if hints := merge_hints(lines[end : end + 1]):
        raise PatchmgrError(
            "bad-patch", f"patch {shown(name)} has conflict markers in its header", *hints
        )
    first = block[0].name if block else ""
    if not is_mailbox and not (
        first in _FIELDS or first.startswith("bug-") or named.keys() >= {"from", "subject"}
    ):
        return _free_text(lines, name)  # the first line of a text may contain a colon
    charset = _charset(named, name)
    date = _read_date(named["date"].text(), name) if "date" in named else ""
    if is_mailbox:
        subject, person = clean_subject(named["subject"].text()), _person(named, "from")
        head, body = tuple(lines[:end]), tuple(lines[end + 1 :])
        return _Header(head, body, subject, person, date, charset, is_mailbox=True)
    return _field_text(lines, block, end, name=name, charset=charset, date=date)


def _read_date(text: str, name: str) -> str:
    date = parse_date(text)
    if date is None:
        problem = f"patch {shown(name)} has a Date that cannot be read: {shown(text)}"
        raise PatchmgrError("bad-patch", problem, "write it as: Thu, 1 Jan 2026 12:00:00 +0000")
    return date


def _without_envelope(lines: Sequence[bytes]) -> Sequence[bytes]:
    """Return the lines without blank ones at the top and without a mailbox's "From " line."""
    at = text_at(lines)
    is_envelope = at + 1 < len(lines) and lines[at].startswith(b"From ")
    return lines[at + 1 if is_envelope and _HEADER.match(lines[at + 1]) else at :]


def _read_block(lines: Sequence[bytes]) -> tuple[list[_Field], int]:
    """Return the header fields at the top and the number of lines that they take."""
    found: list[_Field] = []
    at = 0
    while at < len(lines) and (match := _HEADER.fullmatch(lines[at])):
        start, at = at, at + 1
        while at < len(lines) and lines[at][:1] in (b" ", b"\t") and not is_blank(lines[at]):
            at += 1
        name = match[1].decode("ascii").lower()
        found.append(_Field(name, start, (match[2], *lines[start + 1 : at])))
    return found, at


def _charset(named: dict[str, _Field], name: str) -> str | None:
    """Return the charset that a mail states, or None; refuse a mail that must be decoded first."""
    hint = "decode the mail first: git mailinfo message diff < mail > header"
    if "content-transfer-encoding" in named:
        encoding = named["content-transfer-encoding"].text().lower()
        if encoding not in ("", "7bit", "8bit", "binary"):
            problem = f"patch {shown(name)} is a mail with the transfer encoding {shown(encoding)}"
            raise PatchmgrError("bad-patch", problem, hint)
    if "content-type" not in named:
        return None
    kind = named["content-type"].text()
    if "/" in kind and not kind.lower().startswith("text/"):
        problem = f"patch {shown(name)} is a mail with several parts, or without text"
        raise PatchmgrError("bad-patch", problem, hint)
    match = _CHARSET.search(kind)
    if match is None:
        return None
    decoded(b"", match[1])  # raises an error if the charset is unknown
    return match[1]


def _person(named: dict[str, _Field], *names: str) -> tuple[str, str] | None:
    found = (parse_person(named[key].text()) for key in names if key in named)
    return next((person for person in found if person is not None), None)


def _field_text(
    lines: Sequence[bytes],
    block: Sequence[_Field],
    end: int,
    *,
    name: str,
    charset: str | None,
    date: str,
) -> _Header:
    """Parse a patch header that begins with DEP-3 fields."""
    named: dict[str, _Field] = {}
    for field in block:
        named.setdefault(field.name, field)
    kept: list[bytes] = []
    for field in block:
        if named[field.name] is not field or field.name not in _NEEDED | _TRANSPORT:
            kept += lines[field.at : field.at + len(field.lines)]
    subject, below = named["subject"].text() if "subject" in named else "", list(lines[end:])
    if not subject and "description" in named:
        words = (squeezed(decoded_words(line)) for line in named["description"].lines)
        subject = next(filter(None, words), "")
    if not subject:
        subject, below = _paragraph(below, charset)
    subject = clean_subject(subject) or _fallback_subject(name)
    person = _person(named, "from", "author")
    gap = [b""] if kept and below and not is_blank(below[0]) else []
    body = tuple(_from_text_on([*kept, *gap, *below]))
    return _Header((), body, subject, person, date, charset, is_mailbox=False)


def _free_text(lines: Sequence[bytes], name: str) -> _Header:
    """Parse a patch header that is free text; its first paragraph becomes the subject."""
    subject, below = _paragraph(list(lines), None)
    subject = clean_subject(subject) or _fallback_subject(name)
    if below and re.match(rb"(subject|date):|\[PATCH\][ \t\r\n]", below[0], re.IGNORECASE):
        below = list(lines)
    fields = [line for line in below if line.lower().startswith(b"author:")]
    person = parse_person(decoded_words(fields[0][7:])) if fields else None
    return _Header((), tuple(_from_text_on(below)), subject, person, "", None, is_mailbox=False)


def _paragraph(lines: list[bytes], charset: str | None) -> tuple[str, list[bytes]]:
    """Return the first paragraph on one line, and the lines from the next paragraph on."""
    start = text_at(lines)
    ends = (at for at in range(start, len(lines)) if is_blank(lines[at]) or is_cut(lines[at]))
    end = next(ends, len(lines))
    words = " ".join(decoded(line, charset) for line in lines[start:end])
    return squeezed(words), lines[text_at(lines, end) :]


def _from_text_on(lines: list[bytes]) -> list[bytes]:
    return lines[text_at(lines) :]


def _fallback_subject(name: str) -> str:
    """Return a subject for a patch that has none: its name without folder and suffix."""
    stem = re.sub(r"\.(?:patch|diff|txt|mbox|eml)$", "", name.rpartition("/")[2])
    return clean_subject("".join(c if c.isprintable() else " " for c in stem)) or "patch"


# Headers of `git show` and `hg export`, and mails below other text.
_FROM_LINE = re.compile(MAIL_START + rb"\s*")
_COMMIT = re.compile(rb"commit [0-9a-f]{7,64}\b")
_IN_BODY = re.compile(rb"(?:from|subject|date):|\[PATCH\]\s", re.IGNORECASE)
_HG = b"# HG changeset patch"


def _as_mail(lines: Sequence[bytes]) -> list[bytes] | None:
    """Convert the output of `git show` or `hg export`, or a mail below other text, to a mail."""
    lines = lines[text_at(lines) :]
    if not lines:
        return None
    if _COMMIT.match(lines[0]):
        return _shown_commit(lines)
    if lines[0].rstrip() == _HG:
        return _hg_changeset(lines)
    return _below_a_text(lines)


def _below_a_text(lines: Sequence[bytes]) -> list[bytes] | None:
    """Move the text above the "From " line of a mail into the mail, as the start of its message."""
    at = next((n for n, line in enumerate(lines) if _FROM_LINE.fullmatch(line)), 0)
    above, mail = list(lines[:at]), lines[at + 1 :]
    while above and (is_blank(above[-1]) or above[-1].rstrip() in (b"--", b"---")):
        above.pop()
    if not above or not mail or not _HEADER.match(mail[0]) or _IN_BODY.match(above[0]):
        return None
    end = blank_at(mail)
    return [*mail[:end], b"", *above, b"", *mail[end + 1 :]]


def _shown_commit(lines: Sequence[bytes]) -> list[bytes] | None:
    """Convert the output of `git show` or `git log -p`, with its indented message, to a mail."""
    end = blank_at(lines)
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
    start = text_at(message)
    end = blank_at(message, start)
    subject = squeezed(b" ".join(message[start:end]).decode("latin-1")).encode("latin-1")
    if not subject or b"@" not in person:
        return None
    when = [b"Date: " + date.encode("latin-1")] if parse_date(date) is not None else []
    body = without_last_blanks(message[end + 1 :])
    gap = [b""] if body else []
    return [b"From: " + person, *when, b"Subject: " + subject, b"", *body, *gap, *told, b""]


MAX_SLUG = 52
CHARSET = (
    b"MIME-Version: 1.0",
    b"Content-Type: text/plain; charset=UTF-8",
    b"Content-Transfer-Encoding: 8bit",
)

ENVELOPE = f"From {ZERO_ID} Mon Sep 17 00:00:00 2001".encode()
_WIDTH = 78


class HeaderText(NamedTuple):
    """The content of a patch's header; if the header has no date, `author` has an empty date."""

    subject: str
    message: bytes
    author: Author | None
    is_mailbox: bool
    fields: Mapping[str, str]


def read_header(header: bytes, *, name: str = "") -> HeaderText:
    """Read the header of a patch file as git am would, and its DEP-3 fields.

    `name` is the patch's name, which is used as its subject if the header has no subject. Raises
    PatchmgrError "bad-patch" for a mail in base64 or quoted-printable, a bad date, or a NUL.
    """
    lines = _lines(header, name)
    mail = _as_mail(lines)
    parsed = _parse_header(lines if mail is None else mail, name)
    body = read_body(parsed.body, parsed.charset)
    for line in () if parsed.is_mailbox else parsed.body:
        decoded(line, parsed.charset)  # fail now, not when canonical_header decodes the line
    subject = _subject(parsed, body)
    message = stripped_space([subject, "", *body.lines])
    subject = subject or decoded(message.partition(b"\n")[0]) or _fallback_subject(name)
    person = parse_person(body.headers.get("from", "")) or parsed.person
    date = _read_date(body.headers["date"], name) if "date" in body.headers else parsed.date
    text = HeaderText(
        repaired(subject),
        message or encode_path(f"{subject}\n"),
        None if person is None else Author(*person, date),
        parsed.is_mailbox and mail is None,
        _fields(lines if mail is None else mail, parsed),
    )
    if "\0" in "".join([subject, *text.fields.values()]) or b"\0" in message:
        raise PatchmgrError("bad-patch", f"patch {shown(name)} has a NUL byte in an encoded word")
    return text


def canonical_header(patch: Patch, *, author: Author) -> bytes:
    """Return the header for a rewritten patch, in the format of git format-patch.

    The header of a mail is kept without its diffstat. Other text becomes the body of a mail from
    `author`, who must then have a date.
    """
    size = len(split_lines(patch.header))
    lines = _lines(b"".join(unmangled_lines(patch.raw)[:size]), patch.name)
    parsed = _parse_header(_as_mail(lines) or lines, patch.name)
    if parsed.is_mailbox:
        return joined([ENVELOPE, *parsed.head, b"", *without_stat(parsed.body), b""])
    subject = _subject(parsed, read_body(parsed.body, parsed.charset))
    body = [encode_path(decoded(line, parsed.charset)) for line in without_stat(parsed.body)]
    head = mail_head(subject, author, is_ascii=b"".join(body).isascii())
    return joined([ENVELOPE, *head, b"", *body, b""])


def slug(subject: str) -> str:
    """Return the file name, without suffix, that git format-patch makes from a subject."""
    words = re.sub(r"[^A-Za-z0-9._]+", "-", subject)
    words = re.sub(r"\.\.+", ".", words).strip("-").rstrip(".-")
    return words[:MAX_SLUG].lstrip(".-") or "patch"


def _lines(header: bytes, name: str) -> list[bytes]:
    """Return the lines without newlines; refuse a NUL, which a commit message cannot contain."""
    if b"\0" in header:
        line = header[: header.index(b"\0")].count(b"\n") + 1
        raise PatchmgrError(
            "bad-patch", f"patch {shown(name)} line {line}: the header contains a NUL byte"
        )
    return header.removesuffix(b"\n").split(b"\n") if header else []


def _subject(parsed: _Header, body: Body) -> str:
    return clean_subject(body.headers.get("subject", "")) or parsed.subject


def _fields(lines: list[bytes], parsed: _Header) -> dict[str, str]:
    """Return the fields of a header; encoded words are decoded only in a mail's header lines."""
    head = [decoded_words(line) for line in parsed.head]
    rest = parsed.body if parsed.is_mailbox else lines
    body = takewhile(lambda line: not is_cut(line), rest)
    return read_fields([*head, "", *(decoded(line, parsed.charset) for line in body)])


def mail_head(subject: str, author: Author, *, is_ascii: bool) -> list[bytes]:
    """Return the lines of a mail's header; `is_ascii` says whether the mail's body is ASCII."""
    person = squeezed(written_person(author.name, author.email))
    lines = [
        encode_path(f"From: {_encoded(person)}"),
        encode_path(f"Date: {written_date(author.date)}"),
        *folded_field("Subject", subject),
    ]
    return lines if is_ascii and subject.isascii() else [*lines, *CHARSET]


def folded_field(name: str, text: str) -> list[bytes]:
    """Return a field of a mail's header, folded as git does."""
    return [encode_path(line) for line in _folded(f"{name}: {_encoded(squeezed(text))}")]


def _encoded(text: str) -> str:
    """Return the text as an encoded word if it seems to contain one, else unchanged."""
    if "=?" not in text:
        return text
    quoted = "".join(
        chr(b) if chr(b).isalnum() and b < 128 else f"={b:02X}" for b in encode_path(text)
    )
    return f"=?UTF-8?q?{quoted}?="


def _folded(text: str) -> list[str]:
    """Break a header line at spaces into lines of the width that git uses."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > _WIDTH:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line or lines else word
    return [*lines, line]
