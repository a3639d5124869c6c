"""What brackets and white space say: the order of members, the depth of lines, and supersets.

A hunk that removes nothing is in upstream where its side of every collision is part of upstream's,
in order: lines of a block, or members of a set, a list or a call. Where it merges, it is in if the
display that it adds members to has them already, elsewhere, and the language says that they have
no order.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct

from patchmgr.engines.conflict_ids import conflict_regions, resolved_to_ours
from patchmgr.engines.languages.names import language
from patchmgr.engines.languages.words import BRACED, code_of, indentation
from patchmgr.engines.placement import split_lines
from patchmgr.model.patch import Hunk

LARGEST_DISPLAY = 200  # lines
DEEPEST_DISPLAY = 50

PIECE = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\d[\w.]*|\w+|[^\w\s]", re.DOTALL)
"""Strings, numbers, names and signs: all but white space."""

_CLOSER = {b"(": b")", b"[": b"]", b"{": b"}"}

# What stands before a list whose use proves that it has no order.
_ANY_ORDER = re.compile(rb"(?:\b__all__\s*(?::[^=]*)?\+?=|\bin|\b(?:frozen)?set\(|\bimport)\s*\Z")
_DEFINED = re.compile(rb"\b(?:def|class)\s+\w+\s*\Z")
_CALLED = re.compile(rb"[\w\])]\s*\Z")
_ENUM = re.compile(rb"\benum\b[^;{}]*\Z")
_NAMED = re.compile(rb"\s*(?:\w+\s*=(?!=)|\*\*)")
# What can switch off the lines behind it: conditions of a preprocessor, comments, strings.
_SWITCH = re.compile(rb"\s*(?:#\s*(?:if|el|endif)|/\*|\*/|\"\"\"|''')")


class Order(Enum):
    """What the order of members means."""

    NONE = 0  # the language calls them unordered
    LINED = 1
    NUMBERED = 2  # a member is known by its number: arguments, parameters, enumerators


class Group(Struct, frozen=True):
    """Brackets with the members between them; `is_call` where a name stands in front."""

    opener: bytes
    is_call: bool
    members: tuple[Row, ...]


Row = tuple["bytes | Group", ...]
"""The pieces between two commas."""

_Rows = tuple[Row, ...]


def read_rows(content: bytes, *, is_open: bool = False) -> _Rows | None:
    """Return a text, split at the commas outside of brackets; None where brackets do not match.

    Where it `is_open`, it is what follows a bracket, and ends with the one that closes it. An
    empty row behind the last comma is none.
    """
    opened: list[tuple[bytes, list[Row], list[bytes | Group]]] = [(b"", [], [])]
    for piece in PIECE.findall(content):
        opener, rows, row = opened[-1]
        if piece in _CLOSER:
            opened.append((piece, [], []))
            if len(opened) > DEEPEST_DISPLAY:
                return None
        elif piece in _CLOSER.values():
            members = (*rows, tuple(row)) if row else tuple(rows)
            if len(opened) == 1:
                return members if is_open else None
            if piece != _CLOSER[opener]:
                return None
            opened.pop()
            before = opened[-1][2]
            name = before[-1] if before else b""
            is_call = isinstance(name, bytes) and _CALLED.search(name) is not None
            before.append(Group(opener, is_call, members))
        elif piece == b",":
            rows.append(tuple(row))
            row.clear()
        else:
            row.append(piece)
    _, rows, row = opened[0]
    members = (*rows, tuple(row)) if row else tuple(rows)
    return None if is_open or len(opened) > 1 else members


def members_around(lines: Sequence[bytes], at: int) -> _Rows | None:
    """Return the members of the display that a line starts in, None where there is none."""
    start = max(0, at - LARGEST_DISPLAY)
    before, after = (b"".join(part) for part in (lines[start:at], lines[at : at + LARGEST_DISPLAY]))
    opened = _last_open(before)
    return None if opened is None else read_rows(before[opened + 1 :] + after, is_open=True)


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
    """Say what the order of the lines around a line means, as far as brackets tell."""
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
        rows = members_around(lines, at) if is_python else None
        return Order.LINED if rows is None or any(b":" in row for row in rows) else Order.NONE
    if opener == b"(" and _CALLED.search(before):
        is_named = is_python and _NAMED.match(lines[at]) is not None
        return Order.NONE if is_named and not _DEFINED.search(before) else Order.NUMBERED
    return Order.LINED


def is_superset(ours: bytes, marked: bytes, hunk: Hunk) -> bool:
    """Say whether upstream has what a colliding hunk adds, given the merge of it alone.

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
    """Say whether the lines of theirs are among those of ours, in order.

    The others may be anything that does not switch them off.
    """
    rest, at = list(ours), 0
    for line in theirs:
        if line not in rest[at:]:
            return _adds_members(base, ours, theirs)
        at = rest.index(line, at)
        del rest[at]
    return len(theirs) >= len(base) and not (theirs and any(map(_SWITCH.match, rest)))


