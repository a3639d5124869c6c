"""Show what merges cleanly as a conflict, where upstream's text and the patch's say the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.differences import matched_lines
from patchmgr.engines.placement import split_lines
from patchmgr.model.merge import MARKER_BASE, MARKER_OURS, MARKER_THEIRS, Clean
from patchmgr.model.ports import TextMerge


class Spot(Struct, frozen=True):
    """The lines of base that a hunk changes, and upstream's that say the same (end exclusive)."""

    base_start: int
    base_end: int
    ours_start: int
    ours_end: int


_Boundary = tuple[int, int, int]
"""A place between two lines of base, of ours and of theirs, the same in all three."""


def marked_spots(
    base: bytes, ours: bytes, theirs: bytes, spots: Sequence[Spot], text: TextMerge
) -> bytes | None:
    """Return the merge with every spot between markers (zdiff3 form), None for binaries."""
    sides = split_lines(base), split_lines(ours), split_lines(theirs)
    regions = _regions(sides, spots)
    ends = (0, 0, 0), tuple(map(len, sides))
    places = [ends[0], *(place for region in regions for place in region), ends[1]]
    marked = b""
    for number, (start, end) in enumerate(pairwise(places)):
        cut = [b"".join(lines[a:b]) for lines, a, b in zip(sides, start, end, strict=True)]
        if number % 2:
            marked += _region(*cut)
            continue
        merge = text.merge(cut[0], cut[1], cut[2])
        content = merge.content if isinstance(merge, Clean) else merge.marked
        if content is None:
            return None
        marked += content
    return marked


def _regions(
    sides: tuple[list[bytes], list[bytes], list[bytes]], spots: Sequence[Spot]
) -> list[tuple[_Boundary, _Boundary]]:
    """Return start and end of the region around each spot; regions that meet become one."""
    base, ours, theirs = sides
    in_ours, in_theirs = dict(matched_lines(base, ours)), dict(matched_lines(base, theirs))
    kept = sorted(in_ours.keys() & in_theirs.keys())
    common = [(line, in_ours[line], in_theirs[line]) for line in kept]
    found: list[tuple[_Boundary, _Boundary]] = []
    for spot in sorted(spots, key=lambda spot: (spot.base_start, spot.ours_start)):
        before = [c for c in common if c[0] < spot.base_start and c[1] < spot.ours_start]
        after = [c for c in common if c[0] >= spot.base_end and c[1] >= spot.ours_end]
        start = tuple(n + 1 for n in before[-1]) if before else (0, 0, 0)
        end = after[0] if after else tuple(map(len, sides))
        found.append((_boundary(start), _boundary(end)))
    merged: list[tuple[_Boundary, _Boundary]] = []
    for region in sorted(found):
        if merged and region[0] <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], region[1])
        else:
            merged.append(region)
    return merged


def _boundary(place: tuple[int, ...]) -> _Boundary:
    base, ours, theirs = place
    return base, ours, theirs


def _region(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    return b"".join(
        (
            b"<<<<<<< " + MARKER_OURS + b"\n", _ended(ours),
            b"||||||| " + MARKER_BASE + b"\n", _ended(base),
            b"=======\n", _ended(theirs),
            b">>>>>>> " + MARKER_THEIRS + b"\n",
        )
    )  # fmt: skip


def _ended(side: bytes) -> bytes:
    return side if not side or side.endswith(b"\n") else side + b"\n"
