"""Take a text with conflict markers apart into clean stretches and regions, and join it again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.structure.sides import Texts

_MARKER = re.compile(r"(?:(<{7}|\|{7}|>{7})(?: [^\n]*)?|(={7}))\r?\n?\Z")
_DUE = {"": "<", "<": "|", "|": "=", "=": ">"}


class Clean(Struct, frozen=True):
    """Lines that git merged, each with its ending."""

    lines: tuple[str, ...]


class Region(Struct, frozen=True):
    """The lines of the three sides that git could not merge, each with its ending.

    The first `before` and the last `after` lines of both sides are the same, and merged.
    """

    base: tuple[str, ...]
    upstream: tuple[str, ...]
    fork: tuple[str, ...]
    before: int = 0
    after: int = 0


Piece = Clean | Region


def pieces_of(marked: str, texts: Texts) -> tuple[Piece, ...] | None:
    """Parse git's zdiff3 or diff3 text, upstream's side first; None where that is not certain.

    Certain means: every marker is the one due, and each side of a region stands in its text.
    """
    pieces = _parsed(lines_of(marked))
    if pieces is None or not all(_stands(piece, texts) for piece in pieces):
        return None
    return pieces


def _parsed(lines: Sequence[str]) -> tuple[Piece, ...] | None:
    pieces: list[Piece] = []
    parts: dict[str, list[str]] = {"": []}
    side = ""
    for line in lines:
        found = _MARKER.match(line)
        kind = line[0] if found is not None else ""
        if kind != _DUE[side]:
            parts[side].append(line)
        elif kind == "<":
            pieces.append(Clean(tuple(parts[""])))
            parts, side = {"<": []}, "<"
        elif kind == ">":
            base, upstream, fork = (tuple(parts[k]) for k in ("|", "<", "="))
            pieces.append(Region(base, upstream, fork))
            parts, side = {"": []}, ""
        else:
            side = kind
            parts[side] = []
    if side:
        return None
    pieces.append(Clean(tuple(parts[""])))
    return tuple(pieces)


def _stands(piece: Piece, texts: Texts) -> bool:
    if isinstance(piece, Clean):
        return not any(_MARKER.match(line) and line[:1] in "<>|" for line in piece.lines)
    sides = ((piece.base, texts.base), (piece.upstream, texts.upstream), (piece.fork, texts.fork))
    return all(contains(text, "".join(lines)) for lines, text in sides)


def contains(text: str, part: str) -> bool:
    """Say whether whole lines stand in a text as they are."""
    ending = "" if text.endswith("\n") else "\r\n" if part.endswith("\r\n") else "\n"
    return not part or "\n" + part in "\n" + text + ending


def regions_of(pieces: Sequence[Piece]) -> Iterator[Region]:
    """Yield the regions of some pieces."""
    return (piece for piece in pieces if isinstance(piece, Region))


def joined(pieces: Sequence[Piece], solved: Sequence[str], texts: Texts) -> str:
    """Put a text together again, the regions as they were solved.

    A last line without an ending is taken from the side that changed this.
    """
    answers = iter(solved)
    text = "".join(
        "".join(piece.lines) if isinstance(piece, Clean) else next(answers) for piece in pieces
    )
    at_end = isinstance(pieces[-1], Clean) and bool(pieces[-1].lines)
    if at_end or not text.endswith("\n") or _ends_with_newline(texts):
        return text
    return text[: -2 if text.endswith("\r\n") else -1]


def _ends_with_newline(texts: Texts) -> bool:
    base, upstream, fork = (
        not text or text.endswith("\n") for text in (texts.base, texts.upstream, texts.fork)
    )
    return upstream if upstream == fork or fork == base else fork