def _adds_members(*sides: list[bytes]) -> bool:
    """Say whether theirs only adds members to a display of base, and ours has these and more."""
    if max(map(len, sides)) > LARGEST_DISPLAY:
        return False
    base, ours, theirs = (read_rows(b"\n".join(side)) for side in sides)
    if base is None or ours is None or theirs is None:
        return False
    return base not in ((), theirs) and _adds(base, ours, theirs)


def _adds(base: _Rows, ours: _Rows, theirs: _Rows, *, is_call: bool = False) -> bool:
    """Say whether rows of theirs are in base or, where they are new, in ours.

    In a call, arguments without a name must be at the same place.
    """
    places = zip(theirs, ours, strict=False)
    if is_call and not all(b"=" in row or row == there for row, there in places):
        return False
    if _is_among(base, theirs) and _is_among(theirs, ours):
        return True
    if not len(base) == len(ours) == len(theirs):
        return False
    return all(
        old == new or _adds_inside(old, mine, new)
        for old, mine, new in zip(base, ours, theirs, strict=True)
    )


def _adds_inside(base: Row, ours: Row, theirs: Row) -> bool:
    """Say the same of the brackets in a row, all else of which stays as it is."""
    if not len(base) == len(ours) == len(theirs):
        return False
    for old, mine, new in zip(base, ours, theirs, strict=True):
        if old == new:
            continue
        if not (isinstance(old, Group) and isinstance(mine, Group) and isinstance(new, Group)):
            return False
        if not old.opener == mine.opener == new.opener:
            return False
        if not _adds(old.members, mine.members, new.members, is_call=new.is_call):
            return False
    return True


def _is_among(part: _Rows, whole: _Rows) -> bool:
    """Say whether all rows of the part are in the whole, in order."""
    rest = iter(whole)
    return all(row in rest for row in part)


def added_members(hunk: Hunk) -> _Rows | None:
    """Return the members of a display that a hunk adds, None where it does anything else."""
    added = [line.rstrip() for line in hunk.added_text().split(b"\n") if line.strip()]
    if hunk.removed() or not all(line.endswith(b",") for line in added):
        return None
    return read_rows(b"\n".join(added)) or None


def may_have_members(ours: bytes, hunk: Hunk) -> bool:
    """Say whether a hunk adds nothing but members of a display, and upstream has all their words.

    Only such a hunk can be a superset of which `is_superset` and `has_members` are true.
    """
    words = re.findall(rb"\w+", hunk.added_text())
    return added_members(hunk) is not None and all(word in ours for word in words)


def has_members(
    path: str, base: bytes, position: int, ours: bytes, merged: bytes, hunk: Hunk
) -> bool:
    """Say whether a hunk that merges adds members that upstream put elsewhere in the display.

    Only members without an order: of a list or a call each place means something else.
    """
    rows, size = added_members(hunk), hunk.added()
    if rows is None:
        return False
    before = next(n for n, line in enumerate(hunk.lines) if line[:1] == b"+")
    new, mine = split_lines(merged), split_lines(ours)
    at = next((n for n, line in enumerate(mine) if line != new[n]), len(mine))
    if [*mine[:at], *new[at : at + size], *mine[at:]] != new:
        return False
    if any(order_at(path, new, line) is not Order.NONE for line in range(at, at + size)):
        return False
    old, there = members_around(split_lines(base), position + before), members_around(mine, at)
    return (
        old is not None
        and there is not None
        and all(row in there and row not in old for row in rows)
    )


LITERAL = -1
"""The depth of a line that begins inside a string: its white space is content."""

_NESTED = re.compile(
    rb"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#[ \t]*(?P<word>if|endif)[a-z]* | (?P<sign>[{}])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_LAYOUT = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


@lru_cache(maxsize=64)
def depths(path: str, content: bytes) -> Sequence[int | None]:
    """Return how deep each line stands; None where its white space says nothing."""
    kind, lines = language(path), content.count(b"\n") + 1
    if kind in BRACED:
        return _braced(content, lines)
    if kind == "YAML":
        code = ((line, code_of(line, kind)) for line in content.split(b"\n"))
        return [indentation(line) if text else None for line, text in code]
    try:
        return _python(content, lines) if kind == "Python" else [None] * lines
    except (tokenize.TokenError, SyntaxError, UnicodeError, LookupError):
        return [None] * lines


def _python(content: bytes, lines: int) -> Sequence[int | None]:
    """Return the depth of each line that begins a statement."""
    found: list[int | None] = [None] * lines
    depth, is_start, is_lone = 0, True, True
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
    return found


def _braced(content: bytes, lines: int) -> Sequence[int]:
    """Return the depth of each line in braces and conditions of the preprocessor."""
    change, line, at = [0] * (lines + 1), 0, 0
    for match in _NESTED.finditer(content):
        if match["sign"] is None and match["word"] is None:
            continue
        line, at = line + content.count(b"\n", at, match.start()), match.start()
        if match["sign"] == b"{" or match["word"] == b"if":
            change[line + 1] += 1
        else:
            is_first = not content[content.rfind(b"\n", 0, at) + 1 : at].strip()
            change[line + (not is_first)] -= 1
    return [*accumulate(change[:-1])]
