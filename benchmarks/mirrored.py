"""One public history from a mirror: a workspace that follows it, and git beside it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.clones import output, quiet_environment
from benchmarks.pages import program, tell
from benchmarks.picking import GitFault, Oracle


def options_of(
    arguments: Sequence[str], page: str | None, counted: str, default: int
) -> argparse.Namespace:
    """Return `count` and `out` of a command that replays what mirrors hold."""
    parser = argparse.ArgumentParser(description=(page or "").split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=default, help=counted)
    parser.add_argument("--out", type=Path, help="write one JSON line for each")
    return parser.parse_args(arguments)


def mirrors_of(names: Sequence[str]) -> Path | None:
    """Return the folder that has these mirrors, None where there is none, and say so."""
    mirrors = Path(os.environ.get("PATCHMGR_MIRRORS", ""))
    if all((mirrors / name).is_dir() for name in names):
        return mirrors
    tell(f"SKIPPED: PATCHMGR_MIRRORS does not lead to {', '.join(names)}")
    return None


class Mirrored:
    """A mirror, read only, a workspace `root` with it as the upstream `up`, and an oracle."""

    def __init__(self, mirror: Path, place: Path) -> None:
        self.mirror = mirror
        self.root = place / "workspace"
        self.oracle = Oracle(place / "oracle.git", mirror)
        self.environment = quiet_environment(place / "home")
        self.oracle.prepare()
        self.patchmgr("init", str(self.root))
        where = ("--git", str(mirror), "--reference", str(mirror))
        self.inside("upstream", "add", "up", *where)

    def add_series(self, name: str, base: str, *source: str) -> None:
        """Make a series on a commit, of what `import` takes."""
        self.inside("series", "new", name, "--upstream", "up", "--base", base)
        self.inside("import", *source, "--series", name)

    def git(self, *arguments: str) -> str:
        """Run git on the mirror and return what it prints; raise GitFault where it fails."""
        try:
            line = ["git", f"--git-dir={self.mirror}", *arguments]
            return output(line, self.root.parent, self.environment)
        except SystemExit as fault:
            raise GitFault(str(fault)) from fault

    def git_in(self, folder: Path, *arguments: str) -> str:
        """Run git in a folder and return what it prints."""
        return output(["git", *arguments], folder, self.environment)

    def inside(self, *arguments: str, good: bool = True) -> str:
        """Run patchmgr in the workspace."""
        return self.patchmgr("-C", str(self.root), *arguments, good=good)

    def patchmgr(self, *arguments: str, good: bool = True) -> str:
        """Run patchmgr and return what it prints; raise SystemExit where it must not fail."""
        line = [*program(), *arguments]
        return output(line, self.root.parent, self.environment, good=good)
