"""A user's clone: its index, its checked-out branches, and the objects copied into the clone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache, cached_property
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.shown import typed
from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author
from patchmgr.model.snapshot import ZERO_ID, Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.conversion import Conversion
from patchmgr.plumbing.objects import object_named

_DIRECTORIES = ("--git-common-dir", "--absolute-git-dir")  # the shared one, and the work tree's own
_FORM = "--show-object-format"
_IDENTITY = re.compile(r"(.*) <(.*)> (\d+ [+-]\d{4})")
_IN_PROGRESS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or git am",
}


class Indexed(Struct, frozen=True):
    """The entry of a path in an index; `is_hidden` means skip-worktree or assume-unchanged."""

    entry: Entry
    is_hidden: bool


class Clone(Struct, frozen=True, dict=True):
    """A repository of the user; `root` is its work tree, or the repository itself if it is bare."""

    root: Path
    git_dir: Path  # has the refs and objects
    private: Path  # has the HEAD and index of this work tree
    is_bare: bool

    @cached_property
    def conversion(self) -> Conversion:
        """Return the converter between the contents that git stores and the files on disk."""
        return Conversion(self.root, self.git_dir, self.private)

    def ask(self, *arguments: str, data: bytes = b"", index: Path | None = None) -> bytes:
        """Run git on this work tree and return git's output."""
        extra = None if index is None else {"GIT_INDEX_FILE": str(index)}
        env = git_process.clean_environment(extra)
        return git_process.output(
            arguments, git_dir=self.private, cwd=self.root, data=data, env=env
        )

    def checked_out(self) -> dict[str, str]:
        """Map the full name of each branch that is checked out to its work tree."""
        git_process.require_git("writing to a clone")
        fields = git_process.fields(self.git_dir, "worktree", "list", "--porcelain", "-z")
        places, place = dict[str, str](), ""
        for field in fields:
            kind, _, value = field.partition(" ")
            if kind == "worktree":
                place = value
            elif kind == "branch":
                places[value] = place
        return places

    def head(self) -> str:
        """Return the commit that HEAD points to; raise PatchmgrError "usage" if there is none."""
        commit = object_named(self.private, "HEAD^{commit}")
        if commit is None:
            raise UsageError(f"{self.root} has no commit checked out")
        return commit

    def branch(self) -> str | None:
        """Return the full name of the branch that is checked out, or None if HEAD is detached."""
        return git_process.answer(self.private, "symbolic-ref", "--quiet", "HEAD")

    def in_progress(self) -> str | None:
        """Return the git operation that is in progress, such as "a merge", or None."""
        for name, what in _IN_PROGRESS.items():
            if (self.private / name).exists():
                return what
        return None

    def refuse_locked(self) -> None:
        """Raise PatchmgrError "busy" if another git process holds the lock of the index."""
        if (lock := self.private / "index.lock").exists():
            message = f"another git process is running in {self.root}"
            raise PatchmgrError("busy", message, f"if no git process is running, delete {lock}")

    def index(self) -> Mapping[str, Indexed]:
        """Return the index entries by path; an unmerged path has the entry of its highest stage."""
        listed: dict[str, Indexed] = {}
        for line in self.ask("ls-files", "--stage", "-v", "-z").split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            tag, mode, blob, _ = facts.decode().split(" ")
            is_hidden = tag.islower() or tag == "S"
            listed[git_process.text(path)] = Indexed(Entry(mode, blob), is_hidden)
        return listed

    def changed_paths(self) -> tuple[str, ...]:
        """Return the tracked paths that differ from HEAD in the index or the work tree."""
        _, printed = self._look(
            "status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames",
            "--ignore-submodules=all",
        )  # fmt: skip
        found = []
        for line in git_process.text(printed).split("\0"):
            kind, _, rest = line.partition(" ")
            if kind in ("1", "u"):
                fields = 7 if kind == "1" else 9
                found.append(rest.split(" ", fields)[fields])
        return tuple(found)

    def _look(self, *arguments: str) -> tuple[int, bytes]:
        """Run git with the user's settings for line ends, but without filters."""
        known = self.conversion.settings
        return git_process.run(
            [*known.options, *arguments],
            git_dir=self.private, cwd=self.root, env=known.env, good=(0, 1),
        )  # fmt: skip

    def untracked(self) -> tuple[str, ...]:
        """Return the paths of files that are neither tracked nor ignored."""
        printed = self.ask("ls-files", "--others", "--exclude-standard", "-z")
        return tuple(filter(None, git_process.text(printed).split("\0")))

    def write_index(
        self, entries: Mapping[str, Entry | None], hidden: Collection[str], index: Path | None
    ) -> None:
        """Write entries to the index (None removes one); mark `hidden` paths skip-worktree."""
        if entries:
            data = git_process.raw("".join(index_line(*row) for row in entries.items()))
            self.ask("update-index", "-z", "--index-info", data=data, index=index)
        if hidden:
            data = git_process.words(sorted(hidden), "\0")
            self.ask("update-index", "--skip-worktree", "-z", "--stdin", data=data, index=index)

    def move_head(self, old: str, new: str) -> None:
        """Move the checked-out branch, or a detached HEAD, from one commit to another."""
        env = git_process.clean_environment(
            {"GIT_COMMITTER_NAME": COMMITTER_NAME, "GIT_COMMITTER_EMAIL": COMMITTER_EMAIL}
        )
        arguments = ["update-ref", "-m", "patchmgr", "HEAD", new, old]
        git_process.output(arguments, git_dir=self.private, cwd=self.root, env=env)

    def refresh(self) -> None:
        """Refresh the index, as `git update-index --refresh` does."""
        self._look("update-index", "-q", "--refresh")

    def take(
        self,
        scratch: Path,
        head: str,
        base: str,
        *,
        bring: Callable[[set[str]], None] = lambda lacked: None,
    ) -> None:
        """Copy the commits from `base` to `head`, and their objects, from `scratch` to this clone.

        If the clone lacks `base`, its objects are copied, too, and `bring` fetches those that the
        store lacks. Raises PatchmgrError "missing-object" if that fails.
        """
        has_base = self.can_take(scratch, base)
        wanted = f"{head}\n^{base}\n" if has_base else f"{head}\n"
        if not has_base and (lacked := missing_objects(scratch, wanted)):
            bring(lacked)
            if missing_objects(scratch, wanted):
                raise self._lacks(base)
        # No deltas against objects of the clone: a partial clone may lack these objects.
        packed = git_process.output(
            ["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"],
            git_dir=scratch,
            data=wanted.encode(),
        )
        git_process.output(["index-pack", "--stdin"], git_dir=self.git_dir, data=packed)

    def can_take(self, scratch: Path, base: str) -> bool:
        """Return whether the clone contains the commit `base`.

        Raises PatchmgrError "missing-object" if it does not and `base` has parents, because only a
        commit without parents can be copied into the clone.
        """
        code, _ = git_process.run(["cat-file", "-e", base], git_dir=self.git_dir, good=(0, 1, 128))
        # A commit with parents cannot be copied without its history.
        content = git_process.output(["cat-file", "commit", base], git_dir=scratch) if code else b""
        if b"\nparent " in content.split(b"\n\n", 1)[0]:
            raise self._lacks(base)
        return code == 0

    def _lacks(self, base: str) -> PatchmgrError:
        return PatchmgrError(
            "missing-object",
            f"{self.root} does not contain commit {base}, which the series is based on",
            f"fetch it first: git -C {typed(self.root)} fetch URL {base}",
        )


