"""What git itself makes of commits on another parent: `git rebase` without a work tree."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_IDENT = "oracle <oracle@localhost> 0 +0000"


class GitFault(Exception):
    """Git failed, for instance because the mirror lacks an object."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """A scratch repository that borrows the objects of a mirror."""

    git_dir: Path
    mirror: Path

    def prepare(self) -> None:
        """Make the repository."""
        subprocess.run(["git", "init", "--quiet", "--bare", str(self.git_dir)], check=True)
        alternates = self.git_dir / "objects" / "info" / "alternates"
        alternates.write_text(f"{self.mirror / 'objects'}\n")

    def git(self, *arguments: str, data: bytes = b"", good: Sequence[int] = (0,)) -> str:
        """Run git and return what it prints."""
        line = ["git", f"--git-dir={self.git_dir}", "-c", "core.attributesFile=", *arguments]
        done = subprocess.run(line, input=data, capture_output=True, check=False)
        if done.returncode not in good:
            raise GitFault(done.stderr.decode(errors="replace").strip()[-300:])
        return done.stdout.decode(errors="replace").rstrip("\n")

    def picked(self, commits: Sequence[tuple[str, str]], onto: str) -> str | None:
        """Return the tree of commits, each given with its parent, put on another commit.

        None where one of them is a conflict. As `git rebase` does it, each is merged over its
        parent.
        """
        tree = self.git("rev-parse", f"{onto}^{{tree}}")
        for commit, parent in commits:
            base = self._commit(self.git("rev-parse", f"{parent}^{{tree}}"))
            ours = self._commit(tree, base)
            theirs = self._commit(self.git("rev-parse", f"{commit}^{{tree}}"), base)
            printed = self.git(
                "merge-tree", "--write-tree", "--no-messages", ours, theirs, good=(0, 1)
            ).splitlines()
            if len(printed) > 1:
                return None
            tree = printed[0]
        return tree

    def _commit(self, tree: str, parent: str | None = None) -> str:
        above = f"parent {parent}\n" if parent else ""
        text = f"tree {tree}\n{above}author {_IDENT}\ncommitter {_IDENT}\n\nside\n"
        return self.git("hash-object", "-t", "commit", "-w", "--stdin", data=text.encode())
