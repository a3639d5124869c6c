"""A user's clone or checkout: what is where, read through GitPython; objects given to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import door


@dataclass(frozen=True, slots=True)
class Clone:
    """A repository of the user; `root` is its work tree, or the repository where it is bare.

    `git_dir` holds refs and objects, `private` what belongs to this one work tree.
    """

    root: Path
    git_dir: Path
    private: Path
    is_bare: bool

    def checked_out(self) -> tuple[str, ...]:
        """Return the full names of the branches that work trees have checked out."""
        printed = door.text(
            door.output(["worktree", "list", "--porcelain", "-z"], git_dir=self.git_dir)
        )
        fields = printed.replace("\n", "\0").split("\0")
        return tuple(f.removeprefix("branch ") for f in fields if f.startswith("branch "))

    def head(self) -> str:
        """Return the commit that is checked out; raise PatchmgrError where there is none."""
        arguments = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]
        code, printed = door.run(arguments, git_dir=self.private, good=(0, 1, 128))
        if code:
            raise PatchmgrError("usage", f"{self.root} has no commit checked out")
        return printed.decode().strip()

    def take(self, bench: Path, head: str, base: str) -> None:
        """Copy the commits from base to head, and what they need, into the clone.

        Only what base does not reach is sent where the clone has base; else base's own
        objects go along, which needs a store that has them all.
        """
        code, _ = door.run(["cat-file", "-e", base], git_dir=self.git_dir, good=(0, 1, 128))
        wanted = f"{head}\n^{base}\n" if code == 0 else f"{head}\n"
        if code and _has_parents(bench, base):
            raise PatchmgrError(
                "missing-object",
                f"{self.root} does not have the commit {base} that the series stands on",
                (f"git -C {self.root} fetch the upstream first",),
            )
        packed = door.output(
            ["pack-objects", "--revs", "--thin", "--stdout", "--quiet", "--delta-base-offset"],
            git_dir=bench,
            data=wanted.encode(),
        )
        door.output(["index-pack", "--stdin", "--fix-thin"], git_dir=self.git_dir, data=packed)


def _has_parents(git_dir: Path, commit: str) -> bool:
    content = door.output(["cat-file", "commit", commit], git_dir=git_dir)
    return b"\nparent " in content.split(b"\n\n", 1)[0]


def open_clone(folder: Path) -> Clone:
    """Open the repository of a folder; raise PatchmgrError "usage" where it is none."""
    import git

    try:
        with git.Repo(folder) as repository:
            is_bare = repository.bare
            root = Path(repository.git_dir if is_bare else str(repository.working_tree_dir))
            return Clone(root, Path(repository.common_dir), Path(repository.git_dir), is_bare)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError) as fault:
        raise PatchmgrError("usage", f"{folder} is no git repository") from fault
    except ValueError as fault:
        raise PatchmgrError("usage", f"{folder} cannot be opened: {fault}") from fault
