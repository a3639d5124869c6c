"""Series, files and trees that are far larger than real ones: how long, and with how much memory.

python -m benchmarks.load [--write]

All is constructed in a temporary folder; no public history is needed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clones import output, quiet_environment
from benchmarks.constructed import (
    Constructed,
    big_file,
    long_walk,
    many_paths,
    write_history,
)
from benchmarks.pages import Section, program, tell, write
from benchmarks.timing import Tool, run_once

SECTION = Section(
    about=__doc__ or "",
    repository="",
    begin="<!-- begin: python -m benchmarks.load -->",
    end="<!-- end: load -->",
    rounds=1,
)
MOST_MEGABYTES = 1024


@dataclass(frozen=True, slots=True)
class Case:
    """A history to work on; `applies` says that the result is put into a checkout, too."""

    name: str
    make: Callable[[], Constructed]
    applies: bool = False


CASES = (
    Case("500 patches over 3,000 commits", lambda: long_walk(patches=500, commits=3000)),
    Case("a text of 100,000 lines", lambda: big_file("big.txt", lines=100_000)),
    Case("a Python module of 100,000 lines", lambda: big_file("big.py", lines=100_000)),
    Case("20,000 touched paths", lambda: many_paths(20_000), applies=True),
)


def main() -> None:
    """Measure, print, and write the section where that is asked for."""
    parser = argparse.ArgumentParser(description=SECTION.about.split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--only", default="", help="cases with these words in their name")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    rows = [row for case in CASES if options.only in case.name for row in measured(case)]
    head = "| work | command | time | processor time | largest process |\n|---|---|--:|--:|--:|"
    text = "\n".join([f"Load of the machine at the start: {load:.1f}.\n", head, *rows])
    print(text)
    if options.write:
        write(SECTION, text)


def measured(case: Case) -> Iterator[str]:
    """Yield a row of the table for each command that is timed."""
    with tempfile.TemporaryDirectory(prefix="patchmgr-load-") as folder:
        place = Path(folder)
        yard = Yard(place, quiet_environment(place / "home"))
        yard.fill(case.make())
        for words in yard.commands(applies=case.applies):
            yield f"| {case.name} | `{words[0]}` | {yard.timed(words)} |"


class Yard:
    """A constructed upstream and a workspace on it."""

    def __init__(self, place: Path, environment: Mapping[str, str]) -> None:
        self._place, self._environment = place, environment
        self._upstream, self._workspace = place / "upstream.git", place / "work" / "space"
        self._checkout = place / "checkout"

    def fill(self, history: Constructed) -> None:
        """Make upstream's history and the fork's, and a workspace with an empty series."""
        write_history(history, self._upstream, self._environment)
        self._workspace.parent.mkdir()
        base = self._commit("base")
        for words in (
            f"init {self._workspace}",
            f"-C {self._workspace} upstream add up --git {self._upstream}",
            f"-C {self._workspace} series new s --upstream up --base {base}",
        ):
            output([*program(), *words.split()], self._place, self._environment)

    def commands(self, *, applies: bool) -> Iterator[list[str]]:
        """Yield what is timed, one after the other."""
        yield f"import --git {self._upstream} base..fork --series s".split()
        yield ["rebase", "s", "--onto", self._commit("main")]
        if applies:
            self._git("clone", "--quiet", "--shared", str(self._upstream), str(self._checkout))
            for verb in ("apply", "verify", "unapply"):
                yield [verb, "s", "--to", str(self._checkout)]

    def timed(self, words: list[str]) -> str:
        """Run a command and return its time and memory; it fails where that is too much."""
        tool = Tool(words[0], (*program(), *words), self._workspace, self._environment)
        run = run_once(tool)
        tell(f"{words[0]}: {run.seconds:.1f} s, {run.megabytes:.0f} MB")
        if run.megabytes > MOST_MEGABYTES:
            raise SystemExit(f"{words[0]} took {run.megabytes:.0f} MB")
        return f"{run.seconds:.1f} s | {run.processor:.1f} s | {run.megabytes:.0f} MB"

    def _commit(self, branch: str) -> str:
        return self._git(f"--git-dir={self._upstream}", "rev-parse", branch)

    def _git(self, *arguments: str) -> str:
        return output(["git", *arguments], self._place, self._environment)


if __name__ == "__main__":
    main()
