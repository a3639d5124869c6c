"""`push`, `pop`, `goto`: apply patches of a series to a checkout, and remove them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.engines.series.fold import step_patch
from patchmgr.engines.series.forcing import RejectedHunks, force_patch, reject_text
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.series import SkippedPatch
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, opened_series
from patchmgr.services.revising import Revision, make, refuse_forced
from patchmgr.services.session import Session


class Pushed(Struct, frozen=True):
    """The result of `push`, `pop` or `goto`."""

    series: str
    target: Path
    pushed: tuple[str, ...]  # patches
    popped: tuple[str, ...]
    top: str | None  # the new top
    failure: PatchmgrError | None = None  # why the next patch could not be pushed
    rejects: tuple[str, ...] = ()  # files with the hunks of the top patch that do not apply
    hidden: tuple[SkippedPatch, ...] = ()  # patches that were skipped


def push(session: Session, given: str | None, options: CheckoutOptions, *, all_: bool) -> Pushed:
    """Push the next patch, the next N, all patches up to a named one, or all.

    Raises PatchmgrError "bad-patch" if a patch does not apply, and "no-patch" if none is left.
    """
    with opened_series(session, options) as opened:
        left = opened.unpushed()
        if given is not None and given.isdecimal():
            wanted = left[: int(given)]
        elif given is not None:
            wanted = _up_to(opened, opened.pick(given))
        else:
            wanted = left if all_ else left[:1]
        if not wanted:
            raise PatchmgrError("no-patch", f"no patch of {opened.name} is left to push")
        return _push(opened, wanted)


def _up_to(opened: OpenSeries, name: str) -> tuple[str, ...]:
    left = opened.unpushed()
    opened.refuse_hidden(name)
    if name not in left:
        raise PatchmgrError("no-patch", f"{shown(name)} is already pushed")
    return left[: left.index(name) + 1]


def _push(opened: OpenSeries, wanted: Sequence[str]) -> Pushed:
    refuse_forced(opened)
    side = opened.ground.overlay(opened.state)
    came: list[str] = []
    failure: PatchmgrError | None = None
    rejected: tuple[RejectedHunks, ...] = ()
    for name in wanted:
        patch = opened.by_name[name]
        try:
            step_patch(side, patch, opened.scratch)
        except PatchmgrError as fault:
            failure = fault
            if not opened.options.is_forced:
                break
            rejected = force_patch(side, patch, opened.scratch)
        came.append(name)
        if failure is not None:
            break
    if failure is not None and not came:
        hint = "push what applies, and write the rest to .rej files: patchmgr push --force"
        raise PatchmgrError("bad-patch", failure.message, hint)
    rejects = {f"{r.change.path}.rej": reject_text(r) for r in rejected}
    revision = Revision(
        (*opened.names, *came),
        dict(side.changes()),
        forced=came[-1] if rejects else None,
        rejects=rejects,
    )
    return _made(opened, revision, pushed=tuple(came), failure=None if rejects else failure)


def pop(session: Session, given: str | None, options: CheckoutOptions, *, all_: bool) -> Pushed:
    """Pop the top patch, the top N, all patches above a named one, or all."""
    with opened_series(session, options, at_any_place=True) as opened:
        names = opened.names
        if not names:
            raise PatchmgrError("no-patch", f"no patch of {opened.name} is pushed", "patchmgr push")
        if given is not None and given.isdecimal():
            kept = max(0, len(names) - int(given))
        elif given is not None:
            kept = opened.position(opened.pick(given)) + 1
        else:
            kept = 0 if all_ else len(names) - 1
        return _pop(opened, kept)


def _pop(opened: OpenSeries, kept: int) -> Pushed:
    went = opened.names[kept:]
    if not went:
        raise PatchmgrError("no-patch", f"{opened.top} is already the top patch")
    revision = Revision(opened.names[:kept], opened.states[kept], discards=opened.options.is_forced)
    return _made(opened, revision, popped=tuple(reversed(went)))


def goto(session: Session, given: str, options: CheckoutOptions) -> Pushed:
    """Push or pop patches until the named one is the top; the name "0" pops all."""
    with opened_series(session, options) as opened:
        if given == "0":
            if not opened.names:
                return _made(opened, Revision((), {}, prepares=True))
            return _pop(opened, 0)
        name = opened.pick(given)
        if name == opened.top:
            return _made(opened, Revision(opened.names, opened.state))
        if name in opened.names:
            return _pop(opened, opened.names.index(name) + 1)
        return _push(opened, _up_to(opened, name))


def _made(
    opened: OpenSeries,
    revision: Revision,
    *,
    pushed: tuple[str, ...] = (),
    popped: tuple[str, ...] = (),
    failure: PatchmgrError | None = None,
) -> Pushed:
    target = opened.need_checkout().root
    make(opened, revision)
    order = opened.file.names()
    end = order.index(pushed[-1]) if pushed else 0
    start = order.index(opened.top) + 1 if opened.top is not None else 0
    passed = (SkippedPatch(n, opened.hidden[n]) for n in order[start:end] if n in opened.hidden)
    top = revision.pushed[-1] if revision.pushed else None
    rejects = tuple(revision.rejects)
    return Pushed(opened.name, target, pushed, popped, top, failure, rejects, tuple(passed))
