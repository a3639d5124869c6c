"""Clones of a public history whose objects stay where they are, put back before each run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


def output(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, good: bool = True
) -> str:
    """Run a command that is not timed and return what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if good and done.returncode:
        raise SystemExit(f"{' '.join(command[:4])}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="replace").strip()


def quiet_environment(home: Path) -> dict[str, str]:
    """Return an environment without anything of the user's but the way to programs."""
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "EDITOR": "true",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for key, value in (
        ("user.name", "Bench"),
        ("user.email", "bench@localhost"),
        ("gc.auto", "0"),
        ("advice.detachedHead", "false"),
    ):
        output(["git", "config", "--global", key, value], home, environment)
    return environment


def absent_paths(mirror: Path, commits: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the paths whose content the mirror does not hold, as one of the commits has it."""
    found: set[str] = set()
    for commit in commits:
        arguments = ["rev-list", "--objects", "--missing=print", "--no-walk", f"{commit}^{{tree}}"]
        listed = output(["git", f"--git-dir={mirror}", *arguments], mirror, environment)
        missing = {line[1:] for line in listed.splitlines() if line.startswith("?")}
        tree = output(["git", f"--git-dir={mirror}", "ls-tree", "-r", commit], mirror, environment)
        rows = (line.split(None, 3) for line in tree.splitlines())
        found.update(row[3] for row in rows if row[2] in missing)
    return sorted(found)


@dataclass(slots=True)
class Clone:
    """A clone with a work tree; `restore` brings back what `keep` saw, objects included."""

    root: Path
    environment: Mapping[str, str]
    _refs: str = ""
    _head: str = ""
    _objects: frozenset[Path] = field(default_factory=frozenset)

    def git(self, *arguments: str, good: bool = True) -> str:
        """Run git in the clone."""
        return output(["git", *arguments], self.root, self.environment, good=good)

    def tree(self) -> str:
        """Return the tree of the commit that is checked out."""
        return self.git("rev-parse", "HEAD^{tree}")

    def work_tree(self) -> str:
        """Return the tree of the files as they are in the folder, quilt's own left out."""
        index = self.root / ".git" / "bench-index"
        shutil.copyfile(self.root / ".git" / "index", index)
        environment = {**self.environment, "GIT_INDEX_FILE": str(index)}
        output(["git", "add", "-Af", "--", ".", ":!.pc"], self.root, environment)
        return output(["git", "write-tree", "--missing-ok"], self.root, environment)

    def tree_without(self, folder: str) -> str:
        """Return the tree of the commit that is checked out, a folder left out."""
        listed = self.git("ls-tree", "-z", "HEAD")
        rows = [row for row in listed.split("\0") if row and row.partition("\t")[2] != folder]
        made = subprocess.run(
            ["git", "mktree", "-z", "--missing"],
            cwd=self.root,
            env=dict(self.environment),
            input="".join(f"{row}\0" for row in rows).encode(),
            capture_output=True,
            check=True,
        )
        return made.stdout.decode().strip()

    def keep(self) -> None:
        """Remember the present state."""
        self._refs = self.git("for-each-ref", "--format=%(refname) %(objectname)")
        self._head = self.git("symbolic-ref", "HEAD")
        self._objects = frozenset(self._object_files())
        if self._stack.exists():
            shutil.copytree(self._stack, self.root.parent / "stack")

    def restore(self) -> None:
        """Bring the kept state back; new objects are deleted."""
        git_dir = self.root / ".git"
        for left in ("rebase-merge", "rebase-apply", "logs", "patches"):
            shutil.rmtree(git_dir / left, ignore_errors=True)
        if (self.root.parent / "stack").exists():
            shutil.copytree(self.root.parent / "stack", self._stack)
        kept = dict(line.split(" ") for line in self._refs.splitlines())
        self.git("symbolic-ref", "HEAD", self._head)
        for name in self.git("for-each-ref", "--format=%(refname)").splitlines():
            if name not in kept:
                self.git("update-ref", "-d", name)
        for name, commit in kept.items():
            self.git("update-ref", name, commit)
        self.git("reset", "--quiet", "--hard")
        self.git("clean", "-fdxq")
        self._delete_new_objects()
        self.git("status", "--porcelain")

    @property
    def _stack(self) -> Path:
        """Return where StGit 0.19 keeps which patches are applied."""
        return self.root / ".git" / "patches"

    def _object_files(self) -> Iterator[Path]:
        folder = self.root / ".git" / "objects"
        return (path for path in folder.rglob("*") if path.is_file())

    def _delete_new_objects(self) -> None:
        for path in list(self._object_files()):
            if path not in self._objects:
                path.unlink()


def make_clone(
    mirror: Path, root: Path, at: str, patterns: Sequence[str], environment: Mapping[str, str]
) -> Clone:
    """Clone with shared objects and check out the paths that sparse patterns name."""
    root.parent.mkdir(parents=True, exist_ok=True)
    command = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(mirror), str(root)]
    output(command, root.parent, environment)
    clone = Clone(root, environment)
    # Lets `git write-tree` pass over what the mirror lacks and the work tree leaves out.
    clone.git("config", "remote.origin.promisor", "true")
    clone.git("sparse-checkout", "set", "--no-cone", *patterns)
    clone.git("checkout", "--quiet", "-B", "work", at)
    return clone
