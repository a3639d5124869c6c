"""A constructed upstream in a folder, a workspace with its fork as a series, and a way back."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from benchmarks.clones import make_clone, output
from benchmarks.constructed import Constructed, write_history
from benchmarks.pages import program
from benchmarks.timing import Tool

SERIES = "s"


class Ground:
    """One history and what patchmgr has of it."""

    def __init__(self, place: Path, environment: Mapping[str, str]) -> None:
        self._place = place
        self._environment = {**environment, "XDG_CACHE_HOME": str(place / "used" / "cache")}
        self._upstream = place / "upstream.git"
        self._used, self._kept = place / "used", place / "kept"

    def fill(self, history: Constructed) -> None:
        """Make the history and a workspace that has fetched it and has its fork as a series."""
        self._place.mkdir(parents=True)
        write_history(history, self._upstream, self._environment)
        workspace, upstream = self._used / "workspace", self._upstream
        inside = f"-C {workspace}"
        for words in (
            f"init {workspace}",
            f"{inside} upstream add up --git {upstream}",
            f"{inside} upstream fetch up",
            f"{inside} series new {SERIES} --upstream up --base {self._commit('base')}",
            f"{inside} import --git {upstream} base..fork --series {SERIES}",
        ):
            output([*program(), *words.split()], self._place, self._environment)
        shutil.copytree(self._used, self._kept, symlinks=True)

    def rebase(self) -> Tool:
        """Return `patchmgr rebase` onto upstream's main branch, the write step included."""
        command = (*program(), "rebase", SERIES, "--onto", self._commit("main"))
        folder = self._used / "workspace"
        return Tool("`patchmgr rebase`", command, folder, self._environment, self._restore)

    def git_rebase(self) -> Tool:
        """Return `git rebase` of the same commits, in a clone of its own."""
        place, tip = self._place / "git" / "clone", self._commit("fork")
        clone = make_clone(self._upstream, place, tip, ("/*",), self._environment)
        clone.keep()
        onto, base = self._commit("main"), self._commit("base")
        command = ("git", "rebase", "--quiet", "--onto", onto, base, "work")
        return Tool("`git rebase`", command, clone.root, self._environment, clone.restore)

    def require_unchanged(self, patches: int) -> None:
        """Stop where the last rebase did not carry so many patches as they were."""
        said = (self._used / "last-output").read_text(errors="replace")
        if f"{patches} patches: {patches} unchanged" not in said:
            raise SystemExit(f"not all patches are unchanged:\n{said[-2000:]}")

    def _restore(self) -> None:
        shutil.rmtree(self._used)
        shutil.copytree(self._kept, self._used, symlinks=True)

    def _commit(self, branch: str) -> str:
        return self._git(f"--git-dir={self._upstream}", "rev-parse", branch)

    def _git(self, *arguments: str) -> str:
        return output(["git", *arguments], self._place, self._environment)
