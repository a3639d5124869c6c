"""Whether the same input gives the same bytes, idle, busy, cold or warm, and its ledger adds up.

    python -m benchmarks.determinism [--prepared FOLDER ...] [--only REGEX] [--count N] [--runs N]

Rebases constructed histories and, where folders are named, prepared public cases (a folder each:
`patches/`, and `case.json` beside `upstream.git`, or `meta.json` for a mirror in PATCHMGR_MIRRORS).
Each is rebased so many times idle and so many beside four busy loops, with another hash seed each
time, every other time without what a run before kept; with `--runs 0` once. The sums of the ledger
must be the lines that the patches add and remove. Returns 1 where answers differ, or sums.
PATCHMGR names the command, where it is not the one that is installed beside this Python.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from unidiff.patch import PatchSet

from benchmarks.clones import output, quiet_environment
from benchmarks.constructed import Commit, Constructed, long_walk, write_history
from benchmarks.pages import program, tell

BUSY = 4
_LOOP = "while True: pass"


@dataclass(frozen=True, slots=True)
class Case:
    """A rebase: where upstream is, the two commits, and what to import."""

    name: str
    upstream: Path
    base: str
    target: str
    source: tuple[str, ...]


@dataclass(slots=True)
class Told:
    """The answers to one case by their hash, each with what it was run with."""

    name: str
    answers: dict[str, list[str]] = field(default_factory=dict)
    idle: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    fault: str = ""
    is_balanced: bool = True

    def row(self) -> str:
        """Return the row of the table."""
        if self.fault:
            return f"| {self.name} | - | - | - | {self.fault} |"
        runs = len(self.idle) + len(self.busy)
        odd = sorted(self.answers.values(), key=len)[:-1]
        said = "; ".join(" ".join(names) for names in odd) or "equal"
        said += "" if self.is_balanced else "; the ledger does not add up"
        times = (f"{max(t, default=0):.1f}" for t in (self.idle, self.busy))
        return f"| {self.name} | {runs} | {' | '.join(times)} | {said} |"


def main(arguments: Sequence[str]) -> int:
    """Run, print a table, and return 1 where an answer differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--prepared", type=Path, nargs="*", default=[], help="folders of cases")
    parser.add_argument("--only", default="", help="cases whose names have this in them")
    parser.add_argument("--count", type=int, default=1_000_000, help="prepared cases at most")
    parser.add_argument("--runs", type=int, default=5, help="idle runs, and busy runs, of each")
    parser.add_argument("--out", type=Path, help="keep answers that differ in this folder")
    options = parser.parse_args(arguments)
    if not options.prepared:
        tell("SKIPPED: no public case is looked at, --prepared names no folder of them")
    found: list[Told] = []
    print("| case | runs | slowest idle, s | slowest busy, s | differs |\n|---|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory(prefix="patchmgr-determinism-") as folder:
        cases = [*constructed(Path(folder)), *_sampled(options.prepared, options.count)]
        for case in cases:
            if re.search(options.only, case.name):
                found.append(_compared(case, Path(folder), options.runs, options.out))
                print(found[-1].row(), flush=True)
    faults = sum(bool(told.fault) for told in found)
    differing = sum(len(told.answers) > 1 for told in found)
    unbalanced = sum(not told.is_balanced for told in found)
    print(
        f"\n{len(found)} cases, {differing} differ, the ledger of {unbalanced} does not add up, "
        f"{faults} could not be run."
    )
    return 1 if differing or faults or unbalanced else 0


def _sampled(folders: Sequence[Path], most: int) -> Iterator[Case]:
    """Yield prepared cases, spread over all of them."""
    every = [case for folder in folders for case in prepared(folder)]
    step = max(1, len(every) // most)
    yield from every[::step][:most]


def prepared(folder: Path) -> Iterator[Case]:
    """Yield the cases of a folder; say which lack their mirror."""
    mirrors = Path(os.environ.get("PATCHMGR_MIRRORS", ""))
    for place in sorted(folder.resolve().iterdir()):
        source = (str(place / "patches"),)
        if (place / "case.json").exists():
            said = json.loads((place / "case.json").read_text())
            yield Case(place.name, place / "upstream.git", said["base"], said["target"], source)
        elif (place / "meta.json").exists() and (place / "patches").exists():
            said = json.loads((place / "meta.json").read_text())
            names = [name.replace("/", "+") for name in (said["repo"], *said.get("also", ()))]
            places = [(mirrors / name / "repo").resolve() for name in names]
            mirror = next((m for m in places if _has(m, said["base"], said["target"])), None)
            if mirror is not None:
                yield Case(place.name, mirror, said["base"], said["target"], source)
            else:
                tell(f"SKIPPED: {place.name}, PATCHMGR_MIRRORS does not lead to {said['repo']}")


def _has(mirror: Path, *commits: str) -> bool:
    line = ["git", f"--git-dir={mirror}", "cat-file", "-e"]
    return all(
        subprocess.run([*line, commit], stderr=subprocess.DEVNULL, check=False).returncode == 0
        for commit in commits
    )


def constructed(folder: Path) -> Iterator[Case]:
    """Yield rebases of histories that are made of nothing."""
    histories = {"constructed-walk": long_walk(20, 300), "constructed-conflicts": _conflicts()}
    for name, history in histories.items():
        root = folder / name / "upstream.git"
        root.parent.mkdir()
        environment = quiet_environment(folder / "home")
        write_history(history, root, environment)
        base, target = (
            output(["git", f"--git-dir={root}", "rev-parse", branch], folder, environment)
            for branch in ("base", "main")
        )
        yield Case(name, root, base, target, ("--git", str(root), "base..fork"))


def _conflicts() -> Constructed:
    """Return a history whose merges take a structural rung, warn, or are left in conflict."""
    names = [f"name_{number}" for number in range(40)]
    body = "".join(f"def {name}(a, b):\n    return a + b\n\n\n" for name in names)
    imports = "import alpha\nimport omega\n\n\n"

    def text(more: str, default: int, tail: str) -> bytes:
        head = imports.replace("import omega", f"{more}import omega")
        return (head + body.replace("a + b", f"a + b + {default}", 3) + tail).encode()

    paths = [f"pkg/part_{number}.py" for number in range(6)]
    base = [(path, text("", 0, "")) for path in paths]
    ours = [
        (path, text("import mine\n", number % 2, "def tail(a):\n    return mine.x(a)\n"))
        for number, path in enumerate(paths)
    ]
    theirs = [
        (path, text("import other\n", number % 3, "def end(a):\n    return other.x(a)\n"))
        for number, path in enumerate(paths)
    ]
    fork = [Commit(f"fork: {path}", [(path, content)]) for path, content in ours]
    return Constructed(base, fork, [Commit("upstream: all", theirs)])


def _compared(case: Case, folder: Path, runs: int, out: Path | None) -> Told:
    """Rebase a case so many times idle and so many busy; keep answers that differ."""
    told = Told(case.name)
    place = folder / "run"
    shutil.rmtree(place, ignore_errors=True)
    environment = quiet_environment(place / "home")
    command = shlex.split(os.environ.get("PATCHMGR", "")) or list(program())
    inside = [*command, "-C", str(place / "ws")]
    try:
        for line in (
            [*command, "init", str(place / "ws")],
            [*inside, "upstream", "add", "up", "--git", str(case.upstream),
             "--reference", str(case.upstream)],
            [*inside, "series", "new", "s", "--upstream", "up", "--base", case.base],
            [*inside, "import", *case.source, "--series", "s"],
        ):  # fmt: skip
            output(line, place, environment)
    except SystemExit as fault:
        told.fault = str(fault)[-200:].replace("\n", " ").replace("|", "/")
        return told
    line = [*inside, "rebase", "s", "--onto", case.target, "--dry-run", "--json"]
    for number in range(max(1, 2 * runs)):
        is_busy, is_cold = number >= max(1, runs), number % 2 == 0
        if is_cold:
            shutil.rmtree(place / "home" / "cache" / "patchmgr" / "answers", ignore_errors=True)
        said = {"PYTHONHASHSEED": str(1 + number)}
        with busy(BUSY if is_busy else 0):
            start = time.monotonic()
            answer = _answer(line, place, {**environment, **said})
            (told.busy if is_busy else told.idle).append(time.monotonic() - start)
        told.is_balanced &= _is_balanced(answer, place / "ws")
        name = hashlib.sha256(answer).hexdigest()[:12]
        if name not in told.answers and out is not None:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{case.name}-{name}").write_bytes(answer)
        words = f"{'busy' if is_busy else 'idle'}-{'cold' if is_cold else 'warm'}-{1 + number}"
        told.answers.setdefault(name, []).append(words)
    return told


def _is_balanced(answer: bytes, workspace: Path) -> bool:
    """Say whether the ledger's sums are what another reader counts in the patches."""
    counted = [0, 0]
    for path in (workspace / "series").rglob("*.patch"):
        changes = PatchSet(StringIO(path.read_bytes().decode("latin-1"), newline="\n"))
        counted[0] += changes.added
        counted[1] += changes.removed
    document = json.loads(answer.partition(b"\n")[2])
    ledgers = [series["ledger"] for series in document.get("series", ())]
    sums = [sum(sum(one[side].values()) for one in ledgers) for side in ("added", "removed")]
    return all(one["balanced"] for one in ledgers) and sums == counted


def _answer(line: Sequence[str], place: Path, environment: Mapping[str, str]) -> bytes:
    """Return exit code and output of a command."""
    done = subprocess.run(line, cwd=place, env=dict(environment), capture_output=True, check=False)
    return b"exit %d\n" % done.returncode + done.stdout


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes computing."""
    loops = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
