"""`series`: create and list series, show how their patches depend on each other, set guards."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.layers import dependencies
from patchmgr.engines.series.picking import pick
from patchmgr.errors import UsageError
from patchmgr.formats.lock_files import check_name, write_lock
from patchmgr.formats.series_files import with_guards, write_series
from patchmgr.formats.shown import shown
from patchmgr.model.series import GraphPatch, Guard, SeriesLine
from patchmgr.model.upstream import SeriesRecord
from patchmgr.services.open_series import CheckoutOptions, opened_series
from patchmgr.services.revising import chain_of
from patchmgr.services.series import SeriesView, series_view
from patchmgr.services.session import Session, pin_of
from patchmgr.workspace import LOCK, Change


def new_series(
    session: Session, name: str, *, upstream: str | None, base: str | None, on: str | None
) -> SeriesRecord:
    """Create an empty series on an upstream state (`base`), or on top of another series (`on`)."""
    check_name(name, what="series", kind="usage")
    with session.writing():
        lock = session.workspace.lock()
        if name in lock.series:
            raise UsageError(f"the series {name} already exists")
        record = _new_record(session, name, upstream, base, on)
        change = Change({LOCK: write_lock(replace(lock, series={**lock.series, name: record}))})
        if not (session.workspace.root / f"series/{name}/series").exists():
            change.files[f"series/{name}/series"] = b""
        session.workspace.make(change)
    return record


def _new_record(
    session: Session, name: str, upstream: str | None, base: str | None, on: str | None
) -> SeriesRecord:
    """Return the record of a new series; a series based on another must have the other's pin."""
    lower = None if on is None else session.workspace.series_record(on)
    if lower is None and (upstream is None or base is None):
        verb = f"patchmgr series new {name}"
        hints = (f"{verb} --upstream U --base REF", f"or, on another series: {verb} --on SERIES")
        raise UsageError("a new series needs an upstream and the state to pin", *hints)
    upstream = upstream or (lower.upstream if lower else "")
    if lower is not None and base is None:
        record = SeriesRecord(name, upstream, lower.pin, on)
    else:
        opened = session.open_upstream(session.workspace.upstream(upstream))
        record = SeriesRecord(name, upstream, pin_of(opened.reader, opened.resolve(base or "")), on)
    if lower is not None and record.pin.commit == lower.pin.commit:
        record = replace(record, pin=lower.pin)
    if lower is not None and (record.upstream, record.pin) != (lower.upstream, lower.pin):
        message = f"{name} is based on {on}, so it must have the same pin: {lower.pin.ref}"
        raise UsageError(message, "leave out --upstream and --base")
    return record


def show_series(session: Session, name: str) -> SeriesView:
    """Return a series with its patches."""
    return session.workspace.read_whole(lambda: series_view(session.workspace, name))


def series_graph(session: Session, name: str) -> tuple[GraphPatch, ...]:
    """Return the patches of a series, except hidden ones, each with the patches that it needs."""
    with opened_series(session, CheckoutOptions(None, name), only_reads=True) as opened:
        chain = chain_of(opened)
        found = dependencies(opened.ground, chain.layers, chain.states)
        return tuple(GraphPatch(patch, needs) for patch, needs in found.items())


class Guarded(Struct, frozen=True):
    """The lines of a series file for patches that have a guard or are in a group that is off."""

    series: str
    lines: tuple[SeriesLine, ...]


def list_guards(session: Session, series: str) -> Guarded:
    """Return the patches that have a guard or are in a group that is off."""
    lines = session.workspace.series_file(series).lines
    return Guarded(series, tuple(line for line in lines if line.guards or line.off))


def set_guards(session: Session, series: str, given: str, words: Sequence[str]) -> Guarded:
    """Set a patch's guards to `words` (`+sym` or `-sym`); without words, remove its guards."""
    with session.writing():
        session.workspace.series_record(series)
        file = session.workspace.series_file(series)
        name = pick(given, file.names(), series=series)
        guards = [_guard(word.removeprefix("#")) for word in words]
        new = with_guards(file, name, guards)
        if new != file:
            session.workspace.make(Change({f"series/{series}/series": write_series(new)}))
        return Guarded(series, tuple(line for line in new.lines if line.name == name))


def _guard(word: str) -> Guard:
    if word[:1] not in ("+", "-"):
        raise UsageError(f"{shown(word)} is not a guard: write +sym or -sym")
    return Guard(word[1:], word[0] == "+")
