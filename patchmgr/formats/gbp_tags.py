"""The lines `Gbp-Pq: …` of a commit message: where `gbp pq` keeps a patch's name and folder."""

from __future__ import annotations

import re

from msgspec import Struct

from patchmgr.formats.mail_text import is_cut
from patchmgr.formats.paths import decode_path, refusal
from patchmgr.formats.reader import split_lines

# gbp.scripts.common.pq, parse_gbp_commands; `Gbp-Pq-Topic:` is the form of old releases.
_TAG = re.compile(rb"gbp(?:-pq)?:\s*([a-z-]+)(?:\s+(\S.*?))?\s*$", re.IGNORECASE)
_OLD_TOPIC = re.compile(rb"gbp-pq-topic:\s*(\S.*?)\s*$", re.IGNORECASE)
_KNOWN = (b"topic", b"name", b"ignore")


class Tagged(Struct, frozen=True):
    """A mail without its tags, and what they say: a wished file name, and to leave it out."""

    raw: bytes
    wish: str | None
    is_ignored: bool


def read_tags(mail: bytes) -> Tagged:
    """Take the tags out of a mail's message; one without any comes back as it is."""
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
    # One that names no file that a series may have is no wish.
    wish = None if not name or refusal(path) else path
    return Tagged(raw, wish, is_ignored=b"ignore" in found)


def _tag(line: bytes) -> tuple[bytes, bytes] | None:
    if match := _OLD_TOPIC.match(line):
        return b"topic", match[1]
    match = _TAG.match(line)
    if match is None or match[1].lower() not in _KNOWN:
        return None
    return match[1].lower(), match[2] or b""


def _without_gap(lines: list[bytes]) -> list[bytes]:
    """Return the message without the blank lines that stood above the tags."""
    blank = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    while len(lines) > blank + 1 and not lines[-1].strip():
        lines = lines[:-1]
    return lines
