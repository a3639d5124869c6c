"""Merge the hunks of a file where upstream moved the symbols that these hunks edit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.moved.parts import FilePart
from patchmgr.engines.moved.rung import HunkPlace, Relocation, relocate
from patchmgr.engines.moved.search import Elsewhere
from patchmgr.engines.rebase.ladder import CARRIED_MOVED, CONFLICT, Answer, Collided, Merged, Sides
from patchmgr.engines.series.placement import PatchedFile
from patchmgr.model.outcome import Verdict
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import FILE_MODES, Entry

Climb = Callable[[str, Sides], "Merged | Collided"]
"""A function that merges a file, given its path and its sides, by all rungs of the ladder."""


class Followed(Struct, frozen=True):
    """The result of merging each hunk of a file where upstream moved the lines of the hunk.

    `changes` holds the files that merged without a conflict. `answers` has one verdict for each
    hunk. `places` maps the number of each moved hunk to its new position. At most one file is in
    conflict; `collision` holds its path, its sides and the conflict.
    """

    changes: Mapping[str, Entry]
    answers: tuple[Answer, ...]
    places: Mapping[int, HunkPlace] = field(default_factory=dict)
    collision: tuple[str, Sides, Collided] | None = None


class MovedInput(Struct, frozen=True):
    """The input for merging moved hunks: upstream's files with the patches applied so far.

    `elsewhere` holds the files that upstream changed, and `entry_of` returns the file at a path.
    `busy` holds the paths to which no hunk may be moved, because the patch changes these files
    already. `climb` merges a file.
    """

    elsewhere: Elsewhere
    entry_of: Callable[[str], Entry | None]
    busy: Collection[str]
    climb: Climb
    blobs: Blobs


def follow_hunks(
    path: str, sides: Sides, collided: Collided, *, home: str, side: MovedInput
) -> Followed | Collided:
    """Merge a file in conflict, with its hunks applied where upstream moved their lines.

    If no new position is certain, the conflict is returned, with a reason that names the likely
    position.
    """
    found = _relocation(path, sides, collided, home, side)
    if found is None:
        return collided
    paths = [part.path for part in found.parts if part.path != home]
    taken = next((path for path in paths if path in side.busy), None)
    if taken is not None:
        reason = f"upstream moved these lines to {taken}, which the patch changes as well"
        return replace(collided, reason=reason, has_moved=True)
    if not found.parts:
        return replace(collided, reason=_astray_reason(found), has_moved=_has_home(found))
    return _merged(found, sides, collided, home, side)


def _relocation(
    path: str, sides: Sides, collided: Collided, home: str, side: MovedInput
) -> Relocation | None:
    base, ours, theirs = sides.base, sides.ours, sides.theirs
    if base is None or theirs is None or not sides.hunks or base.mode != theirs.mode:
        return None
    if any(e is not None and e.mode not in FILE_MODES for e in (base, ours, theirs)):
        return None
    old, patched = side.blobs.read(base.blob), side.blobs.read(theirs.blob)
    new = None if ours is None else side.blobs.read(ours.blob)
    if any(b"\0" in text for text in (old, patched, new or b"")):
        return None
    numbers = [n for n, answer in enumerate(collided.answers) if answer == CONFLICT]
    file = PatchedFile(path, old, patched, sides.hunks, sides.positions)
    return relocate(file, home=home, ours=new, collided=numbers, elsewhere=side.elsewhere)


def _merged(
    found: Relocation, sides: Sides, collided: Collided, home: str, side: MovedInput
) -> Followed | Collided:
    answers: dict[int, Answer] = {}
    changes: dict[str, Entry] = {}
    collisions: list[tuple[str, Sides, Collided]] = []
    for part in found.parts:
        of_part = _sides(part, side, is_moved=sides.is_moved or part.path != home)
        merged = side.climb(part.path, of_part)
        for number, answer in zip(part.numbers, merged.answers, strict=False):
            answers[number] = _worse(answers.get(number), _moved(answer, number in found.places))
        if isinstance(merged, Collided):
            collisions.append((part.path, of_part, merged))
        else:
            assert merged.entry is not None
            changes[part.path] = merged.entry
    for number in range(len(sides.hunks)):
        followed = CARRIED_MOVED if number in found.places else CONFLICT
        answers.setdefault(number, followed)
    for number in found.astray:
        answers[number] = CONFLICT
    if len(collisions) > 1 or (found.astray and not collisions):
        return replace(collided, reason=_places_reason(found, home), has_moved=_has_home(found))
    ordered = tuple(answers[number] for number in range(len(sides.hunks)))
    collision = collisions[0] if collisions else None
    if collision is not None and found.astray:
        reason = f"{collision[2].reason}; {_astray_reason(found)}"
        collision = (*collision[:2], replace(collision[2], reason=reason))
    return Followed(changes, ordered, found.places, collision)


def _sides(part: FilePart, side: MovedInput, *, is_moved: bool) -> Sides:
    ours = side.entry_of(part.path)
    assert ours is not None
    base, theirs = (Entry(ours.mode, side.blobs.add(text)) for text in (part.base, part.theirs))
    return Sides(base, ours, theirs, part.hunks, part.positions, is_moved, part.path)


def _moved(answer: Answer, is_moved: bool) -> Answer:
    is_carried = answer[0] in (Verdict.UNCHANGED, Verdict.MODIFIED)
    return CARRIED_MOVED if is_moved and is_carried else answer


def _worse(one: Answer | None, other: Answer) -> Answer:
    """Return the verdict of a hunk, given the verdicts of two of its parts."""
    if one is None or one == other:
        return other
    if CONFLICT in (one, other):
        return CONFLICT
    return CARRIED_MOVED


def _has_home(found: Relocation) -> bool:
    """Return whether a new position, certain or likely, is known for any of the hunks."""
    return bool(found.places) or any(one.likely is not None for one in found.astray.values())


def _astray_reason(found: Relocation) -> str:
    return "; ".join(dict.fromkeys(astray.reason for astray in found.astray.values()))


def _places_reason(found: Relocation, home: str) -> str:
    """Return the reason for a conflict: where upstream moved the lines, or why that is unsure."""
    places = dict.fromkeys(place.path for place in found.places.values())
    paths = [path for path in places if path != home]
    moved = f"upstream moved these lines to {', '.join(paths)}" if paths else ""
    if not moved and places:
        moved = "upstream moved these lines within the file"
    return "; ".join(reason for reason in (moved, _astray_reason(found)) if reason)
