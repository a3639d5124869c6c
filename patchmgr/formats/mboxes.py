"""Mailboxes: split them into mails, and recognize mails that contain no patch.

`gbp pq` keeps the name and folder of a patch in lines such as `Gbp-Pq: Name fix.patch`. Here, such
lines are called tags.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from patchmgr.formats.late_patterns import late_pattern
from patchmgr.formats.mail_text import MAIL_START, is_blank, is_cut
from patchmgr.formats.mailbox import ENVELOPE
from patchmgr.formats.paths import decode_path, refusal
from patchmgr.formats.reader import split_lines

_OURS = late_pattern(rb"^" + MAIL_START + rb"\r?$", re.MULTILINE)
# git mailsplit requires a time and a year in a "From " line (mailsplit.c, is_from_line).
_ANY = rb"From \S[^\n]* \d{1,2}:\d\d:\d\d (?:\S+ )?(?:19|20)\d\d(?: \S+)?\r?\n"
_HEADER = rb"(?=[!-9;-~]+:)"
_FIRST = late_pattern(rb"\s*(?!" + MAIL_START + rb")" + _ANY + _HEADER)
_NEXT = late_pattern(rb"(?<=\n)\r?\n(" + _ANY + _HEADER + rb")")
_TALK = late_pattern(
    rb"^subject:[ \t]*(?:(?:\[[^]\n]*\][ \t]*)*re:|(?:\[[^]\n]*\][ \t]*)*\[[^]\n]*\b0+/\d+)",
    re.IGNORECASE | re.MULTILINE,
)


def split_mbox(raw: bytes) -> list[bytes]:
    """Split a mailbox into its mails; joined again, the mails give the same bytes.

    A "From " line in git's form always starts a new mail. Such a line in another form does so only
    between a blank line and a header, and only if the file begins with a "From " line.
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
    """Return for each mail whether it can be part of one mailbox unchanged.

    That is so if `split_mbox` gives it back from a mailbox with all mails. None stands for a mail
    that will be rewritten; its result is False.
    """
    filled = [ENVELOPE + b"\n" if mail is None else mail for mail in mails]
    if split_mbox(b"".join(filled)) == filled:
        return tuple(mail is not None for mail in mails)
    last = len(mails) - 1
    return tuple(
        mail is not None and _is_one(mail) and (at == last or mail.endswith(b"\n"))
        for at, mail in enumerate(mails)
    )


# A line at which git mailsplit begins another mail (mailsplit.c, is_from_line).
_MAIL_STARTS = late_pattern(
    rb"^(?=.{19})From .*\d.\d\d:\d\d\s*\+?0*(?:9[1-9](?!\d)|[1-9]\d\d)[^:\n]*.?$", re.MULTILINE
)


def quoted(header: bytes) -> bytes:
    """Return a mail with `>` before each line that would begin another mail (as in mboxrd)."""
    start = len(header) - len(header.lstrip()) + 1  # the mail's own "From " line
    return header[:start] + _MAIL_STARTS.sub(rb">\g<0>", header[start:])


def _is_one(mail: bytes) -> bool:
    return [match.start() for match in _OURS.finditer(mail)] == [0]


def is_talk(mail: bytes) -> bool:
    """Return whether the subject shows that a mail is a cover letter or a reply."""
    head = mail.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return _TALK.search(head) is not None


_ENCODED = late_pattern(
    rb"^content-transfer-encoding:[ \t]*(?:base64|quoted-printable)"
    rb"|^content-type:[ \t]*multipart/|^content-type:[^\n]*(?:\n[ \t][^\n]*)*format=\"?flowed",
    re.IGNORECASE | re.MULTILINE,
)


def needs_decoding(mail: bytes) -> bool:
    """Return whether git am must decode a mail, because it is encoded, flowed or multipart."""
    head = mail.lstrip().replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return _ENCODED.search(head) is not None


# gbp.scripts.common.pq, parse_gbp_commands; `Gbp-Pq-Topic:` is the form of old releases.
_TAG = late_pattern(rb"gbp(?:-pq)?:\s*([a-z-]+)(?:\s+(\S.*))?", re.IGNORECASE)
_OLD_TOPIC = late_pattern(rb"gbp-pq-topic:\s*(\S.*)", re.IGNORECASE)
_KNOWN = (b"topic", b"name", b"ignore")


class Tagged(Struct, frozen=True):
    """A mail without its `Gbp-Pq` tags, and the content of the tags."""

    raw: bytes
    wish: str | None  # the path for the patch file (None: no valid path)
    is_ignored: bool  # the patch is to be left out


def read_tags(mail: bytes) -> Tagged:
    """Remove the `Gbp-Pq` tags from a mail, and return the mail and the content of the tags."""
    found: dict[bytes, bytes] = {}
    kept: list[bytes] = []
    lines = split_lines(mail)
    end = next((at for at, line in enumerate(lines) if is_cut(line.rstrip(b"\r\n"))), len(lines))
    for line in lines[:end]:
        tag = _tag(line)
        if tag is None:
            kept.append(line)
        else:
            found[tag[0]] = tag[1]
    if not found:
        return Tagged(mail, None, is_ignored=False)
    gap = [] if lines[end : end + 1] and lines[end].startswith(b"---") else [b"\n"]
    raw = b"".join([*_without_gap(kept), *gap, *lines[end:]])
    name, topic = found.get(b"name", b""), found.get(b"topic", b"").strip(b"/")
    path = decode_path(topic + b"/" + name if topic and name else name)
    # A path that a series file cannot contain is ignored.
    wish = None if not name or refusal(path) else path
    return Tagged(raw, wish, is_ignored=b"ignore" in found)


def _tag(line: bytes) -> tuple[bytes, bytes] | None:
    line = line.rstrip()
    if match := _OLD_TOPIC.fullmatch(line):
        return b"topic", match[1]
    match = _TAG.fullmatch(line)
    if match is None or match[1].lower() not in _KNOWN:
        return None
    return match[1].lower(), match[2] or b""


def _without_gap(lines: list[bytes]) -> list[bytes]:
    """Return the message without the blank lines that preceded the tags."""
    blank = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    while len(lines) > blank + 1 and not lines[-1].strip():
        lines = lines[:-1]
    return lines
