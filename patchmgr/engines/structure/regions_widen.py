"""Give conflict regions back the lines that git took out of them because both sides have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.structure.regions import (
    Clean,
    Piece,
    Region,
    contains,
)
from patchmgr.engines.structure.sides import Texts

_DEPTHS = ((3, 3), (3, 1), (1, 3), (1, 1))  # lines of the base that must agree before and after
_TELLING = 8  # letters and signs that one line alone needs for that
_FARTHEST = 400


def widened(pieces: Sequence[Piece], texts: Texts) -> tuple[Piece, ...]:
    """Return the pieces with each region as it was before git trimmed it.

    zdiff3 takes the lines out that both sides begin or end with, though the base does not have
    them there: what remains of two whole insertions is then in pieces.
    """
    base = lines_of(texts.base)
    places = _places(base)
    found = list(pieces)
    for n in range(1, len(found) - 1):
        before, region, after = found[n - 1 : n + 2]
        if not (
            isinstance(before, Clean) and isinstance(region, Region) and isinstance(after, Clean)
        ):
            continue
        edges = (n == 1, n == len(found) - 2)
        taken = _trimmed(_Site(base, places, before.lines, after.lines, region, edges))
        if taken is None or taken == (0, 0):
            continue
        first = len(before.lines) - taken[0]
        wide = _wide(region, before.lines[first:], after.lines[: taken[1]])
        if _stands(wide, texts):
            found[n - 1] = Clean(before.lines[:first])
            found[n] = wide
            found[n + 1] = Clean(after.lines[taken[1] :])
    return tuple(found)


class _Site(Struct, frozen=True):
    base: tuple[str, ...]
    places: Mapping[str, list[int]]
    before: tuple[str, ...]
    after: tuple[str, ...]
    region: Region
    edges: tuple[bool, bool]  # the lines before reach the text's start, those after its end


def _places(lines: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for n, line in enumerate(lines):
        places.setdefault(line, []).append(n)
    return places


def _trimmed(site: _Site) -> tuple[int, int] | None:
    """Find how many lines were taken before and after: the fewest that put the base together."""
    size = len(site.region.base)
    for before, after in _DEPTHS:
        is_once = before == after == 1
        heads, tails = _heads(site, before, is_once), _tails(site, after, is_once)
        fits = [
            (head + tails[at + size], head, tails[at + size])
            for at, head in heads.items()
            if at + size in tails and site.base[at : at + size] == site.region.base
        ]
        if fits:
            return min(fits)[1:]
    return None


def _agree(site: _Site, line: str, depth: int, is_once: bool) -> Sequence[int]:
    places = site.places.get(line, ())
    if depth > 1 or (len(places) == 1 if is_once else len(line.strip()) >= _TELLING):
        return places
    return ()


def _heads(site: _Site, depth: int, is_once: bool) -> dict[int, int]:
    """Return, for places in the base, the fewest lines to take off before to agree up to there."""
    heads: dict[int, int] = {}
    for taken in range(min(len(site.before), _FARTHEST) + 1):
        left = site.before[: len(site.before) - taken]
        if not left:
            if site.edges[0]:
                heads.setdefault(0, taken)
            break
        context = left[-depth:]
        for at in _agree(site, left[-1], depth, is_once):
            start = at + 1 - len(context)
            if start >= 0 and site.base[start : at + 1] == context:
                heads.setdefault(at + 1, taken)
    return heads


def _tails(site: _Site, depth: int, is_once: bool) -> dict[int, int]:
    tails: dict[int, int] = {}
    for taken in range(min(len(site.after), _FARTHEST) + 1):
        left = site.after[taken:]
        if not left:
            if site.edges[1]:
                tails.setdefault(len(site.base), taken)
            break
        context = left[:depth]
        for at in _agree(site, left[0], depth, is_once):
            if site.base[at : at + len(context)] == context:
                tails.setdefault(at, taken)
    return tails


def _wide(region: Region, before: tuple[str, ...], after: tuple[str, ...]) -> Region:
    return Region(
        region.base,
        before + region.upstream + after,
        before + region.fork + after,
        len(before),
        len(after),
    )


def _stands(region: Region, texts: Texts) -> bool:
    return contains(texts.upstream, "".join(region.upstream)) and contains(
        texts.fork, "".join(region.fork)
    )


def keeps_merged(region: Region, text: str) -> bool:
    """Say whether a region's answer has the lines that git had merged, where they were."""
    lines = lines_of(text)
    last = len(region.upstream) - region.after
    return (
        lines[: region.before] == region.upstream[: region.before]
        and lines[len(lines) - region.after :] == region.upstream[last:]
        and len(lines) >= region.before + region.after
    )
