"""Apply hunks to a text at their stated lines, or at the only other position where they fit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import compress, count, islice
from operator import ne

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.model.patch import Hunk


class Applied(Struct, frozen=True):
    """A text with hunks applied, and the line (from 0) of the old text where each hunk starts."""

    content: bytes
    positions: tuple[int, ...]


class Rejected(Struct, frozen=True):
    """The index (from 0) of the first hunk that cannot be applied, and the reason."""

    index: int
    reason: str
    is_ambiguous: bool = False  # it fits at several positions


class PatchedFile(Struct, frozen=True):
    """A patch's change to one file: the texts before and after, and the hunks."""

    path: str  # in the patch
    base: bytes
    theirs: bytes
    hunks: tuple[Hunk, ...]
    positions: tuple[int, ...]  # the line of base (from 0) at which each hunk starts

    def without(self, taken: Collection[int]) -> PatchedFile:
        """Return the change without the hunks at the indices `taken`; the base then has these."""
        base, hunks, positions = take_in(self.base, self.hunks, self.positions, taken)
        return replace(self, base=base, hunks=hunks, positions=positions)


MOST_PLACES = 99  # positions that are searched for, at most
_TWICE = "its lines occur "


def split_lines(content: bytes) -> list[bytes]:
    """Split content into lines at line feeds only, as git does. Each line keeps its line feed."""
    return BytesIO(content).readlines()


_kept_lines = lru_cache(16)(split_lines)  # cached, so callers must not change these lists


def apply_hunks(content: bytes, hunks: Sequence[Hunk]) -> Applied | Rejected:
    """Apply all hunks without fuzz: every context line and removed line must match.

    A hunk goes to its stated line, shifted by the offset of the previous hunk, or else to the only
    other place after that hunk where it fits.
    """
    lines = split_lines(content)
    out: list[bytes] = []
    positions: list[int] = []
    done = drift = 0
    for index, hunk in enumerate(hunks):
        stated = hunk.old_start - (1 if hunk.old_count else 0)
        place = _place(lines, hunk, stated + drift, done)
        if isinstance(place, str):
            return Rejected(index, place, is_ambiguous=place.startswith(_TWICE))
        drift = place - stated
        out += lines[done:place]
        out += hunk.new()
        done = place + len(hunk.old())
        positions.append(place)
    out += lines[done:]
    joined = b"".join(out)
    if joined.count(b"\n") < len(out) - (not joined.endswith(b"\n")):
        return Rejected(len(hunks) - 1, "a line without a line feed would end up inside the file")
    return Applied(joined, tuple(positions))


def _place(lines: list[bytes], hunk: Hunk, expected: int, start: int) -> int | str:
    old = list(hunk.old())
    end = expected + len(old)
    # If a hunk ends without context, git and `patch` expect it at the end of the file.
    is_for_end = hunk.lines[0][:1] == b" " != hunk.lines[-1][:1]
    if (
        start <= expected <= len(lines)
        and lines[expected:end] == old
        and (end == len(lines) or not is_for_end)
    ):
        return expected
    if not old:
        return "it has no context, and cannot be applied at its stated line"
    found = [at for at in _matches(lines, old, start) if _is_anchored(lines, hunk, at)]
    if len(found) == 1:
        return found[0]
    if found:
        return f"{_TWICE}{len(found)} times"
    return "its lines were not found" + " at the end of the file" * is_for_end


def nearest_places(content: bytes, hunks: Sequence[Hunk]) -> tuple[int, ...] | None:
    """Return the lines (from 0) where `git apply` and `patch` both put the hunks, or None."""
    lines = split_lines(content)
    # Git expects a hunk at the new line number in its header; `patch` at the old one, shifted by
    # the same offset as the previous hunk.
    of_git = _nearest(lines, hunks, is_git=True)
    return of_git if of_git == _nearest(lines, hunks, is_git=False) else None


def _nearest(lines: list[bytes], hunks: Sequence[Hunk], *, is_git: bool) -> tuple[int, ...] | None:
    found: list[int] = []
    done = drift = grown = 0
    for hunk in hunks:
        stated = hunk.old_start - (1 if hunk.old_count else 0)
        in_new = hunk.new_start - (1 if hunk.new_count else 0)
        expected = in_new - grown if is_git else stated + drift
        old = list(hunk.old())
        places = _matches(lines, old, done) if old else []
        if not places or len(places) == MOST_PLACES:
            return None
        place = min(places, key=lambda at: (abs(at - expected), at < expected))
        if not _is_anchored(lines, hunk, place):
            return None
        found.append(place)
        drift, grown = place - stated, grown + hunk.new_count - hunk.old_count
        done = place + len(old)
    return tuple(found)


