"""What a patched component is made of: an upstream, and patches with the issues that they fix."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.patch import Author, Patch
from patchmgr.model.upstream import Upstream


class Issue(Struct, frozen=True):
    """A bug or vulnerability that a patch header names: its id and, if known, its URL."""

    id: str
    url: str | None = None
    is_vulnerability: bool = False


class PatchUsed(Struct, frozen=True):
    """A patch that a component contains.

    `commit` is the patch's commit on the branch that was built, or None if there is no such branch.
    """

    patch: Patch
    author: Author
    is_backport: bool
    issues: tuple[Issue, ...]
    commit: str | None = None


class Materials(Struct, frozen=True):
    """A component, and what it is made of: one version of an upstream, and patches in order.

    `version` is the version of the component itself. `commit` is the git commit of upstream, or
    None if `base` is a release; `sha256` is then the digest of the release's archive. `time` is the
    newest date in the component, in seconds since 1970.
    """

    series: str
    version: str
    base: str
    upstream: Upstream
    commit: str | None
    sha256: str | None
    patches: tuple[PatchUsed, ...]
    time: int
