"""The text of a mail: its message, in-body headers and fields, as git mailinfo reads them."""

from __future__ import annotations

import base64
import binascii
import quopri
import re
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone

from msgspec import Struct, field

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import decode_path, encode_path
from patchmgr.formats.shown import shown

_WORD = re.compile(rb"=\?([^?\s]+)\?([bBqQ])\?([^?\n]*)\?=")
_CHARSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,39}")
_UTF8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
# Python codecs that are not character sets of mail.
_NO_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
_LATIN = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


def decoded(raw: bytes, charset: str | None = None) -> str:
    """Return a line decoded from `charset`, by default UTF-8 with surrogate escapes.

    Raises PatchmgrError "bad-patch" if `charset` is unknown, or if the bytes are not valid in it.
    """
    return decode_path(raw if charset is None else _converted(raw, charset))


def repaired(text: str) -> str:
    """Replace each surrogate escape in a text with the Latin-1 character of the escaped byte."""
    return text.translate(_LATIN)


def decoded_words(raw: bytes) -> str:
    """Decode the encoded words (RFC 2047) in a header's text, and join those that are adjacent."""
    made, at = bytearray(), 0
    for match in _WORD.finditer(raw):
        between = raw[at : match.start()]
        if not at or between.strip():
            made += between
        made += _word(match)
        at = match.end()
    return decoded(bytes(made + raw[at:]))


def _word(match: re.Match[bytes]) -> bytes:
    """Return an encoded word as UTF-8. A character may be split between it and the next word."""
    if match[2] in b"qQ":
        return _converted(quopri.decodestring(match[3], header=True), match[1].decode("latin-1"))
    try:
        return _converted(base64.b64decode(match[3]), match[1].decode("latin-1"))
    except binascii.Error:
        return match[0]


def _converted(raw: bytes, charset: str) -> bytes:
    """Convert bytes from a charset to UTF-8; if the charset is UTF-8, return them unchanged."""
    name = charset.lower()
    if name in _UTF8:
        return raw
    if not _CHARSET.fullmatch(name) or name.replace("-", "_") in _NO_CHARSETS:
        raise _fault(charset, "is unknown")
    try:
        return raw.decode(name).encode()
    except LookupError:
        raise _fault(charset, "is unknown") from None
    except UnicodeError:
        raise _fault(charset, "does not fit the text") from None


def _fault(charset: str, problem: str) -> PatchmgrError:
    message = f"the mail header names the charset {shown(charset)}, which {problem}"
    return PatchmgrError("bad-patch", message, "convert the file to UTF-8")


DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip

