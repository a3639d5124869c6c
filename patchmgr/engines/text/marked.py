"""Parse a text with git's conflict markers (zdiff3 or diff3 form)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from patchmgr.model.recorded import Region

_MARKER = re.compile(rb"(?:<{7} |\|{7} |={7}\r?$|>{7} )[^\n]*\n?", re.MULTILINE)
_FOLLOWS = {b"": b"<", b"<": b"|", b"|": b"=", b"=": b">"}


class MarkedRegion(Struct, frozen=True):
    """A region with its lines as they stand in the text, markers included."""

    region: Region
    raw: bytes

    @property
    def is_sure(self) -> bool:
        """Return whether no line within a side could be a marker itself."""
        sides = (self.region.base, self.region.ours, self.region.theirs)
        return not any(has_marker(side) for side in sides)


class MarkedText(Struct, frozen=True):
    """Clean texts and the regions between them: there is one text more than regions."""

    texts: tuple[bytes, ...]
    regions: tuple[MarkedRegion, ...]

    @property
    def is_sure(self) -> bool:
        """Return whether no line of the clean texts could be a marker."""
        return not any(has_marker(text) for text in self.texts)

    def with_each(self, parts: tuple[bytes, ...]) -> bytes:
        """Return the text with these texts in place of the regions."""
        pairs = zip(self.texts, (*parts, b""), strict=True)
        return b"".join(text + part for text, part in pairs)


def sides_of(marked: bytes) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs of a marked text; all have the text around the regions alike."""
    found = split_marked(marked)
    regions = [one.region for one in found.regions]
    every = ([r.base for r in regions], [r.ours for r in regions], [r.theirs for r in regions])
    base, ours, theirs = (found.with_each(tuple(parts)) for parts in every)
    return base, ours, theirs


def has_marker(text: bytes) -> bool:
    """Return whether a line looks like a conflict marker of git."""
    return any(True for _ in _markers(text))


def _markers(text: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the lines that look like markers of git."""
    found = _MARKER.finditer(text)  # without `^`, which would be tried at every byte
    return (one for one in found if text[max(0, one.start() - 1) : one.start()] in b"\n")


def split_marked(marked: bytes) -> MarkedText:
    """Parse a marked text; a region without an end counts as clean text, markers included.

    A marker that is not the next one expected counts as text.
    """
    texts, regions = [b""], []
    for raw, region in _pieces(marked):
        if region is None:
            texts[-1] += raw
        else:
            regions.append(MarkedRegion(region, raw))
            texts.append(b"")
    return MarkedText(tuple(texts), tuple(regions))


def _pieces(marked: bytes) -> Iterator[tuple[bytes, Region | None]]:
    """Yield text and regions in order, with their lines."""
    side, start, at = b"", 0, 0
    sides: dict[bytes, bytes] = {}
    for found in _markers(marked):
        kind = found[0][:1]
        if kind != _FOLLOWS[side]:
            continue
        sides[side] = marked[at : found.start()]
        if kind == b"<":
            yield sides[b""], None
            start = found.start()
        side, at = kind, found.end()
        if kind == b">":
            yield marked[start:at], Region(sides[b"|"], sides[b"<"], sides[b"="])
            side, start = b"", at
    yield marked[start:], None
