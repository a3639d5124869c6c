"""What upstream changed lately in some files, with the function around each change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import door

WINDOW = 300
RELEASES = 20

_DRIVERS = (
    "*.py diff=python\n*.pyi diff=python\n"
    + "".join(f"*.{end} diff=cpp\n" for end in ("c", "cc", "cpp", "cu", "cuh", "cxx", "h", "hpp"))
)  # fmt: skip
_RECORD = "\x01"
_FILE = re.compile(r"\+\+\+ b/(.*)")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)")

Changes = Sequence[tuple[str, str, str]]
"""Commit, path, and the heading of a hunk."""


_LOOK = (
    "-p", "--unified=0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv",
    "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


def release_changes(
    git_dir: Path, commits: Sequence[str], paths: Sequence[str], *, scratch: Path
) -> tuple[int, Changes] | None:
    """Return how many steps from release to release were looked at, and what they did to the paths.

    `commits` are the releases at hand, the oldest first; None where there is no step.
    """
    last = commits[-RELEASES - 1 :]
    if len(last) < 2:
        return None
    found: list[tuple[str, str, str]] = []
    for old, new in pairwise(last):
        arguments = ["--literal-pathspecs", *_with_drivers(scratch), "diff", *_LOOK, old, new]
        printed = door.text(door.output([*arguments, "--", *paths], git_dir=git_dir))
        found += _read(f"{_RECORD}{new}\n{printed}")
    return len(last) - 1, found


def _with_drivers(scratch: Path) -> tuple[str, str]:
    attributes = scratch / "attributes"
    attributes.write_text(_DRIVERS)
    return "-c", f"core.attributesFile={attributes}"


def recent_changes(
    git_dir: Path, commit: str, paths: Sequence[str], *, scratch: Path
) -> tuple[int, Changes] | None:
    """Return how many commits before a state were looked at, and what they did to the paths.

    None where history or contents are not at hand, as in a partial clone.
    """
    try:
        first = _count(git_dir, commit)
        if first < 2:
            return None
        window = min(WINDOW, first - 1)
        arguments = [
            "--literal-pathspecs", *_with_drivers(scratch), "log", "--first-parent", "-m", *_LOOK,
            f"--format=tformat:{_RECORD}%H", f"{commit}~{window}..{commit}", "--", *paths,
        ]  # fmt: skip
        printed = door.output(arguments, git_dir=git_dir)
    except PatchmgrError:
        return None
    return window, tuple(_read(door.text(printed)))


def _count(git_dir: Path, commit: str) -> int:
    arguments = ["rev-list", "--first-parent", "--count", f"--max-count={WINDOW + 1}", commit, "--"]
    return int(door.output(arguments, git_dir=git_dir))


def _read(printed: str) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    commit = path = ""
    for line in printed.split("\n"):
        if line.startswith(_RECORD):
            commit, path = line[1:], ""
        elif line.startswith("+++ "):
            match = _FILE.match(line)
            path = match[1] if match else ""
        elif line.startswith("@@ ") and path:
            match = _HUNK.match(line)
            if match is not None:
                found.append((commit, path, match[1]))
    return found
