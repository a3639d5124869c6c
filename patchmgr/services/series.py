"""Load series, and find their paths, their patches and their order in a stack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from patchmgr.engines.series.comparison import OwnCommit
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Author, Patch
from patchmgr.model.series import SeriesFile
from patchmgr.model.snapshot import GITLINK
from patchmgr.model.upstream import Lock, Resolved, SeriesRecord
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.services.session import Session, default_author, require_pin
from patchmgr.workspace import Workspace


def touched_paths(patches: Sequence[Patch]) -> tuple[str, ...]:
    """Return all paths in the patches, without repetitions."""
    return tuple(dict.fromkeys(path for patch in patches for path in patch.paths()))


def patch_commits(workspace: Workspace, name: str) -> tuple[OwnCommit, ...]:
    """Return the patches of a series as if they were commits whose ids are the patch names."""
    patches = workspace.patches(name)
    return tuple(OwnCommit(patch.name, patch.message, patch.diff) for patch in patches)


def new_paths(patches: Iterable[Patch], base: StoredTree) -> tuple[str, ...]:
    """Return, without repetitions, the new paths of patches that are not in the base."""
    named = (change.new_path for patch in patches for change in patch.files)
    return tuple(dict.fromkeys(p for p in named if p is not None and base.entry(p) is None))


def needed_blobs(trees: Sequence[StoredTree], paths: Sequence[str]) -> list[str]:
    """Return the ids of the blobs at these paths in any of the trees, without repetitions."""
    entries = [tree.entry(path) for tree in trees for path in paths]
    return list(dict.fromkeys(e.blob for e in entries if e is not None and e.mode != GITLINK))


def whole_stacks(session: Session, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the stacks of the named series, or all stacks, each from the lowest series up.

    Raises PatchmgrError "usage" without any series, and "unknown-series" for an unknown name.
    """
    lock = session.workspace.lock()
    if not lock.series:
        hint = "to make one: patchmgr series new NAME --upstream UPSTREAM"
        raise UsageError("this workspace has no series yet", hint)
    for name in names:
        session.workspace.series_record(name)
    chosen = tuple(dict.fromkeys(names)) or tuple(sorted(lock.series))
    roots = dict.fromkeys((name, *lock.below(name))[-1] for name in chosen)
    stacks = tuple(_with_series_above(lock, root) for root in roots)
    more = [name for stack in stacks for name in stack if name not in chosen]
    if more:
        session.say(f"Also included, as part of the same stack: {', '.join(more)}")
    return stacks


def _with_series_above(lock: Lock, name: str) -> tuple[str, ...]:
    """Return a series and all series above it in the stack, lowest first."""
    return (name, *(more for upper in lock.above(name) for more in _with_series_above(lock, upper)))


def whole_series(session: Session, record: SeriesRecord) -> tuple[tuple[Patch, ...], SeriesFile]:
    """Return the patches and series lines of a stack, lowest first; their names must be unique."""
    workspace = session.workspace
    patches, file = workspace.patches(record.name), workspace.series_file(record.name)
    if record.on is None:
        return patches, file
    lower = workspace.series_record(record.on)
    require_one_pin(record, lower)
    before, lines = whole_series(session, lower)
    twice = sorted({patch.name for patch in before} & {patch.name for patch in patches})
    if twice:
        message = f"{record.name} and {lower.name} both have a patch named {shown(twice[0])}"
        hint = f"rename one: patchmgr rename {shown(twice[0])} NAME --series {record.name}"
        raise PatchmgrError("bad-series", message, hint)
    return (*before, *patches), SeriesFile((*lines.lines, *file.lines))


class SeriesView(Struct, frozen=True):
    """A series as it is now: its record, its series file, and its patches."""

    record: SeriesRecord
    file: SeriesFile
    patches: tuple[Patch, ...]


def series_view(workspace: Workspace, name: str) -> SeriesView:
    """Return a series with its patches."""
    record = workspace.series_record(name)
    return SeriesView(record, workspace.series_file(name), workspace.patches(name))


class LoadedSeries(SeriesView, frozen=True):
    """A series whose patches have been read, and whose pin is in the store."""

    upstream: OpenUpstream
    base: Resolved
    author: Author  # of patches that name none
    below: LoadedSeries | None = None  # the series that this one is based on


def load_series(session: Session, name: str) -> LoadedSeries:
    """Read a series and all series below it, and fetch the pin if the store lacks it."""
    return session.workspace.read_whole(lambda: _load(session, name))


def _load(session: Session, name: str) -> LoadedSeries:
    record = session.workspace.series_record(name)
    upstream = session.upstream_of(record)
    base, author = require_pin(upstream, record.pin), default_author(upstream, record.pin)
    view, below = series_view(session.workspace, name), None
    if record.on is not None:
        require_one_pin(record, session.workspace.series_record(record.on))
        below = _load(session, record.on)
    return LoadedSeries(record, view.file, view.patches, upstream, base, author, below)


def tell_strays(session: Session, name: str, groups: Iterable[str] | None = None) -> None:
    """Tell the user which names in groups (by default, in those that are off) are not patches."""
    settings, names = session.workspace.settings(name), session.workspace.series_file(name).names()
    off = sorted(settings.groups.keys() & settings.off)
    for group in off if groups is None else groups:
        for one in settings.strays(group, names):
            session.say(f"The group {group} names {shown(one)}, which is not a patch of {name}.")


def require_one_pin(upper: SeriesRecord, lower: SeriesRecord) -> None:
    """Raise PatchmgrError "broken-stack" if a series and the one below it have different pins."""
    if (upper.upstream, upper.pin) != (lower.upstream, lower.pin):
        message = f"the series {upper.name} is based on {lower.name}, but has a different pin"
        raise PatchmgrError("broken-stack", message, "restore the earlier upstream.lock")
