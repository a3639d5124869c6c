"""`move --into`: a patch goes over to the series above or below; all files stay what they are."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.commands.session import Session, move_store_refs
from patchmgr.engines.picking import pick
from patchmgr.errors import PatchmgrError
from patchmgr.formats.series_files import with_ended_lines, without, write_series
from patchmgr.formats.shown import shown
from patchmgr.model.series import SeriesFile
from patchmgr.store import Change


class Crossed(Struct, frozen=True, rename={"is_dry_run": "dry_run"}):
    """A patch that has another series now."""

    patch: str
    source: str
    target: str
    is_dry_run: bool


def cross(
    session: Session, given: str, *, series: str | None, into: str, is_dry_run: bool
) -> Crossed:
    """Make the first patch of a series the last one of the series below, or the other way.

    So no diff changes, and the stack makes the same files. Raises PatchmgrError "usage" where
    the two do not stand on each other, or where other patches are between.
    """
    with session.writing():
        workspace = session.workspace
        source = series or _beside(session, into)
        is_down = _is_down(session, source, into)
        file, other = workspace.series_file(source), workspace.series_file(into)
        name = pick(given, file.names(), series=source)
        _check_ends(name, source, file, is_down=is_down)
        if name in other.names():
            raise PatchmgrError(
                "usage",
                f"{into} has a patch {shown(name)} already",
                (f"patchmgr rename {name} NAME --series {source}",),
            )
        line = with_ended_lines(SeriesFile(tuple(x for x in file.lines if x.name == name))).lines
        lines = with_ended_lines(other).lines
        folder = f"series/{source}/{name}"
        change = Change(
            {
                f"series/{source}/series": write_series(without(file, {name})),
                f"series/{into}/series": write_series(
                    SeriesFile((*lines, *line) if is_down else (*line, *lines))
                ),
                f"series/{into}/{name}": workspace.read(folder),
                folder: None,
            }
        )
        if not is_dry_run:
            workspace.make(change, move_store_refs)
    return Crossed(name, source, into, is_dry_run)


def _beside(session: Session, into: str) -> str:
    """Return the one series that stands on another, or that it stands on."""
    record = session.workspace.series_record(into)
    every = session.workspace.lock().series.values()
    beside = [upper.name for upper in every if upper.on == into]
    beside += [record.on] if record.on is not None else []
    if len(beside) != 1:
        hint = f"series next to {into}: {', '.join(beside) or 'none'}"
        raise PatchmgrError("usage", "say with --series which series has the patch", (hint,))
    return beside[0]


def _is_down(session: Session, source: str, into: str) -> bool:
    """Say whether a patch goes to the series below; refuse series that are not next."""
    if session.workspace.series_record(source).on == into:
        return True
    if session.workspace.series_record(into).on == source:
        return False
    raise PatchmgrError("usage", f"neither of {source} and {into} stands on the other")


def _check_ends(name: str, source: str, file: SeriesFile, *, is_down: bool) -> None:
    names = file.names()
    end = names[0] if is_down else names[-1]
    if name != end:
        way = "before" if is_down else "after"
        option = "--before" if is_down else "--after"
        raise PatchmgrError(
            "usage",
            f"{shown(end)} is {way} {shown(name)} in {source}",
            (f"first: patchmgr move {name} {option} {end} --series {source}",),
        )
