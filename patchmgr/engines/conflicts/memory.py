"""Replay recorded resolutions of conflict regions, and learn resolutions from resolved files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol

from msgspec import Struct

from patchmgr.engines.conflicts.ids import conflict_id, region_id
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.leftover import leftover_marker
from patchmgr.engines.text.marked import MarkedText, has_marker, sides_of, split_marked
from patchmgr.model.recorded_conflict import Recorded, RecordKind, RegionSides, Resolution

Span = tuple[int, int]
"""The start and the end (exclusive) of a part of a text, in bytes."""
_MORE = 40  # lines by which a resolution may exceed twice the lines of its sides
_CONTEXT = 20  # most lines before or after a region that are used to find it
_LEFT = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")


class Resolutions(Protocol):
    """The recorded resolutions of conflicts. A search also finds those with swapped sides."""

    def find(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        """Return the recorded resolution of a region as whole lines, or None if there is none."""

    def find_file(
        self, base: bytes | None, ours: bytes | None, theirs: bytes | None
    ) -> Resolution | None:
        """Return the recorded resolution (content None: deleted) of a whole file, or None."""


class Replayed(Struct, frozen=True):
    """A text with conflict markers in which recorded resolutions have replaced some regions."""

    marked: bytes
    used: tuple[str, ...]  # the ids of the replaced regions
    is_clean: bool  # no region is left


def whole_sides(marked: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Restore base, ours and theirs of a file from its text with conflict markers.

    Returns None if there is no region, or if a line of the file itself looks like a marker.
    """
    found = split_marked(marked)
    is_sure = found.is_sure and all(one.is_sure for one in found.regions)
    return sides_of(marked) if found.regions and is_sure else None


def replay(
    marked: bytes,
    find: Callable[[bytes, bytes, bytes], bytes | None],
    *,
    ends_with_newline: bool = True,
) -> Replayed:
    """Replace each region of a conflict with its recorded resolution, if there is one.

    `ends_with_newline` says whether the merged file should end with a line feed.
    """
    found = split_marked(marked)
    used: list[str] = []
    parts: list[bytes] = []
    is_clean = is_sure = found.is_sure
    for one in found.regions:
        sides = one.region.sides
        known = find(*sides) if is_sure and one.is_sure else None
        if known is None:
            is_clean = False
        else:
            used.append(region_id(*sides))
        parts.append(one.raw if known is None else known)
    whole = found.with_each(tuple(parts))
    # Git ends every side of a region with a line feed.
    if is_clean and used and not found.texts[-1] and not ends_with_newline:
        whole = whole.removesuffix(b"\n")
    return Replayed(whole, tuple(used), is_clean)


class Lesson(Struct, frozen=True):
    """A region of a conflict, and the complete lines that replace it in a resolved text."""

    id: str
    region: RegionSides
    resolution: bytes


class Missed(Struct, frozen=True):
    """A region whose resolution cannot be read from a resolved file, and the reason."""

    id: str
    reason: str


def learn(marked: bytes, resolved: bytes) -> tuple[Lesson, ...]:
    """Return the resolution of each conflict region for which the resolved file leaves no doubt."""
    return tuple(found for found in compare(marked, resolved) if isinstance(found, Lesson))


def compare(marked: bytes, resolved: bytes) -> tuple[Lesson | Missed, ...]:
    """Find the resolution of each region in a resolved file, by the lines around the region.

    A region that occurs twice and was resolved in two ways is returned as `Missed`.
    """
    split = split_marked(ended(marked))
    resolved = ended(resolved)
    found: dict[str, Lesson | Missed] = {}
    for lesson in _lessons(split, resolved):
        before = found.get(lesson.id)
        if isinstance(before, Lesson) and isinstance(lesson, Lesson):
            if before.resolution != lesson.resolution:
                reason = "it occurs more than once, and was resolved in several ways"
                found[lesson.id] = Missed(lesson.id, reason)
        elif before is None or isinstance(lesson, Lesson):
            found.setdefault(lesson.id, lesson)
    return tuple(found.values())


