"""`applied`, `unapplied`, `top`, `next`, `prev`: list which patches of a series are pushed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from msgspec import Struct

from patchmgr.engines.series.picking import pick
from patchmgr.errors import PatchmgrError
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, opened_series
from patchmgr.services.session import Session


class Mark(str, Enum):
    """The state of a patch; the value is the character with which StGit marks it."""

    TOP = ">"
    PUSHED = "+"
    UNPUSHED = "-"
    HIDDEN = "!"


class Row(Struct, frozen=True):
    """A patch in a listing."""

    name: str
    number: int  # its position in the series, from 1
    mark: Mark
    subject: str
    guards: tuple[str, ...]
    reason: str | None  # why the patch is hidden


class Listing(Struct, frozen=True):
    """Patches of a series, in order."""

    series: str
    target: Path | None  # the checkout that patches are pushed to
    patches: tuple[Row, ...]


def listing(session: Session, options: CheckoutOptions, *, only_pushed: bool = False) -> Listing:
    """Return the patches of a series; with `only_pushed`, the pushed ones in their pushed order."""
    with opened_series(session, options, only_reads=True, at_any_place=only_pushed) as opened:
        target = opened.checkout.root if opened.checkout is not None and opened.applied else None
        rows = {row.name: row for row in _rows(opened)}
        names = opened.names if only_pushed else rows
        return Listing(opened.name, target, tuple(rows[name] for name in names))


def unpushed_listing(session: Session, options: CheckoutOptions) -> Listing:
    """Return the patches of a series that are not pushed, including hidden ones."""
    found = listing(session, options)
    rows = tuple(row for row in found.patches if row.mark in (Mark.UNPUSHED, Mark.HIDDEN))
    return Listing(found.series, found.target, rows)


def _rows(opened: OpenSeries) -> Iterator[Row]:
    guards = {line.name: tuple(map(str, line.guards)) for line in opened.file.lines}
    for number, name in enumerate(opened.file.names(), 1):
        subject, reason = opened.by_name[name].subject, opened.hidden.get(name)
        yield Row(name, number, _mark(opened, name), subject, guards[name], reason)


def _mark(opened: OpenSeries, name: str) -> Mark:
    if name == opened.top:
        return Mark.TOP
    if name in opened.names:
        return Mark.PUSHED
    return Mark.HIDDEN if name in opened.hidden else Mark.UNPUSHED


def neighbor(found: Listing, given: str | None, *, step: int) -> str:
    """Return the name of the patch `step` places after `given` or, by default, after the top.

    A negative step goes back, and hidden patches are not counted. Raises PatchmgrError "no-patch"
    at either end of the series.
    """
    top = next((row.name for row in found.patches if row.mark is Mark.TOP), None)
    names = [row.name for row in found.patches]
    start = top if given is None else pick(given, names, series=found.series)
    if start is None and step <= 0:
        raise PatchmgrError("no-patch", f"no patch of {found.series} is pushed", "patchmgr push")
    rows = [r.name for r in found.patches if r.mark is not Mark.HIDDEN or r.name == start]
    at = (rows.index(start) if start in rows else -1) + step
    if not 0 <= at < len(rows):
        where = "before" if step < 0 else "after"
        raise PatchmgrError("no-patch", f"{found.series} has no patch {where} {start or 'the top'}")
    return rows[at]
