"""Rebases what projects picked onto their stable branches onto their main branch.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.backports [--count N] [--out FILE]

Where a commit of another branch ends with "(cherry picked from commit X)" and main has X, the fate
of that commit is known: it is a patch on its parent, upstream has it at X and later, and lacks it
just before X. So projects that nothing was tuned on say how much is found, and what is called
absorbed falsely. Beside it git, which drops a commit whose merge leaves nothing.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, to_builtins

from benchmarks.mirrored import Mirrored, mirrors_of, options_of
from benchmarks.picking import GitFault

REPOSITORIES = (
    "ansible+ansible/repo",
    "apache+trafficserver/repo",
    "openvswitch+ovs/repo",
    "pytest-dev+pytest/repo",
    "Icinga+icinga2/repo",
    "scrapy+scrapy/repo",
    "ElementsProject+elements/repo",
)
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{40})\)")
_LATER = 300  # first parents between X and the later target
_MOST_PATHS = 25


class Backport(Struct, frozen=True):
    """A commit of a stable branch, its parent, and the commit of main that it was picked from."""

    commit: str
    parent: str
    original: str


class Judged(Struct, frozen=True):
    """What became of a backport onto one target: before its original, at it, or later.

    `verdict` is patchmgr's, `names` says whether its evidence has the original, and `git` whether
    git leaves it out.
    """

    repository: str
    commit: str
    at: str
    verdict: str
    names: bool
    git: bool


def main(arguments: Sequence[str]) -> int:
    """Rebase and print; return 1 where something is called absorbed that is not there."""
    options = options_of(arguments, __doc__, "backports of each repository", 30)
    mirrors = mirrors_of(REPOSITORIES)
    if mirrors is None:
        return 0
    found: list[Judged] = []
    for name in REPOSITORIES:
        with tempfile.TemporaryDirectory(prefix="patchmgr-backports-") as folder:
            for row in _Repository(name, (mirrors / name).resolve(), Path(folder)).all(
                options.count
            ):
                found.append(row)
                if options.out:
                    with options.out.open("a") as file:
                        file.write(json.dumps(to_builtins(row)) + "\n")
    print("\n".join(_table(found)))
    return 1 if any(row.at == "before" and row.verdict == "absorbed" for row in found) else 0


class _Repository:
    """A mirror, the workspace that follows it, and its main branch."""

    def __init__(self, name: str, mirror: Path, place: Path) -> None:
        self._name = name.partition("/")[0]
        self._ground = Mirrored(mirror, place)
        self._head = self._ground.git("rev-parse", "HEAD")
        way = self._ground.git("rev-list", "--first-parent", "--reverse", "HEAD")
        self._way = way.split()
        self._order = {commit: number for number, commit in enumerate(self._way)}

    def all(self, count: int) -> Iterator[Judged]:
        """Judge some backports, drawn at random with a fixed seed."""
        known = self._backports()
        drawn = random.Random(0).sample(known, min(count, len(known)))
        for number, backport in enumerate(drawn):
            try:
                yield from self._judged(f"s{number}", backport)
            except (GitFault, SystemExit) as fault:
                print(f"{self._name} {backport.commit[:12]}: {fault}", file=sys.stderr)

    def _backports(self) -> list[Backport]:
        git = self._ground.git
        main = set(git("rev-list", self._head).split())
        printed = git(
            "log", "--branches", "--no-merges", "--format=%x00%H %P%x01%B", f"^{self._head}"
        )
        found = []
        for entry in printed.split("\0")[1:]:
            ids, _, message = entry.partition("\x01")
            commit, *parents = ids.split()
            originals = set(_PICKED.findall(message)) & main
            if len(parents) == len(originals) == 1:
                found.append(Backport(commit, parents[0], originals.pop()))
        return found

    def _judged(self, series: str, backport: Backport) -> Iterator[Judged]:
        paths = self._ground.git("diff-tree", "-r", "--name-only", backport.parent, backport.commit)
        if not 1 <= len(paths.splitlines()) <= _MOST_PATHS:
            return
        source = f"{backport.parent}..{backport.commit}"
        self._ground.add_series(series, backport.parent, "--git", str(self._ground.mirror), source)
        for at, target in self._targets(backport.original).items():
            line = ("rebase", series, "--onto", target, "--dry-run", "--json")
            patch = json.loads(self._ground.inside(*line, good=False))["series"][0]["patches"][0]
            names = backport.original in {one["commit"] for one in patch["evidence"]}
            tree = self._ground.oracle.picked([(backport.commit, backport.parent)], target)
            is_empty = tree == self._ground.git("rev-parse", f"{target}^{{tree}}")
            yield Judged(self._name, backport.commit, at, patch["verdict"], names, is_empty)

    def _targets(self, original: str) -> dict[str, str]:
        """Return the target before the original, at it, and later on main where that is known."""
        found = {"before": self._ground.git("rev-parse", f"{original}^"), "at": original}
        if original not in self._order:
            later = self._ground.git("rev-list", "--ancestry-path", f"{original}..{self._head}")
            merged = [self._order[one] for one in later.split() if one in self._order]
            place = min(merged, default=len(self._way))
        else:
            place = self._order[original]
        if place + _LATER < len(self._way):
            found["later"] = self._way[place + _LATER]
        return found


def _table(found: Sequence[Judged]) -> Iterator[str]:
    yield "| | rebases | absorbed | names the original | partial | conflict | git leaves it out |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name in dict.fromkeys(row.repository for row in found):
        for at in ("at", "later", "before"):
            rows = [row for row in found if (row.repository, row.at) == (name, at)]
            verdicts = Counter(row.verdict for row in rows)
            named = sum(row.names for row in rows if row.verdict == "absorbed")
            counts = (len(rows), verdicts["absorbed"], named, verdicts["partial"],
                      verdicts["conflict"], sum(row.git for row in rows))  # fmt: skip
            if rows:
                yield f"| {name}, {at} | {' | '.join(map(str, counts))} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
