"""Read the members of displays (sets, lists, calls) in a few lines of any C-like language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from msgspec import Struct

LARGEST_DISPLAY = 200  # lines
DEEPEST_DISPLAY = 50

_PIECE = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[^\W\d]\w*|\d[\w.]*|(?P<space>\s+)|\S", re.DOTALL
)
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = frozenset(_CLOSER.values())


class Order(Enum):
    """What the order of members means."""

    NONE = 0  # the language calls them unordered
    LINED = 1
    NUMBERED = 2  # a member is known by its number: arguments, parameters, enumerators


# What stands before a list whose use proves that it has no order.
_ANY_ORDER = re.compile(r"(?:\b__all__\s*(?::[^=]*)?\+?=|\bin|\b(?:frozen)?set\()\s*\Z")
_IMPORT = re.compile(r"\bimport\s*\Z")
_DEFINED = re.compile(r"\b(?:def|class)\s+\w+\s*\Z")
_CALLED = re.compile(r"[\w\])]\s*\Z")
_ENUM = re.compile(r"\benum\b[^;{}]*\Z")
_NAMED = re.compile(rb"\s*(?:\w+\s*=(?!=)|\*\*)")
_PYTHON = (".py", ".pyi")


class Group(Struct, frozen=True):
    """Brackets with the members between them; `is_call` where a name stands in front."""

    opener: str
    is_call: bool
    members: tuple[Row, ...]


Row = tuple["str | Group", ...]
"""The pieces between two commas."""


def read_rows(content: bytes) -> tuple[Row, ...] | None:
    """Return a text, split at the commas outside of brackets; None where brackets do not match.

    An empty row behind the last comma is none.
    """
    pieces = _pieces(content)
    rows = _members(pieces, None)
    return None if rows is None or next(pieces, None) is not None else rows


def _pieces(content: bytes) -> Iterator[str]:
    text = content.decode("utf-8", "surrogateescape")
    return (m[0] for m in _PIECE.finditer(text) if m["space"] is None)


def _members(pieces: Iterator[str], closer: str | None, depth: int = 0) -> tuple[Row, ...] | None:
    """Return the members up to the closing bracket, None where another one comes."""
    if depth > DEEPEST_DISPLAY:
        return None
    rows: list[Row] = []
    row: list[str | Group] = []
    for piece in pieces:
        if piece in _CLOSERS:
            if piece != closer:
                return None
            break
        if piece in _CLOSER:
            inner = _members(pieces, _CLOSER[piece], depth + 1)
            if inner is None:
                return None
            row.append(Group(piece, bool(row) and _is_callable(row[-1]), inner))
        elif piece == ",":
            rows.append(tuple(row))
            row = []
        else:
            row.append(piece)
    else:
        if closer is not None:
            return None
    return (*rows, tuple(row)) if row else tuple(rows)


def _is_callable(piece: str | Group) -> bool:
    return isinstance(piece, str) and (piece[-1].isalnum() or piece[-1] == "_")


def is_among(part: Sequence[Row], whole: Sequence[Row]) -> bool:
    """Say whether all rows of the part are in the whole, in order."""
    rest = iter(whole)
    return all(row in rest for row in part)


def members_around(lines: Sequence[bytes], at: int) -> tuple[Row, ...] | None:
    """Return the members of the display that a line starts in, None where there is none."""
    start, end = max(0, at - LARGEST_DISPLAY), at + LARGEST_DISPLAY
    before = _open_part(b"".join(lines[start:at]))
    after = _closed_part(b"".join(lines[at:end]))
    if before is None or after is None:
        return None
    return read_rows(before + b"\n" + after)


def _open_part(content: bytes) -> bytes | None:
    """Return what follows the last bracket that is not closed."""
    text = content.decode("utf-8", "surrogateescape")
    at = _last_open(text)
    return None if at is None else text[at:].encode("utf-8", "surrogateescape")


def _last_open(text: str) -> int | None:
    """Return where the text goes on behind the last bracket that is not closed."""
    opened: list[int] = []
    for match in _PIECE.finditer(text):
        if match[0] in _CLOSER:
            opened.append(match.end())
        elif match[0] in _CLOSERS and opened:
            opened.pop()
    return opened[-1] if opened else None


def order_at(path: str, lines: Sequence[bytes], at: int) -> Order:
    """Say what the order of the lines around a line means, as far as brackets tell."""
    start = max(0, at - LARGEST_DISPLAY)
    text = b"".join(lines[start:at]).decode("utf-8", "surrogateescape")
    opened = _last_open(text)
    if opened is None:
        return Order.LINED
    before, opener = text[: opened - 1], text[opened - 1]
    is_python = path.endswith(_PYTHON)
    if is_python and (_ANY_ORDER.search(before) or _IMPORT.search(before)):
        return Order.NONE
    if opener == "{":
        if _ENUM.search(before):
            return Order.NUMBERED
        return Order.NONE if is_python and _is_set(lines, at) else Order.LINED
    if opener == "(" and _CALLED.search(before):
        is_named = is_python and _NAMED.match(lines[at]) is not None
        return Order.NONE if is_named and not _DEFINED.search(before) else Order.NUMBERED
    return Order.LINED


def _is_set(lines: Sequence[bytes], at: int) -> bool:
    rows = members_around(lines, at)
    return rows is not None and not any(":" in row for row in rows)


def _closed_part(content: bytes) -> bytes | None:
    """Return what comes before the first bracket that closes none of the text."""
    text = content.decode("utf-8", "surrogateescape")
    depth = 0
    for match in _PIECE.finditer(text):
        depth += match[0] in _CLOSER
        if match[0] in _CLOSERS:
            if not depth:
                return text[: match.start()].encode("utf-8", "surrogateescape")
            depth -= 1
    return None


def rows_of_lines(lines: Iterable[bytes]) -> tuple[Row, ...] | None:
    """Return the members that lines of a display hold, None where they are anything else."""
    held = [line.rstrip() for line in lines]
    if not held or not all(line.endswith(b",") for line in held if line):
        return None
    return read_rows(b"\n".join(held)) or None
