"""quilt's plain folders as a workspace and a checkout: hidden ones, made when they are needed.

The working folder becomes a git work tree, and the state below its patches an upstream commit.
Files that a patch does not have, and that quilt was not told of, belong to that state: where a
person changes them, there is a new one.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from patchmgr import cli
from tests.quilt.values import Answer, Notes, noted, write, written

SERIES = "quilt"
_ENTRY = re.compile(rb"(?m)^([ \t]*)([^\s#]\S*)")
_SUFFIXES = (".patch", ".diff")
_DATE = "1000000000 +0000"


class Folders:
    """The folders of one project, and patchmgr in them."""

    def __init__(self, cwd: Path) -> None:
        control = os.environ.get("QUILT_PC") or ".pc"
        known = os.environ.get("QUILT_PATCHES") or "patches"
        around = (
            at for at in (cwd, *cwd.parents) if (at / control).is_dir() or (at / known).is_dir()
        )
        self.cwd = cwd
        self.root = next(around, cwd)
        self.control = self.root / control
        self.patches = self.root / noted(self.control / ".quilt_patches", known)
        series = os.environ.get("QUILT_SERIES") or "series"
        name = noted(self.control / ".quilt_series", series)
        places = (self.root / name, self.patches / name)
        self.series = next((place for place in places if place.is_file()), places[1])
        self.hidden = self.control / "patchmgr"
        self.workspace = self.hidden / "workspace"
        self.folder = self.workspace / "series" / SERIES
        self.notes = Notes()

    @property
    def prefix(self) -> str:
        """Return what stands before the name of a patch, as seen from the current folder."""
        return os.path.relpath(self.patches, self.cwd) + "/"

    def open(self) -> None:
        """Make what is missing, and bring the hidden folders up to what a person did."""
        if not (self.workspace / "upstream.lock").is_file():
            self._make()
        notes = self.hidden / "notes.json"
        if notes.is_file():
            self.notes = Notes(**json.loads(notes.read_text()))
        self._take_in()
        self._snapshot()
        self._tell_git()

    def close(self) -> None:
        """Bring patches and series to where quilt has them, and keep the notes."""
        self._bring_out()
        (self.hidden / "notes.json").write_text(json.dumps(vars(self.notes)))

    def patchmgr(
        self,
        *words: str,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        is_here: bool = False,
    ) -> Answer:
        """Run a command of patchmgr in this process, at the top or in the current folder."""
        os.environ.update(self._environment(), **(env or {}))
        out, error = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        kept = sys.argv, sys.stdin, sys.stdout, sys.stderr
        sys.argv = ["patchmgr", "-C", str(self.workspace), *words]
        sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(stdin)), out, error
        os.chdir(self.cwd if is_here else self.root)
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            sys.argv, sys.stdin, sys.stdout, sys.stderr = kept
            os.chdir(self.cwd)
        return Answer(code, written(out), written(error).decode())

    def desk(
        self,
        *words: str,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        is_here: bool = False,
    ) -> Answer:
        """Run an authoring command on the checkout; it answers with JSON."""
        where = ("--to", str(self.root), "--json")
        return self.patchmgr(*words, *where, stdin=stdin, env=env, is_here=is_here)

    def git(self, *words: str, index: str = "index", data: bytes = b"", good: int = 0) -> bytes:
        """Run git on the hidden repository."""
        git_dir = self.hidden / "git"
        env = {
            **os.environ,
            "GIT_INDEX_FILE": str(git_dir / index),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        for who in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{who}_NAME": "q", f"GIT_{who}_EMAIL": "q@q", f"GIT_{who}_DATE": _DATE}
        command = ["git", f"--git-dir={git_dir}", f"--work-tree={self.root}", *words]
        done = subprocess.run(command, input=data, capture_output=True, env=env, cwd=self.root)
        if done.returncode > good:
            raise RuntimeError(f"{command}: {done.stderr.decode()}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return {
            "XDG_CACHE_HOME": str(self.hidden / "cache"),
            "GIT_AUTHOR_NAME": "quilt",
            "GIT_AUTHOR_EMAIL": "quilt@localhost",
        }

    def _make(self) -> None:
        self.hidden.mkdir(parents=True)
        for name, text in (
            ("version", "2"),
            ("quilt_patches", self._patches_as_noted()),
            ("quilt_series", self.series.name),
        ):
            place = self.control / f".{name}"
            if not place.exists():
                place.write_text(f"{text}\n")
        (self.root / ".git").unlink(missing_ok=True)
        self.git("init", "-q")
        (self.hidden / "git" / "info").mkdir(exist_ok=True)
        outside = (self.control, self.patches, self.series, self.root / ".git")
        lines = [f"/{os.path.relpath(place, self.root)}\n" for place in outside]
        text = "".join([*lines, "*.rej\n"])
        (self.hidden / "git" / "info" / "exclude").write_text(text)
        (self.root / ".git").write_text(f"gitdir: {self.hidden / 'git'}\n")
        self.git("update-ref", "HEAD", self._commit(self._tree(())))
        self.git("read-tree", "HEAD")
        where = str(self.hidden / "git")
        self._must("init", str(self.workspace))
        self._must("upstream", "add", "up", "--git", where, "--reference", where)
        self._must("series", "new", SERIES, "--upstream", "up", "--base", self._head())

    def _patches_as_noted(self) -> str:
        return os.path.relpath(self.patches, self.root)

    def _must(self, *words: str) -> None:
        answer = self.patchmgr(*words)
        if answer.code:
            raise RuntimeError(answer.error)

    def _head(self) -> str:
        return self.git("rev-parse", "HEAD").decode().strip()

    def _commit(self, tree: str) -> str:
        return self.git("commit-tree", "-m", "below the patches", tree).decode().strip()

    def _tree(self, kept: Collection[str]) -> str:
        """Return the tree of all files; those that are kept stay as they are in HEAD."""
        (self.hidden / "git" / "other").unlink(missing_ok=True)
        self.git("add", "-A", ".", index="other")
        lines = []
        for path in kept:
            known = self.git("ls-tree", "-z", "HEAD", "--", path).split(b"\0")[0]
            facts, _, name = known.partition(b"\t")
            mode, blob = (facts.split()[0], facts.split()[2]) if known else (b"0", b"0" * 40)
            lines.append(b"%s %s\t%s\0" % (mode, blob, name or os.fsencode(path)))
        if lines:
            self.git("update-index", "-z", "--index-info", index="other", data=b"".join(lines))
        return self.git("write-tree", index="other").decode().strip()

    def _snapshot(self) -> None:
        """Make the state below the patches what it is now, and the series stand on it."""
        notes = self.notes
        kept = {
            path for each in (notes.added, notes.files) for paths in each.values() for path in paths
        }
        tree, old = self._tree(sorted(kept)), self._head()
        old_tree = self.git("rev-parse", "HEAD^{tree}").decode().strip()
        if tree == old_tree:
            return
        new = self._commit(tree)
        self.git("update-ref", "HEAD", new)
        self.git("read-tree", "HEAD")
        lock = self.workspace / "upstream.lock"
        lock.write_text(lock.read_text().replace(old, new).replace(old_tree, tree))

    def _tell_git(self) -> None:
        """Tell git of the files that quilt was told of before they were there."""
        added = {path for paths in self.notes.added.values() for path in paths}
        there = [path for path in sorted(added) if (self.root / path).is_file()]
        if there:
            self.git("--literal-pathspecs", "add", "-N", "--", *there)

    def inside(self, name: str) -> str:
        """Return the name that a patch has in the workspace: one with a suffix."""
        return name if name.endswith(_SUFFIXES) else f"{name}.patch"

    def outside(self, name: str) -> str:
        """Return the name that quilt has for a patch of the workspace."""
        bare = name.removesuffix(".patch")
        return bare if bare in self.notes.bare else name

    def name_bare(self, name: str) -> str:
        """Remember a name that has no suffix, and return it as the workspace has it."""
        if self.inside(name) != name and name not in self.notes.bare:
            self.notes.bare.append(name)
        return self.inside(name)

    def back_up(self, name: str) -> None:
        """Keep the file of a patch as quilt has it now, beside it."""
        place = self.patches / self.outside(name)
        beside = place.with_name(f"{place.name}~")
        beside.unlink(missing_ok=True)
        shutil.copy2(place, beside)

    def _take_in(self) -> None:
        if not self.series.is_file():
            return
        raw = self.series.read_bytes()
        names = [os.fsdecode(found[2]) for found in _ENTRY.finditer(raw)]
        for name in names:
            self.name_bare(name)
        changed = _ENTRY.sub(lambda m: m[1] + os.fsencode(self.inside(os.fsdecode(m[2]))), raw)
        write(self.folder / "series", changed)
        for name in names:
            source, place = self.patches / name, self.folder / self.inside(name)
            if source.is_file():
                write(place, source.read_bytes())
            elif not place.is_file():
                write(place, b"")

    def _bring_out(self) -> None:
        raw = (self.folder / "series").read_bytes()
        names = [os.fsdecode(found[2]) for found in _ENTRY.finditer(raw)]
        if names or self.series.exists():
            changed = _ENTRY.sub(lambda m: m[1] + os.fsencode(self.outside(os.fsdecode(m[2]))), raw)
            write(self.series, changed)
        for name in names:
            content = (self.folder / name).read_bytes() if (self.folder / name).is_file() else b""
            place = self.patches / self.outside(name)
            if place.exists() or b"\n--- " in content or b"\ndiff --git " in content:
                write(place, content)
