"""Apply the choices of a person to the regions of a file in conflict."""

from __future__ import annotations

from patchmgr.engines.conflicts.ids import conflict_id, region_id
from patchmgr.engines.conflicts.work_order import in_place
from patchmgr.engines.text.marked import split_marked
from patchmgr.model.outcome import FileConflict
from patchmgr.model.recorded_conflict import RegionSides
from patchmgr.model.resolving import Choice, Choices, InFile, Taken

_SIDES = {
    Taken.OURS: ("ours",),
    Taken.THEIRS: ("theirs",),
    Taken.BOTH: ("ours", "theirs"),
    Taken.BOTH_REVERSED: ("theirs", "ours"),
}


def offered(file: FileConflict, number: int) -> tuple[Choice, ...]:
    """Return the choices for a region of a conflict: ours, theirs, both, and the suggestions."""
    sides = (Choice(Taken.OURS), Choice(Taken.THEIRS))
    if file.marked is None:
        return sides
    known = file.suggestions[number] if number < len(file.suggestions) else ()
    split = split_marked(file.marked)
    candidates = (
        Choice(Taken.CANDIDATE, place, in_place(split, number, one.text))
        for place, one in enumerate(known, 1)
    )
    return (*sides, Choice(Taken.BOTH), Choice(Taken.BOTH_REVERSED), *candidates)


def text_of(file: FileConflict, number: int, choice: Choice) -> bytes | None:
    """Return the text with which a person's choice replaces a region of a conflict.

    None means that a file without regions is deleted.
    """
    if choice.taken in (Taken.EDITED, Taken.CANDIDATE):
        return choice.text
    if file.marked is None:
        return file.ours if choice.taken is Taken.OURS else file.theirs
    region = split_marked(file.marked).regions[number].region
    return b"".join(getattr(region, side) for side in _SIDES[choice.taken])


def content_of(file: FileConflict, choices: Choices) -> bytes | None:
    """Return a file with a person's choices applied; regions without a choice keep their markers.

    Returns None if the choice deletes a file without regions.
    """
    if file.marked is None:
        name = conflict_id(file.base, file.ours, file.theirs, None)
        return text_of(file, 0, choices[name])
    return split_marked(file.marked).with_each(tuple(_parts(file, choices)))


def _parts(file: FileConflict, choices: Choices) -> list[bytes]:
    assert file.marked is not None
    found = list[bytes]()
    for number, one in enumerate(split_marked(file.marked).regions):
        choice = choices.get(_id(one.region))
        found.append(one.raw if choice is None else text_of(file, number, choice) or b"")
    return found


def _id(region: RegionSides) -> str:
    return region_id(region.base, region.ours, region.theirs)


def place_of(file: FileConflict, number: int, choices: Choices) -> InFile:
    """Return the text before a region, the text chosen for it (or None), and the text after it."""
    if file.marked is None:
        choice = choices.get(conflict_id(file.base, file.ours, file.theirs, None))
        return InFile(b"", None if choice is None else text_of(file, 0, choice), b"")
    split, parts = split_marked(file.marked), _parts(file, choices)
    before = [text + part for text, part in zip(split.texts, parts, strict=False)]
    behind = [part + text for part, text in zip(parts, split.texts[1:], strict=True)]
    has_choice = _id(split.regions[number].region) in choices
    return InFile(
        b"".join(before[:number]) + split.texts[number],
        parts[number] if has_choice else None,
        split.texts[number + 1] + b"".join(behind[number + 1 :]),
    )


def opened_text(file: FileConflict, number: int, choices: Choices) -> bytes:
    """Return the text to open in an editor; regions without a choice have conflict markers."""
    if file.marked is not None:
        return content_of(file, choices) or b""
    text = place_of(file, number, choices).text
    sides = (text, file.theirs, file.ours, file.base)
    return next((side for side in sides if side is not None), b"")


def edited(file: FileConflict, number: int, choices: Choices, content: bytes) -> Choice | None:
    """Return an edited file as the choice for one region, or None if other lines changed, too."""
    place = place_of(file, number, choices)
    if not place.behind.endswith(b"\n") and not opened_text(file, number, choices).endswith(b"\n"):
        content = content.removesuffix(b"\n")  # editors add a line feed at the end
    has_room = len(content) >= len(place.before) + len(place.behind)
    if not (has_room and content.startswith(place.before) and content.endswith(place.behind)):
        return None
    return Choice(Taken.EDITED, 0, content[len(place.before) : len(content) - len(place.behind)])