_MAIL_DATE = re.compile(
    r"(?:[A-Za-z]{3},? +)?(?P<day>\d{1,2}) +(?P<month>[A-Za-z]{3}) +(?P<year>\d{4}) +"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    r"(?: +(?P<zone>[+-]\d{4}|[A-Z]{1,3}))?(?: +\(.*\))?"
)
_ISO_DATE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[T ]"
    r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?"
    r"(?: ?(?P<zone>[+-]\d\d:?\d\d|Z))?"
)
# The date of `git log`, of date(1) and of C's ctime.
_LOG_DATE = re.compile(
    r"[A-Za-z]{3},? +(?P<month>[A-Za-z]{3}) +(?P<day>\d{1,2}) +"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)"
    r"(?: +(?P<before>[A-Z]{1,3}))? +(?P<year>\d{4})(?: +(?P<zone>[+-]\d{4}|[A-Z]{1,3}))?"
)
_RAW_DATE = re.compile(r"@?(\d{1,10}) ([+-]\d{4})")
_ZONES = {"Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5,
          "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}  # fmt: skip
_FIRST_YEAR, _LAST_YEAR = 1970, 2099
_CRUD = "".join(map(chr, range(33))) + ",:;<>\"\\'"
_LONGEST_NAME = 60
_SPECIAL = re.compile(r'[()<>\[\]:;@,."\\]')


def parse_person(text: str) -> tuple[str, str] | None:
    """Return the name and address in a `From:` header, or None if it contains no address."""
    text = repaired(text)
    plain = _unquoted(text)
    if "@" not in plain:
        match = re.match(r"([^<]*)<([^>]*)>", text)
        return _person(match[1].strip(), match[2]) if match else None
    before, after = plain.split("@", 1)
    start = max(before.rfind(char) for char in " \t\r\n<") + 1
    domain = re.split(r"[ \n\t\r\v\f>]", after, maxsplit=1)
    email = f"{before[start:]}@{domain[0]}"
    kept = before[:start].removesuffix("<") + " " * (before[start - 1 : start] == "<")
    rest = squeezed(kept + "".join(domain[1:]))
    while rest.startswith("(") and rest.endswith(")"):
        rest = rest[1:-1]
    return _person(rest, email)


def written_person(name: str, email: str) -> str:
    """Return the text of a `From:` header for a name and an address."""
    # Without `@`, git mailinfo would keep the quotes.
    if _SPECIAL.search(name) and "@" in name + email:
        name = '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'
    return f"{name} <{email}>"


def squeezed(text: str) -> str:
    """Replace each run of white space with one space, and remove white space at both ends."""
    return re.sub("[ \t\r\n]+", " ", text).strip(" ")


def parse_date(text: str) -> str | None:
    """Return a date (in a mail, ISO 8601, `git log` or raw) as `SECONDS ZONE`; None if invalid."""
    text = squeezed(text)
    if match := _RAW_DATE.fullmatch(text):
        zone = _zone(match[2])
        return None if zone is None else f"{int(match[1])} {zone}"
    match = _MAIL_DATE.fullmatch(text) or _ISO_DATE.fullmatch(text) or _LOG_DATE.fullmatch(text)
    return _raw_date(match) if match else None


_DAY = re.compile(r"(?:[A-Za-z]{3},? )?\d{1,2} [A-Za-z]{3} \d{4}|\d{4}-\d\d-\d\d")
_CLOCK = " 00:00:00 +0000"
_MOST_WORDS = 12


def leading_date(text: str) -> str | None:
    """Return the date that a text begins with (without a time: midnight UTC) as git writes it."""
    words = squeezed(text).split(" ")[:_MOST_WORDS]
    starts = (" ".join(words[:end]) for end in range(len(words), 0, -1))
    found = (parse_date(start + _CLOCK * bool(_DAY.fullmatch(start))) for start in starts)
    return next((date for date in found if date is not None), None)


def written_date(raw: str) -> str:
    """Return the text of a `Date:` header for a date in git's raw form."""
    seconds, zone = raw.split(" ")
    at = time.gmtime(int(seconds) + _minutes(zone) * 60)
    clock = f"{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}"
    day = f"{DAYS[at.tm_wday]}, {at.tm_mday} {MONTHS[at.tm_mon - 1]} {at.tm_year}"
    return f"{day} {clock} {zone}"


def _unquoted(text: str) -> str:
    """Return the text without quotes, and without backslashes in quotes and comments."""
    made, depth, is_quoted, is_escaped = [], 0, False, False
    for char in text:
        if is_escaped:
            is_escaped = False
        elif char == "\\" and (is_quoted or depth):
            is_escaped = True
            continue
        elif char == '"' and not depth:
            is_quoted = not is_quoted
            continue
        elif char == "(" and not is_quoted:
            depth += 1
        elif char == ")" and depth:
            depth -= 1
        made.append(char)
    return "".join(made)


def _person(rest: str, email: str) -> tuple[str, str] | None:
    """Return (name, email) as a git commit can contain them, or None if no name is left."""
    is_name = rest and len(rest.encode()) <= _LONGEST_NAME and not re.search("[@<>]", rest)
    # git removes the same characters from names: strbuf_addstr_without_crud.
    parts = (text.strip(_CRUD) for text in (rest if is_name else email, email))
    name, email = (re.sub("[<>\n]", "", part) for part in parts)
    return (name, email) if name else None


def _raw_date(match: re.Match[str]) -> str | None:
    month = match["month"]
    if not month.isdigit():
        month = str(MONTHS.index(month.title()) + 1) if month.title() in MONTHS else "0"
    year, day, hour, minute = (int(match[key]) for key in ("year", "day", "hour", "minute"))
    named = match["zone"] or match.groupdict().get("before")
    second, zone = int(match["second"] or 0), _zone(named or "+0000")
    if not _FIRST_YEAR <= year <= _LAST_YEAR or second > 60 or zone is None:
        return None
    try:
        start = datetime(year, int(month), day, hour, minute, tzinfo=timezone.utc)
    except ValueError:
        return None
    seconds = int(start.timestamp()) + second - _minutes(zone) * 60
    return f"{seconds} {zone}" if seconds >= 0 else None


def _zone(text: str) -> str | None:
    """Return a zone as `+hhmm`, or None if there is no such zone."""
    if text[0] not in "+-":
        return f"{_ZONES[text] * 100:+05}" if text in _ZONES else None
    digits = text[1:].replace(":", "")
    if int(digits[:2]) > 23 or int(digits[2:]) > 59:
        return None
    return f"+{digits}" if digits == "0000" else text[0] + digits


def _minutes(zone: str) -> int:
    minutes = int(zone[1:3]) * 60 + int(zone[3:5])
    return -minutes if zone[0] == "-" else minutes


IN_BODY = ("from", "subject", "date")

MAIL_START = rb"From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001"
"""The expression for the line with which git format-patch begins a mail."""
_SEPARATOR = re.compile(rb">" + MAIL_START + rb"\s*")
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
    """The part of a mail below its headers: in-body headers (lower-case names), and message."""

    headers: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


def is_blank(line: bytes) -> bool:
    """Return whether the line contains only white space, as git defines it."""
    return not line.strip(b" \t\r\n")


def text_at(lines: Sequence[bytes], at: int = 0) -> int:
    """Return the index of the first non-blank line from `at` on, or else the number of lines."""
    return next((n for n in range(at, len(lines)) if not is_blank(lines[n])), len(lines))


def blank_at(lines: Sequence[bytes], at: int = 0) -> int:
    """Return the index of the first blank line from `at` on, or else the number of lines."""
    return next((n for n in range(at, len(lines)) if is_blank(lines[n])), len(lines))


def is_cut(line: bytes) -> bool:
    """Return whether git am ends the commit message at this line (mailinfo.c, patchbreak)."""
    if line.startswith((b"diff -", b"Index: ")):
        return True
    if line.startswith(b"--- ") and line[4:5] not in (b"", b" ", b"\t", b"\r", b"\n"):
        return True
    return line.startswith(b"---") and is_blank(line[3:])


def read_body(lines: Sequence[bytes], charset: str | None) -> Body:
    """Read the lines below a mail's headers, up to the end of the commit message."""
    body = Body()
    at = _read_in_body(lines, body.headers)
    for line in lines[at:]:
        if is_cut(line):
            break
        body.lines.append(decoded(line, charset))
    return body


def _read_in_body(lines: Sequence[bytes], headers: dict[str, str]) -> int:
    """Add the in-body headers to `headers`, and return the index where the message begins."""
    at = 0
    while at < len(lines):
        line = lines[at]
        name = line.partition(b":")[0].lower().decode("latin-1")
        if b":" in line and name in IN_BODY and name not in headers:
            end = folded_end(lines, at)
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


def folded_end(lines: Sequence[bytes], at: int) -> int:
    """Return the index of the first line after the folded header that starts at index `at`."""
    places = range(at + 1, len(lines))
    return next((n for n in places if lines[n][:1] not in (b" ", b"\t")), len(lines))


def joined(lines: Iterable[bytes]) -> bytes:
    """Join lines into one byte string, with a newline after each."""
    return b"".join(line + b"\n" for line in lines)


def clean_subject(text: str) -> str:
    """Return a subject without `[PATCH n/m]`, and without any `Re:` before or after it."""
    text = squeezed(text)
    # Other brackets are kept, as with git am --keep-non-patch.
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
    """Join lines as git stripspace does: strip trailing white space, merge adjacent blank lines."""
    kept: list[str] = []
    for line in lines:
        bare = line.rstrip(_BLANKS)
        if bare or (kept and kept[-1]):
            kept.append(bare)
    text = "\n".join(kept).rstrip("\n")
    return encode_path(f"{text}\n") if text else b""


def read_fields(lines: Iterable[str]) -> dict[str, str]:
    """Return the text of each `Field: text` line by name, including continuation lines.

    The texts of a repeated field are joined by newlines.
    """
    found: dict[str, list[str]] = {}
    name = None
    for line in lines:
        match = _FIELD.fullmatch(line.rstrip(_BLANKS))
        if match:
            name, text = match[1], (match[2] or "").strip(_BLANKS)
        elif name is not None and line[:1] in (" ", "\t") and line.strip(_BLANKS):
            text = line.strip(_BLANKS)
            text = "" if text == "." else text  # an empty line (DEP-3)
        else:
            name = None
            continue
        found.setdefault(name, []).append(text)
    return {key: repaired("\n".join(texts)).strip("\n") for key, texts in found.items()}


def without_stat(lines: Sequence[bytes]) -> list[bytes]:
    """Remove the diffstat from a mail's body, and its `---` line if nothing else follows it."""
    cut = next((at for at, line in enumerate(lines) if line[:3] == b"---" and is_cut(line)), None)
    if cut is None:
        return without_last_blanks(lines)
    notes = [line for line in lines[cut + 1 :] if not _STAT.fullmatch(line)]
    notes = without_last_blanks(notes)
    return [*lines[: cut + 1], *notes] if notes else without_last_blanks(lines[:cut])


def without_last_blanks(lines: Sequence[bytes]) -> list[bytes]:
    """Return the lines without the blank lines at the end."""
    end = len(lines)
    while end and is_blank(lines[end - 1]):
        end -= 1
    return list(lines[:end])
