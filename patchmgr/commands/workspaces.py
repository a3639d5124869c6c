"""`init`, `upstream` and `series`: what a workspace holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.lock_files import check_name
from patchmgr.model.patch import Patch
from patchmgr.model.series import SeriesFile
from patchmgr.model.upstream import Lock, SeriesRecord, Upstream
from patchmgr.plumbing.durable import unwritable
from patchmgr.plumbing.git_upstream import check_url
from patchmgr.plumbing.stores import borrow
from patchmgr.services.session import Session, make_pin
from patchmgr.store import LOCK, Change, Workspace, lock_bytes

_IGNORED = b".patchmgr/\n"
_ATTRIBUTES = b"series/*/series merge=union\nseries/** -text\nconflicts/** -text\n"


def init(folder: Path, *, is_dry_run: bool) -> Path:
    """Make an empty workspace; what is there already stays."""
    if (folder / LOCK).exists():
        raise PatchmgrError("usage", f"{folder} is a workspace already")
    workspace = Workspace(folder)
    try:
        change = Change({LOCK: lock_bytes(Lock())})
        for name, lines in ((".gitignore", _IGNORED), (".gitattributes", _ATTRIBUTES)):
            content = _with_missing(folder / name, lines)
            if content is not None:
                change.files[name] = content
        if is_dry_run:
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        with workspace.writing():
            if workspace.recover():  # an init that was killed
                return folder
            for name in ("series", "conflicts"):
                (folder / name).mkdir(exist_ok=True)
            workspace.make(change)
    except OSError as fault:
        raise unwritable(str(folder), fault) from fault
    return folder


def _with_missing(path: Path, lines: bytes) -> bytes | None:
    """Return the file with the lines that it lacks, None where it lacks none."""
    known = path.read_bytes() if path.exists() else b""
    missing = [line for line in lines.splitlines() if line not in known.splitlines()]
    if not missing:
        return None
    gap = b"" if not known or known.endswith(b"\n") else b"\n"
    return known + gap + b"".join(line + b"\n" for line in missing)


def add_upstream(
    session: Session, upstream: Upstream, *, reference: Path | None, is_dry_run: bool
) -> Upstream:
    """Record an upstream; with a reference, its store borrows that repository's objects."""
    check_name(upstream.name, what="upstream", kind="usage")
    if upstream.git is None and upstream.package is None:
        raise PatchmgrError("usage", "an upstream needs --git URL, --package NAME, or both")
    if upstream.track == "git" and upstream.git is None:
        raise PatchmgrError("usage", "--track git needs --git URL")
    if upstream.track == "package" and upstream.package is None:
        raise PatchmgrError("usage", "--track package needs --package NAME")
    if upstream.git is not None:
        upstream = replace(upstream, git=check_url(upstream.git))
    elif reference is not None:
        raise PatchmgrError("usage", "--reference needs --git URL")
    with session.writing():
        lock = session.workspace.lock()
        known = lock.upstreams.get(upstream.name)
        if known is not None and known != upstream:
            raise PatchmgrError(
                "usage",
                f"there is another upstream {upstream.name} already",
                ("patchmgr upstream list shows it",),
            )
        if is_dry_run:
            return upstream
        if reference is not None:
            borrow(session.side(upstream, tracks="git").store, reference)
        if known is None:
            upstreams = {**lock.upstreams, upstream.name: upstream}
            change = Change({LOCK: lock_bytes(replace(lock, upstreams=upstreams))})
            session.workspace.make(change)
    return upstream


class Fetched(Struct, frozen=True):
    """An upstream and the commit that is its tip now."""

    name: str
    commit: str


def fetch_upstreams(
    session: Session, names: Sequence[str], *, refs: Sequence[str]
) -> tuple[Fetched, ...]:
    """Bring what is tracked of the named upstreams, or of all."""
    lock = session.workspace.lock()
    for name in names:
        session.workspace.upstream(name)
    chosen = names or sorted(lock.upstreams)
    if not chosen:
        raise PatchmgrError(
            "usage", "there is no upstream here yet", ("patchmgr upstream add --help",)
        )
    return tuple(
        Fetched(name, session.side(lock.upstreams[name]).fetch(tuple(refs))) for name in chosen
    )


def new_series(
    session: Session,
    name: str,
    *,
    upstream: str | None,
    base: str | None,
    on: str | None,
    is_dry_run: bool,
) -> SeriesRecord:
    """Make an empty series on an upstream state, or on another series and its pin."""
    check_name(name, what="series", kind="usage")
    with session.writing():
        lock = session.workspace.lock()
        if name in lock.series:
            raise PatchmgrError("usage", f"there is a series {name} already")
        record = _new_record(session, name, upstream, base, on)
        if not is_dry_run:
            change = Change({LOCK: lock_bytes(replace(lock, series={**lock.series, name: record}))})
            if not (session.workspace.root / f"series/{name}/series").exists():
                change.files[f"series/{name}/series"] = b""
            session.workspace.make(change)
    return record


def _new_record(
    session: Session, name: str, upstream: str | None, base: str | None, on: str | None
) -> SeriesRecord:
    """Return the record; a series that stands on another one has its upstream and pin."""
    lower = None if on is None else session.workspace.series_record(on)
    if lower is None and (upstream is None or base is None):
        hint = f"patchmgr series new {name} --upstream U --base REF, or --on SERIES"
        raise PatchmgrError("usage", "a series needs an upstream and a state of it", (hint,))
    upstream = upstream or (lower.upstream if lower else "")
    if lower is not None and base is None:
        record = SeriesRecord(name, upstream, lower.pin, on)
    else:
        side = session.side(session.workspace.upstream(upstream))
        record = SeriesRecord(name, upstream, make_pin(side, side.resolve(base or "")), on)
    if lower is not None and record.pin.commit == lower.pin.commit:
        record = replace(record, pin=lower.pin)
    if lower is not None and (record.upstream, record.pin) != (lower.upstream, lower.pin):
        message = f"{name} is to stand on {on}, which is on another state: {lower.pin.ref}"
        raise PatchmgrError("usage", message, ("leave --upstream and --base out",))
    return record


class SeriesView(Struct, frozen=True):
    """A series as it stands."""

    record: SeriesRecord
    file: SeriesFile
    patches: tuple[Patch, ...]


def show_series(session: Session, name: str) -> SeriesView:
    """Return a series with its patches."""
    workspace = session.workspace
    record = workspace.series_record(name)
    return SeriesView(record, workspace.series_file(name), workspace.patches(name))


def list_series(session: Session) -> tuple[SeriesView, ...]:
    """Return all series with their patches."""
    return tuple(show_series(session, name) for name in sorted(session.workspace.lock().series))
