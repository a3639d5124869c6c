"""Resolves real conflicts in plain git, in a checkout, and by proposals for their work orders.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.resolving [--count N] [--out FILE]

The cases are those of `benchmarks.merged_branches`: a branch's own commits, rebased onto what the
branch merged. A script stands in for the person: each file in conflict becomes what it is in the
merge that people made. Told are, for each way, commands and processor seconds; whether checkout
and proposals end in git's tree; and how many conflicts the same rebase meets once more.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.merged_branches import REPOSITORIES, Merge, merges_taken_in, with_conflict
from benchmarks.mirrored import Mirrored, mirrors_of, options_of
from benchmarks.pages import program, tell
from benchmarks.picking import GitFault

MOST = 60  # stops of one series
AS_GIT = ("--confidence", "100")  # what a merge by structure would take is left, as git leaves it
FAILED = 4  # the exit code of a proposal that does not pass
_FINDING = re.compile(r"conflicts accept ([0-9a-f]+) --because")


@dataclass
class Way:
    """What it took to resolve a series in one way; `by_reason` are those that no check passed."""

    commands: int = 0
    seconds: float = 0.0
    files: int = 0
    by_reason: int = 0
    tree: str = ""
    again: int | None = None


class Desk:
    """A folder with an environment, in which commands are counted and their time is taken."""

    def __init__(self, ground: Mirrored, merge: Merge, folder: Path) -> None:
        self.ground, self.merge, self.folder = ground, merge, folder
        self.way = Way()

    def run(self, *line: str, at: Path, good: Sequence[int] = (0,)) -> tuple[int, str]:
        """Run a command that a person or a program would type; return its exit code and output."""
        before = os.times()
        done = subprocess.run(
            line, cwd=at, env=self.ground.environment, stdin=subprocess.DEVNULL,
            capture_output=True, check=False,
        )  # fmt: skip
        after = os.times()
        self.way.commands += 1
        self.way.seconds += after.children_user - before.children_user
        self.way.seconds += after.children_system - before.children_system
        if done.returncode not in good:
            said = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise GitFault(f"{' '.join(line[:5])}: exit {done.returncode}: {said[-300:]}")
        return done.returncode, done.stdout.decode(errors="replace")

    def inside(self, *line: str, good: Sequence[int] = (0,)) -> tuple[int, str]:
        """Run patchmgr in the workspace."""
        root = self.ground.root
        return self.run(*program(), "-C", str(root), *line, at=root, good=good)

    def wanted(self, path: str) -> Path | None:
        """Return a file with what people made of a path, None where they deleted it."""
        line = ["git", f"--git-dir={self.ground.oracle.git_dir}", "cat-file", "blob"]
        done = subprocess.run(
            [*line, f"{self.merge.merge}:{path}"], capture_output=True, check=False
        )
        file = self.folder / "wanted"
        file.write_bytes(done.stdout)
        return None if done.returncode else file

    def resolve_in(self, tree: Path) -> int:
        """Write the files in conflict of a work tree as people did, and tell git."""
        paths = self.ground.git_in(tree, "diff", "--name-only", "--diff-filter=U", "-z").split("\0")
        for path in filter(None, dict.fromkeys(paths)):
            file = self.wanted(path)
            if file is None:
                self.run("git", "rm", "--quiet", "--", path, at=tree)
            else:
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, tree / path)
                self.run("git", "add", "--", path, at=tree)
            self.way.files += 1
        return self.way.files


def in_git(desk: Desk) -> str:
    """Rebase in a work tree of plain git."""
    tree, merge = desk.folder / "git", desk.merge
    oracle = str(desk.ground.oracle.git_dir)
    desk.ground.git_in(desk.folder, f"--git-dir={oracle}", "worktree", "add", "--quiet",
                       "--detach", str(tree), merge.tip)  # fmt: skip
    line = ("git", "-c", "core.editor=true", "rebase", "--quiet")
    code, _ = desk.run(*line, "--onto", merge.target, merge.base, at=tree, good=(0, 1))
    for _ in range(MOST):
        if not code:
            return desk.ground.git_in(tree, "rev-parse", "HEAD^{tree}")
        desk.resolve_in(tree)
        is_empty = not desk.ground.git_in(tree, "status", "--porcelain", "--untracked-files=no")
        code, _ = desk.run(*line[:4], "--skip" if is_empty else "--continue", at=tree, good=(0, 1))
    raise GitFault("git stops without an end")


def in_checkout(desk: Desk) -> str:
    """Rebase with the conflicts in a checkout; what is no conflict of a text is accepted."""
    tree = desk.folder / "tree"
    onto = ("--onto", desk.merge.target)
    code, said = desk.inside("rebase", "s", *onto, "--checkout", str(tree), *AS_GIT, good=(0, 3))
    for _ in range(MOST):
        if not code:
            return desk.ground.git_in(tree, "rev-parse", "HEAD^{tree}")
        desk.resolve_in(tree)
        _accept_findings(desk, said)
        code, said = desk.run(*program(), "rebase", "--continue", at=tree, good=(0, 3))
    raise GitFault("the checkout stops without an end")


def by_proposals(desk: Desk) -> str:
    """Rebase as a program does: it reads work orders, proposes, and a person accepts."""
    code, said = desk.inside("rebase", "s", "--onto", desk.merge.target, *AS_GIT, good=(0, 3))
    for _ in range(MOST):
        if not code:
            oracle = str(desk.ground.oracle.git_dir)
            desk.ground.inside("branch", "s", "--repo", oracle, "--name", "proposed")
            return desk.ground.oracle.git("rev-parse", "proposed^{tree}")
        for shown in _waiting(desk):
            _propose(desk, shown)
        _accept_findings(desk, said)
        code, said = desk.inside("rebase", "--continue", good=(0, 3))
    raise GitFault("the proposals come to no end")


def _waiting(desk: Desk) -> Iterator[Any]:
    """Yield what is shown of each file in conflict that the rebase waits with."""
    told = json.loads(desk.inside("conflicts", "list", "--json")[1])["conflicts"]
    parts = {part for one in told for part in one["parts"]}
    for one in told:
        if one["id"] not in parts and one["state"] in ("open", "parts"):
            shown = json.loads(desk.inside("conflicts", "show", one["id"], "--json")[1])
            if shown["work_order"] is not None:
                yield shown


def _propose(desk: Desk, shown: Any) -> None:
    order, name = shown["work_order"], shown["conflict"]["id"]
    file = desk.wanted(order["new_path"])
    solution = ("--delete",) if file is None else ("--file", str(file))
    line = ("conflicts", "propose", name, *solution, "--by", "script")
    desk.way.files += 1
    if desk.inside(*line, good=(0, FAILED))[0] == 0:
        desk.inside("conflicts", "accept", name, "proposed")
        return
    desk.way.by_reason += 1
    if file is None:
        side = "ours" if shown["conflict"]["ours"] is None else "theirs"
        desk.inside("conflicts", "accept", name, side)
        return
    because = ("--accept", str(file), "--because", "as people merged it")
    if desk.inside("conflicts", "propose", name, *because, good=(0, 1))[0]:
        place = (order["series"], order["patch"], order["path"])
        shutil.copyfile(file, desk.ground.root.joinpath(".patchmgr/rebase", *place))


def _accept_findings(desk: Desk, said: str) -> None:
    for name in sorted(set(_FINDING.findall(said))):
        desk.inside("conflicts", "accept", name, "--because", "as people merged it")


WAYS: dict[str, Callable[[Desk], str]] = {
    "git": in_git, "checkout": in_checkout, "proposals": by_proposals,
}  # fmt: skip


def resolved(mirror: Path, merge: Merge) -> dict[str, Way]:
    """Resolve a series in each way, and rebase what it was before once more with what is known."""
    found = dict[str, Way]()
    for name, resolve in WAYS.items():
        if "git" in found and not found["git"].files:
            raise GitFault("git rebases it alone")
        with tempfile.TemporaryDirectory(prefix="patchmgr-resolving-") as folder:
            ground = Mirrored(mirror, Path(folder))
            desk = Desk(ground, merge, Path(folder))
            commits = f"{merge.base}..{merge.tip}"
            ground.add_series("s", merge.base, "--git", str(mirror), commits)
            kept = {path: path.read_bytes() for path in _own_files(ground.root)}
            desk.way.tree = resolve(desk)
            found[name] = desk.way
            if resolve is not in_git:
                desk.way.again = _again(desk, kept)
    return found


def _own_files(root: Path) -> list[Path]:
    return [root / "upstream.lock", *filter(Path.is_file, (root / "series").rglob("*"))]


def _again(desk: Desk, kept: dict[Path, bytes]) -> int:
    """Return how many files are in conflict when the same is rebased with what is on record."""
    for patch in (desk.ground.root / "series").rglob("*.patch"):
        patch.unlink()
    for path, content in kept.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    line = ("rebase", "s", "--onto", desk.merge.target, "--dry-run", "--json", *AS_GIT)
    told = json.loads(desk.ground.inside(*line, good=False))
    return sum(len(patch["conflicts"]) for patch in told["series"][0]["patches"])


def cases(mirror: Path) -> Iterator[Merge]:
    """Yield the branches of a mirror that conflict with what they merged, in random order."""
    with tempfile.TemporaryDirectory(prefix="patchmgr-merges-") as folder:
        ground = Mirrored(mirror, Path(folder))
        merges = list(merges_taken_in(ground))
        random.Random(0).shuffle(merges)
        for one in merges:
            try:
                merge = with_conflict(ground, *one)
            except (GitFault, SystemExit):  # a mirror may lack large files
                continue
            if merge is not None:
                yield merge


def main(arguments: Sequence[str]) -> int:
    """Resolve, and print a row for each series and way."""
    options = options_of(arguments, __doc__, "series of each repository", 4)
    mirrors = mirrors_of(REPOSITORIES)
    if mirrors is None:
        return 0
    for name in REPOSITORIES:
        mirror = (mirrors / name).resolve()
        done = (row for merge in cases(mirror) if (row := _row(mirror, merge)) is not None)
        for row in islice(done, options.count):
            print(_told(*row), flush=True)
            if options.out:
                with options.out.open("a") as file:
                    ways = {name: asdict(way) for name, way in row[1].items()}
                    file.write(
                        json.dumps({"merge": row[0].merge, "repository": name, **ways}) + "\n"
                    )
    return 0


def _row(mirror: Path, merge: Merge) -> tuple[Merge, dict[str, Way]] | None:
    try:
        return merge, resolved(mirror, merge)
    except (GitFault, SystemExit, KeyError) as fault:
        tell(f"{merge.merge}: {str(fault).splitlines()[0][:300]}")
        return None


def _told(merge: Merge, ways: dict[str, Way]) -> str:
    lines = [merge.merge]
    for name, way in ways.items():
        words = f"  {name:9} {way.commands:3} commands, {way.files:2} files, {way.seconds:5.1f} s"
        if name != "git":
            same = "git's tree" if way.tree == ways["git"].tree else "another tree"
            words += f", {way.by_reason} by reason, {same}, {way.again} met again"
        lines.append(words)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
