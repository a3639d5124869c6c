"""A git worktree in which a person resolves a rebase.

Before a command changes the worktree, it saves a person's changes there with `git stash`, except
those that it has read. `refs/worktree/patchmgr` keeps the files as the last command left them.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.shown import typed
from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME
from patchmgr.model.snapshot import EMPTY_TREE, Changes, Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.clones import Clone, index_line, open_clone
from patchmgr.plumbing.durable import replace_file
from patchmgr.plumbing.history import changes_between
from patchmgr.plumbing.stores import references

BRANCHES = "patchmgr-rebase/"
_NOTE = "patchmgr/rebase.json"
_LEFT = "refs/worktree/patchmgr"
_WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", COMMITTER_NAME), ("EMAIL", COMMITTER_EMAIL))
}


class WorktreeState(Struct, frozen=True):
    """What a worktree shows: the first patch that stops a rebase, or a whole series."""

    workspace: str
    branch: str | None = None
    series: str = ""
    patch: str = ""
    head: str = ""  # the commit of HEAD
    left: str = ""  # a commit with the files as the last command left them
    files: tuple[tuple[str, str], ...] = ()  # in conflict: path in the patch, and here
    moving_from: str = ""  # the tree that a command is replacing, if any


Stages = Mapping[str, Sequence["Entry | None"]]
"""Maps the path of each file in conflict to its entries in base, ours and theirs."""


class LinkedWorktree:
    """A worktree that patchmgr made."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self.seen = ""  # the tree whose files the running command has read, if any
        self._index = clone.private / "patchmgr" / "index"

    def stand(self) -> WorktreeState | None:
        """Return what the worktree shows, or None if patchmgr has not recorded it."""
        return _noted(self.clone.private)

    def _note(self, stand: WorktreeState) -> None:
        replace_file(self.clone.private / _NOTE, json.dumps(to_builtins(stand)).encode())

    def _ask(self, *arguments: str, data: bytes = b"", index: bool = False) -> bytes:
        """Run git with the user's settings for line ends and filters, but without hooks."""
        env = git_process.user_environment(_WHO)
        if index:
            env["GIT_INDEX_FILE"] = str(self._index)
        private, root = self.clone.private, self.clone.root
        return git_process.output(arguments, git_dir=private, cwd=root, data=data, env=env)

    def require_branch(self, stand: WorktreeState) -> None:
        """Raise "dirty-checkout" if another branch is checked out, or a merge is in progress.

        A rebase, cherry-pick or the like in progress is an error, too.
        """
        root, doing = self.clone.root, self.clone.in_progress()
        if doing is not None:
            hint = "finish or abort it there, then run the command again"
            raise PatchmgrError("dirty-checkout", f"{root} has {doing} in progress", hint)
        if self.clone.branch() != (stand.branch and f"refs/heads/{stand.branch}"):
            hint = f"git -C {typed(root)} switch {stand.branch}"
            raise PatchmgrError(
                "dirty-checkout", f"{root} is no longer on branch {stand.branch}", hint
            )

    def snapshot(self) -> str:
        """Write a tree of all tracked files as they are now, and return the tree's id."""
        self.clone.refuse_locked()
        self._index.parent.mkdir(exist_ok=True)
        for left in (self._index, self._index.with_suffix(".lock")):  # left by a killed git
            left.unlink(missing_ok=True)
        if (self.clone.private / "index").exists():
            # Keep its time, because git compares the content of files that are as new as the index.
            shutil.copy2(self.clone.private / "index", self._index)
        self._ask("add", "--update", ".", index=True)
        stand = self.stand()
        if stand is not None and stand.moving_from:
            # A killed command wrote files that are not in the index yet.
            moved = self.changes(stand.moving_from, stand.left)
            come = [p for p in moved if os.path.lexists(self.clone.root / p)]
            names = git_process.words(come, "\0")
            how = ("--pathspec-from-file=-", "--pathspec-file-nul")
            self._ask("--literal-pathspecs", "add", "--force", *how, data=names, index=True)
        return self._ask("write-tree", index=True).decode().strip()

    def changes(self, old: str, new: str) -> Changes:
        """Return the files that differ between two trees."""
        return changes_between(self.clone.private, old or EMPTY_TREE, new)

    def entries(self, tree: str, paths: Sequence[str]) -> Mapping[str, Entry]:
        """Return the mode and blob id of each path; paths that the tree lacks are left out."""
        if not paths:
            return {}
        printed = self._ask("--literal-pathspecs", "ls-tree", "-r", "-z", tree, "--", *paths)
        rows = (row.partition("\t") for row in git_process.text(printed).split("\0")[:-1])
        facts = {path: fields.split(" ") for fields, _, path in rows}
        return {path: Entry(mode, blob) for path, (mode, _, blob) in facts.items()}

    def unmerged(self) -> frozenset[str]:
        """Return the paths that are in conflict in the index."""
        rows = git_process.text(self._ask("ls-files", "--unmerged", "-z")).split("\0")[:-1]
        return frozenset(row.partition("\t")[2] for row in rows)

    def blob(self, entry: Entry) -> bytes:
        """Return the content of the file with this mode and blob id."""
        return self._ask("cat-file", "blob", entry.blob)

    def with_entries(self, tree: str, entries: Mapping[str, Entry | None]) -> str:
        """Write a tree with some entries replaced (None removes the file), and return its id."""
        self._ask("read-tree", tree, index=True)
        self._set_index(index_line(*row) for row in entries.items())
        return self._ask("write-tree", index=True).decode().strip()

    def show(self, stand: WorktreeState, stages: Stages) -> bool:
        """Show a state of a rebase in the worktree; return whether edits were stashed."""
        before, has_edits = self.stand(), False
        if before is not None:
            self.require_branch(before)
        if before is None or before.moving_from or before.left != stand.left:
            now = self.snapshot()
            if before is not None:
                known = [self.seen] if self.seen else [before.left, before.moving_from]
                edits = self._beyond(known, now)
                if edits:
                    self.stash(self.with_entries(now, edits), now)
                    now, has_edits = self.snapshot(), True
            self._note(replace(stand, moving_from=now))
            self._ask("update-ref", _LEFT, stand.left)
            self._ask("read-tree", "-m", "-u", now, stand.left, index=True)
            for path, sides in stages.items():
                lines = [index_line(path, side, n) for n, side in enumerate(sides, 1) if side]
                self._set_index([index_line(path, None), *lines])
            os.replace(self._index, self.clone.private / "index")
        self._ask("update-ref", "-m", "patchmgr rebase", "HEAD", stand.head)
        self._note(stand)
        self.seen = ""
        return has_edits

    def _set_index(self, lines: Iterable[str]) -> None:
        data = git_process.raw("".join(lines))
        self._ask("update-index", "-z", "--index-info", data=data, index=True)

    def is_untouched(self) -> bool:
        """Return whether nobody has changed a file or moved HEAD since the last command."""
        stand = self.stand()
        if stand is None or self.clone.head() != stand.head or self.clone.untracked():
            return False
        return not self._beyond([stand.left, stand.moving_from], self.snapshot())

    def edits(self, stand: WorktreeState) -> Changes:
        """Return the files that changed since the last command wrote to the worktree."""
        return self.changes(stand.left, self.snapshot())

    def _beyond(self, known: Sequence[str], now: str) -> dict[str, Entry | None]:
        """Map each path that differs in `now` from all `known` trees to its entry in the first."""
        first, *others = [self.changes(each, now) for each in known if each]
        return {p: old for p, (old, _) in first.items() if all(p in other for other in others)}

    def stash(self, base: str, tree: str) -> None:
        """Save the difference between two trees as an entry of `git stash`."""
        stand = self.stand()
        about = f"beside {stand.patch}" if stand is not None and stand.patch else "of a rebase"
        message = f"patchmgr: edits {about}"
        below = self._commit(base, "HEAD", message=message)
        index = self._commit(base, below, message=message)
        edits = self._commit(tree, below, index, message=message)
        self._ask("stash", "store", "--quiet", "-m", message, edits)

    def _commit(self, tree: str, *parents: str, message: str) -> str:
        options = [word for parent in parents for word in ("-p", parent)]
        arguments = ("commit-tree", *options, "-m", message, f"{tree}^{{tree}}")
        return self._ask(*arguments).decode().strip()

    def remove(self) -> None:
        """Remove the worktree and its branch."""
        stand = self.stand()
        root, git_dir = str(self.clone.root), self.clone.git_dir
        git_process.output(["worktree", "remove", "--force", "--force", root], git_dir=git_dir)
        if stand is not None and stand.branch is not None:
            name = f"refs/heads/{stand.branch}"
            git_process.output(["update-ref", "-d", name], git_dir=git_dir)

    def release(self) -> None:
        """Record that the worktree no longer shows a rebase; the user keeps the worktree."""
        stand = self.stand()
        if stand is not None:
            self._note(replace(stand, series="", patch="", files=()))


