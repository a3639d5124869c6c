"""`series guard`: list the guards of patches, or set those of one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchmgr.engines.series.picking import pick
from patchmgr.errors import PatchmgrError
from patchmgr.formats.series_files import with_guards, write_series
from patchmgr.formats.shown import shown
from patchmgr.model.series import Guard, SeriesLine
from patchmgr.services.session import Session
from patchmgr.store import Change


class Guarded(Struct, frozen=True):
    """Patches with their guards, and the groups of each that are off."""

    series: str
    lines: tuple[SeriesLine, ...]


def list_guards(session: Session, series: str) -> Guarded:
    """Return the patches that have a guard or are in a group that is off."""
    lines = session.workspace.series_file(series).lines
    return Guarded(series, tuple(line for line in lines if line.guards or line.off))


def set_guards(
    session: Session, series: str, given: str, words: Sequence[str], *, is_dry_run: bool
) -> Guarded:
    """Give a patch these guards in the place of what it had; no words take all away."""
    with session.writing():
        session.workspace.series_record(series)
        file = session.workspace.series_file(series)
        name = pick(given, file.names(), series=series)
        guards = [_guard(word.removeprefix("#")) for word in words]
        new = with_guards(file, name, guards)
        if new != file:
            change = Change({f"series/{series}/series": write_series(new)})
            session.workspace.make(change, is_dry_run=is_dry_run)
        return Guarded(series, tuple(line for line in new.lines if line.name == name))


def _guard(word: str) -> Guard:
    if word[:1] not in ("+", "-"):
        raise PatchmgrError("usage", f"{shown(word)} is no guard: write +sym or -sym")
    return Guard(word[1:], word[0] == "+")
