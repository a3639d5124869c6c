"""Builds a release twice, and does the main job with it where there is no network.

    python -m benchmarks.release [--out DIR]

The last commit is built by `python -m build` in two folders, with other clocks, umasks, time zones
and seeds of hashes, and the wheel once more without the sdist: the bytes must be the same. The
wheel and what it needs are put into a wheelhouse, and installed from there alone into a new
environment, which carries a fork of a local upstream: the tree must be that of `git rebase`. At
last the program is run by `uv tool run` and `pipx run` from the source, where there are such.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clones import output, quiet_environment

ROOT = Path(__file__).parents[1]
RUNNERS = (("uv", "tool", "run", "--from"), ("pipx", "run", "--spec"))
PAGES = ("man1/patchmgr.1", "man1/patchmgr-rebase.1", "man7/patchmgr-conflicts.7")


@dataclass(frozen=True, slots=True)
class Builder:
    """One who builds: where, with which umask and environment."""

    folder: str
    umask: int
    settings: Mapping[str, str]
    only_wheel: bool = False


BUILDERS = (
    Builder("one", 0o022, {"TZ": "UTC", "PYTHONHASHSEED": "0"}),
    Builder("a folder of another", 0o077, {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "17"}),
    Builder("wheel", 0o002, {"LC_ALL": "C", "PYTHONHASHSEED": "5"}, only_wheel=True),
)


def main(arguments: Sequence[str]) -> int:
    """Build, install, run; print a line for each, and end with 1 where bytes or trees differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, help="leave the archives in this folder")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="patchmgr-release-") as folder:
        place = Path(folder)
        built = [_built(place, builder) for builder in BUILDERS]
        for path in built[0]:
            print(f"{_digest(path)}  {path.name}  {path.stat().st_size:,} bytes")
        found = {path.name: {_digest(p) for b in built for p in b if p.name == path.name}
                 for path in built[0]}  # fmt: skip
        differing = [name for name, digests in found.items() if len(digests) > 1]
        if len(found) != 2 or differing:
            print(f"two builds differ: {', '.join(differing) or 'not two archives'}")
            return 1
        print("two builds: the same bytes; the wheel without the sdist: the same bytes")
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            for path in built[0]:
                shutil.copy(path, options.out)
        (wheel,) = (path for path in built[0] if path.suffix == ".whl")
        is_right = _used(place, wheel)
        for runner in RUNNERS:
            print(_run_from_source(runner, place / BUILDERS[0].folder / "source"))
    return 0 if is_right else 1


def _built(place: Path, builder: Builder) -> list[Path]:
    """Build the last commit and return the archives."""
    source, out = place / builder.folder / "source", place / builder.folder / "dist"
    before = os.umask(builder.umask)
    try:
        source.mkdir(parents=True)
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-xm"], cwd=source, input=archive.stdout, check=True)
        date = output(["git", "log", "-1", "--format=%ct"], ROOT, os.environ)
        settings = {**os.environ, **builder.settings, "SOURCE_DATE_EPOCH": date}
        settings.pop("PYTHONPATH", None)
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out)]
        output([*command, *(("--wheel",) if builder.only_wheel else ())], source, settings)
    finally:
        os.umask(before)
    return sorted(out.iterdir())


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _used(place: Path, wheel: Path) -> bool:
    """Install from a wheelhouse alone, carry a fork; return whether its tree is git's."""
    house, environment = place / "wheelhouse", place / "environment"
    venv.create(environment, with_pip=True)
    pip = [str(environment / "bin/python"), "-m", "pip"]
    output([*pip, "download", "-q", "--dest", str(house), str(wheel)], place, os.environ)
    closed = ["unshare", "--map-root-user", "--net"]
    is_closed = not subprocess.run([*closed, "true"], capture_output=True, check=False).returncode
    settings = {**quiet_environment(place / "home"), "PIP_CONFIG_FILE": os.devnull}
    settings["PATH"] = f"{environment}/bin:{settings['PATH']}"
    before = closed if is_closed else []
    install = [*pip, "install", "-q", "--no-index", "--find-links", str(house), str(wheel)]
    output([*before, *install], place, settings)
    size = sum(path.stat().st_size for path in house.iterdir())
    network = "without a network" if is_closed else "from it alone (no namespace to close)"
    print(f"wheelhouse: {len(list(house.iterdir()))} wheels, {size:,} bytes; installed {network}")
    absent = [page for page in PAGES if not (environment / "share/man" / page).is_file()]
    print(f"man pages: {'missing: ' + ', '.join(absent) if absent else 'installed'}")
    return _carried(place / "job", settings, before) and not absent


def _carried(place: Path, environment: Mapping[str, str], before: Sequence[str]) -> bool:
    """Carry a fork of two commits over a change of upstream, and compare with `git rebase`."""
    clone = place / "src"
    clone.mkdir(parents=True)

    def git(*words: str) -> str:
        return output([*before, "git", *words], clone, environment)

    def commit(subject: str, **files: str) -> None:
        for name, text in files.items():
            (clone / f"{name}.py").write_text(text)
        git("add", "--all")
        git("commit", "--quiet", "-m", subject)

    text = "".join(f"def call_{n}():\n    return {n}\n\n\n" for n in range(9))
    git("init", "--quiet", "-b", "main")
    commit("A project", code=text)
    git("checkout", "--quiet", "-b", "fork")
    commit("Return more", code=text.replace("return 2\n", "return 22\n"))
    commit("Add a file", more="MORE = 1\n")
    git("checkout", "--quiet", "main")
    commit("Rewrite the end", code=text.replace("return 8\n", "return 88\n"))
    git("remote", "add", "upstream", str(clone))
    git("fetch", "--quiet", "upstream")
    patchmgr = [*before, "patchmgr", "-C", "workspace"]
    fork = ["--from-branch", str(clone), "fork", "--upstream", "upstream/main"]
    output([*before, "patchmgr", "init", "workspace", *fork], place, environment)
    output([*patchmgr, "rebase", "--onto", "upstream/main"], place, environment)
    branch = ["branch", "--repo", str(clone), "--name", "patched"]
    output([*patchmgr, *branch], place, environment)
    git("rebase", "--quiet", "main", "fork")
    trees = [git("rev-parse", f"{name}^{{tree}}") for name in ("patched", "fork")]
    is_same = trees[0] == trees[1]
    print(f"a fork carried there: {'the tree of' if is_same else 'not the tree of'} git rebase")
    return is_same


def _run_from_source(runner: Sequence[str], source: Path) -> str:
    """Return what `--version` prints where a tool builds and runs the source itself."""
    called = " ".join((*runner[:2], "--version"))
    if shutil.which(runner[0]) is None:
        return f"{called}: not tried, {runner[0]} is not installed"
    # What this run has on its path is not what the tool installed.
    settings = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [*runner, str(source), "patchmgr", "--version"]
    return f"{called}: {output(command, source.parent, settings)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
