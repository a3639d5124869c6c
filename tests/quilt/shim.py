"""A program with quilt's name, commands and words; patchmgr does the work.

What it does itself is named in README.md beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.quilt import contents, keeping, stacking, unpacking
from tests.quilt.folders import Folders
from tests.quilt.project import Project, Stop

Verb = Callable[[Project, Sequence[str]], int]
VERBS: Mapping[str, tuple[Verb, str]] = {
    "add": (contents.add, "refresh"),
    "applied": (stacking.applied, "applied"),
    "delete": (keeping.delete, "drop"),
    "diff": (contents.diff, "changes"),
    "edit": (contents.edit, "refresh"),
    "files": (contents.files, "files"),
    "fold": (contents.fold, "fold"),
    "fork": (keeping.fork, "rename"),
    "header": (keeping.header, "edit"),
    "import": (keeping.import_, "import"),
    "new": (stacking.new, "new"),
    "next": (stacking.next_, "next"),
    "pop": (stacking.pop, "pop"),
    "previous": (stacking.previous, "prev"),
    "push": (stacking.push, "push"),
    "refresh": (contents.refresh, "refresh"),
    "rename": (keeping.rename, "rename"),
    "revert": (contents.revert, "changes"),
    "series": (stacking.series, "series"),
    "top": (stacking.top, "top"),
    "unapplied": (stacking.unapplied, "unapplied"),
}
_BEGIN = ("new", "import", "add", "edit")


def run(words: Sequence[str]) -> int:
    """Run one command of quilt's and return its exit code."""
    name, *rest = words or ("",)
    if name == "setup" and "-h" not in rest:
        return unpacking.setup(rest, Path.cwd())
    if name not in VERBS:
        raise Stop(f"patchmgr has nothing for quilt {name}")
    verb, ours = VERBS[name]
    folders = Folders(Path.cwd())
    if "-h" in rest:
        sys.stdout.buffer.write(folders.patchmgr(ours, "--help").out)
        return 0
    if name not in _BEGIN and not folders.series.exists():
        raise Stop("No series file found")
    folders.open()
    try:
        return verb(Project(folders), rest)
    finally:
        folders.close()


def main() -> None:
    """Run the command line."""
    try:
        code = run(sys.argv[1:])
    except Stop as stop:
        sys.stdout.flush()
        print(stop.text, flush=True)
        code = stop.code
    sys.exit(code)


if __name__ == "__main__":
    main()
