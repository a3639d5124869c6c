"""Check whether a text can be the resolution of a conflict, by looking at the text alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.conflicts.ids import region_id
from patchmgr.engines.conflicts.memory import Lesson, compare, ended, fits_region
from patchmgr.engines.gates import whitespace_problems
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.leftover import leftover_marker, syntax_problem
from patchmgr.engines.text.marked import split_marked
from patchmgr.model.outcome import ConflictKind, FileConflict
from patchmgr.model.patch import Author, FilePatch, Hunk, Patch
from patchmgr.model.recorded_conflict import RegionSides
from patchmgr.model.work_order import Failure

_WORD = re.compile(rb"[A-Za-z_]\w+")
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_SETS = re.compile(rb"[ \t]*(?:\w+[ \t]+)*([\w.]+)[ \t]*:?=(?!=)(.*)")  # `int n = 1`, `n := 1`
_MORE = 4096  # bytes by which a resolution may exceed twice the size of its sides
_BY_NO_CHECK = (ConflictKind.BINARY, ConflictKind.MODE)
Find = Callable[[bytes, bytes, bytes], "bytes | None"]
"""A function that returns the recorded resolution of a region (base, ours, theirs), or None."""


class Fitted(Struct, frozen=True):
    """A resolved file (None: deleted), and the resolution of each region."""

    content: bytes | None
    lessons: tuple[Lesson, ...] = ()  # empty: resolved as a whole


def fit(conflict: FileConflict, content: bytes | None, wanted: str, find: Find) -> Fitted | Failure:
    """Insert a proposed resolution; return the resolved file, or why that cannot be done.

    `content` is the text of the region `wanted`, or the whole file. Other regions get the
    resolution that `find` returns, or else ours.
    """
    if content is not None and len(content) > 2 * sum(map(len, _sides(conflict))) + _MORE:
        return Failure("size", "it is much longer than the sides of the conflict")
    left = leftover_marker(content or b"", _sides(conflict))
    if left is not None:
        return Failure("markers", f"line {left[0]}: {left[1].decode('utf-8', 'replace')}")
    if conflict.marked is None:
        return Fitted(content)
    if content is None:
        return Failure("place", "the file cannot be deleted: only regions of it are in conflict")
    split, marked = split_marked(conflict.marked), conflict.marked
    regions = [(region_id(*one.region.sides), one.region) for one in split.regions]
    told = compare(marked, content)
    lessons = {one.id: one for one in told if isinstance(one, Lesson)}
    reasons = [one.reason for one in told if not isinstance(one, Lesson)]
    is_whole, asked = not reasons, dict(regions).get(wanted)
    if not is_whole and asked is not None:
        text = ended(content)
        refused = fits_region(asked, text, whole=marked)
        reasons = [] if refused is None else [refused]
        lessons = {wanted: Lesson(wanted, asked, text)}
    if reasons:
        return Failure("place", reasons[0])
    parts = tuple(
        lessons[name].resolution if name in lessons else _known(region, find)
        for name, region in regions
    )
    whole = split.with_each(parts)
    if is_whole and whole.rstrip(b"\n") != content.rstrip(b"\n"):
        return Failure("place", "lines outside of the regions in conflict were changed")
    return Fitted(content if is_whole else whole, tuple(lessons.values()))


def _sides(conflict: FileConflict) -> list[bytes]:
    sides = (conflict.base, conflict.ours, conflict.theirs)
    return [side for side in sides if side is not None]


def _known(region: RegionSides, find: Find) -> bytes:
    found = find(*region.sides)
    return region.ours if found is None else found


def text_failures(conflict: FileConflict, fitted: Fitted) -> Iterator[Failure]:
    """Yield each fault of a resolution that can be found without a rebase."""
    is_move = conflict.kind is ConflictKind.RENAME and conflict.marked is None
    if is_move or conflict.kind in _BY_NO_CHECK:
        yield Failure("kind", f"no check can judge a conflict of the kind {conflict.kind.value}")
    content, path, sides = fitted.content, conflict.new_path, _sides(conflict)
    if content is not None:
        broken = syntax_problem(path, content, sides)
        if broken is not None:
            yield Failure("syntax", f"line {broken[0]}: {broken[1]}")
        known = {line for side in sides for line in split_lines(side)}
        yield from _whitespace(path, content, known)
    regions = [one.region for one in split_marked(conflict.marked or b"").regions]
    for one in fitted.lessons:
        region = one.region
        where = "here" if len(regions) == 1 else f"in region {regions.index(region) + 1}"
        yield from given_up(*region.sides, one.resolution, where)
        repeatable = {name for side in sides for name, *_ in _set_in_a_row(side)}
        yield from _overwritten(region, one.resolution, where, repeatable)
    if not fitted.lessons:
        yield from given_up(conflict.base, conflict.ours, conflict.theirs, content, "here")


def _whitespace(path: str, content: bytes, known: Collection[bytes]) -> Iterator[Failure]:
    """Yield the white space errors that `check` would report in lines that no side has."""
    hunks = tuple(
        Hunk(number, 0, number, 1, b"", (b"+" + line,))
        for number, line in enumerate(split_lines(content), 1)
        if line not in known
    )
    file = FilePatch(path, path, hunks=hunks)
    nobody = Author("", "", "")
    patch = Patch("", b"", b"", b"", "", b"", nobody, (file,), is_mailbox=False)
    for problem in whitespace_problems(patch):
        yield Failure("whitespace", f"line {problem.line}: {problem.sentence}")


def given_up(
    base: bytes | None, ours: bytes | None, theirs: bytes | None, text: bytes | None, where: str
) -> Iterator[Failure]:
    """Yield a failure for each side of a conflict whose change is missing from a resolution."""
    for who, side, other in (("the patch", theirs, ours), ("upstream", ours, theirs)):
        is_other = _said(text) == _said(other) != _said(side)
        if side != base and (is_other or _has_nothing(base, side, other, text)):
            yield Failure("ledger", f"it has none of {who}'s changes {where}")


def _overwritten(
    region: RegionSides, text: bytes, where: str, repeatable: Collection[bytes]
) -> Iterator[Failure]:
    """Yield a failure for each name that two adjacent lines set, one line from each side.

    `repeatable` are names that a side itself sets in a row, as a systemd unit may.
    """
    sides = [{*split_lines(side)} for side in (region.ours, region.theirs)]
    for name, *lines in _set_in_a_row(text):
        whose = [[one in side for side in sides] for one in lines]
        if sorted(whose) == [[False, True], [True, False]] and name not in repeatable:
            told = name.decode("utf-8", "replace")
            yield Failure("ledger", f"{told} is set twice {where}; the first value is lost")


def _set_in_a_row(text: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield (name, line, next line) if both lines set the name, and the second does not use it."""
    for line, after in pairwise(split_lines(text)):
        first, then = _SETS.match(line), _SETS.match(after)
        if not first or not then or first[1] != then[1]:
            continue
        if first[1].split(b".")[-1] not in _TOKEN.findall(then[2]):
            yield first[1], line, after


def _has_nothing(
    base: bytes | None, side: bytes | None, other: bytes | None, text: bytes | None
) -> bool:
    """Return whether a text has nothing that a side adds, and everything that the side removes."""
    if None in (side, text):
        return side != text
    before, after, there, now = (frozenset(_said(one) or ()) for one in (base, side, other, text))
    added, removed = after - before - there, (before & there) - after
    if added & now or (removed and not removed <= now):
        return False
    # Without a new word, numbers and signs count: `x>=1.5` and `x<2` may become `x>=1.5,<2`.
    for token in (_WORD, _TOKEN):
        new = _found(token, added) - _found(token, before | there)
        if new:
            return new.isdisjoint(_found(token, now))
    return bool(added or removed)


def _said(text: bytes | None) -> list[bytes] | None:
    """Return the lines that are not blank, with white space reduced to single spaces."""
    if text is None:
        return None
    return [line for line in (b" ".join(each.split()) for each in split_lines(text)) if line]


def _found(token: re.Pattern[bytes], lines: Collection[bytes]) -> frozenset[bytes]:
    return frozenset(found for line in lines for found in token.findall(line))
