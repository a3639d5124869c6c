"""A day of a fork's maintainer on a public fork, beside the same day with git alone.

A branch of vLLM with seven commits and 22 merges of upstream: take it over, go to a newer upstream
(which refactored the same lines), resolve, publish, mend one of the commits, go on to the newest
upstream. In every conflict upstream's side is taken, with both. A stop is where a command ends and
a person is needed; typed is what stands in the shell.
"""

import os
import subprocess
import time
from pathlib import Path

import pytest
from msgspec import Struct

from tests.commands.conftest import Run
from tests.conftest import Repository

pytestmark = pytest.mark.mirrors

FORK = "4d828f4f87bc4d85e40d5efce93a6488cd62bb1e"
ONTO = "fd04edef3e62c8dec19cddd76253c0fc6d56ab62"
NEWEST = "017e9f4448b700e85ee16023287b025693c72b9e"
MENDED = "fix new model"


class Day(Struct):
    """What was counted, step by step: seconds, commands typed, stops."""

    rows: dict[str, tuple[float, int, int]] = {}

    def count(self, step: str, seconds: float, *, typed: int = 1, stops: int = 0) -> None:
        before = self.rows.get(step, (0.0, 0, 0))
        self.rows[step] = (before[0] + seconds, before[1] + typed, before[2] + stops)

    def total(self) -> tuple[float, int, int]:
        seconds, typed, stops = zip(*self.rows.values(), strict=True)
        return sum(seconds), sum(typed), sum(stops)


@pytest.fixture
def place(mirrors: Path, tmp_path: Path) -> Path:
    """Return a folder with the clone of a maintainer, and a remote to publish to."""
    mirror = mirrors / "neuralmagic+vllm/repo"
    found = subprocess.run(
        ["git", "-C", str(mirror), "cat-file", "-e", f"{FORK}^{{tree}}"],
        capture_output=True, check=False,
    )  # fmt: skip
    if found.returncode:
        pytest.skip(f"{mirror} has no commit {FORK}")
    for name in ("vllm.git", "mine.git"):
        bare = tmp_path / name
        subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
        (bare / "objects/info/alternates").write_text(f"{mirror.resolve()}/objects\n")
        (bare / "HEAD").write_text("ref: refs/heads/main\n")
        (bare / "refs/heads/main").write_text(f"{NEWEST}\n")
    subprocess.run(
        ["git", "clone", "--quiet", "--shared", "--no-checkout", "--origin", "upstream",
         str(tmp_path / "vllm.git"), str(tmp_path / "src")], check=True,
    )  # fmt: skip
    clone = Repository(tmp_path / "src", is_there=True)
    clone.git("remote", "add", "mine", str(tmp_path / "mine.git"))
    clone.git("branch", "fork", FORK)
    # A mirror may lack large contents of upstream's documentation.
    clone.git("sparse-checkout", "set", "vllm", "tests")
    clone.git("checkout", "--quiet", "-b", "work", FORK)
    return tmp_path


def with_patchmgr(place: Path, run: Run) -> Day:
    day, clone, root = Day({}), Repository(place / "src", is_there=True), place / "workspace"

    def typed(step: str, *words: str | Path, code: int = 0) -> str:
        begun = time.perf_counter()
        answer = run("-C", root, *words, code=code)
        day.count(step, time.perf_counter() - begun, stops=int(code != 0))
        return answer.out

    begun = time.perf_counter()
    branch = ("--from-branch", clone.root, "fork", "--upstream", "upstream/main")
    done = run("init", root, *branch, "--json").json
    day.count("take over", time.perf_counter() - begun)
    assert done["fork"]["tree"] == clone.tree("fork")
    series = done["series"]
    typed("first rebase", "rebase", "--onto", ONTO, code=3)
    listed = run("-C", root, "conflicts", "list", "--json").json["conflicts"]
    for known in (one["id"] for one in listed if one["state"] == "open"):
        typed("first rebase", "conflicts", "accept", known, "ours")
    typed("first rebase", "rebase", "--continue")
    publish = ("branch", "--repo", clone.root, "--name", "published", "--push", "mine")
    typed("publish", *publish, "--tag", "preview-1")
    clone.git("checkout", "--quiet", "--detach", ONTO)
    (name,) = (p["name"] for p in done["patches"] if p["subject"] == MENDED)
    at = ("--to", clone.root)
    typed("mend a commit", "goto", name, *at, "--series", series)
    path = mend(clone, "published")
    assert path
    typed("mend a commit", "refresh", *at)
    typed("mend a commit", "pop", "--all", *at)
    typed("next rebase", "rebase", "--onto", NEWEST)
    typed("publish", *publish, "--tag", "preview-2")
    assert "mended" in clone.git("show", f"preview-2:{path}")
    return day


