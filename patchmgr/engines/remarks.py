"""Whether two texts of a language have the same code, and differ in remarks alone."""

from __future__ import annotations

import io
import re
import tokenize

from patchmgr.engines.formatting_proof import CXX, PYTHON
from patchmgr.engines.structure.python_tree import parse_python
from patchmgr.engines.structure.tokens import Grammar, Kind, tokens_of

# Remarks that a tool acts on: the words that Python's and C++'s compilers, linters, formatters,
# type checkers and coverage tools look for in a comment.
_ORDER = re.compile(
    r"\A#!|coding[:=]|noqa|nosec|type:|pragma|pylint|mypy|pyright|pyre-|ruff|isort|flake8|fmt:|yapf"
    r"|cython|distutils:|nolint|clang-|cppcheck|coverity|iwyu|[lg]cov|fall-?\s?th|nosonar"
    r"|check[-\w]*:|run:|expected-|xfail|requires:|unsupported:",
    re.IGNORECASE,
)
_LAYOUT = (tokenize.NL, tokenize.ENCODING)
# Lone ends of lines, metadata of a script (PEP 723) and many raw strings: not worth the risk.
_RISKS = re.compile(rb'\r|^# ///|(?:R"[^R]*){100}', re.MULTILINE)
LARGEST = 400_000  # bytes


def has_same_code(path: str, one: bytes, other: bytes) -> bool:
    """Say whether two texts of a file differ in nothing but remarks that no tool acts on.

    Texts in an unknown language, and those that cannot be read, have no remarks.
    """
    if any(len(text) > LARGEST or _RISKS.search(text) for text in (one, other)):
        return False
    if path.endswith(PYTHON):
        known = _python(one)
        return known is not None and known == _python(other)
    return path.endswith(CXX) and _cxx(one) == _cxx(other)


def _python(content: bytes) -> list[tuple[int, str]] | None:
    """Return the tokens of a text with their kinds, None where this Python does not parse it."""
    try:
        if parse_python(content.decode()) is None:
            return None
        tokens = list(tokenize.tokenize(io.BytesIO(content).readline))
    except (tokenize.TokenError, SyntaxError, UnicodeError, LookupError):
        return None
    # What a token of layout says differs where a remark has gone before it.
    return [
        (kind, "" if kind in (tokenize.NEWLINE, tokenize.DEDENT) else text)
        for kind, text, *_ in tokens
        if kind not in _LAYOUT and (kind != tokenize.COMMENT or _ORDER.search(text))
    ]


def _cxx(content: bytes) -> list[str]:
    code: list[str] = []
    last = Kind.END
    for token in tokens_of(content.decode("utf-8", "surrogateescape"), Grammar.C):
        # Behind a directive it may be part of a path.
        is_remark = token.kind is Kind.COMMENT and last is not Kind.DIRECTIVE
        if not is_remark or _ORDER.search(token.text):
            code.append(token.text)
        last = token.kind
    return code
