"""`changes`: print the diff between two states of a checkout."""

from __future__ import annotations

from collections.abc import Sequence

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
    session: Session, given: Sequence[str], options: CheckoutOptions, reach: DiffRange
) -> bytes:
    """Return the diff between two states of a checkout, in git's format.

    `given` are the paths to include; if there are none, all paths are included. Raises
    PatchmgrError "no-patch" if the first patch of the range is above the last one.
    """
    with opened_series(session, options, only_reads=True, at_any_place=True) as opened:
        opened.need_checkout()
        paths = paths_of(opened, given)
        first, last = (
            None if end is None else opened.position(opened.pick(end))
            for end in (reach.since, reach.until)
        )
        if first is not None and last is not None and first > last:
            message = f"{shown(opened.names[first])} is above {shown(opened.names[last])}"
            raise PatchmgrError("no-patch", message, "name the lower patch with --since")
        old = opened.state if first is None else opened.states[first]
        if last is None:
            new: State = {**opened.state, **edited_files(opened, paths)}
        else:
            new = opened.states[last + 1]
        if paths:
            old, new = (_only(opened, state, old, new, paths) for state in (old, new))
        if opened.ground.is_same(old, new):
            return b""
        return diffs_of(opened, (new, old) if reach.is_reversed else (old, new))[0]


def _only(opened: OpenSeries, state: State, old: State, new: State, paths: Sequence[str]) -> State:
    """Return the files of `old` and `new` at or below the given paths, as they are in `state`."""
    return {p: opened.ground.entry(state, p) for p in (*old, *new) if is_in(p, paths)}
