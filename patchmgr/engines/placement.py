"""Apply hunks to a content at their exact place, or at the only other place that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from patchmgr.model.patch import Hunk


@dataclass(frozen=True, slots=True)
class Applied:
    """The new content, and where each hunk starts in the old one (0-based lines)."""

    content: bytes
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """The first hunk (0-based index) that has no single place, and why."""

    index: int
    reason: str


MOST_PLACES = 99


def split_lines(content: bytes) -> list[bytes]:
    """Split at line feeds only and keep them, as git does."""
    pieces = content.split(b"\n")
    last = pieces.pop()
    lines = [piece + b"\n" for piece in pieces]
    return [*lines, last] if last else lines


def apply_hunks(content: bytes, hunks: Sequence[Hunk]) -> Applied | Rejected:
    """Apply all hunks without fuzz: every context and removed line must be there.

    A hunk that does not fit at its stated line (moved on by what earlier hunks were moved)
    may go to another place behind the earlier hunks if that is the only one.
    """
    lines = split_lines(content)
    out: list[bytes] = []
    positions: list[int] = []
    done = drift = 0
    for index, hunk in enumerate(hunks):
        stated = hunk.old_start - (1 if hunk.old_count else 0)
        place = _place(lines, hunk, stated + drift, done)
        if isinstance(place, str):
            return Rejected(index, place)
        drift = place - stated
        out += lines[done:place]
        out += hunk.new()
        done = place + len(hunk.old())
        positions.append(place)
    out += lines[done:]
    joined = b"".join(out)
    if any(not line.endswith(b"\n") for line in out[:-1]):
        return Rejected(len(hunks) - 1, "a line without a line feed would end up inside the file")
    return Applied(joined, tuple(positions))


def _place(lines: list[bytes], hunk: Hunk, expected: int, start: int) -> int | str:
    old = list(hunk.old())
    if (
        expected >= start
        and lines[expected : expected + len(old)] == old
        and expected <= len(lines)
    ):
        return expected
    if not old:
        return "it has no context and its place is gone"
    found = list(_matches(lines, old, start))
    if len(found) == 1:
        return found[0]
    return "its lines are not there" if not found else f"its lines are there {len(found)} times"


def _matches(lines: list[bytes], old: list[bytes], start: int) -> list[int]:
    found: list[int] = []
    at = start
    while len(found) < MOST_PLACES:
        try:
            at = lines.index(old[0], at)
        except ValueError:
            return found
        if lines[at : at + len(old)] == old:
            found.append(at)
        at += 1
    return found


def apply_one(content: bytes, hunk: Hunk, position: int) -> bytes:
    """Apply one hunk at a known position (0-based line of the content)."""
    lines = split_lines(content)
    lines[position : position + len(hunk.old())] = hunk.new()
    return b"".join(lines)
