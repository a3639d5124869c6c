"""How many conflicts of one fork another fork's memory has: merges of one stretch of upstream.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.shared_memory [FORK FORK]

A FORK is a mirror, and maybe its merges as `git rev-list` takes them: REPOSITORY:COMMITS. Each has
a workspace that learns from the merges in which it took in that stretch. The second pulls what the
first learned: what it has for the second's conflicts is held against what its maintainers made.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.clones import output, quiet_environment
from benchmarks.mirrored import mirrors_of
from benchmarks.pages import tell
from patchmgr.commands.init import init
from patchmgr.commands.sharing import pull
from patchmgr.model.progress import Progress
from patchmgr.services.learning import learn_from
from patchmgr.services.session import Session
from patchmgr.workspace import Workspace

UPSTREAM = ("neuralmagic+vllm/repo", "017e9f4448b700e85ee16023287b025693c72b9e")
FORKS = ("HabanaAI+vllm-fork/repo", "neuralmagic+nm-vllm/repo")


class Fork:
    """A fork's mirror, and a workspace that learns from its merges of upstream.

    `learned` and `missed` are the regions in conflict, by whether they taught something, `paths`
    the files that had one.
    """

    def __init__(self, mirrors: Path, name: str, root: Path) -> None:
        repository, _, commits = name.partition(":")
        self.mirror, self.name, self.root = (mirrors / repository).resolve(), name, root
        self.commits = (commits or "--branches").split()
        root.mkdir()
        init(root, is_dry_run=False)
        self.session = Session(Workspace(root), Progress(), tell)
        self.learned: set[str] = set()
        self.missed: set[str] = set()
        self.paths: set[str] = set()

    def merges(self, numbers: Mapping[str, int]) -> Iterator[tuple[int, str]]:
        """Yield its merges with upstream, with the number of the state."""
        listed = self.git(
            f"--git-dir={self.mirror}", "rev-list", "--merges", "--parents", *self.commits
        )
        for row in listed.splitlines():
            commit, *parents = row.split()
            states = [numbers[parent] for parent in parents if parent in numbers]
            if commit not in numbers and len(states) == 1:
                yield states[0], commit

    def git(self, *words: str) -> str:
        """Run git and return what it printed."""
        return output(("git", *words), self.root, os.environ)

    def learn(self, commits: Sequence[str]) -> None:
        """Learn from merges."""
        for number, commit in enumerate(commits, 1):
            tell(f"{self.name}: merge {number} of {len(commits)}")
            found = learn_from(self.session, self.mirror, commit, was=None)
            for file in found.files:
                self.paths.add(file.path)
                self.learned.update(one.id for one in file.learned)
                self.missed.update(text.partition(":")[0] for text in file.missed)
        self.missed -= self.learned

    def changes(self) -> dict[str, set[tuple[bytes, bytes]]]:
        """Return by learned region what each side made of its lines."""
        known = {name: self.session.workspace.conflict(name) for name in self.learned}
        return {
            name: {(one.base, side) for side in (one.ours, one.theirs) if side is not None}
            for name, one in known.items()
            if one is not None and one.base
        }

    def publish(self) -> None:
        """Commit what was learned, in a repository that others pull from."""
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "conflicts")):
            self.git(*words)


def main(names: Sequence[str]) -> int:
    """Learn from both forks, and print what the first has for the second."""
    mirrors = mirrors_of([UPSTREAM[0], *(name.partition(":")[0] for name in names)])
    if mirrors is None:
        return 0
    with tempfile.TemporaryDirectory(prefix="patchmgr-memory-") as folder:
        os.environ |= quiet_environment(Path(folder, "home"))
        forks = [Fork(mirrors, name, Path(folder, str(n))) for n, name in enumerate(names)]
        way = ("rev-list", "--first-parent", "--reverse", UPSTREAM[1])
        listed = forks[0].git(f"--git-dir={(mirrors / UPSTREAM[0]).resolve()}", *way)
        numbers = {commit: number for number, commit in enumerate(listed.splitlines())}
        compare(forks, [sorted(fork.merges(numbers)) for fork in forks])
    return 0


def compare(forks: Sequence[Fork], merges: Sequence[Sequence[tuple[int, str]]]) -> None:
    """Learn from the merges of the stretch that both took in, pull, and print the sums."""
    first, last = max(rows[0][0] for rows in merges), min(rows[-1][0] for rows in merges)
    print(f"upstream's commits {first} to {last}")
    for fork, rows in zip(forks, merges, strict=True):
        fork.learn([commit for state, commit in rows if first <= state <= last])
        print(f"{fork.name}: {sum(first <= state <= last for state, _ in rows)} merges,")
        print(f"  {len(fork.learned)} regions learned, {len(fork.missed)} others", flush=True)
    forks[0].publish()
    found = pull(forks[1].session, str(forks[0].root), branch=None)
    unknown = forks[1].missed & set(found.taken)
    print(
        f"proposed: {len(found.known) + len(found.otherwise) + len(unknown)} regions; made of them:"
    )
    print(f"  the same {len(found.known)}, other {len(found.otherwise)}, unknown {len(unknown)}")
    mine = set().union(*forks[0].changes().values())
    near = sum(not mine.isdisjoint(sides) for sides in forks[1].changes().values())
    print(f"regions in which both met the same change of the same lines: {near}")
    print(f"files in which both had a conflict: {len(forks[0].paths & forks[1].paths)}")
    for fork in forks:
        fork.session.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or FORKS))
