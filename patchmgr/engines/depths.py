"""How deep the lines of a text stand: in suites, in braces, behind conditions."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from functools import lru_cache

PYTHON = (".py", ".pyi")
INDENTED = (".yaml", ".yml")
BRACED = (
    ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".cu", ".cuh", ".inl", ".hip",
    ".java", ".js", ".ts", ".go", ".rs", ".proto",
)  # fmt: skip

LITERAL = -1
"""The depth of a line that begins inside a string: its white space is content."""

_BRACED = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#[ \t]*(?P<word>if|endif)[a-z]* | (?P<sign>[{}])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_LAYOUT = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


@lru_cache(maxsize=64)
def depths(path: str, content: bytes) -> Sequence[int | None]:
    """Return how deep each line stands; None where its white space says nothing."""
    lines = content.count(b"\n") + 1
    if path.endswith(PYTHON):
        return _python(content, lines)
    text = content.decode("utf-8", "surrogateescape")
    if path.endswith(BRACED):
        return _braced(text)
    return _indented(text) if path.endswith(INDENTED) else (None,) * lines


def _python(content: bytes, lines: int) -> Sequence[int | None]:
    """Return the depth of each line that begins a statement; all None where there are no tokens."""
    found: list[int | None] = [None] * lines
    depth, is_start, is_lone = 0, True, True
    try:
        for kind, text, (row, _), (end, _), _ in tokenize.tokenize(io.BytesIO(content).readline):
            depth += (kind == tokenize.INDENT) - (kind == tokenize.DEDENT)
            if kind == tokenize.NEWLINE:
                is_start = True
            elif kind not in _LAYOUT and text:
                # The lines of a docstring are moved with its statement.
                is_lone = is_start and kind == tokenize.STRING
                if is_start:
                    found[row - 1] = depth
                if end > row and not is_lone:
                    found[row:end] = [LITERAL] * (end - row)
                is_start = False
    except (tokenize.TokenError, SyntaxError, UnicodeError, LookupError):
        return (None,) * lines
    return tuple(found)


def _braced(text: str) -> Sequence[int | None]:
    """Return the depth of each line in braces and conditions of the preprocessor."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: list[int | None] = []
    depth = 0
    for match in _BRACED.finditer(text):
        closes = match["sign"] == "}" or match["word"] == "endif"
        opens = match["sign"] == "{" or match["word"] == "if"
        start = text.rfind("\n", 0, match.start()) + 1
        is_first = not text[start : match.start()].strip()
        at = match.end() if opens else start if is_first else match.start()
        while len(found) < len(starts) and starts[len(found)] < at:
            found.append(depth)
        depth += opens - closes
    found += [depth] * (len(starts) - len(found))
    return tuple(found)


def _indented(text: str) -> Sequence[int | None]:
    found: list[int | None] = []
    open_columns = [0]
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        if not bare.strip() or bare.startswith("#"):
            found.append(None)
            continue
        column = len(line) - len(bare)
        while column < open_columns[-1]:
            open_columns.pop()
        if column > open_columns[-1]:
            open_columns.append(column)
        found.append(len(open_columns))
    return tuple(found)
