"""Regular expressions that are compiled when they are first used.

A rebase loads modules with 230 patterns, and uses 60. Compiling the others would take 12 ms.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    def __init__(self, expression: Any, flags: int) -> None:
        self._expression, self._flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._expression, self._flags), name)
        setattr(self, name, found)  # from now on, Python finds it without calling this method
        return found


def late_pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern as `re.compile` does, but compile it only when it is first used."""
    return cast("re.Pattern[AnyStr]", _Late(expression, flags))
