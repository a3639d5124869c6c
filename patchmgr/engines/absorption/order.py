"""What brackets and white space tell: the order of members, the depth of lines, and supersets.

A hunk that removes nothing is in upstream where its side of every collision is part of upstream's,
in order: lines of a block, or members of a set, a list or a call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

from patchmgr.engines.absorption.thresholds import LARGEST_DISPLAY
from patchmgr.engines.conflicts.ids import conflict_regions, resolved_to_ours
from patchmgr.engines.languages.names import OTHER, language
from patchmgr.engines.languages.words import BRACED, code_of, indentation
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.model.patch import Hunk

PIECE = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\d[\w.]*|\w+|[^\w\s]", re.DOTALL)
"""Strings, numbers, names and signs: all but white space."""

_CLOSER = {b"(": b")", b"[": b"]", b"{": b"}"}

# What stands before a list whose use proves that it has no order.
_ANY_ORDER = re.compile(rb"(?:\b__all__\s*(?::[^=]*)?\+?=|\bin|\b(?:frozen)?set\(|\bimport)\s*\Z")
_DEFINED = re.compile(rb"\b(?:def|class)\s+\w+\s*\Z")
_CALLED = re.compile(rb"[\w\])]\s*\Z")
_ENUM = re.compile(rb"\benum\b[^;{}]*\Z")
_NAMED = re.compile(rb"\s*(?:\w+\s*=(?!=)|\*\*)")
_UNBRACED = re.compile(rb"\s*(?:\}?\s*else(?:\s+if\b.*\))?|(?:if|for|while)\b.*\))\s*$")
# What opens and closes a block or a comment in other languages; a fence does both.
_FENCE = rb"```|~~~|\"{3}|'{3}"
_OPENS = re.compile(
    rb"\s*(?:(?:if|for|while|until|case|function|macro|foreach|ifn?def|ifn?eq|def|begin|do)\b"
    rb"|#\s*if|#\[\[|--\[\[|/\*|<!--|<\w|\{%-?\s*\w|\{#|" + _FENCE + rb")"
    rb"|.*(?:[{(\[]|<<-?\s*\S+)\s*$"
)
_CLOSES = re.compile(
    rb"\s*(?:(?:fi|done|esac|end\w*)\b|#\s*endif|[\])}]|\*/|-->|</|\{%-?\s*(?:end|el)|#\}"
    rb"|[A-Z_]{3,}\s*$|" + _FENCE + rb")"
)
_ELSE = re.compile(rb"\s*#\s*el")
_HEADING = {
    "INI": re.compile(rb"\["),
    "Markdown": re.compile(rb"#{1,6}\s"),
    "TOML": re.compile(rb"\[.*\]\s*(?:#.*)?$"),
}


class Order(Enum):
    """Whether the order of members matters."""

    NONE = 0  # the language calls them unordered
    LINED = 1
    NUMBERED = 2  # a member is known by its number: arguments, parameters, enumerators


Row = tuple[bytes, ...]
"""The pieces between two commas."""

_Rows = tuple[Row, ...]


def read_rows(pieces: Sequence[bytes], *, is_open: bool = False) -> _Rows | None:
    """Return pieces, split at the commas outside of brackets, or None if brackets do not match.

    A text that `is_open` follows an opening bracket, and ends with the one that closes it. An empty
    row after the last comma does not count.
    """
    rows, closers = [list[bytes]()], list[bytes]()
    for piece in pieces:
        if piece == b"," and not closers:
            rows.append([])
            continue
        if piece in _CLOSER:
            closers.append(_CLOSER[piece])
        elif piece in _CLOSER.values():
            if is_open and not closers:
                is_open = False
                break
            if not closers or closers.pop() != piece:
                return None
        rows[-1].append(piece)
    if is_open or closers:
        return None
    return tuple(map(tuple, rows if rows[-1] else rows[:-1]))


def _last_open(content: bytes) -> int | None:
    """Return where the last bracket is that is not closed."""
    opened: list[int] = []
    for match in PIECE.finditer(content):
        if match[0] in _CLOSER:
            opened.append(match.start())
        elif match[0] in _CLOSER.values() and opened:
            opened.pop()
    return opened[-1] if opened else None


def order_at(path: str, lines: Sequence[bytes], at: int) -> Order:
    """Return whether the order of lines around a line matters, as far as brackets tell."""
    content = b"".join(lines[max(0, at - LARGEST_DISPLAY) : at])
    opened = _last_open(content)
    if opened is None:
        return Order.LINED
    before, opener = content[:opened], content[opened : opened + 1]
    is_python = language(path) == "Python"
    if is_python and _ANY_ORDER.search(before):
        return Order.NONE
    if opener == b"{":
        if _ENUM.search(before):
            return Order.NUMBERED
        inner = content[opened + 1 :] + b"".join(lines[at : at + LARGEST_DISPLAY])
        rows = read_rows(PIECE.findall(inner), is_open=True) if is_python else None
        return Order.LINED if rows is None or any(b":" in row for row in rows) else Order.NONE
    if opener == b"(" and _CALLED.search(before):
        is_named = is_python and _NAMED.match(lines[at]) is not None
        return Order.NONE if is_named and not _DEFINED.search(before) else Order.NUMBERED
    return Order.LINED


def is_superset(ours: bytes, marked: bytes, hunk: Hunk) -> bool:
    """Return whether upstream has what a colliding hunk adds, from the merge of that hunk alone.

    Outside of the collisions the merge must be upstream's own bytes.
    """
    regions = conflict_regions(marked)
    if not regions or not hunk.added() or resolved_to_ours(marked) != ours:
        return False
    is_in = _adds_members if hunk.removed() else _is_part
    sides = ([_lines(side) for side in region] for region in regions)
    return all(ours and is_in(base, ours, theirs) for base, ours, theirs in sides)


def _lines(content: bytes) -> list[bytes]:
    return [line.rstrip(b"\r\n") for line in split_lines(content)]


def _is_part(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> bool:
    """Return whether the lines of theirs are among those of ours, in order."""
    rest, at = list(ours), 0
    for line in theirs:
        if line not in rest[at:]:
            return _adds_members(base, ours, theirs)
        at = rest.index(line, at)
        del rest[at]
    return len(theirs) >= len(base)


def _adds_members(*sides: list[bytes]) -> bool:
    """Return whether theirs only adds members to displays of base, and ours has these and more."""
    base, ours, theirs = (PIECE.findall(b"\n".join(side)) for side in sides)
    is_read = all(read_rows(pieces) is not None for pieces in (base, ours, theirs))
    if max(map(len, sides)) > LARGEST_DISPLAY or not base or not is_read:
        return False
    added, brought = changed_blocks(base, theirs), changed_blocks(base, ours)
    places = {block.old_start: block for block in brought if block.old_start == block.old_end}
    return bool(added) and all(
        block.old_start == block.old_end
        and block.old_start in places
        and _is_among_rows(theirs, block, ours, places[block.old_start])
        for block in added
    )


def _is_among_rows(
    theirs: Sequence[bytes], block: Block, ours: Sequence[bytes], place: Block
) -> bool:
    """Return whether the members that a block adds are among those that upstream adds there.

    In a call, arguments without a name must be at the same place.
    """
    pieces = theirs[block.new_start : block.new_end]
    rows, there = (
        [row for row in read_rows(part) or () if row]
        for part in (pieces, ours[place.new_start : place.new_end])
    )
    before, after = theirs[: block.new_start], theirs[block.new_end :]
    is_start = not before or before[-1] in (b",", *_CLOSER)
    is_end = not after or after[0] in (b",", *_CLOSER.values())
    is_whole = (is_start or pieces[0] == b",") and (is_end or pieces[-1] == b",")
    rest = iter(there)
    is_among = rows and all(row in rest for row in rows)
    if not is_among or not (is_start or is_end) or not is_whole:
        return False
    is_numbered = order_at("", [b" ".join(before)], 1) is Order.NUMBERED
    if not is_numbered or (b"def" not in before and all(row[1:2] == (b"=",) for row in rows)):
        return True
    return theirs[: block.new_end] == ours[: place.new_start + len(pieces)]


def is_enclosed(path: str, before: Sequence[bytes], after: Sequence[bytes]) -> bool:
    """Return whether the text before some lines opens a block that is closed after them.

    In a language with braces, an `if` or `for` without braces counts, too; Python has none.
    """
    kind = language(path)
    if kind in BRACED | {"Python"}:
        return kind != "Python" and bool(before and _UNBRACED.match(before[-1]))
    ends = (line for line in after if _OPENS.match(line) or _CLOSES.match(line))
    end = next(ends, None)
    return end is not None and bool(_CLOSES.match(end)) and any(map(_OPENS.match, before))


LITERAL = -1
"""The depth of a line that begins inside a string: its white space is content."""

_STRING = r"""(?P<string>"{3}.*?"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_PYTHON = re.compile(rf"{_STRING}|\#[^\n]*|\n|(?P<open>[(\[{{])|(?P<close>[)\]}}])".encode(), re.S)
_IF, _ENDIF = (rf"^[ \t]*\#[ \t]*{word}" for word in ("if", "endif"))
_BRACES = re.compile(
    rf"{_STRING}|//[^\n]*|/\*.*?\*/|\n|(?P<open>{{|{_IF})|(?P<close>}}|{_ENDIF})".encode(),
    re.S | re.M,
)


@lru_cache(maxsize=64)
def depths(path: str, content: bytes) -> Sequence[int | None]:
    """Return the depth of each line, or None if its white space says nothing."""
    kind = language(path)
    found = [indentation(x) if code_of(x, kind) else None for x in content.split(b"\n")]
    if kind not in BRACED | {"Python"}:
        return found if kind == "YAML" else [None] * len(found)
    opened, number = 0, 0
    if kind in BRACED:
        found[0] = opened
    for match in (_BRACES if kind in BRACED else _PYTHON).finditer(content):
        is_first = not content[content.rfind(b"\n", 0, match.start()) + 1 : match.start()].strip()
        opened += bool(match["open"]) - bool(match["close"])
        if kind in BRACED and match["close"] and is_first:
            found[number] = opened
        for _ in range(match[0].count(b"\n")):
            number += 1
            if match["string"]:  # the lines of a docstring are moved with its statement
                found[number] = LITERAL if opened or not is_first else None
            elif kind in BRACED:
                found[number] = opened
            elif opened:
                found[number] = None
    return found


def inside(path: str, content: bytes) -> frozenset[int]:
    """Return the lines of a program, from 0, that begin in a comment or a string."""
    kind = language(path)
    pattern = _BRACES if kind in BRACED else _PYTHON if kind == "Python" else None
    found, number, end = set[int](), 0, 0
    for match in pattern.finditer(content) if pattern else ():
        number += content.count(b"\n", end, match.start())
        more, end = match[0].count(b"\n"), match.end()
        if match[0] != b"\n":
            found.update(range(number + 1, number + more + 1))
        number += more
    return frozenset(found)


def headers(path: str, lines: Sequence[bytes]) -> Sequence[int | None]:
    """Return, for each line with a word, the line that begins its block, or -1 if there is none."""
    kind = language(path)
    heading = _HEADING.get(kind)
    levels: Sequence[int | None] = [*map(indentation, lines)]
    if kind in BRACED:
        levels = depths(path, b"".join(lines))
    elif kind in ("Text", OTHER):
        return [-1] * len(lines)
    found: list[int | None] = []
    around: list[tuple[int, int]] = []
    for number, (line, level) in enumerate(zip(lines, levels, strict=False)):
        if level is None or not re.search(rb"\w", line):
            found.append(None)
            continue
        if heading is not None and (match := heading.match(line)):
            level = len(match[0]) - 9 if kind == "Markdown" else -1
        level -= kind in BRACED and bool(_ELSE.match(line))
        while around and around[-1][0] >= level:
            around.pop()
        found.append(around[-1][1] if around else -1)
        around.append((level, number))
    return found
