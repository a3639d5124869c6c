"""Split a text into units: symbols (functions, classes), and the paragraphs outside of symbols."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from patchmgr.engines.languages.file_types import language
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.languages.words import is_blank
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.distinctive import bare, is_distinctive

_MARK = re.compile(r"\.|::")  # between the parts of a symbol's name
_HASH_COMMENTS = frozenset({"Python"})


class Unit(Struct, frozen=True):
    """The lines of a symbol and the comments above it, or of a paragraph outside all symbols.

    A paragraph consists of consecutive lines that are not blank. Lines count from 0, and `end` is
    exclusive.
    """

    name: str | None  # None: a paragraph
    start: int
    end: int
    outer: str | None = None  # the symbol around this one

    @property
    def leaf(self) -> str | None:
        """The last part of the symbol's name, or None for a paragraph."""
        return None if self.name is None else leaf_of(self.name)

    def has(self, start: int, end: int) -> bool:
        """Return whether the unit contains all lines from `start` to before `end`."""
        return self.start <= start and end <= self.end


def leaf_of(name: str) -> str:
    """Return the last part of a symbol's name, such as `method` for `Class.method`."""
    return name.rpartition("::")[2].rpartition(".")[2]


def joined(outer: str, leaf: str) -> str:
    """Join two names with `::` if `outer` contains `::`, or else with `.`."""
    return f"{outer}{'::' if '::' in outer else '.'}{leaf}"


class Outline:
    """A text split into its symbols and paragraphs, in the order of their first lines."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content
        self.language = language(path, content)
        self._index = SymbolIndex(path, content)
        self._told: dict[Unit, Counter[bytes]] = {}

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines of the text, with their line feeds."""
        return split_lines(self.content)

    @cached_property
    def symbols(self) -> tuple[str | None, ...]:
        """The name of the symbol around each line, or None outside of symbols."""
        return self._index.of_lines(len(self.lines))

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The symbols and paragraphs of the text."""
        named = list(self._symbol_units())
        found = [*named, *self._paragraphs(named)]
        return tuple(sorted(found, key=lambda unit: (unit.start, -unit.end)))

    @cached_property
    def names(self) -> Counter[str]:
        """How many symbols have each name."""
        return Counter(unit.name for unit in self.units if unit.name is not None)

    def named(self, name: str) -> tuple[Unit, ...]:
        """Return all symbols of the text with this full name."""
        return tuple(unit for unit in self.units if unit.name == name)

    def around(self, start: int, end: int) -> Unit | None:
        """Return the smallest unit with all lines from `start` up to `end` (exclusive), or None."""
        found = [unit for unit in self.units if unit.has(start, end)]
        return min(found, key=lambda unit: unit.end - unit.start, default=None)

    def text_of(self, unit: Unit) -> list[bytes]:
        """Return the lines of a unit, with their line feeds."""
        return self.lines[unit.start : unit.end]

    def key(self, unit: Unit) -> object:
        """Return the name of a unit; for a paragraph, its lines without line endings."""
        return unit.name or tuple(line.rstrip(b"\r\n") for line in self.text_of(unit))

    @property
    def whole(self) -> Unit:
        """The whole text as a unit."""
        return Unit(None, 0, len(self.lines))

    @cached_property
    def keyed(self) -> Mapping[object, Sequence[Unit]]:
        """The units of the text, in order, grouped by their keys."""
        found = defaultdict[object, list[Unit]](list)
        for unit in self.units:
            found[self.key(unit)].append(unit)
        return found

    @cached_property
    def places(self) -> Mapping[object, int]:
        """Map each key that only one unit has to the first line of that unit."""
        return {key: units[0].start for key, units in self.keyed.items() if len(units) == 1}

    def distinctive(self, unit: Unit) -> Counter[bytes]:
        """Count how often each distinctive line, without its white space, occurs in a unit."""
        if unit not in self._told:
            self._told[unit] = Counter(filter(is_distinctive, map(bare, self.text_of(unit))))
        return self._told[unit]

    def _symbol_units(self) -> Iterator[Unit]:
        opened: list[tuple[str, int]] = []
        symbols = (*self.symbols, None)
        for number, (symbol, before) in enumerate(zip(symbols, (None, *symbols), strict=False)):
            if symbol == before:
                continue
            scopes = [] if symbol is None else _scopes(symbol)
            same = 0
            while same < min(len(scopes), len(opened)) and scopes[same] == opened[same][0]:
                same += 1
            while len(opened) > same:
                name, start = opened.pop()
                outer = opened[-1][0] if opened else None
                yield Unit(name, self._with_comments(start, outer), number, outer)
            opened += [(name, number) for name in scopes[same:]]

    def _with_comments(self, start: int, outer: str | None) -> int:
        while (
            start
            and self.symbols[start - 1] == outer
            and is_comment(self.lines[start - 1], self.language)
        ):
            start -= 1
        return start

    def _paragraphs(self, named: Sequence[Unit]) -> Iterator[Unit]:
        taken = {n for unit in named for n in range(unit.start, unit.end)}
        start: int | None = None
        for number, line in enumerate((*self.lines, b"")):
            is_outside = number not in taken and not is_blank(line)
            if is_outside and start is None:
                start = number
            elif not is_outside and start is not None:
                yield Unit(None, start, number)
                start = None


def _scopes(symbol: str) -> list[str]:
    """Return a symbol's full name, preceded by those of the symbols around it, outermost first."""
    return [symbol[: mark.start()] for mark in _MARK.finditer(symbol)] + [symbol]


def is_comment(line: bytes, language: str) -> bool:
    """Return whether a line starts with a comment."""
    start = line.lstrip()
    if language in _HASH_COMMENTS:
        return start.startswith(b"#")
    return start.startswith((b"//", b"/*", b"*"))


def indent_of(lines: Sequence[bytes]) -> bytes:
    """Return the indentation of the first line in `lines` that is not blank."""
    for line in lines:
        if not is_blank(line):
            return line[: len(line) - len(line.lstrip())]
    return b""


def reindented(lines: Sequence[bytes], old: bytes, new: bytes) -> list[bytes]:
    """Replace the indentation `old` of lines with `new`. Lines without `old` stay as they are."""
    return [
        new + line[len(old) :] if line.startswith(old) and not is_blank(line) else line
        for line in lines
    ]
