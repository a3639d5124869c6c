"""What makes a file that a person resolved look unfinished: markers that are left, broken code."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

from patchmgr.engines.placement import split_lines

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


def syntax_problem(path: str, content: bytes, sides: Iterable[bytes]) -> tuple[int, str] | None:
    """Return the line (from 1) where a Python file stops to compile, and why; None where it does.

    A file of which no side compiles may be for another Python, or no module at all.
    """
    if not path.endswith((".py", ".pyi")):
        return None
    found = _compile(content)
    return None if found is None or all(map(_compile, sides)) else found


def _compile(content: bytes) -> tuple[int, str] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(content, "<resolved>", "exec", dont_inherit=True)
    except SyntaxError as fault:
        return fault.lineno or 1, fault.msg
    except (ValueError, RecursionError, MemoryError) as fault:
        return 1, str(fault)
    return None
