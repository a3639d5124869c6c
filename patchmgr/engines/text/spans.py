"""Find the parts of a resolved text that replace the regions of a text with conflict markers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from patchmgr.engines.series.placement import split_lines

Span = tuple[int, int]
_CONTEXT = 20  # lines; a longer context says no more


def exact_spans(texts: Sequence[bytes], resolved: bytes) -> tuple[Span | None, ...] | None:
    """Return where each conflict region's resolution starts and ends in a resolved file.

    It is assumed that nothing else was changed. `texts` are the clean texts between the regions, as
    whole lines. A region next to a clean text that occurs in several places gets None. The result
    is None if a clean text does not occur.
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
    """Return the first place of each text after those before it, or None if one has no place."""
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
    """Return the last place of each text before those after it. All texts must occur."""
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


def nearby_spans(texts: Sequence[bytes], resolved: bytes) -> tuple[Span | None, ...]:
    """Return where each conflict region's resolution starts and ends, by the lines around it.

    A region gets None if the lines before or after it are not unique in the clean texts and in the
    resolved text. Changes elsewhere do not matter.
    """
    spans: list[Span | None] = []
    number = len(texts) - 1
    for n in range(number):
        start = _end_of(split_lines(texts[n]), texts, resolved) if texts[n] else None
        end = _start_of(split_lines(texts[n + 1]), texts, resolved) if texts[n + 1] else None
        if n == 0 and not texts[0]:
            start = 0
        if n == number - 1 and not texts[-1]:
            end = len(resolved)
        is_found = start is not None and end is not None and start <= end
        spans.append((start, end) if is_found and start is not None and end is not None else None)
    return tuple(None if _meets_another(n, spans) else span for n, span in enumerate(spans))


def _meets_another(number: int, spans: Sequence[Span | None]) -> bool:
    span = spans[number]
    others = (other for n, other in enumerate(spans) if n != number and other is not None)
    return span is not None and any(o[0] < span[1] and span[0] < o[1] for o in others)


def _end_of(lines: list[bytes], texts: Sequence[bytes], resolved: bytes) -> int | None:
    """Return where the last lines end in the resolved text, or None if that is not certain."""
    for size in range(1, min(len(lines), _CONTEXT) + 1):
        block = b"".join(lines[-size:])
        if _is_unique(block, texts, resolved):
            at = _find(resolved, block, 0)
            return None if at is None else at + len(block)
    return None


def _start_of(lines: list[bytes], texts: Sequence[bytes], resolved: bytes) -> int | None:
    """Return where the first lines start in the resolved text, or None if that is not certain."""
    for size in range(1, min(len(lines), _CONTEXT) + 1):
        block = b"".join(lines[:size])
        if _is_unique(block, texts, resolved):
            return _find(resolved, block, 0)
    return None


def _is_unique(block: bytes, texts: Sequence[bytes], resolved: bytes) -> bool:
    says_something = any(chr(byte).isalnum() for byte in block)
    if not says_something or _count(resolved, block) != 1:
        return False
    return sum(_count(text, block) for text in texts) == 1


def _count(text: bytes, part: bytes) -> int:
    """Count the occurrences of a part, at most two."""
    first = _find(text, part, 0)
    if first is None:
        return 0
    return 1 if _find(text, part, first + 1) is None else 2