def _lessons(split: MarkedText, resolved: bytes) -> Iterator[Lesson | Missed]:
    spans: Sequence[Span | None] = [None] * len(split.regions)
    is_exact = False
    if split.is_sure and split.regions:
        exact = _exact_spans(split.texts, resolved)
        is_exact = bool(exact)
        spans = exact or _nearby_spans(split.texts, resolved)
    is_left = any(line.startswith(_LEFT) for line in split_lines(resolved))
    for one, span in zip(split.regions, spans, strict=True):
        region = one.region
        name = region_id(*region.sides)
        text = None if span is None else resolved[span[0] : span[1]]
        if not one.is_sure or not split.is_sure:
            yield Missed(name, "the text itself has lines like git's markers")
        elif not _says_something(b"".join(region.sides)):
            yield Missed(name, "its lines have no letter or digit, so they could be anywhere")
        elif is_left:
            yield Missed(name, "conflict markers are left in the file")
        elif text is None:
            yield Missed(name, "the text around it was changed, or occurs more than once")
        elif text == region.ours and not is_exact:
            # If it were replayed, a change that the person put elsewhere in the file would be lost.
            yield Missed(
                name, "it was resolved as ours, but lines outside of it were changed as well"
            )
        elif (reason := refusal(text)) is not None:
            yield Missed(name, f"it {reason}")
        else:
            yield Lesson(name, region, text)


def _exact_spans(texts: Sequence[bytes], resolved: bytes) -> tuple[Span | None, ...] | None:
    """Return the start and end of each resolution in a file where only the regions have changed.

    `texts` are the texts between the regions. A region beside a text that can be at several
    positions gets None. Returns None if a text is missing.
    """
    first = _places(texts, resolved)
    if first is None:
        return None
    last = _places_from_end(texts, resolved)
    pairs = zip(texts, first, last, strict=True)
    sure = [(at, at + len(text)) if at == other else None for text, at, other in pairs]
    spans: list[Span | None] = []
    for before, after in pairwise(sure):
        spans.append((before[1], after[0]) if before and after else None)
    return tuple(spans)


def _places(texts: Sequence[bytes], resolved: bytes) -> list[int] | None:
    """Return the earliest positions of the texts, in their order, or None if one is missing."""
    if not resolved.startswith(texts[0]):
        return None
    places, at = [0], len(texts[0])
    for text in texts[1:-1]:
        found = _find(resolved, text, at)
        if found is None:
            return None
        places.append(found)
        at = found + len(text)
    end = len(resolved) - len(texts[-1])
    is_at_end = end >= at and resolved.endswith(texts[-1]) and _is_line_start(resolved, end)
    return [*places, end] if is_at_end else None


def _places_from_end(texts: Sequence[bytes], resolved: bytes) -> list[int]:
    """Return the latest positions of the texts, in their order. All texts must occur."""
    end = len(resolved) - len(texts[-1])
    places = [end]
    for text in reversed(texts[1:-1]):
        end = _find_last(resolved, text, end)
        places.append(end)
    return [0, *reversed(places)]


def _is_line_start(text: bytes, at: int) -> bool:
    return at == 0 or text[at - 1 : at] == b"\n"


def _find(text: bytes, part: bytes, start: int) -> int | None:
    at = text.find(part, start)
    while at >= 0 and not _is_line_start(text, at):
        at = text.find(part, at + 1)
    return None if at < 0 else at


def _find_last(text: bytes, part: bytes, end: int) -> int:
    at = text.rindex(part, 0, end)
    while not _is_line_start(text, at):
        at = text.rindex(part, 0, at + len(part) - 1)
    return at


def _nearby_spans(texts: Sequence[bytes], resolved: bytes) -> tuple[Span | None, ...]:
    """Return the start and end of each region's resolution, judged by the lines around the region.

    A region gets None if these lines are not unique.
    """
    spans: list[Span | None] = []
    number = len(texts) - 1
    for n, (before, after) in enumerate(pairwise(map(split_lines, texts))):
        ends = (before[-size:] for size in range(1, min(len(before), _CONTEXT) + 1))
        starts = (after[:size] for size in range(1, min(len(after), _CONTEXT) + 1))
        start = (0, 0) if n == 0 and not before else _only_place(ends, texts, resolved)
        end = _only_place(starts, texts, resolved)
        if n == number - 1 and not after:
            end = (len(resolved), len(resolved))
        spans.append((start[1], end[0]) if start and end and start[1] <= end[0] else None)
    return tuple(None if _meets_another(n, spans) else span for n, span in enumerate(spans))


