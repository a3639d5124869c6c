"""Say in words how a conflict was solved, from its sides and its resolution alone."""

from __future__ import annotations

from collections import Counter

from patchmgr.model.recorded import Recorded

OPEN = "not solved yet"
DELETED = "the file was deleted"
UPSTREAM = "upstream's text was taken"
PATCH = "the patch's text was taken"
BASE = "the old text was put back"
BOTH = "both changes were kept"
UNION = "both sides' lines were united"
ANEW = "new text was written"


def solved_as(recorded: Recorded) -> str:
    """Return what a person, or the program in a person's words, made of a conflict."""
    resolution = recorded.resolution
    if resolution is None:
        return OPEN
    if resolution.content is None:
        return DELETED
    found = resolution.content
    for side, words in (
        (recorded.ours, UPSTREAM),
        (recorded.theirs, PATCH),
        (recorded.base, BASE),
    ):
        if side is not None and side == found:
            return words
    if recorded.ours is None or recorded.theirs is None:
        return ANEW
    base, ours, theirs, now = (
        _lines(text) for text in (recorded.base or b"", recorded.ours, recorded.theirs, found)
    )
    new = (ours - base) + (theirs - base)
    if not new - now and new:
        is_union = now == ours | theirs
        return UNION if is_union and not base else BOTH
    return ANEW


def _lines(text: bytes) -> Counter[bytes]:
    return Counter(line for line in map(bytes.strip, text.splitlines()) if line)
