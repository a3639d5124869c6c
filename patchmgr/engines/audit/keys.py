"""Find keys, cases, functions and numbers that both sides of a merge add to the same block.

A file is read line by line, and blocks are found by indentation. So this works for data, and for
any language, if each key has a line of its own. All findings are warnings.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from patchmgr.engines.audit.places import added_lines, versions
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.languages.file_types import CXX_LANGUAGES, language
from patchmgr.engines.languages.words import indentation
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.audit import AuditFinding

_CASE = rb"(case\b[ \t]*[^\s:][^:\n]*|default)[ \t]*:(?!:)"
_KEY = rb"(?:pub[ \t]+)?([\"'][^\"'\n]*[\"']|[\w.$@/-]+)\??[ \t]*(?::(?![:=])|=>)"
_FUNCTION = (
    rb"(?:(?:export|default|async|pub)[ \t]+)*"
    rb"((?:fn|func|function)\b[^\n(]*(?:\([^)\n]*\)[ \t]*)?\w+)[(<\[]"
)
_SHELL = rb"(?:function[ \t]+)?(\w+)[ \t]*\(\)[ \t]*\{"
_SECTION = rb"(\[[^\]\n]+\])[ \t]*$|([\w.-]+)[ \t]*[=:]"
_CODE = late_pattern(rb"%b|%b|%b" % (_CASE, _FUNCTION, _KEY))
_DATA = late_pattern(_KEY)
_READ_BY = {
    **dict.fromkeys(("JSON", "YAML"), _DATA),
    **dict.fromkeys(("Go", "JavaScript", "Rust", "TypeScript"), _CODE),
    **dict.fromkeys(CXX_LANGUAGES, late_pattern(_CASE)),
    "INI": late_pattern(_SECTION),
    "Shell": late_pattern(_SHELL),
    "Protobuf": None,
    "Python": None,
}  # None: only numbers are read; Python's keys are checked separately
_NUMBERED = late_pattern(
    rb"([\w.: \t]*\w)[ \t]*=[ \t]*(\d+|0[xX][\da-fA-F]+)[ \t]*(?:\[[^\]]*\][ \t]*)?[,;]?"
    rb"[ \t]*(?:(?://|\#|/\*).*)?"
)
_FEWEST = 3  # the fewest numbers in a block that count as a numbering
_REMARKS = (b"#", b"//", b"*", b"/*", b"<!--", b";")


class _Line(Struct, frozen=True):
    """A line of a file: its number (from 1), its text, and the blocks around it.

    `block` is the number of the line that begins the innermost block, or 0. `around` holds the
    texts of the lines that begin the blocks, to find the same blocks in other versions of the file.
    """

    number: int
    text: bytes
    block: int
    around: tuple[bytes, ...]


class _Given(Struct, frozen=True):
    """A line that defines a key or, if `number` is set, assigns this number to a name."""

    line: _Line
    name: bytes
    number: int | None = None

    @property
    def key(self) -> bytes | int:
        """The name or the number, which may occur only once in a block."""
        return self.name if self.number is None else self.number

    @property
    def shown(self) -> str:
        """The name, without quotes and without the type before it."""
        name = self.name if self.number is None else self.name.split()[-1]
        return name.decode("utf-8", "replace").strip("\"'")


class _Open(Struct):
    """A line that may begin a block.

    For a `case`, `switch` is the number of the line of its `switch`, otherwise its own `number`.
    """

    indent: int
    number: int
    text: bytes
    switch: int


def check_keys(states: States) -> Iterator[Told]:
    """Warn of keys and numbers that must be unique in a block but that both sides add to it."""
    for path in states.carriers:
        spoken = language(path)
        contents = versions(states, path) if spoken in _READ_BY else None
        if contents is None or any(b"\0" in content for content in contents):
            continue
        if not _may_clash(contents, _READ_BY[spoken]):
            continue
        added = added_lines(states, path)
        sides = [tuple(_given(_lines(content), _READ_BY[spoken])) for content in contents]
        found = sorted(_added_by_both(sides), key=lambda each: each[0].number is not None)
        for each in found:
            ours, theirs = sorted(each, key=lambda one: one.line.number not in added)
            symbol, line, where = ours.shown, ours.line.number, theirs.line.number
            text = f"`{symbol}` is also defined on line {where}: each side adds it to this block."
            if ours.number is not None:
                text = f"`{symbol}` and `{theirs.shown}` (line {where}) both have the number "
                text += f"{ours.number}, because each side added one of the two."
            finding = AuditFinding("defined-twice", False, path, line, symbol, text)
            yield added.get(line, states.carriers[path]), finding


def _may_clash(contents: Sequence[bytes], pattern: re.Pattern[bytes] | None) -> bool:
    """Return whether both sides may add the same key or number, judged by their new lines alone."""
    base, *sides = (set(content.splitlines()) for content in contents[:3])
    added = ([_Line(0, line.strip(), 0, ()) for line in side - base] for side in sides)
    ours, theirs = ({one.key for one in _given(lines, pattern)} for lines in added)
    return not ours.isdisjoint(theirs)


def _lines(content: bytes) -> Iterator[_Line]:
    """Yield the lines of a file that are neither empty nor a comment."""
    around: list[_Open] = []
    for number, raw in enumerate(content.splitlines(), 1):
        text = raw.strip()
        if not text or text.startswith(_REMARKS):
            continue
        indent = indentation(raw)
        if not indent and (text.startswith(b"---") or re.fullmatch(rb"\[[^\]]+\]", text)):
            indent = -1  # a document of YAML, or a section of an INI file
        beside = None
        while around and around[-1].indent >= indent:
            beside = around.pop()
        is_case = text.startswith((b"case ", b"default:"))
        switch = around[-1].number if around else 0
        if is_case and beside is not None and beside.indent == indent:
            switch = beside.switch
        yield _Line(number, text, switch, tuple(one.text for one in around))
        around.append(_Open(indent, number, text, switch if is_case else number))


def _given(lines: Iterable[_Line], pattern: re.Pattern[bytes] | None) -> Iterator[_Given]:
    """Yield what each line defines: a key, a number, or both."""
    for line in lines:
        found = pattern.match(line.text) if pattern is not None else None
        if found is not None and (name := next(filter(None, found.groups()), b"")):
            yield _Given(line, name)
        if found := _NUMBERED.fullmatch(line.text):
            base = 16 if found[2][:2].lower() == b"0x" else 10
            yield _Given(line, found[1], int(found[2], base))


def _added_by_both(sides: Sequence[Sequence[_Given]]) -> Iterator[list[_Given]]:
    """Yield the two lines of each key or number that each side adds once to the same block."""
    base, *both = (Counter((one.line.around, one.key) for one in side) for side in sides[:3])
    found = defaultdict[tuple[int, bytes | int], list[_Given]](list)
    for one in sides[3]:
        key = one.line.around, one.key
        if not base[key] and both[0][key] == both[1][key] == 1:
            found[one.line.block, one.key].append(one)
    for each in found.values():
        if len(each) == 2 and (each[0].number is None or _is_taken_twice(each, sides)):
            yield each


def _is_taken_twice(each: Sequence[_Given], sides: Sequence[Sequence[_Given]]) -> bool:
    """Return whether both sides assign a number to different names, in a numbered block."""
    of_number = [[one for one in side if one.number is not None] for side in sides]
    names = [{(one.line.around, one.name) for one in side} for side in of_number[1:3]]
    is_of = [{(one.line.around, one.name) in side for side in names} for one in each]
    around = each[0].line.around
    known = [one.number or 0 for one in of_number[0] if one.line.around == around]
    return is_of == [{True, False}, {True, False}] and _is_numbering(known)


def _is_numbering(numbers: Sequence[int]) -> bool:
    """Return whether no number is assigned twice, and they are dense or are powers of two."""
    if len(numbers) < _FEWEST or len({*numbers}) < len(numbers):
        return False
    is_dense = max(numbers) - min(numbers) < 2 * len(numbers)
    return is_dense or all(n & (n - 1) == 0 for n in numbers)
