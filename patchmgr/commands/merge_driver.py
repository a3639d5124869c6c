"""`merge-driver`: make patchmgr the merge driver of a clone, or remove it again."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from patchmgr.errors import UsageError
from patchmgr.plumbing.merge_drivers import SECTION, DriverSettings, install, installed
from patchmgr.workspace import Workspace

# Files that a structural merge understands, and text for which recorded resolutions are likely.
PATTERNS = (
    "*.py", "*.pyi", "*.c", "*.cc", "*.cpp", "*.cxx", "*.cu", "*.cuh", "*.h", "*.hh", "*.hpp",
    "*.cmake", "CMakeLists.txt", "*.toml", "*.yaml", "*.yml", "*.txt", "*.md", "*.rst",
)  # fmt: skip

# This is how `git merge` itself merges a text. In git before 2.44, which has no --diff-algorithm,
# this fails at once. patchmgr then tries a quick merge before it loads the rest of its code.
_GIT_FIRST = (
    "git merge-file -q -p --diff-algorithm=histogram %A %O %B >%A~ 2>/dev/null && mv -f %A~ %A"
)
_GIT_LAST = "s=$?; [ $s -gt 1 ] || exit $s; git merge-file -q %A %O %B"
_SCRIPT = (
    "import sys; sys.path = [p for p in sys.path if p] + [{here!r}]; "
    "from patchmgr.plumbing.quick_merge import is_merged; "
    "is_merged(*sys.argv[-4:-1]) and sys.exit(); "
    "from patchmgr.__main__ import main; main()"
)


class DriverChange(DriverSettings, frozen=True):
    """The merge driver of a clone after the command; `is_new` is true if the command changed it."""

    is_new: bool = False


def install_driver(
    repository: Path,
    *,
    patterns: Sequence[str],
    upstream: str,
    workspace: Workspace | None,
    is_dry_run: bool,
) -> DriverChange:
    """Make patchmgr the merge driver of a repository for files that match the patterns.

    `upstream` says which side is upstream's in the repository's merges, "ours" or "theirs".
    """
    for pattern in patterns:
        if not pattern or pattern[0] in "#!\"'[-" or not pattern.isprintable() or " " in pattern:
            raise UsageError(f"{pattern!r} is not a valid pattern for an attributes file")
    found = installed(repository)
    settings = (
        (f"{SECTION}.driver", _command(upstream, workspace)),
        (f"{SECTION}.name", "patchmgr: text, recorded, format and structural merge"),
        # git also merges common ancestors; nobody sees the conflicts of that merge.
        (f"{SECTION}.recursive", "text"),
    )
    lines = tuple(f"{pattern} merge=patchmgr" for pattern in patterns or PATTERNS)
    wanted = replace(found, settings=settings, lines=lines)
    is_new = dict(found.settings) != dict(settings) or found.lines != lines
    if is_new and not is_dry_run:
        install(found, wanted)
    return DriverChange(found.git_dir, settings, lines, is_new)


def uninstall_driver(repository: Path, *, is_dry_run: bool) -> DriverChange:
    """Remove the merge driver from a repository."""
    found = installed(repository)
    is_there = bool(found.settings or found.lines)
    if is_there and not is_dry_run:
        install(found, DriverSettings(found.git_dir))
    return DriverChange(found.git_dir, (), (), is_there)


def _command(upstream: str, workspace: Workspace | None) -> str:
    """Return the command that git runs for a file: git's merge and, on a conflict, patchmgr.

    It runs this process's Python and patchmgr, and imports nothing from the current folder, which
    is the work tree.
    """
    here = os.fspath(Path(__file__).resolve().parents[2])
    script = _SCRIPT.format(here=here)
    words = [sys.executable, "-c", script]
    if workspace is not None:
        words += ["-C", os.fspath(workspace.root)]
    words += ["merge-driver", "run", "--upstream", upstream]
    ours = " ".join(shlex.quote(word).replace("%", "%%") for word in words) + " -- %O %A %B %P"
    # If it exits with neither 0 nor 1, as when that Python is gone, git's own merge is used;
    # without this, the file would have only our side, and no conflict markers.
    return f"{_GIT_FIRST} || {{ rm -f %A~; {ours}; {_GIT_LAST}; }}"
