"""Run quilt's own test suite against patchmgr, and count by command.

    PATCHMGR_QUILT_TESTS=<folder with quilt's tests> python -m tests.quilt.suite --write

It needs Perl, for quilt's own runner of its tests, and writes docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.quilt.tally import Line, page, unexplained

FOLDER = "PATCHMGR_QUILT_TESTS"
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- begin: python -m tests.quilt.suite -->", "<!-- end: quilt -->"

# Not about quilt's commands, but about its scripts, its runner, and a program beside it that
# its own Makefile leaves out.
_OTHERS = ("backup-files", "patch-wrapper", "remove-trailing-ws", "tester")
_LONGEST = 900  # seconds
_COMMAND = re.compile(r"\s*\$ ?(.*)")
_RESULT = re.compile(r"\[(\d+)\] \$ .* -- (ok|failed)")
_QUILT = re.compile(r"(?:^|[|;&] *)quilt ([a-z]+)")


@dataclass(frozen=True)
class Place:
    """Where the tests run: a copy of the suite, and a folder with a program named quilt."""

    tests: Path
    programs: Path

    def environment(self) -> Mapping[str, str]:
        """Return what quilt's Makefile sets for its tests, and the shim before all programs."""
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("QUILT", "GIT_"))}
        own = {"P": "patches/", "_P": "../patches/", "QUILT_PC": ".pc", "LANG": "C", "LC_ALL": "C"}
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        return {**kept, **own, "PATH": path, "QUILT_DIR": "/nowhere"}


def suite() -> Path | None:
    """Return the folder with quilt's tests, None where there is none."""
    named = os.environ.get(FOLDER)
    return Path(named) if named and (Path(named) / "run").is_file() else None


def run_suite(source: Path, folder: Path) -> tuple[Line, ...]:
    """Run all tests in a folder and return what came of each line that runs something."""
    place = _placed(source, folder)
    names = sorted(p.stem for p in place.tests.glob("*.test") if p.stem not in _OTHERS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda name: _run(place, name), names)
    return tuple(line for lines in found for line in lines)


def _placed(source: Path, folder: Path) -> Place:
    place = Place(folder / "test", folder / "bin")
    shutil.copytree(source, place.tests)
    place.programs.mkdir()
    root = shlex.quote(str(Path(__file__).parents[2]))
    program = place.programs / "quilt"
    command = f'exec {shlex.quote(sys.executable)} -m tests.quilt.shim "$@"'
    program.write_text(f"#!/bin/sh\nPYTHONPATH={root} {command}\n")
    program.chmod(0o755)
    return place


def _run(place: Place, name: str) -> Sequence[Line]:
    """Run one test; a line that it did not come to has failed."""
    command = ["perl", "run", "-v", f"{name}.test"]
    done = subprocess.run(
        command, cwd=place.tests, env=place.environment(), stdin=subprocess.DEVNULL,
        capture_output=True, timeout=_LONGEST, check=False,
    )  # fmt: skip
    printed = done.stdout.decode(errors="replace")
    passed = {int(m[1]) for m in _RESULT.finditer(printed) if m[2] == "ok"}
    text = (place.tests / f"{name}.test").read_text(errors="replace")
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        found = _COMMAND.match(line)
        if found is not None:
            verb = _QUILT.search(found[1])
            lines.append(Line(name, number, found[1], verb and verb[1], number in passed))
    return lines


def main() -> None:
    """Run the suite, print the section of the page, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description="Run quilt's test suite against patchmgr.")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    source = suite()
    if source is None:
        print(f"SKIPPED: nothing was run, {FOLDER} does not lead to quilt's tests", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="patchmgr-quilt-") as folder:
        lines = run_suite(source, Path(folder))
    text = page(lines)
    print(text)
    for line in unexplained(lines):
        print(f"no reason is given for {line.test}:{line.number}: {line.text}", file=sys.stderr)
    if options.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    main()
