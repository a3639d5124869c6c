"""Edits of a patch's header that leave all its other bytes unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.mail_text import (
    blank_at,
    folded_end,
    is_blank,
    is_cut,
    joined,
    read_body,
    text_at,
    without_last_blanks,
    without_stat,
    written_person,
)
from patchmgr.formats.mailbox import CHARSET, ENVELOPE, canonical_header, folded_field, mail_head
from patchmgr.formats.patch_files import is_in_diff, parse_patch
from patchmgr.formats.paths import encode_path
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Author, Patch

IMPORTED_FROM = "Imported-From"
COMMIT_DATE = "Commit-Date"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_MAIL_HEADERS = {"from": "--author", "subject": "--subject", "date": "--author"}
_FIELD = re.compile(rb"([A-Za-z][A-Za-z0-9-]*):(?:[ \t]|$)")


class HeaderEdit(Struct, frozen=True):
    """Changes to a patch's header; None, or a field that is not listed, means no change."""

    subject: str | None = None
    message: str | None = None
    author: tuple[str, str] | None = None
    fields: tuple[tuple[str, str], ...] = ()  # (name, value); "" removes


def with_diff(patch: Patch, diff: bytes) -> bytes:
    """Return a patch file with a new diff and no diffstat.

    Raises PatchmgrError "bad-patch" if git would then read another subject, message or author.
    """
    lines = patch.header.removesuffix(b"\n").split(b"\n")
    kept = without_stat(lines)
    has_stat = any(b"|" in line for line in set(lines) - set(kept))
    raw = (joined([*kept, b""]) if has_stat else patch.header) + diff
    read = parse_patch(raw, name=patch.name)
    if (read.subject, read.message, read.author) != (patch.subject, patch.message, patch.author):
        raise PatchmgrError(
            "bad-patch",
            f"the new diff would change how the header of {shown(patch.name)} is read",
            f"correct it with: patchmgr edit {patch.name}",
        )
    return raw


def new_header(subject: str, body: str, author: Author) -> bytes:
    """Return the header of a new patch in mailbox format."""
    text = message_lines(encode_path(body)) if body.strip("\n") else []
    head = mail_head(subject, author, is_ascii=body.isascii())
    return joined([ENVELOPE, *head, b"", *text, *([b""] if text else [])])


def message_lines(text: bytes) -> list[bytes]:
    """Return the lines of a mail's message; those that git would misread are quoted with `> `."""
    lines = text.strip(b"\n").split(b"\n")
    # They would be read as the end of the message, a part of the diff or (at the start) a header of
    # the mail.
    lines = [b"> " + line if is_in_diff(line) else line for line in lines]
    if read_body(lines[:1], None).headers:
        lines[0] = b"> " + lines[0]
    return lines


def edited_header(patch: Patch, edit: HeaderEdit, *, nobody: Author) -> bytes:
    """Return the edited header in mail format; `nobody` is the author if the header names none."""
    head, body, notes = _split_header(_mail_header(patch, nobody))
    if edit.subject is not None:
        head = _with_header(head, "Subject", edit.subject)
    if edit.author is not None:
        head = _with_header(head, "From", written_person(*edit.author))
    if edit.message is not None:
        body = message_lines(encode_path(edit.message))
    for name, value in edit.fields:
        body = _with_field(body, name, value)
    return _join_header(head, body, notes)


def _join_header(head: Sequence[bytes], body: Sequence[bytes], notes: Sequence[bytes]) -> bytes:
    """Return a header with these lines, the reverse of `_split_header`."""
    is_ascii = b"".join([*head, *body]).isascii()
    if not is_ascii and not any(line.lower().startswith(b"content-type:") for line in head):
        head = [*head, *CHARSET]
    text = without_last_blanks(body)
    return joined([*head, b"", *text, *([b""] if text and not notes else []), *notes])


def _mail_header(patch: Patch, nobody: Author) -> bytes:
    if patch.is_mailbox:
        return patch.header
    return canonical_header(patch, author=patch.author_or(nobody))


