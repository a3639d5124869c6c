"""`changes`: print the diff between two states of a checkout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.engines.series.layers import State
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.services.open_series import (
    CheckoutOptions,
    OpenSeries,
    edited_files,
    is_in,
    opened_series,
    paths_of,
)
from patchmgr.services.revising import diffs_of
from patchmgr.services.session import Session


class DiffRange(Struct, frozen=True):
    """The range of a diff: from the state before one pushed patch to the state after another.

    If `since` is None, the diff starts after the top patch. If `until` is None, it ends with the
    current files of the checkout. `is_reversed` swaps the two ends.
    """

    since: str | None = None
    until: str | None = None
    is_reversed: bool = False


def changes(
    session: Session, given: Sequence[str], options: CheckoutOptions, *, reach: DiffRange, cwd: Path
) -> bytes:
    """Return the diff between two states of a checkout, in git's format.

    `given` are the paths to include, relative to `cwd`. If there are none, all paths are included.
    """
    with opened_series(session, options, only_reads=True, at_any_place=True) as opened:
        opened.need_checkout()
        paths = paths_of(opened, given, cwd)
        _check(opened, reach)
        since = reach.since
        at = None if since is None else opened.position(opened.pick(since))
        old = opened.state if at is None else opened.states[at]
        new = _behind(opened, reach.until, paths)
        if paths:
            old, new = (_only(opened, state, old, new, paths) for state in (old, new))
        if opened.ground.is_same(old, new):
            return b""
        return diffs_of(opened, (new, old) if reach.is_reversed else (old, new))[0]


def _check(opened: OpenSeries, reach: DiffRange) -> None:
    """Raise PatchmgrError "no-patch" if the first patch of a range is above the last one."""
    if reach.since is None or reach.until is None:
        return
    first, last = (opened.position(opened.pick(end)) for end in (reach.since, reach.until))
    if first > last:
        message = f"{shown(opened.names[first])} is above {shown(opened.names[last])}"
        raise PatchmgrError("no-patch", message, "name the lower patch with --since")


def _behind(opened: OpenSeries, until: str | None, paths: Sequence[str]) -> State:
    if until is not None:
        return opened.states[opened.position(opened.pick(until)) + 1]
    return {**opened.state, **edited_files(opened, paths)}


def _only(opened: OpenSeries, state: State, old: State, new: State, paths: Sequence[str]) -> State:
    """Return the part of `state` at or below the given paths, for files in `old` or `new`."""
    return {p: opened.ground.entry(state, p) for p in (*old, *new) if is_in(p, paths)}
