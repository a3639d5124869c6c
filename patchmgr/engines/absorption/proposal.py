"""Propose to drop hunks that upstream seems to have in a different form. A person decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.absorption.likeness import Comparison, Likeness, find_likeness
from patchmgr.engines.rebase.ladder import (
    ABSORBED_REWORDED,
    CONFLICT,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import Block, matched_lines, runs_of
from patchmgr.model.merge import MARKER_BASE, MARKER_OURS, MARKER_THEIRS, Clean
from patchmgr.model.outcome import How, Resemblance, Verdict
from patchmgr.model.ports import Blobs, TextMerge

REASON = "upstream seems to have this in other words"


class Proposal(Struct, frozen=True):
    """A hunk, given by its index in the file, that upstream seems to have in a different form.

    `is_clean` says whether the hunk merged without a conflict.
    """

    hunk: int
    likeness: Likeness
    is_clean: bool


def with_proposals(
    sides: Sides, merged: Merged | Collided, *, blobs: Blobs, text: TextMerge
) -> tuple[Merged | Collided, tuple[Proposal, ...]]:
    """Find the hunks that upstream seems to have. Those that merged cleanly become conflicts.

    Returns the merge with these conflicts, and all hunks found. If upstream has every hunk, at
    least in a later wording, the merge is upstream's file.
    """
    is_binary = isinstance(merged, Collided) and merged.marked is None
    is_asked = not is_binary and sides.base and sides.ours and sides.base.blob != sides.ours.blob
    texts = sides.texts(blobs) if is_asked else None
    if texts is None:
        return merged, ()
    base, ours, theirs = texts
    found = tuple(_proposals(Comparison(sides.path, base, ours), sides, merged.answers))
    whole = {one.hunk for one in found if one.likeness.is_whole}
    answers = tuple(ABSORBED_REWORDED if n in whole else a for n, a in enumerate(merged.answers))
    if whole and all(answer[0] is Verdict.ABSORBED for answer in answers):
        return Merged(sides.ours, answers), found
    clean = {one.hunk: one.likeness for one in found if one.is_clean}
    if not clean:
        return merged, found
    answers = tuple(CONFLICT if n in clean else a for n, a in enumerate(merged.answers))
    spots = []
    for n, likeness in clean.items():
        runs = tuple(runs_of(sides.hunks[n], sides.positions[n]))
        spots.append(Block(runs[0].start, runs[-1].end, likeness.start, likeness.end))
    reason = merged.reason if isinstance(merged, Collided) else REASON
    return Collided(reason, marked_spots(base, ours, theirs, spots, text), answers), found


def _proposals(
    comparison: Comparison, sides: Sides, answers: Sequence[Answer]
) -> Iterator[Proposal]:
    for n, (hunk, position) in enumerate(zip(sides.hunks, sides.positions, strict=True)):
        verdict, how = answers[n]
        if verdict is not Verdict.ABSORBED and how in (None, How.TEXT, How.MOVED):
            is_clean = verdict is not Verdict.CONFLICT
            likeness = find_likeness(comparison, hunk, position, is_clean=is_clean)
            if likeness is not None:
                yield Proposal(n, likeness, is_clean)


def resemblances(
    sides: Sides, proposals: Sequence[Proposal], blobs: Blobs
) -> tuple[Resemblance, ...]:
    """Return the text that each proposed hunk adds, and the upstream text that is similar to it."""
    assert sides.ours
    ours = split_lines(blobs.read(sides.ours.blob))
    found = ((one.likeness, sides.hunks[one.hunk].added_text()) for one in proposals)
    return tuple(
        Resemblance(x.confidence, x.start + 1, b"".join(ours[x.start : x.end]), added)
        for x, added in found
    )


def marked_spots(
    base: bytes, ours: bytes, theirs: bytes, spots: Sequence[Block], text: TextMerge
) -> bytes | None:
    """Merge three texts, and put conflict markers (zdiff3) around the given lines in any case.

    Returns None if the file is binary.
    """
    sides = split_lines(base), split_lines(ours), split_lines(theirs)
    ends = (0, 0, 0), (len(sides[0]), len(sides[1]), len(sides[2]))
    regions = _regions(sides, spots, ends[1])
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
"""Line numbers in base, ours and theirs that stand for the same place in all three."""


def _regions(
    sides: tuple[list[bytes], list[bytes], list[bytes]], spots: Sequence[Block], last: _Place
) -> list[tuple[_Place, _Place]]:
    """Return the regions around the spots, between common lines. Adjacent ones are joined."""
    ours, theirs = (dict(matched_lines(sides[0], side)) for side in sides[1:])
    common = [(line, ours[line], theirs[line]) for line in sorted(ours.keys() & theirs.keys())]
    around: list[tuple[_Place, _Place]] = []
    for spot in spots:
        before = [c for c in common if c[0] < spot.old_start and c[1] < spot.new_start]
        after = (c for c in common if c[0] >= spot.old_end and c[1] >= spot.new_end)
        a, b, c = before[-1] if before else (-1, -1, -1)
        around.append(((a + 1, b + 1, c + 1), next(after, last)))
    found: list[tuple[_Place, _Place]] = []
    for start, end in sorted(around):
        is_new = not found or start > found[-1][1]
        found.append((start, end) if is_new else (found[-1][0], max(found.pop()[1], end)))
    return found


def _region(*sides: bytes) -> bytes:
    base, ours, theirs = (x if not x or x.endswith(b"\n") else x + b"\n" for x in sides)
    return b"<<<<<<< %b\n%b||||||| %b\n%b=======\n%b>>>>>>> %b\n" % (
        MARKER_OURS, ours, MARKER_BASE, base, theirs, MARKER_THEIRS,
    )  # fmt: skip
