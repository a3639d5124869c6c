"""The stand-in's commits there and back again, until there are as many as are asked for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import chain, cycle, islice
from pathlib import Path

from benchmarks.clones import output
from benchmarks.stand_in import BASE, CLEAN, TIP, Entrant, StandIn
from benchmarks.timing import Tool


class LongSeries:
    """A series of real changes of any length: each commit, then each taken back, and again."""

    def __init__(self, stand_in: StandIn, count: int) -> None:
        self._stand_in = stand_in
        self._count = count
        self._clone = stand_in.clone(f"long-{count}", BASE)
        self.tip = self._clone.git("rev-parse", BASE)
        for number, tree in enumerate(islice(self._trees(), count), 1):
            message = f"Change {number}"
            self.tip = self._clone.git("commit-tree", tree, "-p", self.tip, "-m", message)
        self._clone.git("update-ref", "refs/heads/work", self.tip)
        self._clone.git("reset", "--quiet", "--hard")

    def _trees(self) -> Iterator[str]:
        listed = self._clone.git("rev-list", "--reverse", "--format=%T", f"{BASE}..{TIP}")
        trees = [line for line in listed.splitlines() if not line.startswith("commit ")]
        base = self._clone.git("rev-parse", f"{BASE}^{{tree}}")
        return cycle(chain(trees, trees[-2::-1], [base]))

    def git_rebase(self) -> Entrant:
        """Return `git rebase` of them."""
        self._clone.keep()
        command = ("git", "rebase", "--quiet", "--onto", CLEAN, BASE, "work")
        name = f"`git rebase`, {self._count} commits"
        clone = self._clone
        tool = Tool(name, command, clone.root, self._stand_in.environment, clone.restore)
        return Entrant(tool, clone.tree)

    def patchmgr(self) -> Entrant:
        """Return `patchmgr rebase` of the same commits as patches."""
        folder, restore = self._workspace()
        stand_in, name = self._stand_in, f"long-{self._count}"
        command = (*stand_in.program, "rebase", name, "--onto", CLEAN)
        said = f"`patchmgr rebase`, {self._count} patches"
        tool = Tool(said, command, folder, stand_in.environment, restore)
        return Entrant(tool, lambda: stand_in.tree_in_store(folder, name))

    def _workspace(self) -> tuple[Path, Callable[[], None]]:
        """Return a workspace with the series, and what puts it and the cache back."""
        stand_in, name = self._stand_in, f"long-{self._count}"
        folder, _ = stand_in.workspace()
        inside = (*stand_in.program, "-C", str(folder))
        kept, cache = stand_in.place / f"kept-{name}", Path(stand_in.environment["XDG_CACHE_HOME"])
        commits, source = f"{BASE}..{self.tip}", str(self._clone.root)
        for words in (
            ("series", "new", name, "--upstream", "vllm", "--base", BASE),
            ("import", "--git", source, commits, "--series", name),
        ):
            output([*inside, *words], stand_in.place, stand_in.environment)
        shutil.copytree(folder, kept / "workspace", symlinks=True)
        shutil.copytree(cache, kept / "cache", symlinks=True)

        def restore() -> None:
            for source, target in (("workspace", folder), ("cache", cache)):
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(kept / source, target, symlinks=True)

        return folder, restore