def missing_objects(git_dir: Path, ends: str) -> set[str]:
    """Return the objects reachable from `ends` (rev-list arguments) that a repository lacks."""
    asked = ("rev-list", "--objects", "--missing=print", "--stdin")
    rows = git_process.lines(git_process.ask(git_dir, *asked, data=ends.encode()))
    return {line[1:] for line in rows if line.startswith("?")}


def index_line(path: str, entry: Entry | None, stage: int = 0) -> str:
    """Return a line for `git update-index -z --index-info`; without `entry`, it removes `path`."""
    facts = f"0 {ZERO_ID}" if entry is None else f"{entry.mode} {entry.blob} {stage}"
    return f"{facts}\t{path}\0"


def open_clone(folder: Path) -> Clone:
    """Open the repository at a folder: a work tree's top folder or `.git`, or a bare repository.

    Raises PatchmgrError "usage" for any other folder.
    """
    git_dir, private, top = _repository(folder)
    if top is None or private.samefile(folder):
        return Clone(private, git_dir, private, is_bare=True)
    if not top.samefile(folder):
        raise UsageError(f"{folder} must be the top folder of a checkout; it is inside {top}")
    return Clone(folder.resolve(), git_dir, private, is_bare=False)


def find_clone(folder: Path) -> Clone | None:
    """Return the repository whose work tree contains the folder, or None if there is none."""
    try:
        paths = _ask_paths(folder, *_DIRECTORIES, "--show-toplevel", _FORM)[:3]
    except PatchmgrError as fault:
        # Git did not answer, for example because of a full disk.
        if fault.kind not in ("usage", "git"):
            raise
        return None
    git_dir, private, top = map(Path, paths)
    return Clone(top, git_dir, private, is_bare=False)