def _meets_another(number: int, spans: Sequence[Span | None]) -> bool:
    span = spans[number]
    others = (other for n, other in enumerate(spans) if n != number and other is not None)
    return span is not None and any(o[0] < span[1] and span[0] < o[1] for o in others)


def _only_place(
    blocks: Iterable[list[bytes]], texts: Sequence[bytes], resolved: bytes
) -> Span | None:
    """Return the place in `resolved` of the first block that is unique there and in `texts`.

    Blocks without letters and digits are skipped. Returns None if there is no such block.
    """
    for lines in blocks:
        block = b"".join(lines)
        is_once = _count(resolved, block) == 1 == sum(_count(text, block) for text in texts)
        if is_once and _says_something(block):
            at = _find(resolved, block, 0) or 0
            return at, at + len(block)
    return None


def _count(text: bytes, part: bytes) -> int:
    """Return how often `part` occurs at the start of a line, but at most 2."""
    first = _find(text, part, 0)
    if first is None:
        return 0
    return 1 if _find(text, part, first + 1) is None else 2


def _says_something(text: bytes) -> bool:
    return any(chr(byte).isalnum() for byte in text)


def refusal(resolution: bytes) -> str | None:
    """Return why a text cannot be recorded as a resolution, or None if it can be."""
    if has_marker(resolution):
        return "has a resolution with conflict markers"
    return "has a binary resolution" if b"\0" in resolution else None


def fits_region(region: RegionSides, text: bytes, *, whole: bytes | None) -> str | None:
    """Return why a text is unlikely to resolve a conflict region, or None if it may resolve it.

    `whole` is the text with markers that contains the region, or None if it is not known.
    """
    if (reason := refusal(text)) is not None:
        return f"it {reason}"
    if text.count(b"\n") > 2 * sum(side.count(b"\n") for side in region.sides) + _MORE:
        return "it is much longer than the sides of the conflict"
    if whole is None:
        return None
    split = split_marked(whole)
    number = next((n for n, one in enumerate(split.regions) if one.region == region), None)
    if number is None:
        return None
    # Unless a side has the line, the text must not repeat a line next to the region.
    around = (split_lines(split.texts[number])[-3:], split_lines(split.texts[number + 1])[:3])
    known = {line for side in region.sides for line in split_lines(side)}
    repeated = {line for lines in around for line in lines if _says_something(line)}
    if (repeated - known) & set(split_lines(text)):
        return "it repeats lines around the conflict, but is not the whole file"
    return None


def recorded_fault(recorded: Recorded) -> str | None:
    """Return what is wrong with a recorded conflict, or None if nothing is."""
    if recorded.kind is RecordKind.GROUP:
        return None
    base, ours, theirs = recorded.base, recorded.ours, recorded.theirs
    if recorded.kind is RecordKind.FILE:
        if conflict_id(base, ours, theirs, None) != recorded.id:
            return "has an id that does not match its sides"
        is_left = leftover_marker(recorded.made or b"", recorded.sides) is not None
        return "has a resolution with conflict markers" if is_left else None
    assert base is not None and ours is not None and theirs is not None
    for side in (base, ours, theirs):
        if has_marker(side) or side != ended(side) or b"\0" in side:
            return "has a side that cannot be a region of a text file"
    if region_id(base, ours, theirs) != recorded.id:
        return "has an id that does not match its sides"
    solved = recorded.made
    if solved is None:
        return None
    if solved != ended(solved):
        return "has a resolution without a line feed at its end"
    if _is_text(base + ours + theirs) and not _is_text(solved):
        return "has a resolution that is not UTF-8, although its sides are"
    return refusal(solved)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def ended(text: bytes) -> bytes:
    """Return a text with a line feed at its end, unless it is empty."""
    return text if not text or text.endswith(b"\n") else text + b"\n"
