"""Tell a clean merge that is a guess: upstream has what a hunk changes in several places."""

from __future__ import annotations

from collections import Counter

from patchmgr.engines.ladder import (
    CARRIED_TEXT,
    CONFLICT,
    DRIFTED_TEXT,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.placement import places_of, split_lines
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import FILE_MODES


def doubt(path: str, sides: Sides, merged: Merged, blobs: Blobs) -> Merged | Collided:
    """Return the merge, or a collision where the place of a hunk is a guess.

    It is one where the lines of the hunk, context included, stand in more places than before,
    and the symbol around it is gone; where there are no symbols, none of the places has more of
    the lines above it than another. A text merge takes one of them.
    """
    pairs = zip(merged.answers, sides.hunks, sides.positions, strict=False)
    carried = [
        (number, hunk, position)
        for number, (answer, hunk, position) in enumerate(pairs)
        if answer in (CARRIED_TEXT, DRIFTED_TEXT)
    ]
    base, ours = sides.base, sides.ours
    if base is None or ours is None or base == ours or {base.mode, ours.mode} - FILE_MODES:
        return merged
    texts = blobs.read(base.blob), blobs.read(ours.blob)
    often = Counter(split_lines(texts[1]))
    for number, hunk, position in carried:
        if all(often[line] > 1 for line in hunk.old()) and _is_guess(path, *texts, hunk, position):
            reason = "upstream has what the patch changes in several places, none of them the old"
            answers = list(merged.answers)
            answers[number] = CONFLICT
            return Collided(reason, None, tuple(answers))
    return merged


def _is_guess(path: str, base: bytes, ours: bytes, hunk: Hunk, position: int) -> bool:
    old = b"".join(hunk.old())
    if not old or ours.count(old) < 2:
        return False
    places = places_of(ours, hunk)
    if len(places) <= max(1, len(places_of(base, hunk))):
        return False
    before = next((n for n, line in enumerate(hunk.lines) if line[:1] != b" "), 0)
    from patchmgr.engines.symbols import SymbolIndex

    symbol = SymbolIndex(path, base).at(position + before)
    if symbol is not None:
        return symbol not in SymbolIndex(path, ours).names()
    old_lines, new_lines = split_lines(base), split_lines(ours)
    above = sorted(_equal_above(old_lines, position, new_lines, place) for place in places)
    return above[-1] == above[-2]


def _equal_above(old: list[bytes], position: int, new: list[bytes], place: int) -> int:
    pairs = zip(reversed(old[:position]), reversed(new[:place]), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(position, place))