def identity(git_dir: Path, role: str = "AUTHOR") -> str | None:
    """Return the user as `name <email> seconds zone`, or None if git does not know the user.

    `role` is AUTHOR or COMMITTER.
    """
    env = {n: v for n, v in os.environ.items() if n.startswith(f"GIT_{role}_")}
    code, printed = git_process.run(
        ["-c", "user.useConfigOnly=true", "var", f"GIT_{role}_IDENT"],
        git_dir=git_dir, good=(0, 1, 128), env=git_process.user_environment(env),
    )  # fmt: skip
    return None if code else git_process.text(printed).strip()


def author_of(git_dir: Path) -> Author | None:
    """Return the user's name and email for commits, with the date, or None if git knows none."""
    known = _IDENTITY.fullmatch(identity(git_dir) or "")
    return None if known is None else Author(known[1], known[2], known[3])


def find_git_dir(folder: Path) -> Path:
    """Return the git directory, with the refs and objects, of the repository around a folder.

    Raises PatchmgrError "usage" if there is no such repository.
    """
    return Path(*_paths(folder, "--git-common-dir"))


def private_git_dir(folder: Path) -> Path:
    """Return the git directory with the HEAD of the work tree around a folder.

    Raises PatchmgrError "usage" if there is no such repository.
    """
    return Path(*_paths(folder, "--absolute-git-dir"))


def _repository(folder: Path) -> tuple[Path, Path, Path | None]:
    """Return the shared git directory, the private one, and the top of the work tree, if any."""
    try:
        *found, top = _paths(folder, *_DIRECTORIES, "--show-toplevel")
    except PatchmgrError as fault:
        if fault.kind != "git":
            raise
        *found, is_bare = _paths(folder, *_DIRECTORIES, "--is-bare-repository")
        if is_bare != "true" and not Path(found[1]).samefile(folder):
            raise
        top = ""
    git_dir, private = map(Path, found)
    return git_dir, private, Path(top) if top else None


def _paths(folder: Path, *questions: str) -> list[str]:
    """Ask git about the repository around a folder; refuse one whose ids are not SHA-1."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    *paths, form = _ask_paths(folder, *questions, _FORM)
    if form != "sha1":
        message = f"{folder} uses SHA-256 object ids, but patchmgr supports only SHA-1"
        raise PatchmgrError("git", message)
    return paths


@cache
def _ask_paths(folder: Path, *questions: str) -> tuple[str, ...]:
    """Ask git about a folder; answers are cached, because commands repeat questions."""
    arguments = ["rev-parse", "--path-format=absolute", *questions]
    try:
        # The user's configuration says which repositories of other users are trusted.
        _, printed = git_process.run(arguments, cwd=folder, env=git_process.user_environment())
    except PatchmgrError as fault:
        if "not a git repository" in fault.message:
            raise UsageError(f"{folder} is not a git repository") from fault
        if "dubious ownership" in fault.message:
            hint = f"{git_process.TRUST} {typed(folder)}"
            raise UsageError(f"{folder} belongs to another user", hint) from fault
        raise
    lines = git_process.text(printed).removesuffix("\n").split("\n")
    if len(lines) != len(questions):
        raise UsageError(f"{folder} has a line break in its path, which is not supported")
    return tuple(lines)
