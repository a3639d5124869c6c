"""The materials of a patched component: its upstream, and the patches with the issues they fix."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.patch import Author, Patch
from patchmgr.model.upstream import Upstream


class Issue(Struct, frozen=True):
    """A bug or vulnerability that a patch is about: its id and, if known, its URL."""

    id: str
    url: str | None = None
    is_vulnerability: bool = False


class PatchUsed(Struct, frozen=True):
    """A patch in a component; `commit` is its commit on the built branch, if there is one."""

    patch: Patch
    author: Author
    is_backport: bool
    issues: tuple[Issue, ...]
    commit: str | None = None


class Materials(Struct, frozen=True):
    """A component and its materials: a version of an upstream, and patches in order.

    `version` is the component's own. `commit` is upstream's git commit, or None if `base` is a
    release; `sha256` is that of the release's file. `time` is the newest date in the component, in
    seconds.
    """

    series: str
    version: str
    base: str
    upstream: Upstream
    commit: str | None
    sha256: str | None
    patches: tuple[PatchUsed, ...]
    time: int
