"""Split text into tokens with the white space before each, so that layout and content are apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct


class Grammar(Enum):
    """What counts as a token, a comment and a line's end."""

    C = "c"  # white space is free, a directive is one token, a macro ends with its line
    PYTHON = "python"  # a line's end counts outside of brackets, and so does indentation
    HASH = "hash"  # a line's end counts, `#` begins a comment: shell, YAML, TOML, requirements
    FREE_HASH = "free hash"  # white space is free, `#` begins a comment: CMake
    PLAIN = "plain"  # a line's end counts, there are no comments
    JSON = "json"  # white space is free, there are no comments


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
_PLAIN_WORD = r"\w+(?:[.\-/+]\w+)*"
_STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_C = re.compile(
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
_TRIPLE = r'[rRbBuUfF]{0,2}(?:"""(?:\\.|.)*?"""|\'\'\'(?:\\.|.)*?\'\'\')'
_PYTHON = re.compile(
    rf"""
    (?P<gap> (?:[^\S\n]|\\\r?\n)* )
    (?: (?P<comment> \#[^\r\n]* )
      | (?P<string> {_TRIPLE} | [rRbBuUfF]{{0,2}}(?:{_STRING}) )
      | (?P<word> {_WORD} )
      | (?P<eol> \n )
      | (?P<sign> \*\*=?|//=?|->|:=|<<=?|>>=?|[<>=!+\-*/%&|^@]=|\.\.\. | \S )
      | \Z )
    """,
    re.VERBOSE | re.DOTALL,
)


def _line_pattern(comment: str, space: str = r"[^\S\n]") -> re.Pattern[str]:
    return re.compile(
        rf"""
        (?P<gap> {space}* )
        (?: (?P<comment> {comment} )
          | (?P<string> {_STRING} )
          | (?P<word> {_PLAIN_WORD} )
          | (?P<eol> \n )
          | (?P<sign> [<>=!~]=+ | -{{2,}} | \*{{2,}} | \$\{{\{{ | \}}\}} | \S )
          | \Z )
        """,
        re.VERBOSE | re.DOTALL,
    )


_NO_COMMENT = r"(?!)"
_PATTERNS = {
    Grammar.C: _C,
    Grammar.PYTHON: _PYTHON,
    Grammar.HASH: _line_pattern(r"(?:(?<=\s)|(?<![^\n]))\#[^\r\n]*"),
    Grammar.FREE_HASH: _line_pattern(r"\#[^\r\n]*", r"\s"),
    Grammar.PLAIN: _line_pattern(_NO_COMMENT),
    Grammar.JSON: _line_pattern(_NO_COMMENT, r"\s"),
}
_FREE = frozenset({Grammar.C, Grammar.FREE_HASH, Grammar.JSON})
_KINDS = {kind.value: kind for kind in Kind} | {"define": Kind.WORD}


def counts_indentation(grammar: Grammar) -> bool:
    """Say whether white space at the beginning of a line has a meaning."""
    return grammar not in _FREE


def tokens_of(text: str, grammar: Grammar) -> tuple[Token, ...]:
    """Split a text; the last token is empty and has the white space at the end.

    The gaps and texts in their order give the text again. Blank lines are white space.
    """
    found: list[Token] = []
    pattern, at, gap, depth, is_macro = _PATTERNS[grammar], 0, "", 0, False
    while at < len(text):
        match = pattern.match(text, at)
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
        if kind == "eol" and (depth or not found or found[-1].kind is Kind.EOL):
            gap += body
            continue
        if grammar is Grammar.PYTHON and kind == "sign":
            depth = max(0, depth + (body in "([{") - (body in ")]}"))
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


def indents(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the white space that each line with tokens begins with."""
    found: list[str] = []
    for n, token in enumerate(tokens[:-1]):
        if n == 0 or "\n" in token.gap or tokens[n - 1].kind is Kind.EOL:
            found.append(token.gap.rpartition("\n")[2])
    return tuple(found)
