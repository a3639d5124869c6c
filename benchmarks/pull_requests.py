"""Compares rebases of real pull requests with git's own, tree by tree, for docs/reliability.md.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.pull_requests [--count N] [--out FILE]

Each pull request that landed is a series on the commit it was branched from, put onto the commit
before it landed. Where git merges all of its commits cleanly, the trees must be equal. What
differs is printed with its verdicts, and what the audit tells of the others: people took these
requests as they are, so that is mostly a false alarm.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.mirrored import Mirrored, mirrors_of, options_of
from benchmarks.picking import GitFault

REPOSITORIES = ("deepseek-ai+DeepGEMM/repo", "flashinfer-ai+flashinfer/repo")
_LEFT_OUT = ("nothing to rebase", "not comparable")
_NUMBER = re.compile(r"\(#(\d+)\)$")


@dataclass(frozen=True, slots=True)
class Request:
    """A pull request that landed: its commits with their parents, oldest first, and where.

    `base` is the commit it was branched from, `before` the one that it landed on.
    """

    number: int
    base: str
    before: str
    commits: tuple[tuple[str, str], ...]

    @property
    def is_series(self) -> bool:
        """Say whether its own commits are the patches, and not all of it as one."""
        return len(self.commits) > 1


@dataclass(frozen=True, slots=True)
class Compared:
    """What git and patchmgr made of one."""

    repository: str
    number: int
    patches: int
    outcome: str
    verdicts: tuple[str, ...] = ()
    detail: str = ""
    certain: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def main(arguments: Sequence[str]) -> int:
    """Compare and print; return 1 where a tree differs."""
    options = options_of(arguments, __doc__, "pull requests to compare", 500)
    mirrors = mirrors_of(REPOSITORIES)
    if mirrors is None:
        return 0
    found: list[Compared] = []
    for name in REPOSITORIES:
        with tempfile.TemporaryDirectory(prefix="patchmgr-requests-") as folder:
            compare = Comparison((mirrors / name).resolve(), name, Path(folder))
            done = sum(row.outcome not in _LEFT_OUT for row in found)
            for row in compare.all(options.count - done):
                found.append(row)
                if options.out:
                    with options.out.open("a") as file:
                        file.write(json.dumps(asdict(row)) + "\n")
    print("\n".join(_told(found)))
    return 1 if any(row.outcome == "differs" for row in found) else 0


def _told(found: Sequence[Compared]) -> Iterator[str]:
    counts = Counter((row.repository, row.outcome) for row in found)
    for (repository, outcome), count in sorted(counts.items()):
        yield f"{repository.partition('/')[0]}: {count} {outcome}"
    for row in found:
        if row.outcome in ("differs", "error"):
            yield f"{row.repository} #{row.number} {' '.join(row.verdicts)} {row.detail}"
    stopped, warned = ([r for r in found if r.certain], [r for r in found if r.warnings])
    compared = sum(row.outcome not in _LEFT_OUT for row in found)
    yield f"of {compared}: {len(stopped)} with a certain finding, {len(warned)} with a warning"
    for row in found:
        yield from (f"#{row.number} certain: {told}" for told in row.certain)
        yield from (f"#{row.number} warning: {told}" for told in row.warnings)


class Comparison:
    """One repository: its landed pull requests, a workspace, and git beside it."""

    def __init__(self, mirror: Path, name: str, place: Path) -> None:
        self._name = name
        self._ground = Mirrored(mirror, place)

    def all(self, most: int) -> Iterator[Compared]:
        """Compare pull requests in a fixed random order, until so many could be compared."""
        numbers = self._landed()
        random.Random(0).shuffle(numbers)
        compared = 0
        for landed in numbers:
            if compared == most:
                return
            row = self.one(*landed)
            compared += row.outcome not in _LEFT_OUT
            yield row

    def _landed(self) -> list[tuple[int, str]]:
        """Return number and commit of each pull request whose own head the mirror holds."""
        heads = self._ground.git("for-each-ref", "--format=%(refname)", "refs/pull").splitlines()
        known = {int(ref.split("/")[2]) for ref in heads}
        printed = self._ground.git("log", "--first-parent", "--reverse", "--format=%H %s", "HEAD")
        found: dict[int, str] = {}
        for line in printed.splitlines():
            commit, _, subject = line.partition(" ")
            match = _NUMBER.search(subject)
            if match is not None and int(match[1]) in known:
                found.setdefault(int(match[1]), commit)
        return list(found.items())

    def one(self, number: int, landed: str) -> Compared:
        """Compare one pull request."""
        try:
            request = self._request(number, landed)
            wanted = self._ground.oracle.picked(request.commits, request.before)
        except GitFault as fault:
            return Compared(self._name, number, 0, "not comparable", detail=str(fault))
        if not request.commits or request.base == request.before:
            return Compared(self._name, number, 0, "nothing to rebase")
        return self._compared(request, wanted)

    def _request(self, number: int, landed: str) -> Request:
        """Take the commits of a pull request, as one where it has merges of its own."""
        head = self._ground.git("rev-parse", f"refs/pull/{number}/head")
        before = self._ground.git("rev-parse", f"{landed}^")
        base = self._ground.git("merge-base", head, before)
        rows = self._ground.git(
            "rev-list", "--reverse", "--parents", f"{base}..{head}"
        ).splitlines()
        commits = tuple((row.split()[0], row.split()[1]) for row in rows)
        if any(len(row.split()) > 2 for row in rows):
            commits = ((head, base),)
        return Request(number, base, before, commits)

    def _compared(self, request: Request, wanted: str | None) -> Compared:
        name, count = f"p{request.number}", len(request.commits)
        try:
            source = self._source(request)
        except subprocess.CalledProcessError:  # the mirror lacks a large blob
            return Compared(self._name, request.number, count, "not comparable")
        try:
            self._ground.add_series(name, request.base, *source)
            line = ("rebase", name, "--onto", request.before, "--dry-run", "--json")
            answer = json.loads(self._ground.inside(*line, good=False))
        except (SystemExit, ValueError) as fault:
            return Compared(self._name, request.number, count, "error", detail=str(fault)[-300:])
        if "error" in answer:
            detail = answer["error"]["message"]
            return Compared(self._name, request.number, count, "error", detail=detail)
        (series,) = answer["series"]
        verdicts = tuple(patch["verdict"] for patch in series["patches"])
        outcome = _outcome(wanted, series["tree"], verdicts)
        detail = f"git {wanted}, patchmgr {series['tree']}" if outcome == "differs" else ""
        findings = [f for patch in series["patches"] for f in patch["findings"]]
        certain = tuple(f"{f['kind']} {f['path']}: {f['text']}" for f in findings if f["certain"])
        warnings = tuple(w for patch in series["patches"] for w in patch["warnings"])
        return Compared(
            self._name, request.number, count, outcome, verdicts, detail, certain, warnings
        )

    def _source(self, request: Request) -> tuple[str, ...]:
        """Return what to import: the commits, or one diff of all."""
        if request.is_series:
            last = request.commits[-1][0]
            return ("--git", str(self._ground.mirror), f"{request.base}..{last}")
        commit, parent = request.commits[0]
        patch = self._ground.root.parent / f"{request.number}.patch"
        arguments = ("diff", "--binary", "--full-index", "-M", parent, commit)
        line = ["git", f"--git-dir={self._ground.mirror}", *arguments]
        with patch.open("wb") as file:
            subprocess.run(line, stdout=file, check=True)
        return (str(patch),)


def _outcome(wanted: str | None, tree: str, verdicts: Sequence[str]) -> str:
    has_conflict = bool({"conflict", "blocked"} & set(verdicts))
    if wanted is None:
        return "both in conflict" if has_conflict else "clean here, a conflict in git"
    if has_conflict:
        return "differs"
    return "equal trees" if tree == wanted else "differs"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
