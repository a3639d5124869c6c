"""Split C++ into tokens with the white space before each, so that layout and content are apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    SIGN = "sign"
    STRING = "string"
    COMMENT = "comment"
    DIRECTIVE = "directive"
    EOL = "eol"
    END = "end"


class Token(Struct, frozen=True):
    """A token and the white space in front of it."""

    text: str
    gap: str
    kind: Kind


_WORD = r"[^\W\d]\w*|\.?\d(?:[eE][+-]|'?[\w.])*"
_STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_TOKEN = re.compile(
    rf"""
    (?P<gap> (?:\s|\\\r?\n)* )
    (?: (?P<define> \#[ \t]*define\b )
      | (?P<directive> \#[ \t]*[a-z_]+\b
          (?: \\\r?\n | /\*.*?\*/ | (?!//|\r?\n)[^\\] | \\(?!\r?\n) )* )
      | (?P<comment> //(?:\\\r?\n|[^\r\n]|\r(?!\n))* | /\*.*?\*/ )
      | (?P<string> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{{0,16}})\(.*?\)(?P=mark)"
          | (?:u8|[uUL])?(?:{_STRING}) )
      | (?P<word> {_WORD} )
      | (?P<sign> ::|->|<<<|>>>|<<=|&&|\|\||\+\+|--|[<>=!+\-*/%&|^]=|\.\.\.|\#\# | \S )
      | \Z )
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = {kind.value: kind for kind in Kind} | {"define": Kind.WORD}


def tokens_of(text: str) -> tuple[Token, ...]:
    """Split a text; the last token is empty and has the white space at the end.

    The gaps and texts in their order give the text again. White space is free, a directive is one
    token, and a macro ends with its line.
    """
    found: list[Token] = []
    at, gap, is_macro = 0, "", False
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None
        at = match.end()
        gap += match["gap"]
        if is_macro and (end := _line_end(gap)) is not None:
            found.append(Token("\n", gap[:end], Kind.EOL))
            gap, is_macro = gap[end + 1 :], False
        kind, body = _seen(match, is_macro)
        if kind == "":
            continue
        at = match.end("gap") + len(body)
        is_macro = is_macro or kind == "define"
        found.append(Token(body, gap, _KINDS[kind]))
        gap = ""
    found.append(Token("", gap, Kind.END))
    return tuple(found)


def _seen(match: re.Match[str], is_macro: bool) -> tuple[str, str]:
    kind = match.lastgroup or "gap"
    if kind == "gap":
        return "", ""
    if kind in ("define", "directive"):
        before = match.string[: match.start(kind)].rpartition("\n")[2]
        if is_macro or before.strip():
            return "sign", "#"
        return kind, match[kind].rstrip()
    return ("string", match["string"]) if kind == "mark" else (kind, match[kind])


def _line_end(gap: str) -> int | None:
    """Find the line feed that ends a macro: the first without a backslash before it."""
    ends = (n for n, sign in enumerate(gap) if sign == "\n")
    return next((n for n in ends if not gap[:n].removesuffix("\r").endswith("\\")), None)


def text_of(tokens: Sequence[Token]) -> str:
    """Join tokens to a text again."""
    return "".join(token.gap + token.text for token in tokens)


def contents(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the tokens without their white space."""
    return tuple(token.text for token in tokens)