def find_worktree(folder: Path) -> LinkedWorktree | None:
    """Return the worktree in a folder, or None if patchmgr did not make one there."""
    try:
        tree = LinkedWorktree(open_clone(folder))
    except PatchmgrError:
        return None
    return None if tree.clone.is_bare or tree.stand() is None else tree


def add_worktree(clone: Clone, folder: Path, stand: WorktreeState) -> LinkedWorktree:
    """Make a worktree, still without files, in a folder for which `is_free` is true."""
    if is_half_made(folder):
        (folder / ".git").unlink()
    git_process.output(["worktree", "prune"], git_dir=clone.git_dir)
    # A store uses objects that no ref names; git commands in the worktree must not delete them.
    if clone.is_bare:
        git_process.output(["config", "gc.auto", "0"], git_dir=clone.git_dir)
    place = ["--detach"] if stand.branch is None else ["-B", stand.branch]
    arguments = ["worktree", "add", "-f", "-f", "--quiet", "--no-checkout", *place]
    git_process.output([*arguments, str(folder), stand.head], git_dir=clone.git_dir)
    tree = LinkedWorktree(open_clone(folder))
    (tree.clone.private / "patchmgr").mkdir(exist_ok=True)
    return tree


def forget_deleted(git_dir: Path, folder: Path) -> None:
    """If the folder of a worktree was deleted, remove the worktree and its branch from git."""
    if os.path.lexists(folder):
        return
    for link in sorted(git_dir.glob("worktrees/*/gitdir")):
        stand = _noted(link.parent)
        root = os.path.dirname(os.fsdecode(link.read_bytes()).removesuffix("\n"))
        if stand is not None and os.path.realpath(root) == os.path.realpath(folder):
            git_process.output(["worktree", "remove", "--force", "--force", root], git_dir=git_dir)
            if stand.branch is not None:  # a branch with commits of the user stays
                words = ["update-ref", "-d", f"refs/heads/{stand.branch}", stand.head]
                git_process.run(words, git_dir=git_dir, good=(0, 1, 128))


