"""Find keys, cases, functions and sections that a block of a file may have only once.

Blocks are found by indentation. Other modules do this for Python and C++, except for the cases of a
`switch` in C++, which are found here.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from patchmgr.engines.languages.file_types import CXX_LANGUAGES, language
from patchmgr.engines.languages.words import indentation
from patchmgr.formats.late_patterns import late_pattern

_CASE = rb"(case\b[ \t]*[^\s:][^:\n]*|default)[ \t]*:(?!:)"
_KEY = rb"(?:pub[ \t]+)?([\"'][^\"'\n]*[\"']|[\w.$@/-]+)\??[ \t]*(?::(?![:=])|=>)"
_FUNCTION = (
    rb"(?:(?:export|default|async|pub|public|private|protected|static|final|abstract)[ \t]+)*"
    rb"((?:fn|func|function)\b[^\n(]*(?:\([^)\n]*\)[ \t]*)?\w+)[(<\[]"
)
_METHOD = (  # with its parameters, because there may be several methods of one name
    rb"((?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async|suspend"
    rb"|open|fun|func|def)[ \t]+)+[^=;(){}]*\w[ \t]*\([^;{}=]*\))[^;=)]*$"
)
_TYPE = (
    rb"(?:(?:export|default|pub|public|protected|private|internal|abstract|final|sealed|static|data)"
    rb"[ \t]+)*((?:class|enum|interface|record|struct|trait)[ \t]+\w+(?:<[^{>]*>)?)[^;=]*$"
)
_MEMBER = (  # a method of JavaScript; `if (a) {` and `f(() => {` are none
    rb"(?!(?:catch|for|function|if|return|switch|while|with)\b)"
    rb"(?:(?:public|private|protected|static|override|async)[ \t]+)*"
    rb"((?:[gs]et[ \t]+)?[\w$#]+)[ \t]*\([^()'\"=]*\)[^()'\"=]*\{$"
)
_FIELD = (  # a member or a variable
    rb"(?:(?:public|private|protected|internal|static|final|readonly|const|volatile|transient|va[lr]"
    rb"|let)[ \t]+)+(?:[\w<>?,.|\[\]\\]+[ \t]+)*?(\$?\w+)[ \t]*(?:=(?![=>])|;|$)"
)
_SHELL = rb"(?:function[ \t]+)?(\w+)[ \t]*\(\)[ \t]*\{"
_SECTION = rb"(\[[^\]\n]+\])[ \t]*$|([\w.-]+)[ \t]*[=:]"
_CODE = late_pattern(rb"|".join((_CASE, _TYPE, _FUNCTION, _KEY)))
_SCRIPT = late_pattern(rb"|".join((_CASE, _TYPE, _FUNCTION, _KEY, _FIELD, _MEMBER)))
_METHODS = late_pattern(rb"|".join((_CASE, _TYPE, _METHOD, _FIELD)))
_DATA = late_pattern(_KEY)
_READ_BY = {
    **dict.fromkeys(("JSON", "YAML"), _DATA),
    **dict.fromkeys(("Go", "Rust"), _CODE),
    **dict.fromkeys(("JavaScript", "TypeScript"), _SCRIPT),
    **dict.fromkeys(("C#", "Dart", "Groovy", "Java", "Kotlin", "Scala", "Swift"), _METHODS),
    **dict.fromkeys(CXX_LANGUAGES, late_pattern(_CASE)),
    "INI": late_pattern(_SECTION),
    "PHP": late_pattern(rb"|".join((_CASE, _TYPE, _FUNCTION, _FIELD))),
    "Properties": late_pattern(rb"((?:\\.|[^\\=:\s])+)[ \t]*[=:]"),
    "Shell": late_pattern(_SHELL),
}
_LONGEST = 1000  # bytes of a line that are read
_REMARKS = (b"#", b"//", b"*", b"/*", b"<!--", b";")


class Line(Struct, frozen=True):
    """A line of a file.

    `number` counts from 1, and `around` has the lines that begin the blocks around the line.
    """

    number: int
    text: bytes
    block: int  # the first line of the innermost block, or 0
    around: tuple[bytes, ...]  # the lines that begin the blocks


Given = tuple[Line, bytes]
"""A line that defines a key, and the key."""


class _Open(Struct):
    """A line that may begin a block."""

    indent: int
    number: int
    text: bytes
    switch: int  # the line of a `case`'s `switch`, or `number`


def added_twice(path: str, contents: Sequence[bytes]) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Yield (line numbers in the merge, key) for each key that both sides add to the same block.

    `contents` are the file in base, ours, theirs and the merge.
    """
    pattern = _READ_BY.get(language(path))
    if pattern is None or any(b"\0" in content for content in contents):
        return
    if not _may_clash(contents, pattern):
        return
    sides = [tuple(_keys(lines_in_blocks(content), pattern)) for content in contents]
    for (one, name), (other, _) in added_by_both(sides):
        yield (one.number, other.number), name


def _may_clash(contents: Sequence[bytes], pattern: re.Pattern[bytes]) -> bool:
    """Return whether both sides may add the same key, judged by their new lines alone."""
    base, *sides = (set(content.split(b"\n")) for content in contents[:3])
    added = ([Line(0, line.strip(), 0, ()) for line in side - base] for side in sides)
    ours, theirs = ({name for _, name in _keys(lines, pattern)} for lines in added)
    return not ours.isdisjoint(theirs)


def lines_in_blocks(content: bytes) -> Iterator[Line]:
    """Yield each line of a file that is neither blank nor a comment, with the blocks around it."""
    around: list[_Open] = []
    for number, raw in enumerate(content.split(b"\n"), 1):
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
        yield Line(number, text, switch, tuple(one.text for one in around))
        around.append(_Open(indent, number, text, switch if is_case else number))


def _keys(lines: Iterable[Line], pattern: re.Pattern[bytes]) -> Iterator[Given]:
    """Yield the lines that define a key, each with the key."""
    for line in lines:
        found = pattern.match(line.text, 0, _LONGEST)
        if found is not None and (name := next(filter(None, found.groups()), b"")):
            yield line, name.strip(b"\"'")


def added_by_both(sides: Sequence[Sequence[Given]]) -> Iterator[list[Given]]:
    """Yield the two lines with one key that both sides add to a block, if the merge has both.

    `sides` are the keys of base, ours, theirs and the merge.
    """
    base, ours, theirs = (Counter(x for one in side for x in _places(*one)) for side in sides[:3])
    found = defaultdict[tuple[int, bytes], list[Given]](list)
    for line, name in sides[3]:
        if any(not base[x] and ours[x] == theirs[x] == 1 for x in _places(line, name)):
            found[line.block, name].append((line, name))
    yield from (each for each in found.values() if len(each) == 2)


def _places(line: Line, name: bytes) -> tuple[tuple[object, bytes], ...]:
    """Return a key with the blocks around it, and the same key with the number of these blocks.

    The second one still matches if a side changes the first line of a block.
    """
    return (line.around, name), (len(line.around), name)
