"""`init`: make an empty workspace, or one with the patches of a git fork."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.import_patches import Import, Sources, import_patches
from patchmgr.commands.series import new_series
from patchmgr.commands.upstream import add_upstream
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.git_urls import SCHEMES, is_scp_like
from patchmgr.formats.lock_files import write_lock
from patchmgr.model.upstream import Lock, Upstream
from patchmgr.plumbing.clones import private_git_dir
from patchmgr.plumbing.durable import writes
from patchmgr.plumbing.forks import followed
from patchmgr.plumbing.operation_log import LOG
from patchmgr.services.forks import LINEARIZE, ForkBase, find_fork_base
from patchmgr.services.session import Session
from patchmgr.workspace import LOCK, Change, Workspace

_IGNORED = b".patchmgr/\n"
_ATTRIBUTES = b"series/*/series merge=union\nseries/** -text\nconflicts/** -text\n"


def init(folder: Path, *, is_dry_run: bool) -> Path:
    """Make an empty workspace in a folder, and return the folder; other files there are kept.

    Raises PatchmgrError "usage" if the folder already is a workspace.
    """
    if (folder / LOCK).exists():
        raise UsageError(f"{folder} is already a workspace")
    workspace = Workspace(folder)
    with writes(str(folder)):
        change = Change({LOCK: write_lock(Lock())})
        for name, lines in ((".gitignore", _IGNORED), (".gitattributes", _ATTRIBUTES)):
            content = _with_missing(folder / name, lines)
            if content is not None:
                change.files[name] = content
        if is_dry_run:
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        with workspace.writing():
            if workspace.recover():  # an earlier init was killed
                return folder
            for name in ("series", "conflicts"):
                (folder / name).mkdir(exist_ok=True)
            workspace.make(change)
    return folder


def _with_missing(path: Path, lines: bytes) -> bytes | None:
    """Return a file's content with its missing `lines` added, or None if no line is missing."""
    known = path.read_bytes() if path.exists() else b""
    missing = [line for line in lines.splitlines() if line not in known.splitlines()]
    if not missing:
        return None
    gap = b"" if not known or known.endswith(b"\n") else b"\n"
    return known + gap + b"".join(line + b"\n" for line in missing)


class Branch(Struct, frozen=True):
    """A branch of a fork, upstream's ref in the same repository, and how to import merges."""

    repository: Path
    name: str
    upstream: str
    merges: str | None = None


class Started(Struct, frozen=True):
    """The result of `init --from-branch`: the new workspace, and what was imported."""

    folder: Path
    upstream: Upstream
    series: str
    fork_base: ForkBase
    merges: str | None
    imported: Import


def init_from_branch(
    folder: Path, branch: Branch, open_: Callable[[Path], Session], *, is_dry_run: bool
) -> Started:
    """Make a workspace, all or nothing, pinned to the upstream state that a branch merged last.

    Raises PatchmgrError "usage" if the folder exists and is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{folder} already exists; --from-branch makes a new workspace"
        raise UsageError(message, "name a folder that does not exist yet")
    upstream = _upstream(branch)
    with writes(str(folder)):
        if not is_dry_run:
            folder.parent.mkdir(parents=True, exist_ok=True)
        place = None if is_dry_run else folder.parent
        with tempfile.TemporaryDirectory(prefix=".patchmgr-", dir=place) as beside:
            root = Path(beside) / "workspace"
            session = open_(init(root, is_dry_run=False))
            started = import_branch(session, branch, upstream)
            if not is_dry_run:
                shutil.rmtree(root / LOG)  # what one command made is not undone in three steps
                root.replace(folder)
    return replace(started, folder=folder)


def import_branch(session: Session, branch: Branch, upstream: Upstream) -> Started:
    """Add an upstream to an empty workspace, and import a branch as a series of the same name."""
    fork_base = find_fork_base(branch.repository, branch.name, branch.upstream)
    merges = branch.merges
    if merges is None and (fork_base.merges or fork_base.squashed):
        merges = LINEARIZE
    name = upstream.name
    upstream = add_upstream(session, upstream, reference=branch.repository)
    new_series(session, name, upstream=name, base=fork_base.base, on=None)
    commits = f"{fork_base.base}..{branch.name}"
    sources = Sources(git=(branch.repository, commits), merges=merges)
    try:
        imported = import_patches(session, sources, series=name)
    except PatchmgrError as fault:
        # There is no --without here.
        words = ("import", "--git", str(branch.repository), commits, "--series", name)
        start = f"patchmgr init, upstream add, series new {name} --base {fork_base.base}"
        instead = f": {start}, {shlex.join(words)} --without"
        hints = (hint.replace(": --without", instead) for hint in fault.hints)
        raise PatchmgrError(fault.kind, fault.message, *hints) from fault
    return Started(session.workspace.root, upstream, name, fork_base, merges, imported)


def _upstream(branch: Branch) -> Upstream:
    """Return a fork's upstream: the remote that the ref follows, or the repository itself."""
    git_dir = private_git_dir(branch.repository)
    url, tracked = followed(git_dir, branch.upstream)
    if url is None:
        url = str(branch.repository)
    elif not url.startswith(SCHEMES) and not is_scp_like(url):
        url = str(branch.repository / url)
    last = url.rstrip("/").removesuffix("/.git").rpartition("/")[2].rpartition(":")[2]
    return Upstream(name_from(last.removesuffix(".git")), "git", url, None, tracked)


def name_from(text: str) -> str:
    """Derive a valid name for an upstream or a series from any text."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._") or "upstream"
