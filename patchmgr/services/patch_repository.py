"""The git repository that contains a workspace, and the branches pushed from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import own_author
from patchmgr.model.snapshot import FILE_MODES, REGULAR, Entry
from patchmgr.model.sync import LastSync, PushedBranch, PushStatus
from patchmgr.plumbing import git_process
from patchmgr.plumbing.clones import Clone, find_clone
from patchmgr.plumbing.committing import push_refs, remote_refs
from patchmgr.plumbing.objects import ObjectReader, StoredTree, object_named
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.plumbing.stores import RefMove
from patchmgr.workspace import LOCK, Committed, Workspace

PUSHED = "refs/patchmgr/pushed/"
"""The prefix of the refs that record, on a remote, the commit last pushed to each branch."""

BADGE = "patchmgr/badge-"
"""The prefix of the branches that hold the result of each series' last sync."""

Files = Mapping[str, "bytes | None"]


class PatchRepository(Struct, frozen=True):
    """The git repository that contains a workspace, at the commit `head`."""

    clone: Clone
    prefix: str  # the workspace's path in it, with a final slash, or ""
    head: str
    is_dry_run: bool  # neither keep nor push commits

    def commit(self, files: Files, message: str, date: str, *, is_alone: bool = False) -> str:
        """Commit changed workspace files on top of HEAD, but move no ref; return the commit's id.

        With `is_alone`, the commit has no parent, and only these files.
        """
        parent, prefix = (None, "") if is_alone else (self.head, self.prefix)
        author = own_author(date)
        with Scratch.outside(self.clone.git_dir) as scratch:
            changes = {
                f"{prefix}{path}": None if content is None else Entry(REGULAR, scratch.add(content))
                for path, content in files.items()
            }
            draft = Draft(author, git_process.raw(message), changes)
            (commit,) = write_commits(scratch, parent, [draft])
            if not self.is_dry_run:
                self.clone.take(scratch.git_dir, commit, parent or commit)
        return commit

    def push(
        self,
        remote: str,
        branch: str,
        commit: str,
        *,
        git_dir: Path | None = None,
        bring: Callable[[set[str]], None] | None = None,
    ) -> PushedBranch:
        """Push a commit to a branch; the result is `HELD` if somebody else has moved the branch.

        A ref of the remote below `refs/patchmgr/pushed/` records the last pushed commit. `git_dir`
        has the commit, by default this repository, and `bring` fetches objects that it lacks.
        """
        git_dir, name, last = git_dir or self.clone.git_dir, f"refs/heads/{branch}", PUSHED + branch
        there = remote_refs(git_dir, remote, (name, last))
        found = PushedBranch(branch, commit, PushStatus.PUSHED, there.get(name))
        if found.there == commit:
            return replace(found, standing=PushStatus.SAME)
        if found.there not in (None, there.get(last)):
            return replace(found, standing=PushStatus.HELD)
        if self.is_dry_run:
            return found
        moves = [RefMove(name, commit, found.there), RefMove(last, commit, there.get(last))]
        try:
            push_refs(git_dir, remote, moves, bring=bring)
        except PatchmgrError:
            now = remote_refs(git_dir, remote, (name,)).get(name)
            if now in (None, found.there):
                raise
            return replace(found, standing=PushStatus.HELD, there=now)
        return found


def last_syncs(root: Path, now: int) -> Mapping[str, LastSync]:
    """Map each series to its last sync, read from the newest fetched badge branch of the series."""
    parts = ("refname:lstrip=2", "committerdate:unix", "subject")
    _, printed = git_process.run(
        [
            "for-each-ref", "--sort=committerdate", f"refs/remotes/*/{BADGE}*",
            f"--format={'%00'.join(f'%({part})' for part in parts)}",
        ],
        cwd=root, good=(0, 128),
    )  # fmt: skip
    found = dict[str, LastSync]()
    for line in git_process.lines(git_process.text(printed)):
        name, time, words = line.split("\0")
        remote, _, series = name.partition(f"/{BADGE}")
        found[series] = LastSync(remote, int(time), now - int(time), words)
    return found


def workspace_at(workspace: Workspace, name: str) -> tuple[str, Workspace]:
    """Return the full id of a commit, and the workspace that the commit contains.

    Raises PatchmgrError "usage" if the commit does not exist or does not contain the workspace.
    """
    clone = _clone_of(workspace.root)
    commit = None if name.startswith("-") else object_named(clone.private, f"{name}^{{commit}}")
    if commit is None:
        hint = "if the clone is shallow, fetch the earlier commits: git fetch --unshallow"
        raise UsageError(f"{clone.root} has no commit {shown(name)}", hint)
    prefix, files = _prefix(workspace.root, clone), dict[str, bytes | None]()
    with ObjectReader(clone.git_dir) as reader:
        tree = StoredTree(reader, reader.tree_of(commit))
        folder = f"{prefix}series"
        below = tree.files_below(folder) if tree.is_directory(folder) else ()
        for path in (f"{prefix}{LOCK}", *below):
            entry = tree.entry(path)
            if entry is not None and entry.mode in FILE_MODES:
                files[path.removeprefix(prefix)] = reader.blob(entry.blob)
    if LOCK not in files:
        raise UsageError(f"the commit {shown(name)} has no {prefix}{LOCK}")
    return commit, Committed(workspace, files)


def _clone_of(root: Path) -> Clone:
    clone = find_clone(root)
    if clone is None:
        hint = "commit the workspace: git init, git add --all, git commit"
        raise UsageError(f"{root} is not in a git repository", hint)
    return clone


def _prefix(root: Path, clone: Clone) -> str:
    inside = os.path.relpath(root, clone.root)
    return "" if inside == "." else f"{inside}/"


def open_patch_repository(workspace: Workspace) -> PatchRepository:
    """Return the git repository that contains a workspace.

    Raises PatchmgrError "usage" if none does, or if files of the workspace differ from HEAD.
    """
    clone = _clone_of(workspace.root)
    prefix = _prefix(workspace.root, clone)
    own = tuple(f"{prefix}{name}" for name in (LOCK, "series/", "conflicts/"))
    edited = [p for p in (*clone.changed_paths(), *clone.untracked()) if p.startswith(own)]
    if edited:
        more = f" and {len(edited) - 1} more differ" if edited[1:] else " differs"
        message = f"{shown(edited[0])}{more} from what is committed in {clone.root}"
        raise UsageError(message, "a sync starts from HEAD: commit or stash the changes first")
    return PatchRepository(clone, prefix, clone.head(), workspace.is_dry_run)
