"""`new` and `refresh`: what a person edited in a checkout becomes a patch's change."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.pushing import refuse_forced
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
from patchmgr.engines.series.picking import file_name
from patchmgr.errors import PatchmgrError
from patchmgr.formats.header_edits import new_header
from patchmgr.formats.mail_text import parse_date, parse_person
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import with_appended, with_inserted
from patchmgr.formats.shown import shown
from patchmgr.model.comparison import Sameness
from patchmgr.model.patch import Author
from patchmgr.plumbing.checkout_changes import found_file
from patchmgr.services.authoring import Asked, Desk, desk_of
from patchmgr.services.edits import edited_files, paths_of, untracked_files
from patchmgr.services.revising import Revision, make, rewritten
from patchmgr.services.session import Session

_IDENTITY = re.compile(r"(.*) <(.*)> (\d+ [+-]\d{4})")


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


def new_patch(
    session: Session, given: str, asked: Asked, *, subject: str, message: str, author: str
) -> str:
    """Make an empty patch on top of the pushed ones; edits wait for `refresh`."""
    with desk_of(session, asked) as desk:
        name = file_name(given)
        refuse_forced(desk)
        place = session.workspace.root / f"series/{desk.name}/{name}"
        if place.exists() and name not in desk.file.names():
            hint = f"move {place} away, or choose another name"
            raise PatchmgrError("usage", f"there is a file {shown(name)} already", (hint,))
        top, order = desk.top, desk.file.names()
        if top is None and order:
            file = with_inserted(desk.file, name, before=order[0])
        else:
            file = with_appended(desk.file, name, after=top)
        writer = _author(desk, author)
        raw = new_header(subject or _words(name), message, writer)
        revision = Revision((*desk.names, name), desk.state, {name: raw}, file)
        desk.need_checkout()
        make(desk, revision, is_dry_run=asked.is_dry_run)
        return name


def _words(name: str) -> str:
    stem = name.rpartition("/")[2].rpartition(".")[0]
    return re.sub(r"[-_]+", " ", stem).strip() or "patch"


def _author(desk: Desk, given: str) -> Author:
    """Return who writes a patch: as given, else as git knows the user; the date is git's."""
    known = _IDENTITY.fullmatch(desk.need_checkout().clone.identity() or "")
    if given:
        person = parse_person(given)
        if person is None:
            raise PatchmgrError("usage", "--author is written as: Name <name@example.org>")
        return Author(*person, known[3] if known else _now())
    if known is None:
        hints = ("patchmgr new --author 'Name <name@example.org>'", "or: git config user.name")
        raise PatchmgrError("usage", "git does not know who you are", hints)
    return Author(known[1], known[2], known[3])


def _now() -> str:
    return parse_date(f"@{int(time.time())} +0000") or "0 +0000"


class How(Struct, frozen=True):
    """Which patch is refreshed, the top unless it is named, and how.

    What `rewrites` gives the patch git's diff even if that says the same.
    """

    patch: str | None = None
    allows_empty: bool = False
    rewrites: bool = False


def refresh(
    session: Session, given: Sequence[str], asked: Asked, how: How, *, cwd: Path
) -> Refreshed:
    """Put edits of the checkout into the top patch, or into one below it.

    Raises PatchmgrError "overlap" where a patch above it changes the same lines, and "empty"
    where nothing would be left of the patch.
    """
    with desk_of(session, asked) as desk:
        desk.need_checkout()
        if not desk.names:
            hint = "make one with: patchmgr new NAME, or push one"
            raise PatchmgrError("no-patch", f"no patch of {desk.name} is pushed", (hint,))
        name = desk.names[-1] if how.patch is None else desk.pick(how.patch)
        desk.position(name)
        _refuse_rejects(desk, name)
        named = paths_of(desk, given, cwd)
        edits = edited_files(desk, named)
        state = {**desk.state, **edits}
        _refuse_put_back(desk, name, {**edited_files(desk), **edits}, named)
        states = _states_with(desk, name, state)
        _refuse_empty(desk, name, states, allows_empty=how.allows_empty)
        anew = (name,) if how.rewrites else ()
        raws = rewritten(desk, desk.series(desk.names), states, fresh=(name,), anew=anew)
        revision = Revision(desk.names, states[-1], raws, kept=frozenset(edits), settles=True)
        make(desk, revision, is_dry_run=asked.is_dry_run)
        return _told(desk, name, raws, tuple(edits), asked)