def _is_anchored(lines: list[bytes], hunk: Hunk, at: int) -> bool:
    """Return whether a hunk may go to a position, as git decides it.

    A hunk with less context at one end belongs at that end of the file.
    """
    is_context = [line[:1] == b" " for line in hunk.lines]
    leading, trailing = _run_length(is_context), _run_length(is_context[::-1])
    if leading < trailing and hunk.old_start <= 1 and at > 0:
        return False
    return leading <= trailing or at + len(hunk.old()) == len(lines)


def _run_length(claims: list[bool]) -> int:
    return claims.index(False) if False in claims else len(claims)


def _matches(lines: list[bytes], old: list[bytes], start: int) -> list[int]:
    return [*islice(occurrences(lines, old, start, len(lines)), MOST_PLACES)]


def has_place(content: bytes, hunk: Hunk) -> bool:
    """Return whether the old lines of a hunk occur anywhere in the content."""
    old = b"".join(hunk.old())
    if old.endswith(b"\n"):
        return content.startswith(old) or b"\n" + old in content
    return old in (b"", content) or content.endswith(b"\n" + old)


def places_of(content: bytes, hunk: Hunk) -> list[int]:
    """Return the lines (from 0) at which the old lines of a hunk occur, at most MOST_PLACES."""
    return _matches(_kept_lines(content), list(hunk.old()), 0)


def leads_to(content: bytes, hunks: Sequence[Hunk], result: bytes) -> bool:
    """Return whether the hunks, applied in order and without fuzz, can give `result`."""
    old, new = _kept_lines(content), _kept_lines(result)
    done, drift = [0], 0
    for hunk in hunks:
        before, after = list(hunk.old()), list(hunk.new())
        found: set[int] = set()
        for first, last in _same_from(old, new, done, drift=drift):
            for place in occurrences(old, before, first, last):
                if new[place + drift : place + drift + len(after)] == after:
                    found.add(place + len(before))
        done = sorted(found)
        drift += len(after) - len(before)
    return any(old[at:] == new[at + drift :] for at in done)


def _same_from(
    old: list[bytes], new: list[bytes], done: Sequence[int], *, drift: int
) -> Iterator[tuple[int, int]]:
    """Yield the ranges of lines where the next hunk may start: both texts are equal before it."""
    last = -1
    for first in done:
        if first > last:
            last = _first_difference(old, new, first, drift=drift)
            yield first, last


def _first_difference(old: list[bytes], new: list[bytes], at: int, *, drift: int) -> int:
    """Return the first line from `at` on where the texts differ, or the end of the shorter one."""
    end, size = min(len(old), len(new) - drift), 64
    while at < end:
        some = old[at : min(at + size, end)]
        others = new[at + drift : at + drift + len(some)]
        if some != others:
            return next(compress(count(at), map(ne, some, others)))
        at, size = at + len(some), 2 * size
    return end


def occurrences(lines: list[bytes], part: list[bytes], first: int, last: int) -> Iterator[int]:
    """Yield the line numbers from `first` to `last` at which the lines `part` occur."""
    if not part:
        yield from range(first, last + 1)
        return
    at = first
    while at <= last:
        try:
            at = lines.index(part[0], at, last + 1)
        except ValueError:
            return
        if lines[at : at + len(part)] == part:
            yield at
        at += 1


def apply_one(content: bytes, hunk: Hunk, position: int) -> bytes:
    """Return the content with one hunk applied at the line `position` (from 0)."""
    lines = _kept_lines(content)
    return b"".join((*lines[:position], *hunk.new(), *lines[position + len(hunk.old()) :]))


def take_in(
    content: bytes, hunks: Sequence[Hunk], positions: Sequence[int], taken: Collection[int]
) -> tuple[bytes, tuple[Hunk, ...], tuple[int, ...]]:
    """Apply the hunks at the indices `taken`.

    Return the text, the other hunks, and the new positions of these.
    """
    lines = split_lines(content)
    kept: list[Hunk] = []
    places: list[int] = []
    shift = 0
    for number, (hunk, position) in enumerate(zip(hunks, positions, strict=True)):
        if number in taken:
            at = position + shift
            lines[at : at + len(hunk.old())] = hunk.new()
            shift += len(hunk.new()) - len(hunk.old())
        else:
            kept.append(replace(hunk, old_start=hunk.old_start + shift))
            places.append(position + shift)
    return b"".join(lines), tuple(kept), tuple(places)
