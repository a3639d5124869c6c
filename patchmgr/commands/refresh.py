"""`refresh`: what a person edited in a checkout becomes a patch's change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.push import refuse_forced
from patchmgr.engines.series.comparison import patch_sameness
from patchmgr.engines.series.layers import (
    Collision,
    Layer,
    State,
    is_out,
    lay,
    lay_all,
    layers_of,
    sharers,
)
from patchmgr.errors import PatchmgrError
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.shown import shown
from patchmgr.model.comparison import Sameness
from patchmgr.plumbing.checkout_changes import found_file
from patchmgr.services.edits import edited_files, paths_of, untracked_files
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, opened_series
from patchmgr.services.revising import Revision, make, rewritten
from patchmgr.services.session import Session


class Changed(Struct, frozen=True):
    """A patch whose diff is another one now, and how much so."""

    name: str
    change: Sameness


_KEYS = {"sameness": "change", "is_rewritten": "rewritten", "is_dry_run": "dry_run"}


class Refreshed(Struct, frozen=True, rename=_KEYS):
    """What `refresh` did to a patch; `others` are later ones whose positions or context moved.

    A patch that says the same may be `is_rewritten` all the same.

    `paths` are the files with edits that went in, `untracked` those that git does not know and
    that are not in.
    """

    series: str
    patch: str
    sameness: Sameness
    paths: tuple[str, ...]
    others: tuple[Changed, ...]
    untracked: tuple[str, ...]
    is_rewritten: bool
    is_dry_run: bool


class RefreshOptions(Struct, frozen=True):
    """Which patch is refreshed, the top unless it is named, and how.

    What `rewrites` gives the patch git's diff even if that says the same.
    """

    patch: str | None = None
    allows_empty: bool = False
    rewrites: bool = False


def refresh(
    session: Session,
    given: Sequence[str],
    options: CheckoutOptions,
    how: RefreshOptions,
    *,
    cwd: Path,
) -> Refreshed:
    """Put edits of the checkout into the top patch, or into one below it.

    Raises PatchmgrError "overlap" where a patch above it changes the same lines, and "empty"
    where nothing would be left of the patch.
    """
    with opened_series(session, options) as opened:
        opened.need_checkout()
        if not opened.names:
            hint = "make one with: patchmgr new NAME, or push one"
            raise PatchmgrError("no-patch", f"no patch of {opened.name} is pushed", (hint,))
        name = opened.names[-1] if how.patch is None else opened.pick(how.patch)
        opened.position(name)
        _refuse_rejects(opened, name)
        named = paths_of(opened, given, cwd)
        edits = edited_files(opened, named)
        state = {**opened.state, **edits}
        _refuse_put_back(opened, name, {**edited_files(opened), **edits}, named)
        states = _states_with(opened, name, state)
        _refuse_empty(opened, name, states, allows_empty=how.allows_empty)
        anew = (name,) if how.rewrites else ()
        raws = rewritten(opened, opened.series(opened.names), states, fresh=(name,), anew=anew)
        revision = Revision(opened.names, states[-1], raws, kept=frozenset(edits), settles=True)
        make(opened, revision, is_dry_run=options.is_dry_run)
        return _told(opened, name, raws, tuple(edits), options)


def _refuse_rejects(opened: OpenSeries, name: str) -> None:
    checkout = opened.need_checkout()
    if opened.forced not in (None, name):
        refuse_forced(opened)
    left = [path for path in opened.rejects if found_file(checkout, path) is not None]
    if left:
        raise PatchmgrError(
            "rejects",
            f"{opened.top} has hunks without a place: {', '.join(left)}",
            ("put them in by hand and delete the .rej files, then run this again",),
        )


def _states_with(opened: OpenSeries, name: str, state: State) -> tuple[State, ...]:
    """Return the states of the pushed patches, the edits in the named one."""
    at = opened.names.index(name) + 1
    if at == len(opened.names):
        return (*opened.states[:-1], state)
    ground = opened.ground
    later = layers_of(ground, opened.names[at:], opened.states[at:])
    found = lay(ground, ground.between(name, opened.state, state), opened.states[at])
    if isinstance(found, Collision):
        raise _overlap(name, found.path, sharers(later, found.path, but=name))
    states = lay_all(ground, later, found)
    if isinstance(states, Collision):
        raise _overlap(name, states.path, (states.name,))
    if not ground.is_same(states[-1], state):
        paths = ground.between("", states[-1], state).files
        raise _overlap(name, next(iter(paths)), tuple(layer.name for layer in later))
    return (*opened.states[:at], *states)


def _overlap(name: str, path: str, others: Sequence[str]) -> PatchmgrError:
    who = ", ".join(others)
    return PatchmgrError(
        "overlap",
        f"the edit of {shown(path)} changes lines of {who}, which stands on {name}",
        (f"refresh {others[-1]}" if others else f"patchmgr goto {name}", f"patchmgr goto {name}"),
    )


def _refuse_put_back(opened: OpenSeries, name: str, edits: State, named: Sequence[str]) -> None:
    """Refuse where what another patch does to a file is gone: git may have done that.

    A person who means it names the file. Others that are put back count even if they are not to go
    in: then the ones that are named most likely were put back with them.
    """
    ground, state = opened.ground, {**opened.state, **edits}
    paths = edits.keys() - set(named)
    for layer in layers_of(ground, opened.names, opened.states):
        for path in sorted(paths & layer.files.keys()) if layer.name != name else ():
            alone = Layer(layer.name, {path: layer.files[path]})
            if is_out(ground, alone, state) and not is_out(ground, alone, opened.state):
                where = f"{shown(path)} in {opened.need_checkout().root}"
                message = f"{where} is without what {shown(layer.name)} does there"
                hints = (
                    "put it in again: patchmgr pop --all --force, then patchmgr push --all",
                    f"or let {shown(name)} take it out: "
                    f"patchmgr refresh --patch {shown(name)} {shown(path)}",
                )
                raise PatchmgrError("put-back", message, hints)


def _refuse_empty(
    opened: OpenSeries, name: str, states: Sequence[State], *, allows_empty: bool
) -> None:
    at = opened.names.index(name)
    is_empty = opened.ground.is_same(states[at], states[at + 1])
    if is_empty and opened.patches[name].files and not allows_empty:
        raise PatchmgrError(
            "empty",
            f"nothing would be left of {name}",
            (f"take it away: patchmgr drop {name}", "or keep it: patchmgr refresh --allow-empty"),
        )


def _told(
    opened: OpenSeries,
    name: str,
    raws: dict[str, bytes],
    paths: tuple[str, ...],
    options: CheckoutOptions,
) -> Refreshed:
    how = {
        each: patch_sameness(opened.patches[each], parse_patch(raw, name=each))
        for each, raw in raws.items()
    }
    others = tuple(Changed(each, same) for each, same in how.items() if each != name)
    same = how.get(name, Sameness.IDENTICAL)
    untracked, is_dry = untracked_files(opened, paths), options.is_dry_run
    return Refreshed(opened.name, name, same, paths, others, untracked, name in raws, is_dry)
