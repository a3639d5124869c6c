"""Which paths and contents of an upstream state a series is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import GITLINK
from patchmgr.plumbing.objects import StoredTree


def touched_paths(patches: Sequence[Patch]) -> tuple[str, ...]:
    """Return every path that a patch names, once each."""
    return tuple(dict.fromkeys(path for patch in patches for path in patch.paths()))


def new_paths(patches: Iterable[Patch], base: StoredTree) -> tuple[str, ...]:
    """Return the paths that patches put a file at and that base has not, once each."""
    named = (change.new_path for patch in patches for change in patch.files)
    return tuple(dict.fromkeys(p for p in named if p is not None and base.entry(p) is None))


def needed_blobs(trees: Sequence[StoredTree], paths: Sequence[str]) -> list[str]:
    """Return the blobs of the paths in all trees, once each: what a run may have to read."""
    entries = [tree.entry(path) for tree in trees for path in paths]
    return list(dict.fromkeys(e.blob for e in entries if e is not None and e.mode != GITLINK))