def _split_header(header: bytes) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Split a mail into its header lines, its message, and the lines after the message."""
    lines = header.removesuffix(b"\n").split(b"\n")
    lines = lines[text_at(lines) :]
    start = blank_at(lines)
    body = lines[start + 1 :]
    cut = next((at for at, line in enumerate(body) if is_cut(line)), len(body))
    return lines[:start], body[:cut], body[cut:]


def _with_header(head: Sequence[bytes], name: str, value: str) -> list[bytes]:
    """Return the header lines of a mail with one field replaced, or added if it is missing."""
    if not value.strip() or any(not c.isprintable() for c in value):
        raise UsageError(f"the {name} must be one line of plain text")
    start = name.lower().encode() + b":"
    at = next((n for n, line in enumerate(head) if line.lower().startswith(start)), len(head))
    return [*head[:at], *folded_field(name, value), *head[folded_end(head, at) :]]


def _with_field(body: Sequence[bytes], name: str, value: str) -> list[bytes]:
    """Return the lines of a message with one field set, or removed if `value` is empty."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{shown(name)} is not a valid field name")
    if name.lower() in _MAIL_HEADERS:
        option = _MAIL_HEADERS[name.lower()]
        raise UsageError(f"the field {name} cannot be set with --field; use {option}")
    text = [f" {line}" if line.strip() else " ." for line in value.split("\n")] if value else []
    new = [encode_path(line) for line in text]
    if new:
        new[0] = name.encode() + b":" + new[0]
    lines = without_last_blanks(body)
    at, end = _field_at(lines, name)
    if at is not None:
        return [*lines[:at], *new, *lines[end:]]
    if not new:
        return lines
    gap = [b""] if lines and _FIELD.match(lines[-1]) is None and lines[-1][:1] != b" " else []
    return [*lines, *gap, *new]


def _field_at(lines: Sequence[bytes], name: str) -> tuple[int | None, int]:
    for at, line in enumerate(lines):
        match = _FIELD.match(line)
        if match is not None and match[1].decode().lower() == name.lower():
            folded = (not is_blank(line) and line[:1] in (b" ", b"\t") for line in lines[at + 1 :])
            return at, at + 1 + sum(takewhile(bool, folded))
    return None, 0


def with_text(patch: Patch, other: Patch, *, nobody: Author) -> bytes:
    """Return the header of `patch` with the message of `other` appended to its own.

    `nobody` is the author if the header names none.
    """
    head, body, notes = _split_header(_mail_header(patch, nobody))
    added = other.message.removesuffix(b"\n").split(b"\n")
    text = without_last_blanks(body)
    return _join_header(head, [*text, b"", *added] if text else added, notes)


def with_origin(mail: bytes, dates: Mapping[str, str]) -> bytes:
    """Add the commit's id and date to a mail from git format-patch; `dates` maps ids to dates."""
    first, _, rest = mail.partition(b"\n")
    commit = first.split(b" ")[1].decode()
    is_known = _field_at(_split_header(rest)[1], IMPORTED_FROM)[0] is not None
    return with_fields(
        mail, {} if is_known else {IMPORTED_FROM: commit, COMMIT_DATE: dates[commit]}
    )


def with_fields(mail: bytes, fields: Mapping[str, str]) -> bytes:
    """Set fields in a mail from git format-patch; remove those whose new value is empty."""
    _, _, rest = mail.partition(b"\n")
    head, body, diff = _split_header(rest)
    for name, value in fields.items():
        body = _with_field(body, name, value)
    return joined([ENVELOPE, *head, b"", *without_last_blanks(body), b"", *diff])


def check_fields(patch: Patch, fields: Mapping[str, str]) -> None:
    """Raise a "usage" error if the edited `patch` does not have the values given in `fields`."""
    known = {name.lower(): value for name, value in patch.fields.items()}
    for name, value in fields.items():
        if known.get(name.lower(), "") != value.strip():
            raise UsageError(f"the field {name} cannot hold {shown(value)}")
