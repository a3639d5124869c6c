"""Regular expressions in the syntax of RE2, which matches in linear time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

LONGEST = 1000  # characters of an expression


class RegexError(ValueError):
    """A regular expression that is too long or that RE2 rejects."""


def compile_regex(text: str, *, longest: int = LONGEST) -> re.Pattern[str]:
    """Compile a regular expression; raise RegexError if it is invalid or too long."""
    import re2

    if len(text) > longest:
        raise RegexError(f"the regular expression is longer than {longest} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: re.Pattern[str] = re2.compile(text, options)
    except (re2.error, UnicodeEncodeError) as fault:
        said = fault.args[0].decode() if isinstance(fault.args[0], bytes) else str(fault)
        raise RegexError(said) from fault
    return compiled
