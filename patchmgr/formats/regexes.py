"""Regular expressions in the syntax of RE2: no expression and no text makes a search hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

LONGEST = 1000  # characters of an expression


class RegexError(ValueError):
    """The error about a regular expression that RE2 cannot read."""


def compile_regex(text: str) -> re.Pattern[str]:
    """Compile a regular expression that searches one line; raise RegexError if it is invalid."""
    import re2

    if len(text) > LONGEST:
        raise RegexError(f"the regular expression is longer than {LONGEST} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: re.Pattern[str] = re2.compile(text, options)
    except (re2.error, UnicodeEncodeError) as fault:
        said = fault.args[0].decode() if isinstance(fault.args[0], bytes) else str(fault)
        raise RegexError(said) from fault
    return compiled
