"""A section of docs/benchmarks.md that one command measures and writes."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clones import quiet_environment

PICTURES = "pictures"  # a folder of the run whose files go beside the page
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"

Report = Callable[[Path, Path, Mapping[str, str], int], str]
"""Measure on a mirror, in a folder, with an environment, for so many rounds; return the text."""


@dataclass(frozen=True, slots=True)
class Section:
    """What is said of the command, the repository it needs, and the marks around its section."""

    about: str
    repository: str
    begin: str
    end: str
    rounds: int


def measure_page(section: Section, report: Report) -> None:
    """Measure, print, and write the section where that is asked for."""
    parser = argparse.ArgumentParser(description=section.about.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=section.rounds, help="timed runs of each")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    mirrors = os.environ.get("PATCHMGR_MIRRORS")
    if not mirrors or not (Path(mirrors) / section.repository).is_dir():
        where = f"PATCHMGR_MIRRORS does not lead to {section.repository}"
        tell(f"SKIPPED: nothing was measured, {where}")
        return
    with tempfile.TemporaryDirectory(prefix="patchmgr-bench-") as folder:
        place = Path(folder)
        environment = quiet_environment(place / "home")
        mirror = (Path(mirrors) / section.repository).resolve()
        text = report(mirror, place, environment, options.rounds)
        if options.write and (place / PICTURES).is_dir():
            shutil.copytree(place / PICTURES, PAGE.parent, dirs_exist_ok=True)
    print(text)
    if options.write:
        write(section, text)


def tell(line: str) -> None:
    """Say how far the work is."""
    print(line, file=sys.stderr, flush=True)


def program() -> tuple[str, ...]:
    """Return the command of the patchmgr that is installed beside this Python."""
    script = Path(sys.executable).parent / "patchmgr"
    if script.exists():
        return (str(script),)
    raise SystemExit("install patchmgr into this Python first: pip install .")


def write(section: Section, text: str) -> None:
    """Put the text between the marks of the page."""
    before, _, rest = PAGE.read_text().partition(section.begin)
    _, _, after = rest.partition(section.end)
    PAGE.write_text(f"{before}{section.begin}\n\n{text}\n\n{section.end}{after}")
