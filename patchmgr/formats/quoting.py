"""Names in double quotes, as git and GNU diff write unusual ones: C escapes and octal bytes."""

from __future__ import annotations

import re

_TOKEN = re.compile(rb'[^"\\\n]+|\\([abtnvfr"\\])|\\([0-3][0-7]{2})')
_CHARS = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def unquote(raw: bytes) -> tuple[bytes, bytes] | None:
    """Return the name that a quoted text begins with and what follows the closing quote.

    None where the text is no well-formed quoted name.
    """
    if raw[:1] != b'"':
        return None
    at, found = 1, bytearray()
    while match := _TOKEN.match(raw, at):
        at = match.end()
        if match[1]:
            found.append(_CHARS[match[1][0]])
        elif match[2]:
            found.append(int(match[2], 8))
        else:
            found += match[0]
    return (bytes(found), raw[at + 1 :]) if raw[at : at + 1] == b'"' else None