def _noted(private: Path) -> WorktreeState | None:
    try:
        return convert(parse_json((private / _NOTE).read_bytes()), WorktreeState)
    except (OSError, ValueError, ValidationError):
        return None


def is_free(folder: Path) -> bool:
    """Return whether a folder is missing, empty, or the worktree of an interrupted command."""
    if not os.path.lexists(folder):
        return True
    is_empty = folder.is_dir() and not folder.is_symlink() and not os.listdir(folder)
    return is_empty or is_half_made(folder)


def is_half_made(folder: Path) -> bool:
    """Return whether a folder is a worktree that an interrupted command left without files."""
    if not folder.is_dir() or folder.is_symlink() or os.listdir(folder) != [".git"]:
        return False
    try:
        link = (folder / ".git").read_text().removeprefix("gitdir: ").strip()
        head = (Path(link) / "HEAD").read_text()
    except (OSError, ValueError):
        return False
    is_ours = head.startswith(f"ref: refs/heads/{BRANCHES}")
    return is_ours and not (Path(link) / "index").exists()


def free_branch(clone: Clone, series: str) -> str:
    """Return an unused name for the branch of a series."""
    known = references(clone.git_dir, f"refs/heads/{BRANCHES}")
    names = chain([series], (f"{series}-{n}" for n in count(2)))
    return BRANCHES + next(name for name in names if name not in known)
