"""The words of mail headers: charsets and RFC 2047 encoded words, as git mailinfo reads them."""

from __future__ import annotations

import base64
import binascii
import quopri
import re

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown

_WORD = re.compile(rb"=\?([^?\s]+)\?([bBqQ])\?([^?\n]*)\?=")
_CHARSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,39}")
_UTF8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
# Codecs of Python that are no character sets of mail.
_NO_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
_LATIN = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


def decoded(raw: bytes, charset: str | None = None) -> str:
    """Return the text of a line: of its charset, else of UTF-8 with stray bytes escaped.

    Raises "bad-patch" for an unknown charset, and for bytes that the charset does not have.
    """
    converted = raw if charset is None else _converted(raw, charset)
    return converted.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Return the text as UTF-8, stray bytes as they were."""
    return text.encode("utf-8", "surrogateescape")


def repaired(text: str) -> str:
    """Return the text with its stray bytes read as Latin-1, for what cannot hold bytes."""
    return text.translate(_LATIN)


def decoded_words(raw: bytes) -> str:
    """Return a header's text with its encoded words decoded; space between two is dropped."""
    made, at = bytearray(), 0
    for match in _WORD.finditer(raw):
        between = raw[at : match.start()]
        if not at or between.strip():
            made += between
        made += _word(match)
        at = match.end()
    return decoded(bytes(made + raw[at:]))


def _word(match: re.Match[bytes]) -> bytes:
    """Return an encoded word as UTF-8; characters may go on in the next word."""
    if match[2] in b"qQ":
        return _converted(quopri.decodestring(match[3], header=True), match[1].decode("latin-1"))
    try:
        return _converted(base64.b64decode(match[3]), match[1].decode("latin-1"))
    except binascii.Error:
        return match[0]


def _converted(raw: bytes, charset: str) -> bytes:
    """Return the bytes as UTF-8; bytes that claim to be UTF-8 stay as they are."""
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
    message = f"The mail header names the charset {shown(charset)} which {problem}."
    return PatchmgrError("bad-patch", message, ("convert the file to UTF-8",))
