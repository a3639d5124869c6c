"""Find the name of the function or class around a line of source code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct

from patchmgr.engines.languages.cxx_structure import cxx_symbols
from patchmgr.engines.languages.file_types import language
from patchmgr.engines.languages.words import indentation
from patchmgr.formats.late_patterns import late_pattern

_COMMENT = r"//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/"
_BOUNDARY = late_pattern(r"[{};]")
_ENDLESS = late_pattern(r"/\*|\"")  # is left of a string or comment that is not closed
_BRACKETS = (("(", ")"), ("[", "]"))
_DEEPEST = 100  # nested blocks, at most; the names of blocks get longer with each level
_ANGLES = late_pattern(r"<[^<>]*>")
_RUST = late_pattern(
    r"\b(?:fn|struct|enum|union|trait|mod|macro_rules!)\s+(?P<name>\w+)"
    r"|^[ \t]*(?:unsafe\s+|default\s+)?impl\b(?P<of>[^{]*)",
    re.MULTILINE,
)
_GO = late_pattern(
    r"^func\s+(?:\(\s*(?:\w+\s+)?\*?(?P<of>\w+)[^)]*\)\s*)?(?P<name>\w+)"
    r"|^type\s+(?P<type>\w+)(?:\[[^\n]*\])?\s+(?:struct|interface)\b",
    re.MULTILINE,
)


class Braces(Struct, frozen=True):
    """How to find the named blocks in a language that puts blocks in braces."""

    skipped: re.Pattern[str]  # comments, strings and characters
    header: re.Pattern[str]  # the start of a block, up to its brace
    name: Callable[[re.Match[str]], str]  # of a block, given the match of its header
    joint: str  # between the names of nested blocks
    ends_statements: bool  # with `;`, for example; if not, the last header counts

    def symbols(self, content: bytes) -> tuple[str | None, ...]:
        """Return the symbol around each line. All are None if a string or brace is not closed."""
        text = content.decode("utf-8", "surrogateescape")
        bare = self.skipped.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        symbols: list[str | None] = [None] * (text.count("\n") + 1)
        found = None if _ENDLESS.search(bare) else list(self._blocks(bare))
        if found and None not in found:
            for first, last, name in filter(None, found):  # inner blocks come first
                symbols[first:last] = [old or name for old in symbols[first:last]]
        return tuple(symbols)

    def _blocks(self, bare: str) -> Iterator[tuple[int, int, str] | None]:
        """Yield (first line, end, name) of each named block, inner blocks first.

        Yields None if braces are not balanced.
        """
        open_: list[_Open] = []
        start = line = done = 0
        depths = [0, 0]  # open parentheses and brackets since the start of the statement
        for sign in _BOUNDARY.finditer(bare):
            at = sign.start()
            line += bare.count("\n", done, at)
            for n, (opener, closer) in enumerate(_BRACKETS):
                depths[n] += bare.count(opener, done, at) - bare.count(closer, done, at)
            done = at
            is_within = max(depths) > 0
            if sign[0] == "{" and len(open_) < _DEEPEST:
                head = "" if is_within else bare[start:at]
                matches = list(self.header.finditer(head))
                found = matches[0 if self.ends_statements else -1] if matches else None
                name, outer = self.name(found) if found else "", open_[-1].path if open_ else ""
                # If every statement has an end, the block starts with the attributes before it.
                whole = len(head) - len(head.lstrip())
                begins = found.start() if found and not self.ends_statements else whole
                first = line - head.count("\n", begins)
                path = f"{outer}{self.joint}{name}" if outer and name else outer or name
                open_.append(_Open(first, path, bool(name), is_within))
            elif sign[0] != ";":
                if not open_ or sign[0] == "{":
                    yield None
                    return
                block = open_.pop()
                is_within = block.is_within
                if block.is_named:
                    yield block.first, line + 1, block.path
            if not is_within:
                start, depths = at + 1, [0, 0]
        if open_:
            yield None


class _Open(Struct, frozen=True):
    """An open block: its first line and full name."""

    first: int
    path: str
    is_named: bool  # the block itself has a name
    is_within: bool  # it is inside brackets


def _rust_name(found: re.Match[str]) -> str:
    if found["name"]:
        return found["name"]
    header = found["of"].replace("->", "  ").partition(" where ")[0]
    while header != (header := _ANGLES.sub("", header)):
        pass
    words = re.findall(r"\w+", header.rpartition(" for ")[2])
    return words[-1] if words else ""


def _go_name(found: re.Match[str]) -> str:
    name = found["name"] or found["type"]
    return f"{found['of']}.{name}" if found["of"] else name


RUST = Braces(
    late_pattern(
        rf"""{_COMMENT}|b?r(?P<hash>\#*)".*?"(?P=hash)|b?"(?:\\.|[^"\\])*\"
        |b?'(?:\\(?:u\{{[^}}]*\}}|x..|.)|[^'\\])'""",
        re.DOTALL | re.VERBOSE,
    ),
    _RUST,
    _rust_name,
    "::",
    ends_statements=True,
)
GO = Braces(
    late_pattern(rf"""{_COMMENT}|`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\[^']+|[^'\\\n])'"""),
    _GO,
    _go_name,
    ".",
    ends_statements=False,
)


_ATOM = late_pattern(
    rb'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    rb"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    rb'|"(?!"")[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    rb"|'(?!'')[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    rb"|\#[^\n]*"
    rb"|[\"']",
    re.DOTALL,
)
_HEADER = late_pattern(rb"(?:async\s+def|def|class)\s+([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_HEADS = (b"def", b"class", b"async")
_OPEN = b"([{"
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))


