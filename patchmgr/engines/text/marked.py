"""Parse a text with git's conflict markers (in the zdiff3 or diff3 style)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from patchmgr.model.recorded_conflict import RegionSides

_MARKERS = tuple(
    re.compile(rb"\n" + sign)
    for sign in (b"<<<<<<< .*", rb"\|\|\|\|\|\|\| .*", rb"=======\r?(?![^\n])", b">>>>>>> .*")
)
"""The markers of a region, in order. A search that begins with a line feed is faster than `^`."""


class MarkedRegion(Struct, frozen=True):
    """A conflict region: its three sides, and its bytes including the conflict markers."""

    region: RegionSides
    raw: bytes

    @property
    def is_sure(self) -> bool:
        """Whether the region's bounds are certain: no line in it looks like another marker."""
        return not any(map(has_marker, self.region.sides))


class MarkedText(Struct, frozen=True):
    """A text with conflict markers, split into the conflict regions and the texts between them."""

    texts: tuple[bytes, ...]
    regions: tuple[MarkedRegion, ...]

    @property
    def is_sure(self) -> bool:
        """Whether no line outside the conflict regions looks like a conflict marker."""
        return not any(has_marker(text) for text in self.texts)

    def with_each(self, parts: tuple[bytes, ...]) -> bytes:
        """Return the text with each conflict region replaced by one of `parts`, in order."""
        pairs = zip(self.texts, (*parts, b""), strict=True)
        return b"".join(text + part for text, part in pairs)


def sides_of(marked: bytes) -> tuple[bytes, bytes, bytes]:
    """Return (base, ours, theirs): the file with every conflict replaced by that side's text."""
    found = split_marked(marked)
    sides = [one.region.sides for one in found.regions]
    base, ours, theirs = (found.with_each(tuple(each[n] for each in sides)) for n in range(3))
    return base, ours, theirs


def has_marker(text: bytes) -> bool:
    """Return whether any line of a text looks like one of git's conflict markers."""
    return any(marker.search(b"\n" + text) for marker in _MARKERS)


def split_marked(marked: bytes) -> MarkedText:
    """Split a text at its conflict regions; misplaced markers count as clean text."""
    texts, regions = [b""], []
    for raw, region in _pieces(marked):
        if region is None:
            texts[-1] += raw
        else:
            regions.append(MarkedRegion(region, raw))
            texts.append(b"")
    return MarkedText(tuple(texts), tuple(regions))


def _pieces(marked: bytes) -> Iterator[tuple[bytes, RegionSides | None]]:
    """Yield the pieces of a text in order: a region with its sides, clean text with None."""
    text, start, at = b"\n" + marked, 1, 1
    sides: list[bytes] = []
    while found := _MARKERS[len(sides)].search(text, at - 1):
        sides.append(text[at : found.start() + 1])
        at = found.end() + 1
        if len(sides) == 1:
            yield sides[0], None
            start = found.start() + 1
        elif len(sides) == len(_MARKERS):
            _, ours, base, theirs = sides
            yield text[start:at], RegionSides(base, ours, theirs)
            start, sides = at, []
    yield text[start:], None
