"""Hunks that upstream seems to have in other words: a conflict that shows both texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import astuple

from patchmgr.engines.absorption.likeness import Comparison, Likeness, find_likeness
from patchmgr.engines.differences import matched_lines
from patchmgr.engines.ladder import (
    ABSORBED_REWORDED,
    CONFLICT,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.placement import split_lines
from patchmgr.engines.runs import runs_of
from patchmgr.model.merge import MARKER_BASE, MARKER_OURS, MARKER_THEIRS, Clean
from patchmgr.model.outcome import How, Resemblance, Verdict
from patchmgr.model.ports import Blobs, Kept, TextMerge
from patchmgr.model.snapshot import FILE_MODES

REASON = "upstream seems to have this in other words"


class Proposal(Struct, frozen=True):
    """A hunk, by its number in the file, that upstream seems to have in other words."""

    hunk: int
    likeness: Likeness
    is_clean: bool


class Spot(Struct, frozen=True):
    """The lines of base that a hunk changes, and upstream's that say the same (end exclusive)."""

    base_start: int
    base_end: int
    ours_start: int
    ours_end: int


def with_proposals(
    path: str,
    sides: Sides,
    merged: Merged | Collided,
    *,
    blobs: Blobs,
    text: TextMerge,
    kept: Kept | None = None,
) -> tuple[Merged | Collided, tuple[Proposal, ...]]:
    """Return a merge in which hunks that upstream seems to have are conflicts, and those hunks.

    Where upstream has each hunk, at least in a later wording, the merge is upstream's file.
    """
    entries = (sides.base, sides.ours, sides.theirs)
    if any(entry is None or entry.mode not in FILE_MODES for entry in entries):
        return merged, ()
    if sides.base == sides.ours or (isinstance(merged, Collided) and merged.marked is None):
        return merged, ()
    base, ours, theirs = (blobs.read(entry.blob) for entry in entries if entry is not None)
    found = _proposals(path, sides, merged.answers, (base, ours), kept)
    whole = {one.hunk for one in found if one.likeness.is_whole}
    landed = tuple(ABSORBED_REWORDED if n in whole else a for n, a in enumerate(merged.answers))
    if whole and all(answer[0] is Verdict.ABSORBED for answer in landed):
        return Merged(sides.ours, landed), found
    clean = {one.hunk for one in found if one.is_clean}
    if not clean:
        return merged, found
    answers = tuple(CONFLICT if n in clean else a for n, a in enumerate(merged.answers))
    spots = [_spot(sides, one) for one in found if one.is_clean]
    reason = merged.reason if isinstance(merged, Collided) else REASON
    return Collided(reason, marked_spots(base, ours, theirs, spots, text), answers), found


def _proposals(
    path: str,
    sides: Sides,
    answers: Sequence[Answer],
    texts: tuple[bytes, bytes],
    kept: Kept | None,
) -> tuple[Proposal, ...]:
    """Return the proposals about hunks that are carried by a merge of texts or are in conflict."""
    about = [
        (n, answers[n] != CONFLICT, hunk, sides.positions[n])
        for n, hunk in enumerate(sides.hunks)
        if answers[n][0] is not Verdict.ABSORBED and answers[n][1] in (None, How.TEXT, How.MOVED)
    ]
    assert sides.base and sides.ours
    question = ("proposals", path, sides.base.blob, sides.ours.blob, repr(about))
    known = None if kept is None or not about else kept.get(question)
    if known is not None:
        return tuple(Proposal(n, Likeness(*found), is_clean) for n, is_clean, *found in known[0])
    comparison = Comparison(path, *texts)
    likely = ((n, c, find_likeness(comparison, hunk, at, is_clean=c)) for n, c, hunk, at in about)
    found = tuple(Proposal(n, likeness, c) for n, c, likeness in likely if likeness is not None)
    if kept is not None and about:
        kept.put(question, [[one.hunk, one.is_clean, *astuple(one.likeness)] for one in found])
    return found


def _spot(sides: Sides, found: Proposal) -> Spot:
    runs = tuple(runs_of(sides.hunks[found.hunk], sides.positions[found.hunk]))
    return Spot(runs[0].start, runs[-1].end, found.likeness.start, found.likeness.end)


def resemblances(
    sides: Sides, proposals: Sequence[Proposal], blobs: Blobs
) -> tuple[Resemblance, ...]:
    """Return both texts of each proposal."""
    assert sides.ours
    ours = split_lines(blobs.read(sides.ours.blob))
    found = ((one.likeness, sides.hunks[one.hunk].added_text()) for one in proposals)
    return tuple(
        Resemblance(x.confidence, x.start + 1, b"".join(ours[x.start : x.end]), added)
        for x, added in found
    )


def marked_spots(
    base: bytes, ours: bytes, theirs: bytes, spots: Sequence[Spot], text: TextMerge
) -> bytes | None:
    """Return the merge with every spot between markers (zdiff3 form), None for binaries."""
    sides = split_lines(base), split_lines(ours), split_lines(theirs)
    ends = (0, 0, 0), (len(sides[0]), len(sides[1]), len(sides[2]))
    regions = _joined(sorted(_regions(sides, spots, ends[1])))
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


_Place = tuple[int, int, int]
"""A place between two lines of base, of ours and of theirs, the same in all three."""


def _regions(
    sides: tuple[list[bytes], list[bytes], list[bytes]], spots: Sequence[Spot], last: _Place
) -> Iterator[tuple[_Place, _Place]]:
    """Yield the lines around each spot, up to the next that all three sides have."""
    ours, theirs = (dict(matched_lines(sides[0], side)) for side in sides[1:])
    common = [(line, ours[line], theirs[line]) for line in sorted(ours.keys() & theirs.keys())]
    for spot in spots:
        before = [c for c in common if c[0] < spot.base_start and c[1] < spot.ours_start]
        after = (c for c in common if c[0] >= spot.base_end and c[1] >= spot.ours_end)
        start = before[-1] if before else (-1, -1, -1)
        yield (start[0] + 1, start[1] + 1, start[2] + 1), next(after, last)


def _joined(regions: Sequence[tuple[_Place, _Place]]) -> list[tuple[_Place, _Place]]:
    """Return regions in order, those that meet as one."""
    found: list[tuple[_Place, _Place]] = []
    for start, end in regions:
        if found and start <= found[-1][1]:
            start, end = found[-1][0], max(found.pop()[1], end)
        found.append((start, end))
    return found


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