class _Unsure(Exception):
    """Raised when a text cannot be read as Python."""


def python_symbols(content: bytes) -> tuple[str | None, ...]:
    """Return the function or class around each line of a Python file, such as `Class.method`.

    The items are all None if a string or a bracket is not closed.
    """
    text = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    try:
        bare = _ATOM.sub(_blank, text)
        return _Scan().run(bare.split(b"\n"))
    except _Unsure:
        return (None,) * (text.count(b"\n") + 1)


def _blank(found: re.Match[bytes]) -> bytes:
    """Return `#` for a comment, and zeros for a string; its line breaks are kept."""
    atom = found[0]
    if atom[:1] == b"#":
        return b"#"
    if len(atom) == 1:
        raise _Unsure
    return b"0" + b"\\\n" * atom.count(b"\n") + b"0"


class _Scan:
    """Finds the symbol of each line in one pass, in a text without strings and comments."""

    def __init__(self) -> None:
        self._scopes: list[tuple[int, str]] = []  # indentation and full name, outermost first
        self._symbols: list[str | None] = []
        # Blank lines and comments that do not have a scope yet: line, and a comment's indentation.
        self._idle: list[tuple[int, int | None]] = []
        self._decorated: int | None = None
        self._depth = 0

    def run(self, lines: list[bytes]) -> tuple[str | None, ...]:
        is_continued = False
        for number, line in enumerate(lines):
            code = line.strip()
            if self._depth or is_continued:
                self._symbols.append(self._symbols[-1])
            elif not code or code == b"#":
                self._idle.append((number, indentation(line) if code else None))
                self._symbols.append(None)
            else:
                self._start(number, line, code)
            brackets = line.translate(None, _NO_BRACKETS)
            if brackets:
                self._depth += len(brackets) - 2 * len(brackets.translate(None, _OPEN))
                if self._depth < 0:
                    raise _Unsure
            is_continued = line.endswith(b"\\")
        self._end_idle(0)
        if self._depth:
            raise _Unsure
        return tuple(self._symbols)

    def _start(self, number: int, line: bytes, code: bytes) -> None:
        indent = indentation(line)
        if self._idle:
            self._end_idle(indent)
        while self._scopes and self._scopes[-1][0] >= indent:
            self._scopes.pop()
        header = _HEADER.match(code) if code.startswith(_HEADS) else None
        if header is not None:
            self._open(number, indent, header[1].decode("utf-8", "surrogateescape"))
        elif code[:1] != b"@":
            self._decorated = None
        elif self._decorated is None:
            self._decorated = number
        self._symbols.append(self._scopes[-1][1] if self._scopes else None)

    def _open(self, number: int, indent: int, name: str) -> None:
        outer = self._name(len(self._scopes))
        full = name if outer is None else f"{outer}.{name}"
        self._scopes.append((indent, full))
        start = number if self._decorated is None else self._decorated
        self._symbols[start:] = [full] * (number - start)
        self._decorated = None

    def _end_idle(self, indent: int) -> None:
        """Assign blank lines and comments to the scope that continues after them."""
        for number, own in self._idle:
            inner = indent if own is None else max(own, indent)
            self._symbols[number] = self._name(sum(outer < inner for outer, _ in self._scopes))
        self._idle.clear()

    def _name(self, count: int) -> str | None:
        return self._scopes[count - 1][1] if count else None


Scanner = Callable[[bytes], Sequence[str | None]]

_SCANNERS: dict[str, Scanner] = {
    "C": cxx_symbols,
    "C++": cxx_symbols,
    "C++ header": cxx_symbols,
    "CUDA": cxx_symbols,
    "Go": GO.symbols,
    "HIP": cxx_symbols,
    "Python": python_symbols,
    "Rust": RUST.symbols,
}


@lru_cache(maxsize=16)  # several patches need the symbols of the same text
def _symbols(scan: Scanner, content: bytes) -> Sequence[str | None]:
    return scan(content)


class SymbolIndex:
    """Finds the symbol (function or class) around each line of a text."""

    def __init__(self, path: str, content: bytes) -> None:
        self._scan = _SCANNERS.get(language(path, content))
        self._content = content

    def at(self, line: int) -> str | None:
        """Return the symbol around a line (the first is 1), or None if none is certain."""
        return self._symbols[line - 1] if 1 <= line <= len(self._symbols) else None

    def of_lines(self, count: int) -> tuple[str | None, ...]:
        """Return the symbol around each of the first `count` lines, as `at` does."""
        known = self._symbols[:count]
        return (*known, *[None] * (count - len(known)))

    def lines_of(self, symbol: str) -> list[int]:
        """Return the lines (from 1) of a symbol, including those of the symbols inside it."""
        inside = (f"{symbol}.", f"{symbol}::")
        every = ((number, name or "") for number, name in enumerate(self._symbols, 1))
        return [n for n, name in every if name == symbol or name.startswith(inside)]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all symbols in the text."""
        return frozenset(s for s in self._symbols if s is not None)

    @cached_property
    def _symbols(self) -> Sequence[str | None]:
        return () if self._scan is None else _symbols(self._scan, self._content)


def enclosing_symbol(path: str, content: bytes, line: int) -> str | None:
    """Return the function or class around a line (from 1), such as `Class.method`, or None."""
    return SymbolIndex(path, content).at(line)
