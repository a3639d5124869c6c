"""What makes a file that a person resolved look unfinished: markers that are left, broken code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from patchmgr.engines.audit.syntax import new_fault
from patchmgr.engines.series.placement import split_lines

# A person's editor may have indented it; seven is git's default size.
_MARKER = re.compile(rb"\s*(?:<{7}|\|{7}|={7}|>{7})(?:\s.*)?$", re.DOTALL)


def leftover_marker(content: bytes, sides: Iterable[bytes]) -> tuple[int, bytes] | None:
    """Return the first line (from 1) that is a conflict marker, and the line; None without one.

    A line that one of the sides has is text: a heading in reStructuredText may be `=======`.
    """
    known = {line.strip() for side in sides for line in split_lines(side)}
    for number, line in enumerate(split_lines(content), 1):
        if _MARKER.match(line) and line.strip() not in known:
            return number, line.strip()
    return None


def syntax_problem(path: str, content: bytes, sides: Collection[bytes]) -> tuple[int, str] | None:
    """Return the line (from 1) where a file cannot be read any more, and why; None where it can.

    A file of which a side cannot be read either may be for another Python, or no module at all.
    """
    fault = new_fault(path, sides, content) if sides else None
    return None if fault is None else (fault.line or 1, fault.what)
