"""The table of the languages that are merged by tokens, and the tokenizer for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.languages.file_types import language

CLOSERS = {"(": ")", "[": "]", "{": "}"}
_NEVER = r"(?!)"  # matches nothing
_WORD = r"[^\W\d]\w*|\.?\d(?:[eE][+-]|'?[\w.])*"
_QUOTED = r'"(?:\\.|[^"\\\n])*"'
_STRING = rf"{_QUOTED}|'(?:\\.|[^'\\\n])*'"
_TRIPLE = r'[rRbBuUfF]{0,2}(?:"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\')'
_PREFIXED = rf"[rRbBuUfF]{{0,2}}(?:{_STRING})"
_RAW = r'(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
_RUST_STRING = (  # a single quote alone begins the name of a lifetime
    r'b?r(?P<mark>\#*)".*?"(?P=mark)|"(?:\\.|[^"\\])*"|\'(?:\\.[^\'\n]*|[^\'\\\n])\''
)
_HASH = r"\#[^\r\n]*"
_DIRECTIVE = rf"\#[ \t]*[a-z_]+\b(?:\\\r?\n|/\*.*?\*/|{_QUOTED}|(?!//)[^\\\n]|\\(?!\r?\n))*"
_FIRST = "\"'`/#bBfFrRuUL"  # the characters with which a string or comment begins
_DEFINE = re.compile(r"\#[ \t]*define\b")
_C_COMMENT = r"//(?:\\\r?\n|[^\n])*|/\*.*?\*/"
_C_SIGN = r"<<<|<<=|::|->|&&|\|\||\+\+|--|[<>=!+\-*/%&|^]=|\.\.\.|\#\#|\S"
_SIGN = r"\*\*=?|//=?|::|->|:=|<<=?|>>=?|&&|\|\||\+\+|--|[<>=!+\-*/%&|^@~]=|\.\.\.|\S"


class Language(Struct, frozen=True):
    """How texts of a language are split into tokens and statements."""

    family: str
    # what separates statements: `indent` (lines and their indentation), `lines`, or `signs`
    # (punctuation such as semicolons)
    layout: str
    comment: str = _NEVER
    string: str = _STRING
    directive: str = _NEVER
    word: str = _WORD
    sign: str = _SIGN
    opens: str = ""  # a line that opens a block, if `end` closes blocks
    continues: str = ""  # with `signs`: a token that continues the line before

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the regular expression for white space and the token after it."""
        return re.compile(
            rf"""(?P<gap> (?:[^\S\n]|\\\r?\n)* )
            (?: (?P<directive>{self.directive}) | (?P<comment>{self.comment})
              | (?P<string>{self.string}) | (?P<word>{self.word}) | (?P<eol>\n)
              | (?P<sign>{self.sign}) | \Z )""",
            re.VERBOSE | re.DOTALL,
        )

    def opened_by(self, line: str) -> int:
        """Return how many blocks a line opens, minus 1 if it begins with `end`."""
        is_end = re.match(r"\s*end\b", line) is not None
        return bool(self.opens) and (re.match(self.opens, line) is not None) - is_end


PYTHON = Language("python", "indent", _HASH, rf"{_TRIPLE}|{_PREFIXED}")
C = Language(
    "c", "signs", _C_COMMENT, rf"{_RAW}|(?:u8|[uUL])?(?:{_STRING})", _DIRECTIVE, sign=_C_SIGN
)
CSS = replace(C, directive=_NEVER)
RUST = replace(C, string=_RUST_STRING)
GO = replace(
    C,
    string=rf"{_STRING}|`[^`]*`",
    directive=_NEVER,
    sign=rf":=|<-|&\^=|{_C_SIGN}",
    continues=_NEVER,
)
_TEMPLATE = r"`(?:\\.|[^\\`])*`"
_OPERAND = r"(?:(?<=[(,=:\[!&|?;{])|(?<=[(,=:\[!&|?;{]\s)|(?<=\breturn\s))"  # no division follows
_REGULAR = rf"{_OPERAND}/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*"
JAVASCRIPT = replace(
    C,
    string=rf"{C.string}|{_TEMPLATE}|{_REGULAR}",
    continues=r"(?!(?:\+\+|--|\.\.\.)$)[.,?:()\[\]{=+*/%&|^<>`-]"
    r"|(?:else|catch|finally|instanceof|in|of|as|extends|implements|satisfies)$",
)
_SPACED_HASH = rf"(?:(?<=\s)|(?<![^\n])){_HASH}"
RUBY = Language(
    "c",
    "indent",
    _SPACED_HASH,
    word=rf"(?:{_WORD})[?!]?",
    opens=(
        r"\s*(?:def|class|module|begin|case|for|if|unless|until|while)\b(?!.*\bend\b)"
        r"|.*(?:\bdo\b(?:\s*\|.*\|)?|=\s*(?:begin|case\b.*|if\b.*|unless\b.*))\s*$"
    ),
)
YAML = Language("yaml", "indent", _SPACED_HASH, word=r"\w+(?:[.\-/+]\w+)*")
SHELL = replace(YAML, family="shell", layout="lines")
TOML = replace(SHELL, family="toml")
CMAKE = Language("cmake", "lines", _HASH)
JSON = Language("json", "signs")
TEXT = Language("text", "lines", string=_NEVER, word=r"\w+(?:[.\-/+]\w+)*")

