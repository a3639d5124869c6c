"""Untrusted text made fit for one line of a message."""

from __future__ import annotations

LIMIT = 200


def shown(text: str | bytes) -> str:
    """Return the text with unprintable and bidirectional characters escaped, and cut if long.

    The result is one printable line: a terminal escape or a newline in a hostile path cannot
    reach the terminal through it.
    """
    plain = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    if len(plain) <= LIMIT and plain.isprintable():
        return plain
    head = plain[: LIMIT + 1]
    escaped = "".join(c if c.isprintable() else _escaped(c) for c in head[:LIMIT])
    return escaped + "..." if len(head) > LIMIT else escaped


def _escaped(char: str) -> str:
    """Return the escape of one character, a stray byte as `\\xNN`."""
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")
