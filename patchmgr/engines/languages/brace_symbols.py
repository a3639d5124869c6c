"""Find the named block around each line of source that has braces; a table entry is a language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

_COMMENT = r"//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/"
_BOUNDARY = re.compile(r"[{};]")
_ENDLESS = re.compile(r"/\*|\"")
_BRACKETS = (("(", ")"), ("[", "]"))
_DEEPEST = 100  # blocks in each other; nobody reads deeper ones, and names grow with them
_ANGLES = re.compile(r"<[^<>]*>")
_RUST = re.compile(
    r"\b(?:fn|struct|enum|union|trait|mod|macro_rules!)\s+(?P<name>\w+)"
    r"|^[ \t]*(?:unsafe\s+|default\s+)?impl\b(?P<of>[^{]*)",
    re.MULTILINE,
)
_GO = re.compile(
    r"^func\s+(?:\(\s*(?:\w+\s+)?\*?(?P<of>\w+)[^)]*\)\s*)?(?P<name>\w+)"
    r"|^type\s+(?P<type>\w+)(?:\[[^\n]*\])?\s+(?:struct|interface)\b",
    re.MULTILINE,
)


class Braces(Struct, frozen=True):
    """A language whose blocks have braces.

    `skipped` matches what no block is told from: comments, strings, characters. `header` matches
    the head of a block, and `name` gives what the match names. `joint` stands between the names of
    a block and of one in it. Where no sign `ends_statements`, the last head before a brace counts.
    """

    skipped: re.Pattern[str]
    header: re.Pattern[str]
    name: Callable[[re.Match[str]], str]
    joint: str
    ends_statements: bool

    def symbols(self, content: bytes) -> tuple[str | None, ...]:
        """Return the symbol of each line; all None where a string or a brace does not close."""
        text = content.decode("utf-8", "surrogateescape")
        bare = self.skipped.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        symbols: list[str | None] = [None] * (text.count("\n") + 1)
        found = None if _ENDLESS.search(bare) else list(self._blocks(bare))
        if found and None not in found:
            for first, last, name in filter(None, found):  # an inner block comes before its outer
                symbols[first:last] = [old or name for old in symbols[first:last]]
        return tuple(symbols)

    def _blocks(self, bare: str) -> Iterator[tuple[int, int, str] | None]:
        """Yield lines and name of each named block as it ends, None for one that does not."""
        open_: list[_Open] = []
        start = line = done = 0
        depths = [0, 0]  # of parentheses and of brackets since the start of the statement
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
                # Where the statement before it has an end, attributes belong to what they are of.
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
    """A block from its first line, and the names around it; `is_within` a head that goes on."""

    first: int
    path: str
    is_named: bool
    is_within: bool


def _rust_name(found: re.Match[str]) -> str:
    if found["name"]:
        return found["name"]
    said = found["of"].replace("->", "  ").partition(" where ")[0]
    while said != (said := _ANGLES.sub("", said)):
        pass
    words = re.findall(r"\w+", said.rpartition(" for ")[2])
    return words[-1] if words else ""


def _go_name(found: re.Match[str]) -> str:
    name = found["name"] or found["type"]
    return f"{found['of']}.{name}" if found["of"] else name


RUST = Braces(
    re.compile(
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
    re.compile(rf"""{_COMMENT}|`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\[^']+|[^'\\\n])'"""),
    _GO,
    _go_name,
    ".",
    ends_statements=False,
)
