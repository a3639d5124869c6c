"""Asks for forecasts of pull requests that landed, at their last head, and compares.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.forecasts [REPOSITORY BASE SERIES [COUNT]]

SERIES is a folder of patches that are written against BASE, or a branch of the repository (its
commits since BASE; the merge base with main where BASE is empty). Each of the COUNT first pull
requests that landed after BASE and changed a file of the series is asked about on upstream's tip as
it was when its head was written. True is what a rebase from the commit before the landing to it
gives. Without arguments it is `PUBLIC`: release branches, with what was backported to them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.clones import output, quiet_environment
from benchmarks.pages import tell
from patchmgr.cli import main as program
from patchmgr.commands.forecast import Watch, effect_of
from patchmgr.engines.cause.pulls import pull_number
from patchmgr.model.plan import PullHead
from patchmgr.model.progress import Progress
from patchmgr.model.upstream import Resolved
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.services.carry import CarryOptions
from patchmgr.services.load import RebaseRun
from patchmgr.services.memory import Memory
from patchmgr.services.patch_sources import git_upstream_of
from patchmgr.services.session import Session, pinned_state
from patchmgr.services.upstream_states import UpstreamStates
from patchmgr.workspace import Workspace

PUBLIC = (
    ("flashinfer-ai+flashinfer/repo", "", "release-v0.6.12", "27"),
    ("flashinfer-ai+flashinfer/repo", "", "release-v0.6.13", "44"),
    ("vllm-project+vllm-ascend/repo", "", "releases/v0.21.0rc", "82"),
)
COUNT = 60
Seen = Counter[tuple[str, str]]


class Past:
    """A public history with its pull requests, and a workspace with the series."""

    def __init__(self, mirror: Path, root: Path, base: str, patches: str) -> None:
        self.mirror, self.root = mirror, root
        self.base = base or self.git("merge-base", "main", patches)
        self._call("init", str(root))
        lent = ("--git", str(mirror), "--reference", str(mirror))
        self._call("-C", str(root), "upstream", "add", "up", *lent)
        self._call("-C", str(root), "series", "new", "s", "--upstream", "up", "--base", self.base)
        folder, commits = Path(patches), ("--git", str(mirror), f"{self.base}..{patches}")
        source = (str(folder.resolve()),) if folder.is_dir() else commits
        self._call("-C", str(root), "import", *source, "--series", "s")
        self.session = Session(Workspace(root), Progress(), tell)
        self.upstream = git_upstream_of(self.session, self.session.workspace.series_record("s"))

    def _call(self, *words: str) -> None:
        sys.argv = ["patchmgr", *words]
        try:
            program()
        except SystemExit as ended:
            if ended.code:
                raise

    def git(self, *words: str) -> str:
        """Return what git says of the mirror."""
        command = ["git", f"--git-dir={self.mirror}", *words]
        return output(command, self.mirror, os.environ, good=False)

    def landed(self, count: int) -> Iterator[tuple[int, str]]:
        """Yield number and commit of the first that changed a file of the series."""
        patches = self.session.workspace.patches("s")
        paths = sorted({path for patch in patches for path in patch.paths()})
        form = "--format=%H %s"
        span = f"{self.base}..main"
        log = self.git("log", "--first-parent", "--reverse", form, span, "--", *paths)
        for line in log.splitlines()[:count]:
            commit, _, subject = line.partition(" ")
            number = pull_number(subject)
            if number is not None and self.git("rev-parse", "-q", "--verify", pull(number)):
                yield number, commit

    def watch(self, run: RebaseRun, tip: str) -> Watch:
        """Return the series on a state of upstream."""
        pin = self.session.workspace.series_record("s").pin
        return Watch(
            run, ("s",), self.upstream, pinned_state(self.upstream, pin), Resolved(tip, tip)
        )

    def run(self, scratch: Scratch, formatters: Toolbox) -> RebaseRun:
        """Return a run as `forecast` makes one."""
        options = CarryOptions(audits_conflicts=False)
        states, memory = UpstreamStates(self.session), Memory(self.session.workspace)
        return RebaseRun(self.session, options, scratch, states, memory, formatters)


def pull(number: int) -> str:
    """Return the ref of a pull request's head."""
    return f"refs/pull/{number}/head"


def main() -> None:
    """Compare, and print each pull request and the sums."""
    seen: Seen = Counter()
    for given in [sys.argv[1:]] if sys.argv[1:] else PUBLIC:
        mirror = Path(os.environ["PATCHMGR_MIRRORS"], given[0]).resolve()
        count = int(given[3]) if given[3:] else COUNT
        with tempfile.TemporaryDirectory(prefix="patchmgr-forecasts-") as folder:
            os.environ |= quiet_environment(Path(folder, "home"))
            past = Past(mirror, Path(folder, "workspace"), given[1], given[2])
            for number, commit in past.landed(count):
                told, true = compared(past, number, commit)
                seen[told, true] += 1
                print(f"#{number} {commit[:12]} told {told}, true {true}", flush=True)
            past.session.close()
    report(seen)


def report(seen: Seen) -> None:
    """Print how much was told rightly, and of what matters how much was found and came true."""
    right = sum(n for (told, true), n in seen.items() if told == true)
    print(f"{right} of {seen.total()} are told rightly")
    for (told, true), n in sorted(seen.items()):
        print(f"  told {told}, true {true}: {n}")
    for effect in ("absorbs", "breaks"):
        found = seen[effect, effect]
        of = sum(n for (_, true), n in seen.items() if true == effect)
        announced = sum(n for (told, _), n in seen.items() if told == effect)
        print(f"{effect}: {found} of {of} found; {found} of {announced} announced came true")


def compared(past: Past, number: int, commit: str) -> tuple[str, str]:
    """Return what is told of a pull request when its head was written, and what it did."""
    head = past.git("rev-parse", pull(number))
    then = past.git("log", "-1", "--format=%cI", head)
    tip = past.git("rev-list", "-1", "--first-parent", f"--before={then}", f"{commit}^")
    if not past.git("rev-list", "-1", f"{past.base}..{tip}"):
        tip = past.git("rev-parse", f"{past.base}^{{commit}}")
    with Scratch([past.upstream.store]) as scratch, Toolbox() as formatters:
        run = past.run(scratch, formatters)
        truth = past.watch(run, past.git("rev-parse", f"{commit}^"))
        true = effect_of(truth.patches_on(commit))
        watch = past.watch(run, tip)
        facts = watch.facts([head], {}).get(head)
        if facts is None:
            return "nothing", true.value
        told = watch.forecast(PullHead(number, pull(number), head), facts).effect
    return told.value, true.value


if __name__ == "__main__":
    main()
