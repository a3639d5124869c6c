"""What a patched component is made of: an upstream, and patches with the issues that they fix."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.patch import Author, Patch
from patchmgr.model.upstream import Upstream


class Issue(Struct, frozen=True):
    """A bug or vulnerability that a patch header mentions: its id and, if known, its URL."""

    id: str
    url: str | None = None
    is_vulnerability: bool = False


class PatchUsed(Struct, frozen=True):
    """A patch that a component contains."""

    patch: Patch
    author: Author
    is_backport: bool
    issues: tuple[Issue, ...]
    commit: str | None = None  # the patch's commit on the branch that was built, if there is one


class Materials(Struct, frozen=True):
    """A component, and what it is made of: one version of an upstream, and patches in order."""

    series: str
    version: str  # of the component itself
    base: str  # the version of upstream
    upstream: Upstream
    commit: str | None  # of upstream; None for a release
    sha256: str | None  # of the release's archive
    patches: tuple[PatchUsed, ...]
    time: int  # the newest date in the component, in seconds since 1970
