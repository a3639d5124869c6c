"""Compute the ids of conflicts. An id depends only on the texts, not on file or position."""

from __future__ import annotations

import hashlib

from patchmgr.engines.text.marked import split_marked


def conflict_regions(marked: bytes) -> tuple[tuple[bytes, bytes, bytes], ...]:
    """Return base, ours and theirs of each conflict region, each without its last line feed."""
    sides = (map(_unended, found.region.sides) for found in split_marked(marked).regions)
    return tuple((base, ours, theirs) for base, ours, theirs in sides)


def _unended(side: bytes) -> bytes:
    return side.removesuffix(b"\n")


def conflict_id(
    base: bytes | None, ours: bytes | None, theirs: bytes | None, marked: bytes | None
) -> str:
    """Return the id of a conflict in a file: 12 hex digits, made from the sides of all regions.

    Without regions, the sides of the file are used. Exchanging ours and theirs keeps the id.
    """
    found = split_marked(marked).regions if marked is not None else ()
    regions = [tuple(map(_bare, one.region.sides)) for one in found]
    digest = hashlib.sha256()
    for region_base, *sides in regions or ((base, ours, theirs),):
        for part in (region_base, *sorted(sides, key=lambda s: (s is not None, s or b""))):
            digest.update(b"-" if part is None else b"%d:" % len(part) + part)
    return digest.hexdigest()[:12]


def region_id(base: bytes, ours: bytes, theirs: bytes) -> str:
    """Return the id of a conflict region; a conflict with only this region has the same id."""
    return conflict_id(_bare(base), _bare(ours), _bare(theirs), None)


def _bare(side: bytes) -> bytes:
    """Remove the last line feed, unless all lines are blank: blank lines differ from no lines."""
    return _unended(side) if side.strip(b"\n") else side
