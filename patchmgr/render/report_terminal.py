"""The report on a series as aligned text for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from patchmgr.model.footprint import Footprint, PatchFootprint, Tally
from patchmgr.model.review import Reach, Review
from patchmgr.render.escape import clean, counted
from patchmgr.render.rebase import painted
from patchmgr.render.report_words import REACH_WORDS, TITLES, groups, steps, touched_symbols

NARROWEST = 40
_FEW = 12
_NUMBERS = 26  # columns that the numbers in a section take
_ADDED, _REMOVED, _TITLE, _QUIET = "32", "31", "1", "2"


def report_terminal(footprint: Footprint, *, width: int, colour: bool) -> str:
    """Return the report on one series in lines of at most `width` columns (at least 40).

    Only the line that names the base may be longer, because its commit id is never shortened.
    """
    width = max(width, NARROWEST)
    lines = [*_head(footprint, width, colour)]
    for title, tallies in (
        *groups(footprint),
        ("by language", footprint.languages),
        ("by folder", footprint.folders),
    ):
        lines += _section(title, tallies, width, colour)
    if footprint.review is not None:
        lines += _review(footprint.review, width, colour)
    lines += _patches(footprint.patches, width, colour)
    return "\n".join(lines) + "\n"


def report_line(footprint: Footprint, *, colour: bool) -> str:
    """Return one line with the number of patches, files and changed lines of a series."""
    total = footprint.total
    size = f"{counted(len(footprint.patches), 'patch')}, {counted(total.files, 'file')}"
    return f"{clean(footprint.series)}: {size} {_change(total.added, total.removed, colour)}\n"


def _head(footprint: Footprint, width: int, colour: bool) -> Iterator[str]:
    pin = footprint.pin
    skipped = f", {len(footprint.skipped)} skipped" if footprint.skipped else ""
    title = f"{clean(footprint.series)}  {counted(len(footprint.patches), 'patch')}{skipped}"
    yield painted(_cut(title, width), _TITLE, colour=colour)
    named = f"{clean(pin.ref)} " if pin.ref != pin.commit else ""
    yield f"on {named}{clean(pin.commit)}"
    total = footprint.total
    binary = f", {total.binaries} binary" if total.binaries else ""
    files = f"{counted(total.files, 'file')}{binary}"
    yield f"net       {files} {_change(total.added, total.removed, colour)}"
    yield f"by patch  {_change(footprint.patch_added, footprint.patch_removed, colour)}"
    if footprint.passing:
        yield f"passing   {counted(len(footprint.passing), 'path')}, unchanged in the end"
    for name, reason in footprint.skipped:
        yield f"skipped   {clean(name)}: {clean(reason)}"


def _change(added: int, removed: int, colour: bool) -> str:
    plus = _number(f"+{added}", 0, _ADDED, colour=colour)
    return f"{plus} {_number(f'-{removed}', 0, _REMOVED, colour=colour)}"


def _section(title: str, tallies: Sequence[Tally], width: int, colour: bool) -> Iterator[str]:
    if not tallies:
        return
    columns = [
        ["files", *(str(t.files) for t in tallies)],
        ["added", *(f"+{t.added}" for t in tallies)],
        ["removed", *(f"-{t.removed}" for t in tallies)],
    ]
    wide = [max(len(number) for number in column) for column in columns]
    room = width - sum(wide) - 2 * len(wide) - 2
    names = [title, *(f"  {_cut(clean(TITLES.get(t.name, t.name)), room)}" for t in tallies)]
    widest = max(_cells(name) for name in names)
    yield ""
    for row, (name, files, added, removed) in enumerate(zip(names, *columns, strict=True)):
        head = painted(name, _TITLE, colour=colour and row == 0)
        padding = " " * (widest - _cells(name))
        plus = _number(added, wide[1], _ADDED, colour=colour)
        minus = _number(removed, wide[2], _REMOVED, colour=colour)
        yield f"{head}{padding}  {files.rjust(wide[0])}  {plus}  {minus}"


def _review(review: Review, width: int, colour: bool) -> Iterator[str]:
    """Yield the subsystems, the reach of the changes, hotspots and risks."""
    parts = [Tally(p.name, p.files, 0, p.added, p.removed) for p in review.parts]
    title = f"by subsystem ({review.parts_by})"
    yield from _section(_cut(title, width - _NUMBERS), parts, width, colour)
    yield ""
    yield painted("changed sites in upstream's code", _TITLE, colour=colour)
    for reach, words in REACH_WORDS.items():
        yield _cut(f"  {review.count(reach):5}  {reach.value}: {words}", width)
    yield from _shared(review, width, colour)
    hot = [h for h in review.hotspots if h.commits][:_FEW]
    if hot:
        yield ""
        title = f"hotspots in the last {steps(review)}"
        yield painted(_cut(title, width), _TITLE, colour=colour)
        for spot in hot:
            where = f"{spot.path} {spot.symbol or ''}".rstrip()
            yield _cut(f"  {spot.commits:5}  {clean(where)}", width)
    if review.risks:
        yield ""
        yield painted("risks", _TITLE, colour=colour)
        for risk in review.risks:
            yield _cut(f"  {risk.kind.value}: {clean(risk.what)} in {clean(risk.path)}", width)


def _shared(review: Review, width: int, colour: bool) -> Iterator[str]:
    """Yield the first sites that run for everybody, which a reviewer should look at first."""
    shared = [site for site in review.sites if site.reach is Reach.SHARED]
    if not shared:
        return
    yield ""
    yield painted("shared sites", _TITLE, colour=colour)
    for site in shared[:_FEW]:
        where = f"{clean(site.path)}:{site.line}{' (removed)' if site.is_removal else ''}"
        yield _cut(f"  {where}  {clean(site.text)}", width)
    if len(shared) > _FEW:
        yield _cut(f"  {len(shared) - _FEW} more: --format markdown, html or --json", width)


def _number(signed: str, width: int, code: str, *, colour: bool) -> str:
    """Return a signed number (or a heading) padded to `width`, in colour unless it is zero."""
    number = signed[1:]
    return painted(signed.rjust(width), code, colour=colour and number.isdigit() and number != "0")


def _patches(patches: Sequence[PatchFootprint], width: int, colour: bool) -> Iterator[str]:
    if not patches:
        return
    yield ""
    yield painted("by patch", _TITLE, colour=colour)
    wide = (
        len(str(len(patches))),
        max(len(str(len(patch.files))) for patch in patches),
        max(len(str(patch.added)) for patch in patches),
        max(len(str(patch.removed)) for patch in patches),
    )
    for number, patch in enumerate(patches, start=1):
        yield from _patch(number, patch, wide=wide, width=width, colour=colour)


def _patch(
    number: int, patch: PatchFootprint, *, wide: Sequence[int], width: int, colour: bool
) -> Iterator[str]:
    """Yield the line of a patch, then a line with the languages and symbols that it touches."""
    files = str(len(patch.files)).rjust(wide[1])
    indent = wide[0] + 4
    used = indent + sum(wide[1:]) + 2 + 6
    plus = _number(f"+{patch.added}", wide[2] + 1, _ADDED, colour=colour)
    minus = _number(f"-{patch.removed}", wide[3] + 1, _REMOVED, colour=colour)
    subject = _cut(clean(patch.subject or patch.name), width - used)
    yield f"  {str(number).rjust(wide[0])}  {files}  {plus}  {minus}  {subject}"
    details = "  ".join((", ".join(patch.languages), *map(clean, touched_symbols(patch))))
    shown = _cut(details, width - indent)
    yield " " * indent + painted(shown, _QUIET, colour=colour)


def _cells(text: str) -> int:
    """Return the number of columns that a text occupies on a terminal."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def _cut(text: str, room: int) -> str:
    if _cells(text) <= room:
        return text
    text = text[: 4 * room]  # more cannot fit, except for many combining marks
    while _cells(text) > room - 1:
        text = text[:-1]
    return f"{text}…"
