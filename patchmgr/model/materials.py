"""What a patched component is made of: its upstream, and the patches with what they resolve."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.patch import Author, Patch
from patchmgr.model.upstream import Upstream


class Issue(Struct, frozen=True):
    """A bug or a vulnerability that a patch is about: its id and, where there is one, its URL."""

    id: str
    url: str | None = None
    is_vulnerability: bool = False


class PatchUsed(Struct, frozen=True):
    """A patch that is in a component; `commit` is the one of the built branch, if there is one."""

    patch: Patch
    author: Author
    is_backport: bool
    issues: tuple[Issue, ...]
    commit: str | None = None


class Materials(Struct, frozen=True):
    """A component and what it is made of: a version of an upstream, and patches in their order.

    `version` is the component's own, `commit` that of upstream's git, None where `base` is a
    release; `sha256` is that of the release's file. `time` is the newest date in it, in seconds.
    """

    series: str
    version: str
    base: str
    upstream: Upstream
    commit: str | None
    sha256: str | None
    patches: tuple[PatchUsed, ...]
    time: int
