"""Authors and dates in mail headers, as git mailinfo and git's date parser read them."""

from __future__ import annotations

import calendar
import re
import time

from patchmgr.formats.mail_words import repaired

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
_RAW_DATE = re.compile(r"@?(\d{1,10}) ([+-]\d{4})")
_ZONES = {"Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5,
          "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}  # fmt: skip
_FIRST_YEAR, _LAST_YEAR = 1970, 2099
_CRUD = "".join(map(chr, range(33))) + ",:;<>\"\\'"
_LONGEST_NAME = 60
_SPECIAL = re.compile(r'[()<>\[\]:;@,."\\]')


def parse_person(text: str) -> tuple[str, str] | None:
    """Return name and address of a `From:` text, None where it names nobody."""
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
    """Return name and address as the text of a `From:` header.

    Where there is no address at all, quotes are read as a part of the name, as by git's mailinfo.
    """
    if _SPECIAL.search(name) and "@" in name + email:
        name = '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'
    return f"{name} <{email}>"


def squeezed(text: str) -> str:
    """Return the text with each run of white space as one space, and none at its ends."""
    return re.sub("[ \t\r\n]+", " ", text).strip(" ")


def parse_date(text: str) -> str | None:
    """Return a mail, ISO or raw date as git's raw form, None where it cannot be read."""
    text = squeezed(text)
    if match := _RAW_DATE.fullmatch(text):
        zone = _zone(match[2])
        return None if zone is None else f"{int(match[1])} {zone}"
    match = _MAIL_DATE.fullmatch(text) or _ISO_DATE.fullmatch(text)
    return _raw_date(match) if match else None


def written_date(raw: str) -> str:
    """Return git's raw date as the text of a `Date:` header."""
    seconds, zone = raw.split(" ")
    at = time.gmtime(int(seconds) + _minutes(zone) * 60)
    clock = f"{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}"
    day = f"{DAYS[at.tm_wday]}, {at.tm_mday} {MONTHS[at.tm_mon - 1]} {at.tm_year}"
    return f"{day} {clock} {zone}"


def _unquoted(text: str) -> str:
    """Return the text without its quotes; what is quoted or in a comment loses backslashes."""
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
    """Return a name that an object of git can hold, and the address; the address for none."""
    is_name = rest and len(rest.encode()) <= _LONGEST_NAME and not re.search("[@<>]", rest)
    name, email = _identity(rest if is_name else email), _identity(email)
    return (name, email) if name else None


def _identity(text: str) -> str:
    """Return the text without what git takes out of names (strbuf_addstr_without_crud)."""
    return re.sub("[<>\n]", "", text.strip(_CRUD))


def _raw_date(match: re.Match[str]) -> str | None:
    month = match["month"]
    if not month.isdigit():
        month = str(MONTHS.index(month.title()) + 1) if month.title() in MONTHS else "0"
    year, day, hour, minute = (int(match[key]) for key in ("year", "day", "hour", "minute"))
    second, zone = int(match["second"] or 0), _zone(match["zone"] or "+0000")
    if not (_FIRST_YEAR <= year <= _LAST_YEAR and 1 <= int(month) <= 12 and zone):
        return None
    if not 1 <= day <= calendar.monthrange(year, int(month))[1]:
        return None
    if hour > 23 or minute > 59 or second > 60:
        return None
    clock = calendar.timegm((year, int(month), day, hour, minute, second))
    seconds = clock - _minutes(zone) * 60
    return f"{seconds} {zone}" if seconds >= 0 else None


def _zone(text: str) -> str | None:
    """Return a zone as `+hhmm`, None where there is no such zone."""
    if text[0] not in "+-":
        return f"{_ZONES[text] * 100:+05}" if text in _ZONES else None
    digits = text[1:].replace(":", "")
    if int(digits[:2]) > 23 or int(digits[2:]) > 59:
        return None
    return f"+{digits}" if digits == "0000" else text[0] + digits


def _minutes(zone: str) -> int:
    minutes = int(zone[1:3]) * 60 + int(zone[3:5])
    return -minutes if zone[0] == "-" else minutes
