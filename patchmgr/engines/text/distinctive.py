"""Decide which lines are distinctive, and remove white space from lines."""

from __future__ import annotations

import re

_SPACE = b" \t\r\f\v"
_BARE = frozenset(
    b"return return; break; continue continue; default: finally: private: public: protected: "
    b"#endif else: else{ }else{ template<> import pass; try: template passed returnNone "
    b"returnout returnTrue returnFalse returnresult importtorch result #pragmaonce".split()
)
_SHORTEST = 6
_LETTERS = re.compile(rb"(?:[^A-Za-z\x80-\xff]*[A-Za-z\x80-\xff]){3}")


def normal_lines(content: bytes) -> list[bytes]:
    """Return the lines of a text without any white space."""
    return without_space(content).split(b"\n")


def without_space(content: bytes) -> bytes:
    """Return a text without any white space in its lines."""
    return content.translate(None, _SPACE)


def bare(line: bytes) -> bytes:
    """Return a line without any white space."""
    return line.translate(None, _SPACE + b"\n")


def is_telling(line: bytes) -> bool:
    """Return whether a line, given without white space, is distinctive. A lone brace is not."""
    if len(line) < _SHORTEST or line in _BARE:
        return False
    return _LETTERS.match(line, 0, 200) is not None
