"""Split C++ and CUDA source into the tokens that determine scopes, and match its brackets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from patchmgr.formats.late_patterns import late_pattern


class Token(Struct, frozen=True, gc=False):
    """A C++ word, punctuator or directive (`#if`, `#else`, `#endif`), with its line (from 0)."""

    text: str
    line: int


class UnclearSource(Exception):
    """Raised when a text cannot be parsed as C++."""


PAIRS = {"(": ")", "[": "]", "{": "}"}
TYPE_KEYS = frozenset({"class", "struct", "union"})
GROUPED = frozenset(  # words whose parentheses are not a parameter list
    {
        "__align__",
        "__attribute",
        "__attribute__",
        "__block_size__",
        "__cluster_dims__",
        "__declspec",
    }
    | {"__launch_bounds__", "__maxnreg__", "alignas", "decltype", "explicit", "noexcept"}
    | {"requires", "throw"}
)
ACCESS = frozenset({"private", "protected", "public"})
_CLOSERS = {closer: opener for opener, closer in PAIRS.items()}

_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = r"(?://(?:\\\n|[^\n])*|/\*.*?\*/)"
_TEXT = (
    r'(?:(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    rf"|(?:u8|[uUL])?{_STRING})"
)
_CHARACTER = r"(?:u8|[uUL])?'(?:\\.|[^'\\\n])+'"
_NUMBER = r"\.?\d(?:[eEpP][+-]|'?[\w.])*"
_PLAIN_WORD = r"[^\W\d]\w*(?![\w\"'])"  # most words: those that are not the prefix of a string
_SIGN = r"::|->|[<>=!]=|<<"
_DIRECTIVE = rf"^[ \t]*#(?:\\\n|{_COMMENT}|{_STRING}|[^\n])*"
_FLAGS = re.DOTALL | re.MULTILINE
_TOKEN = late_pattern(
    # White space is matched first, because otherwise all alternatives would be tried at each of its
    # characters. Its length is limited because the search goes back if no plain token follows.
    rf"[ \n]{{0,40}}(?P<plain>{_PLAIN_WORD}|{_SIGN}|[^\s\w\"'#./])"
    rf"|(?P<directive>{_DIRECTIVE})"
    rf"|(?P<comment>{_COMMENT})|(?P<string>{_TEXT})|(?P<character>{_CHARACTER})"
    rf"|(?P<number>{_NUMBER})|(?P<unclear>/\*|[\"'])|(?P<token>[^\W\d]\w*|\S)",
    _FLAGS,
)
# Text without directives and without the characters that replace `%s`. The first alternative
# matches most of the text, one line at a time.
_WITHOUT = (
    rf"(?:[^\"'#/\n%s]+(?![\w\"'])|\n(?![ \t]*#)|[^\w\"'#/\n%s]|{_COMMENT}|{_TEXT}|{_CHARACTER}"
    rf"|{_NUMBER}|{_PLAIN_WORD}|/(?![/*]))*"
)
_WITHIN = late_pattern(_WITHOUT % (r"{}", r"{}"), _FLAGS)
_BRACKET = late_pattern(  # and what is before it
    _WITHOUT
    % (r"(){}\[\]", r"(){}\[\]")
    + rf"\n?(?:(?P<bracket>[(){{}}\[\]])|(?P<directive>{_DIRECTIVE})|(?P<unclear>/\*|[\"'])"
    r"|[^\W\d]\w*|\S|\Z)",
    _FLAGS,
)
_PLAIN, _COMMENTED = (_TOKEN.groupindex[kind] for kind in ("plain", "comment"))
_BRANCH = late_pattern(r"[ \t]*#[ \t]*(if|el|end)")
_DIRECTIVES = {"if": "#if", "el": "#else", "end": "#endif"}
_NESTING = frozenset({*PAIRS, *_CLOSERS, *_DIRECTIVES.values()})


def tokens(text: str, is_body: Callable[[], bool] | None = None) -> Iterator[Token]:
    """Yield the tokens of a C++ text, with `""` for each string and `0` for each number.

    While `is_body` returns true, only braces and directives are yielded. Raises UnclearSource if a
    string or a comment has no end.
    """
    line = at = 0
    end = text.find("\n")
    while found := _TOKEN.search(text, at):
        kind = found.lastindex or 0
        start, at = found.span(kind)
        if -1 < end < start:
            line += text.count("\n", end, start)
            end = text.find("\n", start)
        if kind == _PLAIN:
            yield Token(found[kind], line)
        elif kind != _COMMENTED:
            yield Token(_shown(found), line)
        if is_body is not None and is_body() and (within := _WITHIN.match(text, at)):
            at = within.end()


def brackets(text: str) -> Iterator[str]:
    """Yield the brackets and directives of a text as `tokens` does, or raise UnclearSource."""
    for found in _BRACKET.finditer(text):
        match found.lastgroup:
            case "bracket":
                yield found["bracket"]
            case "directive":
                yield _branch(found["directive"])
            case "unclear":
                raise UnclearSource


def _branch(directive: str) -> str:
    """Return `#if`, `#else` or `#endif` for a directive of that kind, or `#` for another one."""
    branch = _BRANCH.match(directive)
    return "#" if branch is None else _DIRECTIVES[branch[1]]


def _shown(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "token":
            return found[0]
        case "directive":
            return _branch(found[0])
        case "string":
            return '""'
        case "unclear":
            raise UnclearSource
        case _:
            return "0"


def match_brackets(texts: Iterable[str]) -> dict[int, int]:
    """Map the index of each opening bracket to the index of its closing bracket.

    Code after an `#endif` continues with the brackets that are open at the end of the first branch.
    Raises UnclearSource if brackets or `#if`s do not match.
    """
    ends: dict[int, int] = {}
    open_: list[tuple[int, str]] = []
    branches: list[tuple[list[tuple[int, str]], list[tuple[int, str]] | None]] = []
    for index, text in ((n, text) for n, text in enumerate(texts) if text in _NESTING):
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
