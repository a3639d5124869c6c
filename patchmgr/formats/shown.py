"""Make untrusted text safe to print in a one-line message."""

from __future__ import annotations

import os
import shlex

LIMIT = 200


def shown(text: str | bytes) -> str:
    """Escape unprintable characters, and cut a text that has more than 200 characters."""
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


def cut(text: str, width: int) -> str:
    """Return a text cut to at most `width` characters; a text that was too long ends in "…"."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def typed(path: str | os.PathLike[str]) -> str:
    """Return a path or URL as it must be typed in a shell, quoted if necessary."""
    return shlex.quote(os.fspath(path))
