"""Split C++ and CUDA source into the few tokens that scopes depend on, and match brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Token(NamedTuple):
    """A word, a sign or a directive (`#if`, `#else`, `#endif`), with its line from 0."""

    text: str
    line: int


class UnclearSource(Exception):
    """The text is no C++ as far as a scanner can see."""


PAIRS = {"(": ")", "[": "]", "{": "}"}
TYPE_KEYS = frozenset({"class", "struct", "union"})
GROUPED = frozenset(  # words whose parentheses are no parameter list
    {"__align__", "__attribute__", "__block_size__", "__cluster_dims__", "__declspec"}
    | {"__launch_bounds__", "__maxnreg__", "alignas", "decltype", "explicit", "noexcept"}
    | {"requires", "throw"}
)
ACCESS = frozenset({"private", "protected", "public"})
_CLOSERS = {closer: opener for opener, closer in PAIRS.items()}

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


def match_brackets(texts: Iterable[str]) -> dict[int, int]:
    """Return the place of the end of each bracket, by the place of its begin.

    Each branch of an `#if` starts with the brackets that were open before it, and the first one
    says which are open behind it. Raise UnclearSource where brackets or `#if`s do not match.
    """
    ends: dict[int, int] = {}
    open_: list[tuple[int, str]] = []
    branches: list[tuple[list[tuple[int, str]], list[tuple[int, str]] | None]] = []
    for index, text in enumerate(texts):
        if text == "#if":
            branches.append((list(open_), None))
        elif text in ("#else", "#endif"):
            if not branches:
                raise UnclearSource
            before, after = branches.pop()
            after = open_ if after is None else after
            if text == "#else":
                branches.append((before, after))
            open_ = list(before) if text == "#else" else after
        elif text in PAIRS:
            open_.append((index, text))
        elif text in _CLOSERS:
            if not open_ or open_[-1][1] != _CLOSERS[text]:
                raise UnclearSource
            ends.setdefault(open_.pop()[0], index)
    if open_ or branches:
        raise UnclearSource
    return ends