def _refuse_rejects(desk: Desk, name: str) -> None:
    checkout = desk.need_checkout()
    if desk.forced not in (None, name):
        refuse_forced(desk)
    left = [path for path in desk.rejects if found_file(checkout, path) is not None]
    if left:
        raise PatchmgrError(
            "rejects",
            f"{desk.top} has hunks without a place: {', '.join(left)}",
            ("put them in by hand and delete the .rej files, then run this again",),
        )


def _states_with(desk: Desk, name: str, state: State) -> tuple[State, ...]:
    """Return the states of the pushed patches, the edits in the named one."""
    at = desk.names.index(name) + 1
    if at == len(desk.names):
        return (*desk.states[:-1], state)
    ground = desk.ground
    later = layers_of(ground, desk.names[at:], desk.states[at:])
    found = lay(ground, ground.between(name, desk.state, state), desk.states[at])
    if isinstance(found, Collision):
        raise _overlap(name, found.path, sharers(later, found.path, but=name))
    states = lay_all(ground, later, found)
    if isinstance(states, Collision):
        raise _overlap(name, states.path, (states.name,))
    if not ground.is_same(states[-1], state):
        paths = ground.between("", states[-1], state).files
        raise _overlap(name, next(iter(paths)), tuple(layer.name for layer in later))
    return (*desk.states[:at], *states)


def _overlap(name: str, path: str, others: Sequence[str]) -> PatchmgrError:
    who = ", ".join(others)
    return PatchmgrError(
        "overlap",
        f"the edit of {shown(path)} changes lines of {who}, which stands on {name}",
        (f"refresh {others[-1]}" if others else f"patchmgr goto {name}", f"patchmgr goto {name}"),
    )


def _refuse_put_back(desk: Desk, name: str, edits: State, named: Sequence[str]) -> None:
    """Refuse where what another patch does to a file is gone: git may have done that.

    A person who means it names the file. Others that are put back count even if they are not to go
    in: then the ones that are named most likely were put back with them.
    """
    ground, state = desk.ground, {**desk.state, **edits}
    paths = edits.keys() - set(named)
    for layer in layers_of(ground, desk.names, desk.states):
        for path in sorted(paths & layer.files.keys()) if layer.name != name else ():
            alone = Layer(layer.name, {path: layer.files[path]})
            if is_out(ground, alone, state) and not is_out(ground, alone, desk.state):
                where = f"{shown(path)} in {desk.need_checkout().root}"
                message = f"{where} is without what {shown(layer.name)} does there"
                hints = (
                    "put it in again: patchmgr pop --all --force, then patchmgr push --all",
                    f"or let {shown(name)} take it out: "
                    f"patchmgr refresh --patch {shown(name)} {shown(path)}",
                )
                raise PatchmgrError("put-back", message, hints)


def _refuse_empty(desk: Desk, name: str, states: Sequence[State], *, allows_empty: bool) -> None:
    at = desk.names.index(name)
    is_empty = desk.ground.is_same(states[at], states[at + 1])
    if is_empty and desk.patches[name].files and not allows_empty:
        raise PatchmgrError(
            "empty",
            f"nothing would be left of {name}",
            (f"take it away: patchmgr drop {name}", "or keep it: patchmgr refresh --allow-empty"),
        )


def _told(
    desk: Desk, name: str, raws: dict[str, bytes], paths: tuple[str, ...], asked: Asked
) -> Refreshed:
    how = {
        each: patch_sameness(desk.patches[each], parse_patch(raw, name=each))
        for each, raw in raws.items()
    }
    others = tuple(Changed(each, same) for each, same in how.items() if each != name)
    same = how.get(name, Sameness.IDENTICAL)
    untracked, is_dry = untracked_files(desk, paths), asked.is_dry_run
    return Refreshed(desk.name, name, same, paths, others, untracked, name in raws, is_dry)
