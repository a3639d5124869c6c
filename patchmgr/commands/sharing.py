"""`conflicts pull` and `conflicts push`: share resolutions with other workspaces."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.conflicts import list_conflicts
from patchmgr.engines.conflicts.memory import fits_region, recorded_fault
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.recorded_conflict import (
    CONFLICTS,
    FILES,
    META,
    PULLED,
    SOURCE,
    is_conflict_id,
    parse_recorded,
    write_recorded,
    write_source,
)
from patchmgr.formats.shown import shown
from patchmgr.model.recorded_conflict import Recorded, RecordKind, RegionSides, Source
from patchmgr.model.snapshot import FILE_MODES, REGULAR, Entry
from patchmgr.model.upstream import Upstream
from patchmgr.plumbing.clones import author_of
from patchmgr.plumbing.committing import push_refs
from patchmgr.plumbing.git_upstream import GitUpstream, check_url
from patchmgr.plumbing.objects import TREE_MODE, ObjectReader
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.plumbing.stores import RefMove, adopt_pack, create_store, store_path
from patchmgr.plumbing.upstream_kinds import nearest
from patchmgr.render.escape import counted
from patchmgr.services.memory import Memory
from patchmgr.services.session import Session
from patchmgr.workspace import Change, Workspace

NEW_BRANCH = "main"  # where the remote names no default branch
MOST = 20_000  # conflicts in one source
LARGEST = 1 << 20  # bytes in one file
MOST_BYTES = 1 << 26
_PASSWORD = re.compile(r"(https?://)[^/@]*@")


class Refused(Struct, frozen=True):
    """A conflict that was not pulled from a source, and the reason."""

    id: str
    reason: str


class Pulled(Struct, frozen=True):
    """The result of `conflicts pull`; conflicts are given by their ids."""

    source: str
    commit: str
    taken: tuple[str, ...]  # those whose resolutions were pulled
    new: tuple[str, ...]  # of `taken`: new or changed since the last pull
    gone: tuple[str, ...]  # no longer in the source
    known: tuple[str, ...]  # those that have the same resolution in this workspace
    otherwise: tuple[str, ...]  # those that keep another resolution in this workspace
    refused: tuple[Refused, ...]
    trusted_by: tuple[str, ...]  # series that trust the source


class SharedConflicts(Struct, frozen=True):
    """The result of `conflicts push`; conflicts are given by their ids."""

    remote: str
    branch: str
    commit: str | None
    pushed: tuple[str, ...]
    known: tuple[str, ...]  # those that had the same resolution in the remote
    otherwise: tuple[str, ...]  # those that keep another resolution in the remote


def pull(session: Session, where: str, *, branch: str | None) -> Pulled:
    """Pull the resolutions from a git URL, in place of those pulled from it before."""
    with session.writing():
        workspace, url = session.workspace, check_url(where)
        with _throwaway(session, url, branch) as (upstream, branch, heads):
            commit = heads.get(branch)
            if commit is None:
                near = nearest(branch, sorted(heads))
                raise UsageError(f"{url} has no branch {branch}", *near, "name it with --branch")
            upstream.fetch_commit(commit)
            found = tuple(_resolved(upstream, _listed(upstream.reader, commit), url))
        place = _PASSWORD.sub(r"\1", url)
        source = Source(store_path(CONFLICTS, place).stem, place, commit)
        own = {one.id: one.recorded for one in list_conflicts(session)}
        here = {n: one.resolution for n, one in own.items() if one is not None and one.resolution}
        taken = {one.id: one for one in found if isinstance(one, Recorded) and one.id not in here}
        is_known = {
            one.id: here[one.id].content == one.resolution.content
            for one in found
            if isinstance(one, Recorded) and one.id in here and one.resolution is not None
        }
        stale = sorted({*workspace.conflicts(source)} - taken.keys())
        gone = tuple(name for name in stale if name not in {one.id for one in found})
        files = _changed(workspace, source, taken, stale)
        if files and (taken or stale):
            workspace.make(Change(files))
        series, changed = sorted(workspace.lock().series), {path.split("/")[-2] for path in files}
        return Pulled(
            place, commit, tuple(taken), tuple(n for n in taken if n in changed), gone,
            tuple(name for name, is_same in is_known.items() if is_same),
            tuple(name for name, is_same in is_known.items() if not is_same),
            tuple(one for one in found if isinstance(one, Refused)),
            tuple(name for name in series if place in workspace.settings(name).trusted),
        )  # fmt: skip


def _changed(
    workspace: Workspace, source: Source, taken: Mapping[str, Recorded], gone: Sequence[str]
) -> dict[str, bytes | None]:
    """Return the files that a pull from a source writes, by path; None deletes a file."""
    files: dict[str, bytes | None] = {SOURCE: write_source(source)}
    files |= {f"{name}/{file}": None for name in gone for file in FILES}
    for name, recorded in taken.items():
        files |= {f"{name}/{file}": content for file, content in write_recorded(recorded).items()}
    placed = {f"{PULLED}/{source.name}/{path}": content for path, content in files.items()}
    return {path: content for path, content in placed.items() if workspace.find(path) != content}


@contextmanager
def _throwaway(
    session: Session, url: str, branch: str | None
) -> Iterator[tuple[GitUpstream, str, Mapping[str, str]]]:
    """Open a git repository with a temporary store; yield (repository, branch name, heads).

    The branch is the given one or the repository's default branch; `heads` maps branches to ids.
    """
    with tempfile.TemporaryDirectory(prefix="patchmgr-shared-") as folder:
        store = create_store(Path(folder, "store.git"))
        with ObjectReader(store) as reader:
            entry = Upstream(shown(url), "git", git=url, branch=branch)
            try:
                upstream = GitUpstream(entry, reader, session.progress)
                remote = upstream.list_remote()
                yield upstream, branch or remote.head or NEW_BRANCH, remote.heads
            except PatchmgrError as fault:
                if fault.kind != "unreachable-upstream":
                    raise
                message = fault.message.removeprefix("the upstream ")
                raise PatchmgrError("unreachable", message, *fault.hints[:1]) from fault


def _resolved(
    upstream: GitUpstream, listed: Mapping[str, Mapping[str, Entry]], url: str
) -> Iterator[Recorded | Refused]:
    """Yield each listed conflict that has a resolution, or why it is refused."""
    if len(listed) > MOST:
        raise PatchmgrError("bad-conflict", f"{url} has more than {MOST} recorded conflicts")
    entries = [entry for files in listed.values() for entry in files.values()]
    blobs = {entry.blob for entry in entries if entry.mode in FILE_MODES}
    upstream.fetch_objects(blobs)
    sizes = upstream.reader.sizes(blobs)
    if sum(sizes.values()) > MOST_BYTES:
        raise PatchmgrError(
            "bad-conflict", f"the recorded conflicts in {url} are larger than {MOST_BYTES} bytes"
        )
    for name, files in listed.items():
        if not FILE_MODES.issuperset(entry.mode for entry in files.values()):
            yield Refused(name, "it contains a link or another item that is not a file")
        elif any(sizes[entry.blob] > LARGEST for entry in files.values()):
            yield Refused(name, f"it is larger than {LARGEST} bytes")
        elif META in files:
            texts = {file: upstream.reader.blob(entry.blob) for file, entry in files.items()}
            try:
                found = parse_recorded(name, texts)
            except PatchmgrError as broken:
                yield Refused(name, broken.message)
                continue
            if found.resolution is not None:
                fault = _fault(found)
                yield found if fault is None else Refused(name, f"it {fault.removeprefix('it ')}")


def _fault(one: Recorded) -> str | None:
    """Return why a resolution does not fit its conflict, or None if it fits."""
    assert one.resolution is not None
    content, fault = one.resolution.content, recorded_fault(one)
    if fault is not None or content is None or one.kind is RecordKind.FILE:
        return fault
    region = RegionSides(one.base or b"", one.ours or b"", one.theirs or b"")
    return fits_region(region, content, whole=None)


def _listed(reader: ObjectReader, commit: str) -> dict[str, dict[str, Entry]]:
    """Return the files of each conflict recorded in a commit, by the conflict's id."""
    mode, tree = reader.listing(reader.tree_of(commit)).get(CONFLICTS, ("", ""))
    folders = reader.listing(tree) if mode == TREE_MODE else {}
    return {
        name: {f: Entry(*each) for f, each in reader.listing(folder).items() if f in FILES}
        for name, (kind, folder) in folders.items()
        if is_conflict_id(name) and kind == TREE_MODE
    }


