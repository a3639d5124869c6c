"""The tools on the public stand-in: 53 commits of a real fork, carried onto newer upstream."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchmarks.clones import Clone, absent_paths, make_clone, output
from benchmarks.timing import Tool

REPOSITORY = "local-inference-lab+vllm/repo"
BASE = "9aaf83ef502fc37bc647f6e474314d48ba36cd1c"
TIP = "28be48fa944d8c58aeffd1ab1b56e27828c6b268"  # dev/b12x-integration
CLEAN = "73dd2f33b7a5a8a237fe7296039cec246e4c68bd"
FAR = "52a31ccecca203effd490a5b496dc5f8d9496654"
SERIES = "fork"
REPLAY = "`git replay`"
ENGINE = "`patchmgr rebase`, once it is imported"
_CONTROL = """\
Source: bench
Maintainer: Bench <bench@localhost>

Package: bench
Architecture: all
"""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A tool on the clean stretch, and how to find the tree of its result."""

    tool: Tool
    tree: Callable[[], str]


class StandIn:
    """Everything that the tools need, in one folder."""

    def __init__(
        self,
        mirror: Path,
        place: Path,
        program: tuple[str, ...],
        environment: Mapping[str, str],
    ) -> None:
        self.mirror = mirror
        self.place = place
        self.environment = environment
        self.program = program
        absent = absent_paths(mirror, (TIP, CLEAN, FAR), environment)
        self._whole = ["/*", *(f"!/{path}" for path in absent)]
        touched = self.git("diff", "--name-only", "--no-renames", BASE, TIP).splitlines()
        self._touched = [f"/{path}" for path in touched]
        self.mails = place / "series.mbox"
        self.mails.write_text(
            self.git("format-patch", "--stdout", "--full-index", "--binary", f"{BASE}..{TIP}")
            + "\n",
            errors="surrogateescape",
        )
        self.count = int(self.git("rev-list", "--count", f"{BASE}..{TIP}"))

    def git(self, *arguments: str) -> str:
        """Run git on the mirror and return what it printed."""
        command = ["git", f"--git-dir={self.mirror}", *arguments]
        return output(command, self.place, self.environment)

    def clone(self, name: str, at: str, *, is_sparse: bool = False) -> Clone:
        """Return a clone in a folder of its own, with that commit checked out."""
        patterns = self._touched if is_sparse else self._whole
        places = (self.place / f"{name}{n or ''}" / "clone" for n in count())
        root = next(place for place in places if not place.exists())  # one of each section
        return make_clone(self.mirror, root, at, patterns, self.environment)

    def workspace(self) -> tuple[Path, Callable[[], None]]:
        """Return a workspace with the series, and what puts it and the store back."""
        kept, used = self.place / "kept", self.place / "used"
        cache = Path(self.environment["XDG_CACHE_HOME"])
        if not kept.exists():
            mirror = str(self.mirror)
            self._patchmgr("init", str(kept / "workspace"))
            inside = ("-C", str(kept / "workspace"))
            self._patchmgr(
                *inside, "upstream", "add", "vllm", "--git", mirror, "--reference", mirror
            )
            self._patchmgr(*inside, "series", "new", SERIES, "--upstream", "vllm", "--base", BASE)
            commits = f"{BASE}..{TIP}"
            self._patchmgr(*inside, "import", "--git", mirror, commits, "--series", SERIES)
            shutil.copytree(cache, kept / "cache", symlinks=True)

        def restore() -> None:
            for source, target in (("workspace", used / "workspace"), ("cache", cache)):
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(kept / source, target, symlinks=True)

        restore()
        return used / "workspace", restore

    def _patchmgr(self, *arguments: str) -> str:
        """Run patchmgr where nothing is timed."""
        return output([*self.program, *arguments], self.place, self.environment)

    def patchmgr(self) -> Entrant:
        """Return `patchmgr rebase`, the write step included."""
        folder, restore = self.workspace()
        command = (*self.program, "rebase", SERIES, "--onto", CLEAN)
        tool = Tool("`patchmgr rebase`", command, folder, self.environment, restore)
        return Entrant(tool, lambda: self.tree_in_store(folder))

    def engine(self) -> Entrant:
        """Return the same, where only what comes after the imports counts."""
        folder, restore = self.workspace()
        runner = str(Path(__file__).with_name("after_imports.py"))
        words = (str(self.place / "imported"), "rebase", SERIES, "--onto", CLEAN)

        def told(printed: str) -> tuple[float, float]:
            wall, processor = printed.split()[-2:]
            return float(wall), float(processor)

        tool = Tool(
            ENGINE,
            (sys.executable, "-I", runner, *words),
            folder,
            self.environment,
            restore,
            told=told,
        )
        return Entrant(tool, lambda: self.tree_in_store(folder))

    def tree_in_store(self, folder: Path, series: str = SERIES) -> str:
        """Return the tree that the branch of a series has in the store."""
        store = next((Path(self.environment["XDG_CACHE_HOME"]) / "patchmgr" / "stores").iterdir())
        name = f"refs/patchmgr/*/heads/patchmgr/{series}"
        command = ["git", f"--git-dir={store}", "for-each-ref", "--format=%(tree)", name]
        return output(command, folder, self.environment)

    def git_rebase(self, *, is_sparse: bool = False, has_driver: bool = False) -> Entrant:
        """Return `git rebase --onto`, in the whole work tree or in the touched files alone."""
        about = ", touched files only" if is_sparse else ", merge driver" if has_driver else ""
        name, folder = f"`git rebase`{about}", f"rebase{about.replace(' ', '-')}"
        clone = self.clone(folder, TIP, is_sparse=is_sparse)
        clone.keep()
        if has_driver:
            self._patchmgr("merge-driver", "install", "--git", str(clone.root))
        command = ("git", "rebase", "--quiet", "--onto", CLEAN, BASE, "work")
        return Entrant(Tool(name, command, clone.root, self.environment, clone.restore), clone.tree)

    def git_am(self) -> Entrant:
        """Return `git am -3` of the same commits as mails."""
        clone = self.clone("am", CLEAN)
        clone.keep()
        command = ("git", "am", "--quiet", "-3", str(self.mails))
        tool = Tool("`git am -3`", command, clone.root, self.environment, clone.restore)
        return Entrant(tool, clone.tree)

    def git_replay(self, git: str) -> Entrant:
        """Return `git replay` of the commits, by a git that has it; it only prints what moves."""
        clone = self.clone("replay", TIP)
        clone.keep()
        # From git 2.53 on it would move the refs itself, and print nothing.
        command = (
            git, "-c", "replay.refAction=print", "replay", "--onto", CLEAN, f"{BASE}..work",
        )  # fmt: skip

        def tree() -> str:
            moved = clone.root.parent / "last-output"
            return clone.git("rev-parse", f"{moved.read_text().split()[2]}^{{tree}}")

        tool = Tool(REPLAY, command, clone.root, self.environment, clone.restore)
        return Entrant(tool, tree)

    def quilt(self) -> Entrant:
        """Return `quilt push -a` of the series as patchmgr keeps it."""
        self.workspace()
        clone = self.clone("quilt", CLEAN)
        clone.keep()
        patches = self.place / "kept" / "workspace" / "series" / SERIES
        environment = {**self.environment, "QUILT_PATCHES": str(patches)}
        command = ("quilt", "--quiltrc", "-", "push", "-a", "-q")
        tool = Tool("`quilt push -a`", command, clone.root, environment, clone.restore)
        return Entrant(tool, clone.work_tree)

    def gbp_pq(self) -> Entrant:
        """Return `gbp pq rebase` of a queue made of the series, where CLEAN is merged already."""
        self.workspace()
        clone = self.clone("gbp", BASE)
        debian = clone.root / "debian"
        patches = self.place / "kept" / "workspace" / "series" / SERIES
        shutil.copytree(patches, debian / "patches")
        (debian / "control").write_text(_CONTROL)
        clone.git("add", "--force", "debian")
        clone.git("commit", "--quiet", "--no-verify", "-m", "debian")
        output(["gbp", "pq", "import"], clone.root, self.environment)
        clone.git("checkout", "--quiet", "work")
        clone.git("merge", "--quiet", "--no-edit", CLEAN)
        clone.keep()
        tool = Tool(
            "`gbp pq rebase`", ("gbp", "pq", "rebase"), clone.root, self.environment, clone.restore
        )
        return Entrant(tool, lambda: clone.tree_without("debian"))

    def stgit(self, *, is_import: bool) -> Entrant:
        """Return StGit's import of the mails, or its rebase of a stack made of them."""
        at = CLEAN if is_import else BASE
        clone = self.clone("stg-import" if is_import else "stg-rebase", at)
        output(["stg", "init"], clone.root, self.environment)
        importing = ("stg", "import", "-M", str(self.mails))
        if not is_import:
            output(importing, clone.root, self.environment)
        clone.keep()
        command = importing if is_import else ("stg", "rebase", CLEAN)
        name = f"`stg {'import -M' if is_import else 'rebase'}`"
        return Entrant(Tool(name, command, clone.root, self.environment, clone.restore), clone.tree)

    def far_dry_run(self) -> tuple[Tool, Mapping[str, int]]:
        """Return the dry run onto the far target, and the verdicts that it gives."""
        folder, restore = self.workspace()
        command = (*self.program, "rebase", SERIES, "--onto", FAR, "--dry-run")
        printed = output([*command, "--json"], folder, self.environment, good=False)
        name = "`patchmgr rebase --dry-run`"
        tool = Tool(name, command, folder, self.environment, restore, good=(0, 3))
        summary: dict[str, int] = json.loads(printed)["series"][0]["summary"]
        return tool, summary

    def unaudited(self) -> Tool:
        """Return the dry run onto the far target without audit and ledger."""
        folder, restore = self.workspace()
        runner = str(Path(__file__).with_name("unaudited.py"))
        command = (sys.executable, "-I", runner, "rebase", SERIES, "--onto", FAR, "--dry-run")
        return Tool(
            "without audit and ledger", command, folder, self.environment, restore, good=(0, 3)
        )

    def text_only(self) -> Tool:
        """Return the way to the far target with text merges alone."""
        folder, restore = self.workspace()
        runner = str(Path(__file__).with_name("text_only.py"))
        command = (sys.executable, "-I", runner, SERIES, FAR)
        return Tool("text merges only", command, folder, self.environment, restore)

    def far_stops(self) -> Mapping[str, int]:
        """Return how many patches git's tools carry onto the far target before they stop."""
        rebased, mailed = self.clone("far-rebase", TIP), self.clone("far-am", FAR)
        rebased.git("rebase", "--quiet", "--onto", FAR, BASE, "work", good=False)
        mailed.git("am", "--quiet", "-3", str(self.mails), good=False)
        return {
            "`git rebase`": int(rebased.git("rev-list", "--count", f"{FAR}..HEAD")),
            "`git am -3`": int(mailed.git("rev-list", "--count", f"{FAR}..HEAD")),
        }
