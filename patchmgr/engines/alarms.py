"""Hold what a merge carried, or could not carry, against what upstream has in other words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple

from patchmgr.engines.comparison import Comparison
from patchmgr.engines.differences import runs_of
from patchmgr.engines.ladder import (
    ABSORBED_REWORDED,
    CONFLICT,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.likely import Likeness, find_likeness
from patchmgr.engines.placement import split_lines
from patchmgr.model.outcome import How, Resemblance, Verdict
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs, Kept, TextMerge
from patchmgr.model.snapshot import FILE_MODES

if TYPE_CHECKING:
    from patchmgr.engines.both_texts import Spot
    from patchmgr.engines.name_counts import NameCounts

REASON = "upstream seems to have this in other words"


class Alarm(Struct, frozen=True):
    """A hunk, by its number in the file, that upstream seems to have in other words."""

    hunk: int
    likeness: Likeness
    is_clean: bool


def raise_alarms(
    path: str,
    sides: Sides,
    merged: Merged | Collided,
    *,
    blobs: Blobs,
    text: TextMerge,
    names: NameCounts | None = None,
    kept: Kept | None = None,
) -> tuple[Merged | Collided, tuple[Alarm, ...]]:
    """Return a merge in which hunks that upstream seems to have are conflicts, and those hunks."""
    if isinstance(merged, Collided) and merged.marked is None:
        return merged, ()
    alarms = _alarms(path, sides, merged.answers, blobs, names=names, kept=kept)
    clean = {alarm.hunk: alarm.likeness for alarm in alarms if alarm.is_clean}
    if not clean:
        return merged, alarms
    from patchmgr.engines.both_texts import marked_spots

    assert sides.base and sides.ours and sides.theirs
    answers = tuple(CONFLICT if n in clean else a for n, a in enumerate(merged.answers))
    spots = [_spot(sides, n, likeness) for n, likeness in clean.items()]
    base, ours, theirs = (blobs.read(e.blob) for e in (sides.base, sides.ours, sides.theirs))
    marked = marked_spots(base, ours, theirs, spots, text)
    reason = merged.reason if isinstance(merged, Collided) else REASON
    return Collided(reason, marked, answers), alarms


def _alarms(
    path: str,
    sides: Sides,
    answers: Sequence[Answer],
    blobs: Blobs,
    *,
    names: NameCounts | None,
    kept: Kept | None,
) -> tuple[Alarm, ...]:
    entries = (sides.base, sides.ours, sides.theirs)
    if any(entry is None or entry.mode not in FILE_MODES for entry in entries):
        return ()
    base, ours, _ = (entry.blob for entry in entries if entry is not None)
    asked = [n for n, answer in enumerate(answers[: len(sides.hunks)]) if _is_open(answer)]
    if base == ours or not asked:
        return ()
    is_clean = {n: answers[n] != CONFLICT for n in asked}
    about = [(n, is_clean[n], sides.hunks[n], sides.positions[n]) for n in asked]
    question = ("alarms", path, base, ours, repr(about))
    known = None if kept is None else kept.get(question)
    if known is not None:
        return tuple(Alarm(n, Likeness(*lines), is_clean[n]) for n, *lines in known[0])
    comparison = Comparison(path, blobs.read(base), blobs.read(ours), names=names)
    found = tuple(_judged(comparison, about))
    if kept is not None:
        kept.put(question, [[alarm.hunk, *astuple(alarm.likeness)] for alarm in found])
    return found


def _judged(
    comparison: Comparison, about: Sequence[tuple[int, bool, Hunk, int]]
) -> Iterator[Alarm]:
    """Yield the alarms of hunks, each with its number, whether it is clean, and its place."""
    for n, is_clean, hunk, position in about:
        likeness = find_likeness(comparison, hunk, position, is_clean=is_clean)
        if likeness is not None:
            yield Alarm(n, likeness, is_clean)


def _is_open(answer: Answer) -> bool:
    """Say whether a hunk is carried by a merge of texts, or is in conflict."""
    return answer[0] is not Verdict.ABSORBED and answer[1] in (None, How.TEXT, How.MOVED)


def landed_whole(merged: Merged | Collided, sides: Sides, alarms: Sequence[Alarm]) -> Merged | None:
    """Return upstream's file where it has each hunk, at least in a later wording; else None."""
    whole = {alarm.hunk for alarm in alarms if alarm.likeness.is_whole}
    answers = tuple(
        ABSORBED_REWORDED if n in whole and answer == CONFLICT else answer
        for n, answer in enumerate(merged.answers)
    )
    is_all = whole and all(answer[0] is Verdict.ABSORBED for answer in answers)
    return Merged(sides.ours, answers) if is_all else None


def _spot(sides: Sides, number: int, likeness: Likeness) -> Spot:
    from patchmgr.engines.both_texts import Spot

    runs = tuple(runs_of(sides.hunks[number], sides.positions[number]))
    return Spot(runs[0].start, runs[-1].end, likeness.start, likeness.end)


def resemblances(sides: Sides, alarms: Sequence[Alarm], blobs: Blobs) -> tuple[Resemblance, ...]:
    """Return both texts of each alarm."""
    assert sides.ours
    ours = split_lines(blobs.read(sides.ours.blob))
    found: list[Resemblance] = []
    for alarm in alarms:
        start, end = alarm.likeness.start, alarm.likeness.end
        hunk = sides.hunks[alarm.hunk]
        upstream = b"".join(ours[start:end])
        added = hunk.added_text()
        found.append(Resemblance(alarm.likeness.confidence, start + 1, upstream, added))
    return tuple(found)
