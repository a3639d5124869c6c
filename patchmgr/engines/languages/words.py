"""Split source lines into words (names, numbers, contents of strings), without comments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from patchmgr.formats.late_patterns import late_pattern

NAMES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
BLANKED = bytes(c if c in NAMES else 32 for c in range(256))  # for `translate`: keeps names
SIGN = "'"  # the prefix of a punctuation character that is inside a string

_HASH = frozenset(
    {"CMake", "Cython", "Dockerfile", "Make", "Meson", "Perl", "Python", "Ruby", "Shell", "TOML"}
    | {"YAML"}
)
BRACED = frozenset(
    {"C", "C++", "C++ header", "CUDA", "Go", "HIP", "Java", "JavaScript", "Protobuf", "Rust"}
    | {"TypeScript"}
)
"""The languages whose blocks are in braces and whose comments start with `//`."""
# Keywords of all languages, and common short words of English.
KEYWORDS = frozenset(
    {"False", "None", "True", "a", "an", "and", "as", "assert", "async", "auto", "await", "bool",
     "break", "case", "catch", "char", "class", "cls", "const", "constexpr", "continue", "def",
     "default", "del", "delete", "do", "double", "elif", "else", "except", "false", "finally",
     "float", "for", "from", "global", "if", "import", "in", "inline", "int", "is", "lambda",
     "let", "long", "namespace", "new", "noexcept", "not", "nullptr", "of", "or", "override",
     "pass", "private", "public", "raise", "return", "self", "short", "signed", "sizeof",
     "static", "struct", "switch", "template", "the", "this", "throw", "to", "true", "try",
     "typename", "union", "unsigned", "using", "var", "void", "volatile", "while", "with",
     "yield"}
)  # fmt: skip

OPERATORS = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})

WORD = late_pattern(rb"[^\W\d]\w*")
# A name, not a word of prose: it has an underscore, a digit or a capital after its first letter.
CODE_NAME = late_pattern(rb"[^\W\d]\w*[_0-9A-Z]\w*$")
_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_WORD = late_pattern(
    rf"(?P<string>{_STRING})|(?P<word>[^\W\d]\w*|\d[\w.]*)|(?P<sign>[<>=!]=|[<>]|&&|\|\|)"
)
_IN_STRING = late_pattern(r"\\.|\w+(?:-\w+)*|[^\w\s]")
_BEFORE_HASH = late_pattern(rf"(?:[^#\"']|{_STRING}|[\"'])*?(?=\s*#|$)")
_BEFORE_SLASHES = late_pattern(rf"(?:[^/\"']|{_STRING}|/(?![/*])|[\"'])*?(?=\s*//|\s*/\*|$)")


def code_of(line: bytes, language: str) -> str:
    """Return a line of code without its comment and surrounding white space."""
    text = line.decode("utf-8", "surrogateescape").strip()
    if language in _HASH:
        return _before(_BEFORE_HASH, text)
    if language in BRACED:
        return "" if text.startswith("*") else _before(_BEFORE_SLASHES, text)
    return text


def _before(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return text if found is None else found[0]


def words_of(line: bytes, language: str) -> list[str]:
    """Return the words of a line of code. Punctuation inside a string gets the prefix `SIGN`."""
    found: list[str] = []
    for match in _WORD.finditer(code_of(line, language)):
        if match["string"] is None:
            found.append(match[0])
        else:
            inner = _IN_STRING.findall(match["string"][1:-1])
            found += [word if _is_name(word) else SIGN + word for word in inner]
    return found


def _is_name(word: str) -> bool:
    return word[0].isalnum() or word[0] == "_"


def is_import(line: bytes) -> bool:
    """Return whether a line of code begins with a keyword that imports names."""
    start = line.lstrip().split(b" ", 1)[0]
    return start in (b"import", b"from", b"#include", b"using")


def indentation(line: bytes) -> int:
    """Return the width of a line's indentation; a tab advances to the next multiple of eight."""
    space = line[: len(line) - len(line.lstrip())]
    if not space.strip(b" "):
        return len(space)
    return len(space.rpartition(b"\f")[2].expandtabs(8))


def is_blank(line: bytes) -> bool:
    """Return whether a line contains only white space."""
    return not line.strip()


def all_words(lines: Sequence[bytes], language: str) -> list[str]:
    """Return the words of several lines of code, in one list."""
    return [word for line in lines for word in words_of(line, language)]
