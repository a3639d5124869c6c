"""Decide which lines are distinctive, and remove white space from lines."""

from __future__ import annotations

import re
from collections.abc import Callable

_SPACE = b" \t\r\f\v"
_BARE = frozenset(  # lines, without white space, that occur in many places
    b"return return; break; continue continue; default: finally: private: public: protected: "
    b"#endif else: else{ }else{ template<> import pass; try: template passed returnNone "
    b"returnout returnTrue returnFalse returnresult importtorch result #pragmaonce".split()
)
_SHORTEST = 6  # bytes
_RUN = 1000  # bytes of a run of lines that is searched for in another text
_LETTERS = re.compile(rb"(?:[^A-Za-z\x80-\xff]*[A-Za-z\x80-\xff]){3}")  # at least three letters


def normal_lines(content: bytes) -> list[bytes]:
    """Return the lines of a text without any white space."""
    return without_space(content).split(b"\n")


def without_space(content: bytes) -> bytes:
    """Return a text without any white space in its lines."""
    return content.translate(None, _SPACE)


def differing(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Return two texts without long parts that they have in common."""
    old, new = _inner(old, new)
    for quarter in (2, 1, 3) if len(old) > 4 * _RUN else ():
        start = old.find(b"\n", len(old) * quarter // 4) + 1
        run = old[start : old.find(b"\n", start + _RUN) + 1]
        at = new.find(b"\n" + run) + 1
        if start and run and at:
            before = differing(old[:start], new[:at])
            after = differing(old[start + len(run) :], new[at + len(run) :])
            return before[0] + after[0], before[1] + after[1]
    return old, new


def _inner(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Return two texts without the equal lines at their start and at their end."""
    most = min(len(old), len(new))
    head = old.rfind(b"\n", 0, _equal(lambda at, end: old[at:end] == new[at:end], most)) + 1
    ends = len(old), len(new)
    shared = _equal(
        lambda at, end: old[ends[0] - end : ends[0] - at] == new[ends[1] - end : ends[1] - at],
        most - head,
    )
    tail = ends[0] - (old.find(b"\n", ends[0] - shared) + 1 or ends[0])
    return old[head : ends[0] - tail], new[head : ends[1] - tail]


def _equal(is_equal: Callable[[int, int], bool], most: int) -> int:
    """Return the largest n, up to `most`, for which `is_equal(0, n)` holds (by bisection)."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if is_equal(least, middle):
            least = middle
        else:
            most = middle - 1
    return least


def bare(line: bytes) -> bytes:
    """Return a line without any white space; its line end is removed, too."""
    return line.translate(None, _SPACE + b"\n")


def is_distinctive(line: bytes) -> bool:
    """Return whether a line, given without white space, is distinctive, unlike `}` or `return`."""
    if len(line) < _SHORTEST or line in _BARE:
        return False
    return _LETTERS.match(line, 0, 200) is not None
