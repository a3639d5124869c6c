"""Replays branches that took in their upstream with conflicts, beside what a person made of it.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.merged_branches [--count N] [--out FILE]

Each merge of upstream's main branch into another one that git does not do alone is a case: the
branch's own commits are the series, the commit that was merged is the target, and the merge says
what a person made of it. Counted are the series that were finished without a person, and of these
the ones whose touched files are the person's, but for white space and, in Python, the layout.
"""

from __future__ import annotations

import ast
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from benchmarks.mirrored import Mirrored, mirrors_of, options_of
from benchmarks.pages import tell
from benchmarks.picking import GitFault

REPOSITORIES = (
    "flashinfer-ai+flashinfer/repo",
    "vllm-project+vllm-ascend/repo",
    "neuralmagic+vllm/repo",
)
LONGEST = 30  # commits of a branch
STOPPED, RIGHT, ORDER, OWN, OTHER = (
    "left to a person",
    "finished as the person did",
    "finished, the person's lines in another order",
    "finished, the person added words of their own",
    "finished in another way",
)


@dataclass(frozen=True, slots=True)
class Merge:
    """A branch that a merge took upstream into: `base`, `tip`, the `target` merged into it."""

    base: str
    tip: str
    target: str
    merge: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of one, and the paths that differ from the person's."""

    repository: str
    merge: str
    outcome: str
    paths: tuple[str, ...] = ()


def main(arguments: Sequence[str]) -> int:
    """Replay and print what was counted."""
    options = options_of(arguments, __doc__, "merges of each repository", 100)
    mirrors = mirrors_of(REPOSITORIES)
    if mirrors is None:
        return 0
    counts: Counter[tuple[str, str]] = Counter()
    for name in REPOSITORIES:
        for row in islice(_replayed((mirrors / name).resolve(), name), options.count):
            counts[name, row.outcome] += 1
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    for (name, outcome), count in sorted(counts.items()):
        print(f"{name.partition('/')[0]}: {count} {outcome}")
    return 0


def _replayed(mirror: Path, name: str) -> Iterator[Replayed]:
    """Yield the outcomes of a mirror's merges, in a fixed random order."""
    with tempfile.TemporaryDirectory(prefix="patchmgr-merges-") as folder:
        ground = Mirrored(mirror, Path(folder))
        merges = list(merges_taken_in(ground))
        random.Random(0).shuffle(merges)
        for merge, tip, target in merges:
            try:
                found = with_conflict(ground, merge, tip, target)
                if found is not None:
                    yield _one(mirror, name, found)
            except (GitFault, SystemExit) as fault:  # a mirror may lack large files
                tell(f"{merge}: {str(fault).splitlines()[0][:100]}")


def _one(mirror: Path, name: str, found: Merge) -> Replayed:
    with tempfile.TemporaryDirectory(prefix="patchmgr-merge-") as folder:
        return Replayed(name, found.merge, *_outcome(Mirrored(mirror, Path(folder)), found))


def merges_taken_in(ground: Mirrored) -> Iterator[tuple[str, str, str]]:
    """Yield the merges of upstream into something else, with both parents, upstream's last."""
    main_branch = set(ground.git("rev-list", "HEAD").splitlines())
    for row in ground.git("rev-list", "--merges", "--all", "--parents").splitlines():
        merge, *parents = row.split()
        is_taken_in = len(parents) == 2 and parents[1] in main_branch
        if is_taken_in and merge not in main_branch and parents[0] not in main_branch:
            yield merge, parents[0], parents[1]


def with_conflict(ground: Mirrored, merge: str, tip: str, target: str) -> Merge | None:
    """Return the branch of a merge, None where it is no plain series or git merges it alone."""
    base = ground.git("merge-base", tip, target)
    parents = ground.git("rev-list", "--parents", f"{base}..{tip}").splitlines()
    is_plain = 0 < len(parents) <= LONGEST and all(len(row.split()) == 2 for row in parents)
    if not is_plain:
        return None
    line = ("merge-tree", "--write-tree", "--name-only", "--no-messages", tip, target)
    printed = ground.oracle.git(*line, good=(0, 1)).splitlines()
    return Merge(base, tip, target, merge) if len(printed) > 1 else None


def _outcome(ground: Mirrored, merge: Merge) -> tuple[str, tuple[str, ...]]:
    """Rebase a branch's commits and compare what comes out with the merge."""
    ground.add_series("s", merge.base, "--git", str(ground.mirror), f"{merge.base}..{merge.tip}")
    answer = json.loads(ground.inside("rebase", "s", "--onto", merge.target, "--json", good=False))
    if "error" in answer or answer["series"][0]["head"] is None:
        return STOPPED, ()
    ground.inside("branch", "s", "--repo", str(ground.oracle.git_dir), "--name", "made")
    touched = _names(ground, merge.base, merge.tip) | _names(ground, merge.target, "made")
    differing = tuple(path for path in sorted(touched) if _differs(ground, merge, path))
    if not differing:
        return RIGHT, ()
    kinds = [_kind(ground, merge, path) for path in differing]
    return next(kind for kind in (OTHER, OWN, ORDER) if kind in kinds), differing


def _names(ground: Mirrored, one: str, other: str) -> set[str]:
    printed = ground.oracle.git("diff", "--name-only", "--no-renames", "-z", one, other)
    return {name for name in printed.split("\0") if name}


def _differs(ground: Mirrored, merge: Merge, path: str) -> bool:
    made, wanted = (_text(ground, commit, path) for commit in ("made", merge.merge))
    if made is None or wanted is None or "".join(made.split()) == "".join(wanted.split()):
        return (made is None) != (wanted is None)
    return not path.endswith(".py") or _tree(made) is None or _tree(made) != _tree(wanted)


def _tree(text: str) -> str | None:
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _kind(ground: Mirrored, merge: Merge, path: str) -> str:
    """Say how a file differs from the person's."""
    commits = ("made", merge.merge, merge.base, merge.tip, merge.target)
    made, wanted, *sides = (_lines(_text(ground, commit, path)) for commit in commits)
    if sorted(made) == sorted(wanted):
        return ORDER
    return OWN if set(wanted).difference(*sides) else OTHER


def _lines(text: str | None) -> Collection[str]:
    return [line.strip() for line in (text or "").splitlines() if line.strip()]


def _text(ground: Mirrored, commit: str, path: str) -> str | None:
    """Return a file's text, None where there is none."""
    if not ground.oracle.git("ls-tree", "--full-tree", commit, "--", path):
        return None
    return ground.oracle.git("cat-file", "blob", f"{commit}:{path}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
