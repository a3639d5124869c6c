"""Takes every step of a plan by real rebases, and says which statements were true.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.plans [REPOSITORY BASE TIP ONTO]
    python -m benchmarks.plans SERIES ONTO

The commits BASE..TIP are the series, ONTO is where the plan leads; without them it is the public
stand-in. SERIES is one that is shipped; releases come from the package index. What a plan assumes
of a conflict is done: the lines of the patch are taken, or it is skipped. Then states behind each
stretch are tried at equal distances: could it have been longer?
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.clones import output, quiet_environment
from benchmarks.pages import program, tell
from benchmarks.releases import fill
from benchmarks.stand_in import BASE, FAR, REPOSITORY, TIP

SAMPLE = 4  # states behind each stretch


class Workspace:
    """A workspace with the series, whose commands are run as a person types them."""

    def __init__(self, place: Path, series: str, environment: Mapping[str, str]) -> None:
        self.root, self.series, self.environment = place / "workspace", series, environment

    def import_commits(self, mirror: Path, base: str, tip: str) -> None:
        """Make the series of the commits of a public history."""
        self.run("init", str(self.root))
        where = ("--git", str(mirror), "--reference", str(mirror))
        self.run("upstream", "add", "up", *where)
        self.run("series", "new", self.series, "--upstream", "up", "--base", base)
        self.run("import", "--git", str(mirror), f"{base}..{tip}", "--series", self.series)

    def run(self, *words: str, good: bool = True) -> str:
        """Run a command and return what it printed."""
        inside = ("-C", str(self.root)) if self.root.exists() else ()
        command = (*program(), *inside, *words)
        return output(command, self.root.parent, self.environment, good=good)

    def json(self, *words: str) -> Any:
        """Run a command and return its document."""
        return json.loads(self.run(*words, "--json", good=False))

    def left(self, document: Any) -> dict[str, Any]:
        """Return by name the patches that a rebase left to a person."""
        if "series" not in document:
            raise SystemExit(f"a rebase was refused: {document['error']['message']}")
        patches = [patch for series in document["series"] for patch in series["patches"]]
        return {p["name"]: p for p in patches if p["verdict"] in ("conflict", "blocked")}


def main() -> None:
    """Make a plan, take its steps, and print what was true."""
    given = sys.argv[1:] or [REPOSITORY, BASE, TIP, FAR]
    with tempfile.TemporaryDirectory(prefix="patchmgr-plans-") as folder:
        environment = quiet_environment(Path(folder, "home"))
        if given[2:]:
            workspace = Workspace(Path(folder), "plan", environment)
            mirror = Path(os.environ["PATCHMGR_MIRRORS"], given[0]).resolve()
            workspace.import_commits(mirror, given[1], given[2])
        else:
            workspace = Workspace(Path(folder), given[0], {**os.environ, **environment})
            fill(workspace.root)
            workspace.run("plan", *given[:1], "--onto", given[1], good=False)  # fetches releases
        report(workspace, given[-1])


def report(workspace: Workspace, onto: str) -> None:
    """Print the plan, what it took, and step by step whether it is true."""
    one = ("rebase", workspace.series, "--onto", onto, "--dry-run")
    alone, _ = timed(workspace, *one)
    took, plan = timed(workspace, "plan", workspace.series, "--onto", onto)
    print(workspace.run("plan", workspace.series, "--onto", onto, good=False))
    print(f"one dry run {alone:.1f} s of processor time, the plan {took:.1f} s: {took / alone:.1f}")
    told = [
        is_true(workspace, step, plan["steps"][n + 1 :]) for n, step in enumerate(plan["steps"])
    ]
    print(f"{sum(told)} of {len(told)} steps are true")


def timed(workspace: Workspace, *words: str) -> tuple[float, Any]:
    """Return the processor time of a command with all its children, and its document.

    What earlier commands found out is put aside.
    """
    for answers in Path(workspace.environment["XDG_CACHE_HOME"]).glob("patchmgr/answers*"):
        shutil.rmtree(answers)
    before = os.times()
    document = workspace.json(*words)
    after = os.times()
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system, document


def is_true(workspace: Workspace, step: Any, rest: list[Any]) -> bool:
    """Take a step, and say whether it went as the plan says."""
    tell(f"taking step {step['number']}")
    is_clean = step["breaking"] is None
    if is_clean and rest:
        longer = could_be_longer(workspace, step, rest)
        print(f"step {step['number']}: of {SAMPLE} later states {longer} carry in one go")
    document = workspace.json("rebase", workspace.series, "--onto", f"plan:{step['number']}")
    found = workspace.left(document)
    verdicts = {p["name"] for p in step["patches"] if p["verdict"] in ("conflict", "blocked")}
    is_so = found.keys() == verdicts and is_clean is not bool(found)
    skipped = {one["patch"] for one in rest[0]["assuming"] if one["skipped"]} if rest else set()
    print(f"step {step['number']}: {'true' if is_so else f'FALSE, left: {sorted(found)}'}")
    while found and rest:
        found = resolved(workspace, found, skipped)
    return is_so


def resolved(workspace: Workspace, found: dict[str, Any], skipped: set[str]) -> dict[str, Any]:
    """Take the lines of the patches in conflict, or skip one; return what is left now."""
    for conflict in [one for patch in found.values() for one in patch["conflicts"]]:
        accept = ("conflicts", "accept", conflict["id"])
        if "error" in workspace.json(*accept, "theirs"):
            workspace.json(*accept, "--because", "assumed by a plan")
    left = workspace.left(workspace.json("rebase", "--continue"))
    return workspace.left(workspace.json("rebase", "--skip")) if left.keys() & skipped else left


def could_be_longer(workspace: Workspace, step: Any, rest: list[Any]) -> int:
    """Count later states that the series carries to in one go, of some at equal distances."""
    count = sum(one["commits"] for one in rest)
    span = "..".join(one["onto"]["ref"] for one in (step, rest[-1]))
    every = str(max(1, count // (SAMPLE + 1)))
    steps = ("--every", "release" if "archive" in step["onto"] else every)
    words = ("rebase", workspace.series, "--onto", span, *steps, "--dry-run")
    document = workspace.json(*words)
    if "error" in document:
        tell(f"not tried further: {document['error']['message']}")
    return sum(not workspace.left(target) for target in document.get("targets", ())[:SAMPLE])


if __name__ == "__main__":
    started = time.monotonic()
    main()
    tell(f"{time.monotonic() - started:.0f} s")
