"""The text of a mail: its message, its in-body headers and its fields, as git mailinfo reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from patchmgr.formats.mail_people import squeezed
from patchmgr.formats.mail_words import decoded, decoded_words, encoded, repaired

IN_BODY = ("from", "subject", "date")

_SEPARATOR = re.compile(rb">From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\s*")
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9-]*):(?:[ \t]+(.*))?")
_BEFORE_SUBJECT = re.compile(r"re:|[: ]+|\[[^]]*\]", re.IGNORECASE)
_BLANKS = " \t\r\n"
_STAT = re.compile(
    rb" \S.* \|\s+(?:\d+(?: [+-]*)?|Bin(?: \d+ -> \d+ bytes)?|Unmerged)\s*"
    rb"| \d+ files? changed(?:, \d+ \w+\([+-]\))*\s*"
    rb"| (?:create|delete) mode \d{6} .*"
    rb"| mode change \d{6} => \d{6}.*"
    rb"| (?:rename|copy|rewrite) .* \(\d+%\)\s*"
)


class Body(Struct):
    """What is below the headers: in-body headers by lower-case name, and the message's lines."""

    headers: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


def is_blank(line: bytes) -> bool:
    """Say whether the line has nothing but what git takes for white space."""
    return not line.strip(b" \t\r\n")


def is_cut(line: bytes) -> bool:
    """Say whether git ends the message at the line (mailinfo.c, patchbreak)."""
    if line.startswith((b"diff -", b"Index: ")):
        return True
    if line.startswith(b"--- ") and line[4:5] not in (b"", b" ", b"\t", b"\r", b"\n"):
        return True
    return line.startswith(b"---") and is_blank(line[3:])


def read_body(lines: Sequence[bytes], charset: str | None) -> Body:
    """Read the lines below the headers, up to the end of the message."""
    body = Body()
    at = _read_in_body(lines, body.headers)
    for line in lines[at:]:
        if is_cut(line):
            break
        body.lines.append(decoded(line, charset))
    return body


def _read_in_body(lines: Sequence[bytes], headers: dict[str, str]) -> int:
    """Collect the headers that the body begins with, and return where the message begins."""
    at = 0
    while at < len(lines):
        line = lines[at]
        name = line.partition(b":")[0].lower().decode("latin-1")
        if b":" in line and name in IN_BODY and name not in headers:
            end = _folded_end(lines, at)
            headers[name] = squeezed(decoded_words(b"".join(lines[at:end]).partition(b":")[2]))
            at = end
            if at < len(lines) and not lines[at]:
                return at + 1
        elif re.match(rb"\[PATCH\][ \t\r\n]", line):
            headers["subject"] = squeezed(decoded(line))
            at += 1
        elif not line or _SEPARATOR.fullmatch(line):
            at += 1
        else:
            break
    return at


def _folded_end(lines: Sequence[bytes], at: int) -> int:
    """Return where a header that begins at the place ends."""
    at += 1
    while at < len(lines) and lines[at][:1] in (b" ", b"\t"):
        at += 1
    return at


def clean_subject(text: str) -> str:
    """Return a subject without what mail puts before it: `[PATCH n/m]` and a `Re:` with it.

    Other brackets stay, as with git am --keep-non-patch: they belong to the subject.
    """
    text = squeezed(text)
    at, kept, is_mail = 0, [], False
    while match := _BEFORE_SUBJECT.match(text, at):
        at = match.end()
        if "PATCH" in match[0]:
            is_mail = True
        elif match[0][0] == "[":
            end = at + text.startswith(" ", at)
            kept.append(text[match.start() : end])
            at = end
    return ("".join(kept) + text[at:]).strip(" ") if is_mail else text


def stripped_space(lines: Iterable[str]) -> bytes:
    """Return the lines as git stripspace leaves them: no blanks at ends, one blank line at most."""
    kept: list[str] = []
    for line in lines:
        bare = line.rstrip(_BLANKS)
        if bare or (kept and kept[-1]):
            kept.append(bare)
    text = "\n".join(kept).rstrip("\n")
    return encoded(f"{text}\n") if text else b""


def read_fields(lines: Iterable[str]) -> dict[str, str]:
    """Return the `Field: text` lines by name as written, with the lines that go on below them.

    What is given twice is joined by a newline; a lone dot is DEP-3's empty line.
    """
    found: dict[str, list[str]] = {}
    name = None
    for line in lines:
        match = _FIELD.fullmatch(line.rstrip(_BLANKS))
        if match:
            name, text = match[1], (match[2] or "").strip(_BLANKS)
        elif name is not None and line[:1] in (" ", "\t") and line.strip(_BLANKS):
            text = line.strip(_BLANKS)
            text = "" if text == "." else text
        else:
            name = None
            continue
        found.setdefault(name, []).append(text)
    return {key: repaired("\n".join(texts)).strip("\n") for key, texts in found.items()}


def without_stat(lines: Sequence[bytes]) -> list[bytes]:
    """Return a body without the diffstat below its `---` line, and without that line if bare."""
    cut = next((at for at, line in enumerate(lines) if line[:3] == b"---" and is_cut(line)), None)
    if cut is None:
        return without_last_blanks(lines)
    notes = [line for line in lines[cut + 1 :] if not _STAT.fullmatch(line)]
    notes = without_last_blanks(notes)
    return [*lines[: cut + 1], *notes] if notes else without_last_blanks(lines[:cut])


def without_last_blanks(lines: Sequence[bytes]) -> list[bytes]:
    """Return the lines without the blank ones at the end."""
    end = len(lines)
    while end and is_blank(lines[end - 1]):
        end -= 1
    return list(lines[:end])
