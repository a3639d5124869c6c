"""Find conflict markers, code that does not parse, and line endings that an editor changed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from patchmgr.engines.audit.syntax import new_fault
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.line_endings import LF, line_ending

# An editor may have indented the marker. By default, git's markers have seven characters.
_MARKER = re.compile(rb"\s*(?:<{7}|\|{7}|={7}|>{7})(?:\s.*)?$", re.DOTALL)


def leftover_marker(content: bytes, sides: Iterable[bytes]) -> tuple[int, bytes] | None:
    """Return (line from 1, marker) for the first conflict marker that no side has, or None."""
    known = {line.strip() for side in sides for line in split_lines(side)}
    for number, line in enumerate(split_lines(content), 1):
        if _MARKER.match(line) and line.strip() not in known:
            return number, line.strip()
    return None


def syntax_problem(path: str, content: bytes, sides: Collection[bytes]) -> tuple[int, str] | None:
    """Return (line from 1, message) for a new syntax error, or None if there is none."""
    # If a side does not parse, the file may be for another version of Python, or no module.
    fault = new_fault(path, sides, content) if sides else None
    return None if fault is None else (fault.line or 1, fault.what)


def line_ending_problem(content: bytes, sides: Collection[bytes]) -> tuple[int, str] | None:
    """Return (line from 1, message) for the first line whose ending occurs on no side, or None."""
    known = {line_ending(line) for side in sides for line in split_lines(side)} - {None}
    for number, line in enumerate(split_lines(content) if known else (), 1):
        if (ending := line_ending(line)) and ending not in known:
            name = "LF" if ending == LF else "CR LF"
            return number, f"the line ends with {name}, but no line of the file in conflict does"
    return None
