"""What was published of a series: branches and tags, remembered in the workspace."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from patchmgr.store import PRIVATE, Workspace

_FILE = f"{PRIVATE}/published.json"
_MOST = 200


class Published(Struct, frozen=True):
    """One branch that was built, and the tags that name it and what it replaced."""

    series: str
    repository: str
    branch: str
    tag: str | None
    fallback: str | None
    head: str
    base: str
    digest: str


def remember_published(workspace: Workspace, published: Published) -> None:
    """Remember a branch in front of the others; what cannot be written is left."""
    rest = [known for known in read_published(workspace) if known != published]
    with suppress(OSError):
        workspace.keep(_FILE, (published, *rest)[:_MOST])


def read_published(workspace: Workspace) -> tuple[Published, ...]:
    """Return what is remembered, newest first; what cannot be read is as good as nothing."""
    return workspace.kept(_FILE, tuple[Published, ...]) or ()
