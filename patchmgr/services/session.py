"""What every command starts with: the workspace, its upstreams, and the progress display."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from patchmgr.errors import PatchmgrError
from patchmgr.model.patch import Author, own_author
from patchmgr.model.ports import Tree
from patchmgr.model.progress import Progress
from patchmgr.model.snapshot import file_content
from patchmgr.model.upstream import Pin, Resolved, SeriesRecord, Upstream
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.package_upstream import PackageUpstream
from patchmgr.plumbing.stores import create_store, store_path
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.workspace import Workspace

if TYPE_CHECKING:
    from patchmgr.plumbing.merge_process import MergeProcess


class Session(Struct, frozen=True):
    """The workspace and the processes that one run of a command uses."""

    workspace: Workspace
    progress: Progress
    say: Callable[[str], None]  # prints a message
    selected: frozenset[str] = frozenset()  # symbols given with `--select`
    wants_detail: bool = False  # find the symbol around each hunk, which takes time
    readers: dict[Path, ObjectReader] = field(default_factory=dict)  # by store
    # by the reliability (percent) that a structural merge needs
    structures: dict[int | None, MergeProcess] = field(default_factory=dict)

    @property
    def is_dry_run(self) -> bool:
        """Return whether the command only shows what it would do, and writes nothing."""
        return self.workspace.is_dry_run

    def close(self) -> None:
        """End the processes for reading objects and for structural merges."""
        for reader in self.readers.values():
            reader.close()
        for structure in self.structures.values():
            structure.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the workspace, and finish a change that a killed command left incomplete."""
        with self.workspace.writing():
            if self.workspace.recover():
                self.say("Finished the change that an interrupted command had begun.")
            yield

    def settle(self) -> None:
        """Finish a change that a killed command left incomplete; commands call this first."""
        if self.workspace.settle():
            self.say("Finished the change that an interrupted command had begun.")

    def open_upstream(self, upstream: Upstream, *, tracks: str | None = None) -> OpenUpstream:
        """Open an upstream as "git", "package" or "archive", by default as it is configured.

        The store is created if it does not exist.
        """
        kind = tracks or upstream.track
        store = create_store(store_path(kind, getattr(upstream, kind)))
        reader = self.readers.setdefault(store, ObjectReader(store))
        if kind == "archive":
            from patchmgr.plumbing.archive_upstream import ArchiveUpstream

            return ArchiveUpstream(upstream, reader, self.progress)
        made = PackageUpstream if kind == "package" else GitUpstream
        return made(upstream, reader, self.progress)

    def upstream_of(self, record: SeriesRecord) -> OpenUpstream:
        """Open the git repository, package or archive that a series' pin comes from."""
        upstream = self.workspace.upstream(record.upstream)
        released = "archive" if upstream.archive else "package"
        return self.open_upstream(upstream, tracks=released if record.pin.archive else "git")


def pin_of(reader: ObjectReader, found: Resolved) -> Pin:
    """Return a pin for an upstream state in the reader's repository."""
    tree = reader.tree_of(found.commit)
    return Pin(found.ref, found.commit, tree, found.archive, found.sha256)


def pinned_state(upstream: OpenUpstream, pin: Pin) -> Resolved:
    """Return the pinned state (with its version, for a release) without fetching it."""
    return Resolved(pin.ref, pin.commit, pin.archive, pin.sha256, upstream.version_of(pin))


def require_pin(upstream: OpenUpstream, pin: Pin) -> Resolved:
    """Return the pinned state, fetched if needed; raise "checksum-mismatch" if it was changed."""
    is_there = upstream.reader.commit(pin.commit) is not None
    version = upstream.version_of(pin) if is_there else upstream.bring_pin(pin)
    found = upstream.reader.find(pin.commit)
    what = None if upstream.reader.tree_of(pin.commit) == pin.tree else "tree"
    if pin.sha256 and found and f"\nSha256: {pin.sha256}\n".encode() not in found.content:
        what = "sha256"
    if what is not None:
        message = f"the {what} of the commit {pin.commit} is not the one in upstream.lock"
        raise PatchmgrError("checksum-mismatch", message, "restore the earlier upstream.lock")
    return Resolved(pin.ref, pin.commit, pin.archive, pin.sha256, version)


def subject_of(reader: ObjectReader, commit: str) -> str:
    """Return the first line of a commit's message, or "" if the commit is missing."""
    found = reader.find(commit)
    message = b"" if found is None else found.content.partition(b"\n\n")[2]
    return message.split(b"\n", 1)[0].decode("utf-8", "surrogateescape")


class Fetching(Struct, frozen=True):
    """A reader of file contents, which fetches those that a partial clone lacks."""

    upstream: OpenUpstream
    lend: Callable[[str], bytes]  # fails if the blob is missing
    # blobs that will probably be read next, to fetch with a missing one
    likely: Callable[[], set[str]] = set

    def read(self, blob: str) -> bytes:
        """Return the content of a blob; raise PatchmgrError if it cannot be read or fetched."""
        try:
            return self.lend(blob)
        except PatchmgrError:
            self.upstream.try_fetch_objects({blob, *self.likely()})
            return self.lend(blob)

    def file(self, tree: Tree, path: str) -> bytes | None:
        """Return the content of a file in a tree, or None if the tree has no such file."""
        return file_content(tree.entry(path), self.read)


def default_author(upstream: OpenUpstream, pin: Pin) -> Author:
    """Return the author of patches that name none: patchmgr, with the pinned commit's date."""
    found = upstream.reader.find(pin.commit)
    assert found is not None
    lines = found.content.split(b"\n\n", 1)[0].split(b"\n")
    committer = next(line for line in lines if line.startswith(b"committer "))
    seconds, zone = committer.decode(errors="replace").rsplit(" ", 2)[1:]
    return own_author(f"{seconds} {zone}")
