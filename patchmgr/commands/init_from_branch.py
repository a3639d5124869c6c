"""`init --from-branch`: a workspace with a git fork in it, as one series."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.import_patches import Import, Sources, import_patches
from patchmgr.commands.workspaces import add_upstream, init, new_series
from patchmgr.errors import PatchmgrError
from patchmgr.formats.git_urls import SCHEMES, is_scp_like
from patchmgr.model.upstream import Upstream
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.durable import unwritable
from patchmgr.plumbing.forks import followed
from patchmgr.services.forks import LINEARIZE, Standing, find_standing
from patchmgr.services.session import Session


class Branch(Struct, frozen=True):
    """A fork's branch, the ref that is upstream's in its repository, and what merges become."""

    repository: Path
    name: str
    upstream: str
    merges: str | None = None


class Started(Struct, frozen=True):
    """The workspace that was made of a branch, and what stands in it."""

    folder: Path
    upstream: Upstream
    series: str
    standing: Standing
    merges: str | None
    imported: Import


def init_from_branch(
    folder: Path, branch: Branch, open_: Callable[[Path], Session], *, is_dry_run: bool
) -> Started:
    """Make a workspace, follow upstream, and import the branch on the state that it merged last.

    All of it or nothing: it is made beside, and moved to its place.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{folder} is there already; --from-branch makes a new workspace"
        raise PatchmgrError("usage", message, ("name a folder that is not there yet",))
    upstream = _upstream(branch)
    standing = find_standing(branch.repository, branch.name, branch.upstream)
    merges = branch.merges
    if merges is None and (standing.merges or standing.squashed):
        merges = LINEARIZE
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".patchmgr-", dir=folder.parent) as beside:
            root = init(Path(beside) / "workspace", is_dry_run=False)
            session = open_(root)
            upstream = add_upstream(
                session, upstream, reference=branch.repository, is_dry_run=False
            )
            name = upstream.name
            new_series(session, name, upstream=name, base=standing.base, on=None, is_dry_run=False)
            commits = f"{standing.base}..{branch.name}"
            sources = Sources(git=(branch.repository, commits), merges=merges)
            imported = import_patches(session, sources, series=name, is_dry_run=False)
            if not is_dry_run:
                root.replace(folder)
    except OSError as fault:
        raise unwritable(str(folder), fault) from fault
    return Started(folder, upstream, name, standing, merges, imported)


def _upstream(branch: Branch) -> Upstream:
    """Return the upstream that a ref belongs to: its remote's, else the repository itself."""
    git_dir = find_git_dir(branch.repository)
    url, tracked = followed(git_dir, branch.upstream)
    if url is None:
        url = str(branch.repository)
    elif not url.startswith(SCHEMES) and not is_scp_like(url):
        url = str(branch.repository / url)
    last = url.rstrip("/").removesuffix("/.git").rpartition("/")[2].rpartition(":")[2]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", last.removesuffix(".git")).strip("-._")
    return Upstream(name or "upstream", "git", url, None, tracked)
