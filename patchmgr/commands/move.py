"""`move`: move a patch within its series, or into the series above or below."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchmgr.engines.series.picking import beside, pick
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.series_files import reordered, with_ended_lines, without, write_series
from patchmgr.formats.shown import shown, typed
from patchmgr.model.series import SeriesFile
from patchmgr.services.checkouts import pushed_targets
from patchmgr.services.decisions import renamed_files
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, opened_series
from patchmgr.services.revising import Revised, chain_of, restacked, revise
from patchmgr.services.session import Session
from patchmgr.services.work_area import refuse_needed
from patchmgr.workspace import Change


def move(
    session: Session, given: str, options: CheckoutOptions, *, before: str | None, after: str | None
) -> Revised:
    """Move a patch within its series; raise "depends" if that would change the series' result."""
    if (before is None) == (after is None):
        raise UsageError("give the new position: --before PATCH or --after PATCH")
    with opened_series(session, options) as opened:
        order = opened.file.names()
        name, other = opened.pick(given), opened.pick(str(before or after))
        if name == other:
            raise UsageError(f"{shown(name)} cannot be moved next to itself")
        order = beside(order, name, other=other, is_behind=after is not None)
        file = reordered(opened.file, order)
        chain = chain_of(opened)
        for each in {name, other} - set(opened.hidden):
            chain.position(each)
        visible = [each for each in order if each in chain.names]
        states = restacked(opened, chain, visible, same_end=True)
        pushed = _pushed_after(opened, visible, name)
        return revise(opened, opened.series(visible), states, file=file, pushed=pushed)


def _pushed_after(opened: OpenSeries, order: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the patches that will be pushed once a patch has moved, lowest first."""
    others = [each for each in opened.names if each != name]
    if name not in order:
        return opened.names
    at = order.index(name)
    is_pushed = at < len(others) or (at == len(others) and name in opened.names)
    return tuple(order[: len(others) + is_pushed])


class Moved(Struct, frozen=True):
    """The result of `move --into`: a patch, its old series and its new one."""

    patch: str
    source: str
    target: str


def move_to_series(session: Session, given: str, *, series: str | None, into: str) -> Moved:
    """Move a patch into the series directly below or above; the stack's files stay the same.

    The first patch can move down, to the end of the series below; the last one can move up, to the
    start. Raises PatchmgrError "usage" for any other patch, or if the series are not adjacent.
    """
    with session.writing():
        workspace = session.workspace
        source = _source(session, series, into)
        is_down = workspace.series_record(source).on == into
        file, other = workspace.series_file(source), workspace.series_file(into)
        name = pick(given, file.names(), series=source)
        _check_ends(name, source, file, is_down=is_down)
        if name in other.names():
            raise UsageError(
                f"{into} already has a patch {shown(name)}",
                f"patchmgr rename {name} NAME --series {source}",
            )
        workspace.require_free(into, name, source=source)
        refuse_needed(workspace, source, name)
        _check_groups(session, name, source, into)
        _check_not_pushed(session, name, source, "" if is_down else into)
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
                **renamed_files(workspace, (source, name), (into, name)),
            }
        )
        workspace.make(change)
    return Moved(name, source, into)


def _check_not_pushed(session: Session, name: str, source: str, above: str) -> None:
    """Raise PatchmgrError "pushed" if the patch, or a patch of the series above, is pushed."""
    for root, record in pushed_targets(session.workspace, None):
        pushed = {patch.name for patch in record.pushed or ()}
        if (record.series == source and name in pushed) or (record.series == above and pushed):
            message = f"{shown(name)} cannot be moved while {record.series} is pushed in {root}"
            hint = f"patchmgr pop --all --to {typed(root)} --series {record.series}"
            raise PatchmgrError("pushed", message, hint)


def _source(session: Session, series: str | None, into: str) -> str:
    """Return `series`, by default the only one directly above or below `into`.

    Raises PatchmgrError "usage" if it is not directly above or below.
    """
    record = session.workspace.series_record(into)
    beside = session.workspace.lock().above(into)
    beside += [record.on] if record.on is not None else []
    if series is None and len(beside) != 1:
        hint = f"series directly above or below {into}: {', '.join(beside) or 'none'}"
        raise UsageError("use --series to name the series that contains the patch", hint)
    source = beside[0] if series is None else session.workspace.series_record(series).name
    if source not in beside:
        raise UsageError(f"neither {source} nor {into} is based on the other")
    return source


def _check_groups(session: Session, name: str, source: str, into: str) -> None:
    """Raise PatchmgrError "usage" if a move would turn the patch on or off because of a group."""
    before, after = (set(session.workspace.settings(s).off_groups(name)) for s in (source, into))
    for group in sorted(before ^ after):
        having, other = (source, into) if group in before else (into, source)
        raise UsageError(
            f"{shown(name)} is in {having}'s group {shown(group)}, which is off",
            f"in {other}, add the patch to a group {shown(group)}, and turn that group off",
            f"or take it out of the group in {having}",
        )


def _check_ends(name: str, source: str, file: SeriesFile, *, is_down: bool) -> None:
    names = file.names()
    end = names[0] if is_down else names[-1]
    if name != end:
        way = "before" if is_down else "after"
        raise UsageError(
            f"{shown(end)} is {way} {shown(name)} in {source}",
            f"first: patchmgr move {name} --{way} {end} --series {source}",
        )
