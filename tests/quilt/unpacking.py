"""quilt's `setup`: an archive unpacked, and links to patches and series in it.

Nothing of it is about patches: patchmgr finds the folder as a person would have made it.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.quilt.project import Options, Stop

_LINE = re.compile(r"(?m)^# (Source|Patchdir): (.*)$")


def setup(words: list[str], cwd: Path) -> int:
    """Unpack what a series file names, and link the series and its folder from there."""
    options = Options(words, "d:", ["sourcedir="])
    series = cwd / options.rest[0]
    target = cwd / options.given.get("-d", ".")
    facts = dict(_LINE.findall(series.read_text()))
    source = Path(options.given.get("--sourcedir", "."), facts["Source"])
    archive, project = cwd / source, target / facts["Patchdir"]
    if not archive.is_file():
        raise Stop(f"File {source} not found")
    if project.exists():
        raise Stop(f"Directory {facts['Patchdir']} exists")
    target.mkdir(exist_ok=True)
    print(f"Unpacking archive {source}", flush=True)
    subprocess.run(["tar", "xf", str(archive.resolve())], cwd=target, check=True)
    patches = cwd / options.given.get("--sourcedir", ".")
    _link(project, patches.resolve(), series.resolve(), shown=os.path.relpath(project, cwd))
    return 0


def _link(project: Path, patches: Path, series: Path, *, shown: str) -> None:
    names = ("patches", "series")
    if (project / "patches").exists():
        print(f"Directory {shown}/patches exists", flush=True)
        print("Trying alternative patches and series names...", flush=True)
        names = ("quilt_patches", "quilt_series")
    for name, place in zip(names, (patches, series), strict=True):
        (project / name).symlink_to(os.path.relpath(place, project))
    (project / ".pc").mkdir()
    (project / ".pc/.quilt_patches").write_text(f"{names[0]}\n")
    (project / ".pc/.quilt_series").write_text(f"{names[1]}\n")