def push(session: Session, where: str, *, branch: str | None) -> SharedConflicts:
    """Add this workspace's resolutions to a repository, in one commit, without replacing any.

    Raises PatchmgrError "push" if somebody else pushed to the branch in the meantime.
    """
    own, url = _own(session), check_url(where)
    with _throwaway(session, url, branch) as (upstream, branch, heads):
        old, there = heads.get(branch), dict[str, Recorded | Refused]()
        if old is not None:
            upstream.fetch_commit(old)
            listed = _listed(upstream.reader, old)
            both = {one.id: listed[one.id] for one in own if one.id in listed}
            there = {one.id: one for one in _resolved(upstream, both, url)}
        known, otherwise, changes = list[str](), list[str](), dict[str, Entry | None]()
        with Scratch([upstream.store], folder=upstream.store.parent) as scratch:
            for one in own:
                found = there.get(one.id)
                if found is not None:
                    is_same = isinstance(found, Recorded) and found.made == one.made
                    (known if is_same else otherwise).append(one.id)
                    continue
                for file, content in write_recorded(one).items():
                    blob = None if content is None else Entry(REGULAR, scratch.add(content))
                    changes[f"{CONFLICTS}/{one.id}/{file}"] = blob
            pushed = tuple(dict.fromkeys(path.split("/")[1] for path in changes))
            commit = _committed(scratch, upstream.store, old, pushed, changes) if changes else None
        if commit is not None and not session.is_dry_run:
            try:
                push_refs(upstream.store, url, [RefMove(f"refs/heads/{branch}", commit, old)])
            except PatchmgrError as fault:
                hint = "nothing was pushed; if somebody else pushed just now, run the command again"
                raise PatchmgrError(fault.kind, fault.message, hint) from fault
    place = _PASSWORD.sub(r"\1", url)
    return SharedConflicts(place, branch, commit, pushed, tuple(known), tuple(otherwise))


def _own(session: Session) -> tuple[Recorded, ...]:
    """Return the conflicts that are resolved in this workspace."""
    memory = Memory(session.workspace)
    known = map(memory.get, session.workspace.conflicts())
    return tuple(one for one in known if one is not None and one.resolution is not None)


def _committed(
    scratch: Scratch,
    store: Path,
    parent: str | None,
    pushed: tuple[str, ...],
    changes: Mapping[str, Entry | None],
) -> str:
    author = author_of(store)
    if author is None:
        hint = 'git config --global user.name "A. Name"; git config --global user.email a@b.org'
        raise PatchmgrError("identity", "git does not know who you are", hint)
    count = counted(len(pushed), "resolution")
    message = f"conflicts: {count}\n\n" + "".join(f"{name}\n" for name in pushed)
    (commit,) = write_commits(scratch, parent, [Draft(author, message.encode(), changes)])
    adopt_pack(store, scratch.git_dir)
    return commit
