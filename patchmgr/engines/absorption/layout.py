"""The structure of a text: blocks, brackets, strings and comments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from enum import Enum
from functools import cached_property, lru_cache

from msgspec import Struct

from patchmgr.engines.absorption.thresholds import FARTHEST
from patchmgr.engines.languages.names import OTHER, language
from patchmgr.engines.languages.words import BRACED, indentation
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.telling import bare
from patchmgr.formats.late_patterns import late_pattern

PIECE = late_pattern(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\d[\w.]*|\w+|[^\w\s]", re.DOTALL)
"""Matches strings, numbers, names and other signs, but no white space."""

OPENERS = {b")": b"(", b"]": b"[", b"}": b"{"}
_STRING = r"""(?P<string>"{3}.*?"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_PYTHON = late_pattern(rf"{_STRING}|\#[^\n]*|[\n(\[{{)\]}}]".encode(), re.S)
_BRACES = late_pattern(
    rf"{_STRING}|//[^\n]*|/\*.*?\*/|[\n(\[)\]]"
    r"|(?P<opens>\{|^[ \t]*#[ \t]*if)|(?P<closes>\}|^[ \t]*#[ \t]*endif)".encode(),
    re.S | re.M,
)
_LINE_FEED = late_pattern(rb"\n")
# What stands before a list whose use proves that it has no order.
_ANY_ORDER = late_pattern(rb"(?:\b__all__\s*(?::[^=]*)?\+?=|\bin|\b(?:frozen)?set\(|\bimport)\s*\Z")
_DEFINED = late_pattern(rb"\b(?:def|class)\s+\w+\s*\Z")
_CALLED = late_pattern(rb"[\w\])]\s*\Z")
_ENUM = late_pattern(rb"\benum\b[^;{}]*\Z")
_NAMED = late_pattern(rb"\s*(?:\w+\s*=(?!=)|\*\*)")

# Lines that begin a block without a brace: of the lines behind them, or of the next one alone.
_LABEL = late_pattern(rb"\s*(?:#\s*el|(?:case\b.*|default|public|private|protected)\s*:)")
_COVERS_NEXT = late_pattern(
    rb"\s*(?:\}?\s*else(?:\s+if\b.*\))?|(?:if|for|while)\b.*\)|#!?\[.*\])\s*$"
)
_HEADING = {"INI": rb"\[", "Markdown": rb"#{1,6}\s", "TOML": rb"\[.*\]\s*(?:#.*)?$"}
# What opens and closes a block or a comment in other languages; a fence does both.
_FENCE = rb"```|~~~|\"{3}|'{3}"
_OPENS = late_pattern(
    rb"\s*(?:(?:if|for|while|until|case|function|macro|foreach|ifn?def|ifn?eq|def|begin|do)\b"
    rb"|#\s*if|#\[\[|--\[\[|/\*|<!--|<\w|\{%-?\s*\w|\{#|"
    + _FENCE
    + rb")|.*(?:[{(\[]|<<-?\s*\S+)\s*$"
)
_CLOSES = late_pattern(
    rb"\s*(?:(?:fi|done|esac|end\w*)\b|#\s*endif|[\])}]|\*/|-->|</|\{%-?\s*(?:end|el)|#\}"
    rb"|[A-Z_]{3,}\s*$|" + _FENCE + rb")"
)


def key_of(line: bytes) -> bytes:
    """Return a line without its white space, or empty bytes if it contains no word."""
    return bare(line) if re.search(rb"\w", line) else b""


class Order(Enum):
    """Whether the order of the entries of a list in source code matters."""

    NONE = 0  # the language calls them unordered
    LINED = 1
    NUMBERED = 2  # a member is known by its number: arguments, parameters, enumerators


class Scanned(Struct, frozen=True):
    """The number of open braces and the innermost open bracket at the start of each line.

    `inside` holds the lines that begin within a comment or a string, and `literal` the lines where
    white space is part of a string's value.
    """

    depths: Sequence[int]
    opened: Sequence[int | None]
    inside: Set[int]
    literal: Set[int]


class Layout(Struct, frozen=True, dict=True):
    """A text and its structure: blocks, brackets, strings, comments. Lines are counted from 0."""

    path: str
    content: bytes

    @cached_property
    def language(self) -> str:
        """The language of the text, judged by its path."""
        return language(self.path)

    @property
    def is_program(self) -> bool:
        """Whether the text is in a language that delimits blocks by braces or indentation."""
        return self.language in BRACED or self.language == "Python"

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines of the text, with their line ends."""
        return split_lines(self.content)

    @cached_property
    def keys(self) -> list[bytes]:
        """The lines without white space, for comparisons. A line with no word becomes empty."""
        return [*map(key_of, self.lines)]

    @cached_property
    def scanned(self) -> Scanned:
        """The brackets, strings and comments that are open at the start of each line."""
        return _scanned(self.content, self.language)

    @cached_property
    def blocks(self) -> Sequence[int]:
        """For each line, the number of the line that begins its block, or -1 outside blocks."""
        found: list[int] = []
        around: list[tuple[float, int]] = []
        is_covered = False
        for number, (line, key) in enumerate(zip(self.lines, self.keys, strict=True)):
            level = self._level(number) + is_covered / 2
            while key and around and around[-1][0] >= level:
                around.pop()
            found.append(around[-1][1] if key and around else -1)
            if key:
                around.append((level, number))
                is_covered = self.language in BRACED and bool(_COVERS_NEXT.match(line))
        return found

    def around(self, line: int) -> list[int]:
        """Return the numbers of the lines that begin the blocks around a line, innermost first."""
        found = list[int]()
        while (line := self.blocks[line]) >= 0:
            found.append(line)
        return found

    @cached_property
    def counts(self) -> Counter[bytes]:
        """How often each line with a word, without its white space, occurs in the text."""
        return Counter(filter(None, self.keys))

    @cached_property
    def singular(self) -> Set[bytes]:
        """The lines, without their white space, that occur exactly once in the text."""
        return {key for key, count in self.counts.items() if count == 1}

    def _level(self, number: int) -> float:
        """Return the nesting level of a line, which is lower if the line begins a block."""
        line, heading = self.lines[number], _HEADING.get(self.language)
        if self.language in BRACED:
            return self.scanned.depths[number] - bool(_LABEL.match(line)) / 2
        if heading is not None and (match := re.match(heading, line)):
            return len(match[0]) - 9 if self.language == "Markdown" else -1
        return 0 if self.language in ("Text", OTHER) else indentation(line)

    def order_at(self, number: int) -> Order:
        """Return whether the order of the lines around a line matters, judged by the brackets."""
        opened = self.scanned.opened[number]
        if opened is None:
            return Order.LINED
        before, opener = self.content[max(0, opened - FARTHEST) : opened], self.content[opened]
        is_python = self.language == "Python"
        is_member = b":" not in PIECE.findall(self.lines[number])
        if is_python and (_ANY_ORDER.search(before) or (opener == ord("{") and is_member)):
            return Order.NONE
        if opener == ord("{") and _ENUM.search(before):
            return Order.NUMBERED
        if opener == ord("(") and _CALLED.search(before):
            is_named = is_python and _NAMED.match(self.lines[number]) is not None
            return Order.NONE if is_named and not _DEFINED.search(before) else Order.NUMBERED
        return Order.LINED

    def is_enclosed(self, line: int, own: Set[int]) -> bool:
        """Return whether the lines in `own` open a block before `line` and close it after `line`.

        Meant for languages whose blocks are delimited neither by braces nor by indentation.
        """
        before = [self.lines[n] for n in sorted(own) if n < line]
        after = [self.lines[n] for n in sorted(own) if n > line]
        end = next((x for x in after if _OPENS.match(x) or _CLOSES.match(x)), b"")
        return bool(_CLOSES.match(end)) and any(map(_OPENS.match, before))


layout_of = lru_cache(maxsize=16)(Layout)


def _scanned(content: bytes, kind: str) -> Scanned:
    pattern = _BRACES if kind in BRACED else _PYTHON if kind == "Python" else _LINE_FEED
    depth, depths, stack = 0, [0], list[int]()
    opened: list[int | None] = [None]
    inside, literal = set[int](), set[int]()
    for match in pattern.finditer(content):
        said, start = match[0], match.start()
        is_first = not content[content.rfind(b"\n", 0, start) + 1 : start].strip()
        depth += (match.lastgroup == "opens") - (match.lastgroup == "closes")
        if match.lastgroup == "closes" and is_first:
            depths[-1] = depth
        if said in OPENERS.values():
            stack.append(start)
        elif said in OPENERS and any(content[at] == OPENERS[said][0] for at in stack):
            while content[stack.pop()] != OPENERS[said][0]:
                pass
        for _ in range(said.count(b"\n")):
            if said != b"\n":
                inside.add(len(depths))
            if match.lastgroup == "string" and (stack or not is_first):
                literal.add(len(depths))
            depths.append(depth)
            opened.append(stack[-1] if stack else None)
    return Scanned(depths, opened, inside, literal)