_LANGUAGES = {
    PYTHON: "Python, Bazel, Cython",
    C: "C, C++, C++ header, CUDA, HIP, Metal, MLIR, TableGen, Objective-C, C#, Java, Dart, PHP,"
    " Protobuf",
    CSS: "CSS",
    RUST: "Rust",
    GO: "Go",
    JAVASCRIPT: "JavaScript, TypeScript, Kotlin, Scala, Groovy, Swift",
    RUBY: "Ruby",
    YAML: "YAML",
    SHELL: "Shell, Dockerfile, Make, INI",
    TOML: "TOML",
    CMAKE: "CMake",
    JSON: "JSON, Jupyter",
}
_BY_NAME = {name: language for language, names in _LANGUAGES.items() for name in names.split(", ")}
_PATTERNS = {language: language.pattern for language in (*_LANGUAGES, TEXT)}


def language_of(path: str) -> Language:
    """Return the language of a file by its name; a file of an unknown type counts as plain text."""
    return _BY_NAME.get(language(path), TEXT)


class Token(Struct, frozen=True):
    """A token of a text, the white space before it, and how many brackets are open after it."""

    kind: str
    text: str
    lead: str
    depth: int


def lex(text: str, language: Language) -> Iterator[Token]:
    """Yield the tokens of a text; their `lead` and `text`, joined in order, are the text.

    A line feed outside brackets is a separate token, `eol`. The last token is empty.
    """
    pattern, at, lead, depth = _PATTERNS[language], 0, "", 0
    while at < len(text):
        match = pattern.match(text, at)
        assert match is not None
        at, kind = match.end(), match.lastgroup or "gap"
        kind = "string" if kind == "mark" else kind
        lead += match["gap"]
        if kind == "gap":
            continue
        body = match[kind]
        if kind == "directive" and match.start() and "\n" not in lead:
            kind, body, at = "sign", "#", match.start(kind) + 1
        if kind == "eol" and (depth or language.layout == "signs"):
            lead += body
            continue
        if kind == "sign":
            depth = max(0, depth + (body in CLOSERS) - (body in ")]}"))
        yield Token(kind, body, lead, depth)
        lead = ""
    yield Token("end", "", lead, 0)


@lru_cache(maxsize=8)
def tokens_of(text: str, language: Language) -> tuple[Token, ...]:
    """Return all tokens of a text, as `lex` yields them. The result is cached."""
    return tuple(lex(text, language))


def code_lines(lines: Iterable[str], language: Language) -> list[str]:
    """Return lines without comments; a comment that is not closed extends to the last line."""
    rest = r"|/\*.*" if r"/\*" in language.comment else ""
    # The set of first characters makes the search three times as fast.
    pattern = rf"(?=[{_FIRST}])(?:({language.string})|{language.comment}{rest})"
    return re.sub(pattern, r"\1", "".join(lines), flags=re.VERBOSE | re.DOTALL).splitlines()


def cxx_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a C++ text and of its macros' bodies, which end with an empty `eol`."""
    for token in lex(text, C):
        found = _DEFINE.match(token.text) if token.kind == "directive" else None
        if found is None:
            yield token
            continue
        yield Token("word", found[0], token.lead, 0)
        *body, end = lex(token.text[found.end() :], C)
        yield from body
        yield Token("eol", "", end.lead, 0)


_LINE_END = re.compile(r"(?:[ \t]*\\)?\r?\n")  # a backslash continues a macro on the next line


def framed(lines: Sequence[str], language: Language) -> str:
    """Join lines into a text; in C-like languages, move the last line feed to the text's start."""
    text = "".join(lines)
    if language.layout != "signs" or not text:
        return text
    # There, it is white space before the first token, so it belongs to the first statement.
    if not text.endswith("\n"):
        return "\n" + text
    rest = text[:-1].removesuffix("\r")
    if rest.endswith("\\"):
        rest = rest[:-1].rstrip(" \t")
    return text[len(rest) :] + rest


def unframed(text: str, language: Language) -> str:
    """Undo `framed`: move the line feed at the start of the text back to its end."""
    if language.layout != "signs" or not text:
        return text
    end = _LINE_END.match(text)
    return text + "\n" if end is None else text[end.end() :] + end[0]
