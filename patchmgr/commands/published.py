"""What was published of a series: branches and tags, remembered in the workspace."""

from __future__ import annotations

import json
from contextlib import suppress

from msgspec import Struct, to_builtins

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.durable import replace_file
from patchmgr.plumbing.plain_files import read_json
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
    path = workspace.root / _FILE
    rows = [to_builtins(one) for one in (published, *rest)][:_MOST]
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        replace_file(path, json.dumps(rows, indent=1).encode())


def read_published(workspace: Workspace) -> tuple[Published, ...]:
    """Return what is remembered, newest first; what cannot be read is as good as nothing."""
    try:
        rows = read_json(workspace.root, _FILE)
        return tuple(Published(**row) for row in rows)
    except (PatchmgrError, OSError, ValueError, KeyError, TypeError):
        return ()
