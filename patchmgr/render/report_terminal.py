"""Print the report on a series for a terminal, in aligned columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from patchmgr.model.footprint import Footprint, PatchFootprint, Reach, Review, Tally
from patchmgr.render.escape import clean, counted, cut_off
from patchmgr.render.rebase import painted
from patchmgr.render.report_words import REACH_WORDS, TITLES, groups, steps, touched_symbols
from patchmgr.render.view import cells, table

NARROWEST = 40
_FEW = 12
_NUMBERS = 26  # columns that the numbers in a section take
_ADDED, _REMOVED, _TITLE, _QUIET = "32", "31", "1", "2"


def report_terminal(footprint: Footprint, *, width: int, color: bool) -> str:
    """Return the report on one series in lines of at most `width` (at least 40) columns."""
    width = max(width, NARROWEST)
    # the line that names the base may be longer: its commit id is not shortened
    lines = [*_head(footprint, width, color)]
    for title, tallies in (
        *groups(footprint),
        ("by language", footprint.languages),
        ("by folder", footprint.folders),
    ):
        lines += _section(title, tallies, width, color)
    if footprint.review is not None:
        lines += _review(footprint.review, width, color)
    lines += _patches(footprint.patches, width, color)
    return "\n".join(lines) + "\n"


def report_line(footprint: Footprint, *, color: bool) -> str:
    """Return one line with the number of patches, files and changed lines of a series."""
    total = footprint.total
    size = f"{counted(len(footprint.patches), 'patch')}, {counted(total.files, 'file')}"
    return f"{clean(footprint.series)}: {size} {_change(total.added, total.removed, color)}\n"


def _head(footprint: Footprint, width: int, color: bool) -> Iterator[str]:
    pin = footprint.pin
    skipped = f", {len(footprint.skipped)} skipped" if footprint.skipped else ""
    title = f"{clean(footprint.series)}  {counted(len(footprint.patches), 'patch')}{skipped}"
    yield painted(_cut(title, width), _TITLE, color=color)
    named = f"{clean(pin.ref)} " if pin.ref != pin.commit else ""
    yield f"on {named}{clean(pin.commit)}"
    total = footprint.total
    binary = f", {total.binaries} binary" if total.binaries else ""
    files = f"{counted(total.files, 'file')}{binary}"
    yield f"net       {files} {_change(total.added, total.removed, color)}"
    yield f"by patch  {_change(footprint.patch_added, footprint.patch_removed, color)}"
    if footprint.passing:
        yield f"unchanged {counted(len(footprint.passing), 'path')} that patches touch"
    for name, reason in footprint.skipped:
        yield f"skipped   {clean(name)}: {clean(reason)}"


def _change(added: int, removed: int, color: bool) -> str:
    return " ".join(_signed(added, removed, color))


def _section(title: str, tallies: Sequence[Tally], width: int, color: bool) -> Iterator[str]:
    if not tallies:
        return
    counts = [(str(t.files), *_signed(t.added, t.removed, color)) for t in tallies]
    numbers = list(table([("files", "added", "removed"), *counts], right=range(3)))
    room = width - cells(numbers[0]) - 4
    names = [f"  {_cut(clean(TITLES.get(t.name, t.name)), room)}" for t in tallies]
    heading = painted(title, _TITLE, color=color)
    yield ""
    yield from table(list(zip([heading, *names], numbers, strict=True)))


def _review(review: Review, width: int, color: bool) -> Iterator[str]:
    """Yield the subsystems, the reach of the changes, hotspots and risks."""
    parts = [part.total for part in review.parts]
    title = f"by subsystem ({review.parts_by})"
    yield from _section(_cut(title, width - _NUMBERS), parts, width, color)
    if review.sites:
        yield ""
        yield painted("changed sites in upstream's code", _TITLE, color=color)
        for reach, words in REACH_WORDS.items():
            yield _cut(f"  {review.count(reach):5}  {reach.value}: {words}", width)
    yield from _shared(review, width, color)
    hot = [h for h in review.hotspots if h.commits][:_FEW]
    if hot:
        yield ""
        title = f"hotspots in the last {steps(review)}"
        yield painted(_cut(title, width), _TITLE, color=color)
        for spot in hot:
            where = f"{spot.path} {spot.symbol or ''}".rstrip()
            yield _cut(f"  {spot.commits:5}  {clean(where)}", width)
    if review.risks:
        yield ""
        yield painted("risks", _TITLE, color=color)
        for risk in review.risks:
            yield _cut(f"  {risk.kind.value}: {clean(risk.what)} in {clean(risk.path)}", width)


def _shared(review: Review, width: int, color: bool) -> Iterator[str]:
    """Yield the first few changed sites whose code runs for everybody."""
    shared = [site for site in review.sites if site.reach is Reach.SHARED]
    if not shared:
        return
    yield ""
    yield painted("shared sites", _TITLE, color=color)
    told = [
        f"  {clean(site.path)}:{site.line}{' (removed)' * site.is_removal}  {clean(site.text)}"
        for site in shared
    ]
    more = "  {}: --format markdown, html or --json"
    yield from (_cut(line, width) for line in cut_off(told, _FEW, more))


def _signed(added: int, removed: int, color: bool) -> tuple[str, str]:
    """Return two numbers with their signs, in color unless they are zero."""
    plus = painted(f"+{added}", _ADDED, color=color and added > 0)
    return plus, painted(f"-{removed}", _REMOVED, color=color and removed > 0)


def _patches(patches: Sequence[PatchFootprint], width: int, color: bool) -> Iterator[str]:
    """Yield a line for each patch, and below it the languages and symbols that it touches."""
    if not patches:
        return
    yield ""
    yield painted("by patch", _TITLE, color=color)
    indent = len(str(len(patches))) + 4
    rows = [
        (str(number), str(len(patch.files)), *_signed(patch.added, patch.removed, color))
        for number, patch in enumerate(patches, start=1)
    ]
    for counts, patch in zip(table(rows, right=range(4)), patches, strict=True):
        subject = _cut(clean(patch.subject or patch.name), width - cells(counts) - 4)
        yield f"  {counts}  {subject}"
        details = "  ".join((", ".join(patch.languages), *map(clean, touched_symbols(patch))))
        yield " " * indent + painted(_cut(details, width - indent), _QUIET, color=color)


def _cut(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    ends = range(1, 4 * room)  # more cannot fit, except for many combining marks
    return f"{text[: bisect_right(ends, room - 1, key=lambda end: cells(text[:end]))]}…"
