"""`push`, `pop`, `goto`: patches into a checkout and out of it, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.engines.series.fold import step_patch
from patchmgr.engines.series.forcing import RejectedHunks, force_patch, reject_text
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.services.authoring import Asked, Desk, desk_of
from patchmgr.services.revising import Revision, make
from patchmgr.services.session import Session


class Hidden(Struct, frozen=True):
    """A patch that was passed over, and why."""

    name: str
    reason: str


_KEYS = {"came": "pushed", "went": "popped", "is_dry_run": "dry_run"}


class Pushed(Struct, frozen=True, rename=_KEYS):
    """What became of the pushed patches: those that came, those that went, and the top now.

    `failure` says why the next one was not pushed, `rejects` are files with hunks of the top
    that had no place, and `hidden` are patches that were passed over.
    """

    series: str
    target: Path
    came: tuple[str, ...]
    went: tuple[str, ...]
    top: str | None
    failure: PatchmgrError | None = None
    rejects: tuple[str, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    is_dry_run: bool = False


def push(session: Session, given: str | None, asked: Asked, *, all_: bool) -> Pushed:
    """Push the next patch, the next so many, all up to a named one, or all."""
    with desk_of(session, asked) as desk:
        left = desk.unpushed()
        if given is not None and given.isdigit():
            wanted = left[: int(given)]
        elif given is not None:
            wanted = _up_to(desk, desk.pick(given))
        else:
            wanted = left if all_ else left[:1]
        if not wanted:
            raise PatchmgrError("no-patch", f"all patches of {desk.name} are pushed already")
        return _push(desk, wanted, asked)


def _up_to(desk: Desk, name: str) -> tuple[str, ...]:
    left = desk.unpushed()
    if name in desk.hidden:
        hint = "patchmgr push --select SYM lets a guarded patch in"
        why = desk.hidden[name]
        raise PatchmgrError("hidden-patch", f"{shown(name)} is hidden: {why}", (hint,))
    if name not in left:
        raise PatchmgrError("no-patch", f"{shown(name)} is pushed already")
    return left[: left.index(name) + 1]


def _push(desk: Desk, wanted: Sequence[str], asked: Asked) -> Pushed:
    refuse_forced(desk)
    side = desk.ground.overlay(desk.state)
    came: list[str] = []
    failure: PatchmgrError | None = None
    rejected: tuple[RejectedHunks, ...] = ()
    for name in wanted:
        patch = desk.patches[name]
        try:
            step_patch(side, patch, desk.bench)
        except PatchmgrError as fault:
            failure = fault
            if not asked.is_forced:
                break
            rejected = force_patch(side, patch, desk.bench)
        came.append(name)
        if failure is not None:
            break
    if failure is not None and not came:
        hint = "put in what has a place, and leave the rest as .rej files: patchmgr push --force"
        raise PatchmgrError("bad-patch", failure.message, (hint,))
    rejects = {f"{r.change.path}.rej": reject_text(r) for r in rejected}
    revision = Revision(
        (*desk.names, *came),
        dict(side.changes()),
        forced=came[-1] if rejects else None,
        rejects=rejects,
    )
    return _made(desk, revision, asked, came=tuple(came), failure=None if rejects else failure)


def refuse_forced(desk: Desk) -> None:
    """Refuse to put a patch on top of one whose hunks have not all a place."""
    if desk.forced is not None:
        message = f"not all hunks of {desk.top} have a place yet"
        hints = (f"put them in by hand, delete {', '.join(desk.rejects)}, then: patchmgr refresh",)
        raise PatchmgrError("rejects", message, (*hints, "or take it out: patchmgr pop --force"))


def pop(session: Session, given: str | None, asked: Asked, *, all_: bool) -> Pushed:
    """Pop the top patch, so many, all above a named one, or all."""
    with desk_of(session, asked, at_any_place=True) as desk:
        names = desk.names
        if not names:
            raise PatchmgrError(
                "no-patch", f"no patch of {desk.name} is pushed", ("patchmgr push",)
            )
        if given is not None and given.isdigit():
            kept = max(0, len(names) - int(given))
        elif given is not None:
            kept = desk.position(desk.pick(given)) + 1
        else:
            kept = 0 if all_ else len(names) - 1
        return _pop(desk, kept, asked)


def _pop(desk: Desk, kept: int, asked: Asked) -> Pushed:
    went = desk.names[kept:]
    if not went:
        raise PatchmgrError("no-patch", f"{desk.top} is the top already")
    revision = Revision(desk.names[:kept], desk.states[kept], discards=asked.is_forced)
    return _made(desk, revision, asked, went=tuple(reversed(went)))


def goto(session: Session, given: str, asked: Asked) -> Pushed:
    """Push or pop until a patch is the top; number 0 is the pin without any."""
    with desk_of(session, asked) as desk:
        if given == "0":
            if not desk.names:
                return _made(desk, Revision((), {}, prepares=True), asked)
            return _pop(desk, 0, asked)
        name = desk.pick(given)
        if name == desk.top:
            return _made(desk, Revision(desk.names, desk.state), asked)
        if name in desk.names:
            return _pop(desk, desk.names.index(name) + 1, asked)
        return _push(desk, _up_to(desk, name), asked)


def _made(
    desk: Desk,
    revision: Revision,
    asked: Asked,
    *,
    came: tuple[str, ...] = (),
    went: tuple[str, ...] = (),
    failure: PatchmgrError | None = None,
) -> Pushed:
    target = desk.need_checkout().root
    make(desk, revision, is_dry_run=asked.is_dry_run)
    order = desk.file.names()
    end = order.index(came[-1]) if came else 0
    start = order.index(desk.top) + 1 if desk.top is not None else 0
    hidden = tuple(Hidden(n, desk.hidden[n]) for n in order[start:end] if n in desk.hidden)
    top = revision.pushed[-1] if revision.pushed else None
    rejects = tuple(revision.rejects)
    return Pushed(desk.name, target, came, went, top, failure, rejects, hidden, asked.is_dry_run)