def mend(clone: Repository, branch: str) -> str:
    """Edit a file of the commit that is to be mended; return its path."""
    found = clone.git("log", "-1", "--format=", "--name-only", f"--grep=^{MENDED}$", branch)
    path = clone.root / found.splitlines()[0]
    path.write_text(path.read_text() + "# mended\n")
    return found.splitlines()[0]


def with_git(place: Path) -> Day:
    day, clone = Day({}), Repository(place / "src", is_there=True)
    environment = {**os.environ, "GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true"}

    def typed(step: str, *words: str, may_stop: bool = False) -> bool:
        begun = time.perf_counter()
        done = subprocess.run(
            ["git", *words], cwd=clone.root, env=environment, capture_output=True, check=False
        )
        stops = may_stop and done.returncode == 1
        assert stops or done.returncode == 0, done.stderr.decode()
        day.count(step, time.perf_counter() - begun, stops=int(stops))
        return stops

    def rebase(step: str, *words: str) -> None:
        stopped = typed(step, "rebase", *words, may_stop=True)
        while stopped:
            paths = clone.git("diff", "--name-only", "--diff-filter=U").splitlines()
            for path in paths:  # one at a time, as somebody would who looks at each
                sides = clone.git("ls-files", "--unmerged", "--", path)
                if "\t" in sides and any(" 2\t" in row for row in sides.splitlines()):
                    typed(step, "checkout", "--ours", "--", path)
                    typed(step, "add", "--", path)
                else:
                    typed(step, "rm", "--quiet", "--", path)
            clean = not clone.git("diff", "--cached", "--name-only")
            stopped = typed(step, "rebase", "--skip" if clean else "--continue", may_stop=True)

    typed("take over", "checkout", "--quiet", "-B", "work", "fork")
    rebase("first rebase", ONTO)
    for word in (("tag", "preview-g1"), ("push", "--quiet", "mine", "work", "preview-g1")):
        typed("publish", *word)
    mended = clone.git("log", "-1", "--format=%H", f"--grep=^{MENDED}$", "work")
    path = mend(clone, "work")
    typed("mend a commit", "commit", "--quiet", "-a", f"--fixup={mended}")
    rebase("mend a commit", "-i", "--autosquash", ONTO)
    rebase("next rebase", NEWEST)
    published: tuple[tuple[str, ...], ...] = (
        ("tag", "preview-g2"),
        ("push", "--quiet", "--force-with-lease", "mine", "work", "preview-g2"),
    )
    for words in published:
        typed("publish", *words)
    assert "mended" in clone.git("show", f"work:{path}")
    return day


def test_a_day_with_a_fork(place: Path, run: Run) -> None:
    ours, git = with_patchmgr(place, run), with_git(place)
    clone = Repository(place / "src", is_there=True)
    lines = [
        "",
        f"{'':14}  patchmgr               git",
        f"{'':14}  typed  stops  seconds  typed  stops  seconds",
    ]
    for step in ("take over", "first rebase", "publish", "mend a commit", "next rebase", "all"):
        rows = [day.total() if step == "all" else day.rows[step] for day in (ours, git)]
        cells = "  ".join(f"{typed:5}  {stops:5}  {seconds:7.1f}" for seconds, typed, stops in rows)
        lines.append(f"{step:14}  {cells}")
    differing = clone.git("diff", "--stat", "preview-2", "preview-g2")
    lines.append(f"between both results: {differing.splitlines()[-1] if differing else 'nothing'}")
    print("\n".join(lines))
    assert ours.total()[2] <= git.total()[2]
    assert ours.total()[1] < git.total()[1]
