"""Split C++ and CUDA source into the few tokens that scopes depend on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Token(NamedTuple):
    """A word, a sign or a directive (`#if`, `#else`, `#endif`), with its line from 0."""

    text: str
    line: int


class UnclearSource(Exception):
    """The text is no C++ as far as a scanner can see."""


_STRING = r'"(?:\\.|[^"\\\n])*"'
_TOKEN = re.compile(
    rf"""
    (?P<directive> ^[ \t]*\# (?: \\\n | //(?:\\\n|[^\n])* | /\*.*?\*/ | {_STRING} | [^\n] )* )
    | (?P<comment> //(?:\\\n|[^\n])* | /\*.*?\*/ )
    | (?P<string> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{{0,16}})\(.*?\)(?P=mark)"
        | (?:u8|[uUL])?{_STRING} )
    | (?P<character> (?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
    | (?P<number> \.?\d(?:[eEpP][+-]|'?[\w.])* )
    | (?P<unclear> /\* | ["'] )
    | (?P<token> [^\W\d]\w* | :: | -> | [<>=!]= | << | \S )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_BRANCH = re.compile(r"[ \t]*#[ \t]*(if|el|end)")
_DIRECTIVES = {"if": "#if", "el": "#else", "end": "#endif"}


def tokens(text: str) -> Iterator[Token]:
    """Yield words, signs, `""` for a string, 0 for a number or character, and directives.

    Raise UnclearSource at a quote or a comment that does not end.
    """
    line = done = 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", done, found.start())
        done = found.start()
        shown = _shown(found)
        if shown is not None:
            yield Token(shown, line)


def _shown(found: re.Match[str]) -> str | None:
    match found.lastgroup:
        case "token":
            return found[0]
        case "directive":
            branch = _BRANCH.match(found[0])
            return "#" if branch is None else _DIRECTIVES[branch[1]]
        case "string":
            return '""'
        case "unclear":
            raise UnclearSource
        case "comment":
            return None
        case _:
            return "0"
