"""Untrusted text, made safe for one line of a message."""

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
    made = []
    for char in plain[:LIMIT]:
        code = ord(char)
        if char.isprintable():
            made.append(char)
        elif 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
            made.append(f"\\x{code - 0xDC00:02x}")
        else:
            made.append(char.encode("unicode_escape").decode("ascii"))
    return "".join(made) + ("..." if len(plain) > LIMIT else "")
