"""`upstream add`, `upstream fetch`: record and fetch upstreams."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.git_urls import local_path
from patchmgr.formats.lock_files import check_name, write_lock
from patchmgr.formats.shown import shown
from patchmgr.model.upstream import SeriesRecord, Upstream
from patchmgr.plumbing.git_upstream import check_url
from patchmgr.plumbing.history import is_ancestor
from patchmgr.plumbing.stores import borrow, objects_of
from patchmgr.services.session import Session
from patchmgr.workspace import LOCK, Change


def upstream_of(
    name: str, *, track: str | None, git: str | None, package: str | None, branch: str | None,
    archive: str | None,
) -> Upstream:  # fmt: skip
    """Return the upstream that the options describe."""
    known = {"git": git, "package": package, "archive": archive}
    # by default, the first one given is tracked
    kind = track or next((kind for kind, where in known.items() if where is not None), "package")
    return Upstream(name, kind, git, package, branch, archive)


def add_upstream(session: Session, upstream: Upstream, *, reference: Path | None) -> Upstream:
    """Record an upstream in upstream.lock, and return it.

    Its store borrows the objects of `reference`. Raises PatchmgrError "usage" if the options
    contradict each other, or if the name belongs to another upstream.
    """
    check_name(upstream.name, what="upstream", kind="usage")
    others = (upstream.git, upstream.package, upstream.branch)
    if upstream.archive is not None and (any(others) or upstream.track != "archive"):
        raise UsageError("--archive cannot be used with --git, --package, --branch or --track")
    if not (upstream.git or upstream.package or upstream.archive):
        hint = "or only --archive FILE|URL"
        raise UsageError("an upstream needs --git URL, --package NAME, or both", hint)
    if upstream.track == "git" and upstream.git is None:
        raise UsageError("--track git needs --git URL")
    if upstream.track == "package" and upstream.package is None:
        raise UsageError("--track package needs --package NAME")
    if upstream.git is not None:
        upstream = replace(upstream, git=check_url(upstream.git))
    elif upstream.archive is not None:
        upstream = replace(upstream, archive=_checked_archive(upstream.archive))
    if upstream.git is None and (reference or upstream.branch):
        raise UsageError(f"{'--reference' if reference else '--branch'} needs --git URL")
    with session.writing():
        lock = session.workspace.lock()
        known = lock.upstreams.get(upstream.name)
        if known is not None and known != upstream:
            raise UsageError(
                f"another upstream named {upstream.name} already exists",
                "to change it, edit upstream.lock",
            )
        if reference is not None:
            objects_of(reference)
        if session.is_dry_run:
            return upstream
        if reference is not None:
            borrow(session.open_upstream(upstream, tracks="git").store, reference)
        if known is None:
            upstreams = {**lock.upstreams, upstream.name: upstream}
            change = Change({LOCK: write_lock(replace(lock, upstreams=upstreams))})
            session.workspace.make(change)
    return upstream


def _checked_archive(location: str) -> str:
    """Return a URL, or the absolute path of an existing file or folder."""
    if location.startswith(("https://", "http://")):
        if location.endswith("/"):
            raise UsageError(f"{shown(location)} is not the URL of a file")
        return location
    path = Path(os.path.abspath(Path(local_path(location) or location).expanduser()))
    if "://" in location.removeprefix("file://") or not path.exists():
        raise UsageError(f"there is no archive or folder at {shown(location)}")
    return str(path)


class Fetched(Struct, frozen=True):
    """A fetched upstream, and the commit of its tip."""

    name: str
    commit: str


def fetch_upstreams(
    session: Session, names: Sequence[str], *, refs: Sequence[str]
) -> tuple[Fetched, ...]:
    """Fetch the tracked states, the pins and `refs` of the named upstreams, or of all.

    Tells the user if a pin is no longer in upstream. If an upstream cannot be fetched, its error is
    raised after the others have been fetched.
    """
    lock = session.workspace.lock()
    for name in names:
        session.workspace.upstream(name)
    chosen = names or sorted(lock.upstreams)
    if not chosen:
        raise UsageError("there is no upstream here yet", "patchmgr upstream add --help")
    opened = {name: session.open_upstream(lock.upstreams[name]) for name in chosen}
    tips = {name: each.tip() for name, each in opened.items()}
    fetched: list[Fetched] = []
    faults: list[PatchmgrError] = []
    for name, each in opened.items():
        try:
            fetched.append(Fetched(name, each.fetch(tuple(refs))))
        except PatchmgrError as fault:
            faults.append(fault)
    new = {one.name: one.commit for one in fetched}
    for record in {(r.upstream, r.pin): r for r in lock.series.values()}.values():
        if record.upstream in new and record.pin.archive is None:
            _bring_pin(session, record, tips[record.upstream], new[record.upstream])
    if len(opened) > 1 and faults:
        message = "; ".join(fault.message for fault in faults)
        hints = (hint for fault in faults for hint in fault.hints)
        message = f"{len(faults)} of {len(opened)} upstreams were not fetched: {message}"
        raise PatchmgrError(faults[0].kind, message, *hints)
    if faults:
        raise faults[0]
    return tuple(fetched)


def _bring_pin(session: Session, record: SeriesRecord, old: str | None, new: str) -> None:
    """Fetch a missing pin; `old` and `new` are the tracked branch before and after its fetch."""
    pinned, pin = session.upstream_of(record), record.pin
    try:
        pinned.bring_pin(pin)
    except PatchmgrError as fault:
        session.say(" ".join((f"{fault.message};", *fault.hints)))
    was_in = old is not None and is_ancestor(pinned.store, pin.commit, old)
    if was_in and not is_ancestor(pinned.store, pin.commit, new):
        name = f"{shown(pin.ref)} ({pin.commit[:12]})"
        session.say(f"{record.upstream}: the pin {name} is no longer in upstream/main")
