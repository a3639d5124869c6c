"""Lives of public forks: the upstream states that their maintainers merged, carried by patchmgr.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.forks [--only NAME] [--out FILE]
    python -m benchmarks.forks --write FILE

How it is done is told in docs/forks.md; `--write` makes the tables there of what `--out` wrote.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.json import decode, encode

from benchmarks.clones import absent_paths, make_clone, quiet_environment
from benchmarks.forks_list import FORKS, Fork
from benchmarks.forks_page import MARKER, Likeness, Played, write
from benchmarks.mirrored import Mirrored, mirrors_of
from benchmarks.pages import tell

_MOST_STOPS = 40  # of one rebase


class Stop(Struct, frozen=True):
    """A merge or rebase of the fork's line: what was before, the state it stood on, the new one."""

    merge: str
    before: str
    old: str
    onto: str
    steps: int


def main(arguments: Sequence[str]) -> int:
    """Play and print, or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--only", default="", help="the forks whose name has this")
    parser.add_argument("--out", type=Path, help="write one JSON line for each stop")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write docs/forks.md of these")
    options = parser.parse_args(arguments)
    if options.write:
        write([decode(row, type=Played) for row in options.write.read_bytes().splitlines()])
        return 0
    chosen = [fork for fork in FORKS if options.only in fork.name]
    mirrors = mirrors_of([one for fork in chosen for one in (fork.repository, fork.upstream[0])])
    if mirrors is None:
        return 0
    for fork in chosen:
        with tempfile.TemporaryDirectory(prefix="patchmgr-forks-") as folder:
            for played in _Life(fork, mirrors.resolve(), Path(folder)).played():
                row = encode(played).decode()
                print(row, flush=True)
                if options.out:
                    with options.out.open("a") as file:
                        file.write(f"{row}\n")
    return 0


class _Life:
    """A workspace with the fork as a series, and a scratch repository that borrows from both."""

    def __init__(self, fork: Fork, mirrors: Path, place: Path) -> None:
        self._fork = fork
        self._mirror = mirrors / fork.repository
        self._place = place
        upstream, *self._upstream = fork.upstream
        self._ground = Mirrored(mirrors / upstream, place)
        self._store = self._ground.oracle.git_dir
        with (self._store / "objects" / "info" / "alternates").open("a") as file:
            file.write(f"{self._mirror / 'objects'}\n")
        self._git = self._ground.oracle.git
        self._environment = quiet_environment(place / "home")
        self._waiting = self._ground.root / ".patchmgr" / "rebase" / "fork"

    def played(self) -> Iterator[Played]:
        """Play the stops in turn; the series has the fork's tree before each."""
        stops = self._stops()[slice(*self._fork.stops)]
        source = ("--git", str(self._mirror), f"{stops[0].old}..{stops[0].before}")
        self._ground.add_series("fork", stops[0].old, *source, self._fork.way)
        for number, stop in enumerate(stops):
            if number:
                self._append(stops[number - 1].merge, stop.before)
            yield self._stop(number, stop)

    def _stops(self) -> list[Stop]:
        """Return the merges and rebases of the fork's line that brought a newer upstream."""
        way = self._git("rev-list", "--reverse", "--topo-order", *self._upstream).split()
        newest = {commit: number for number, commit in enumerate(way)}
        earlier = {after: before for before, after in self._fork.rebases}
        line = ("rev-list", "--topo-order", "--reverse", "--parents", self._fork.tip)
        without = [f"^{one}" for one in self._upstream]
        parents: dict[str, list[str]] = {}
        for row in self._git(*line, *earlier.values(), *without).splitlines():
            commit, *parents[commit] = row.split()
            newest[commit] = max(newest[one] for one in parents[commit])
        found = []
        commit = self._fork.tip
        while commit in parents:
            before = earlier.get(commit, parents[commit][0])
            old, onto = newest[before], newest[commit]
            if old != onto and (len(parents[commit]) > 1 or commit in earlier):
                steps = self._git("rev-list", "--count", f"{way[old]}..{way[onto]}")
                found.append(Stop(commit, before, way[old], way[onto], int(steps)))
            commit = before
        return found[::-1]

    def _stop(self, number: int, stop: Stop) -> Played:
        date = self._git("log", "-1", "--format=%cs", stop.merge)
        played = Played(self._fork.name, stop.onto[:12], date, stop.steps)
        before = self._branch(f"before-{number}")
        if self._names(before, stop.before):
            raise SystemExit(f"{stop.merge}: the series has another tree before it")
        in_conflict = self._carry(stop, played)
        made = self._branch(f"made-{number}")
        played.alone = self._likeness(stop, made, in_conflict)
        self._merge(stop, played)
        self._rebase(stop, played, before)
        rest = self._patch("Changes made in the merge itself", made, stop.merge)
        self._import(f"merge-{number}", [rest])
        return played

    def _carry(self, stop: Stop, played: Played) -> set[str]:
        """Carry the series; return the paths that were left to a person at first."""
        one = self._rebased(played, "fork", "--onto", stop.onto)
        played.patches = len(one["patches"])
        in_conflict, gone = set(), list[str]()
        for patch in one["patches"]:
            broken = {each["id"] for each in patch["findings"]}
            texts = [each for each in patch["conflicts"] if each["id"] not in broken]
            in_conflict |= {each[key] for each in texts for key in ("path", "new_path")}
            if patch["verdict"] == "absorbed":
                by = " ".join(each["commit"][:12] for each in patch["evidence"])
                ways = dict.fromkeys(hunk["how"] for hunk in patch["hunks"] if hunk["how"])
                played.absorbed.append((patch["subject"], by, " ".join(ways)))
        waiting = [path.read_bytes() for path in self._waiting.rglob("*") if path.is_file()]
        played.ours.add(waiting)
        played.ours.stops = 0
        if one["head"] is None:
            learned = f"{stop.before}..{stop.merge}"
            self._ground.inside("conflicts", "learn", "--git", str(self._mirror), learned)
        while one["head"] is None:
            played.ours.stops += 1
            if played.ours.stops > _MOST_STOPS:
                raise SystemExit(f"{stop.merge}: conflicts are left")
            gone += self._taken(stop)
            one = self._rebased(played, "--continue", *gone)
            for finding in _broken(one):
                if finding["accepted"] is None:
                    why = ("--because", "as in the fork")
                    self._ground.inside("conflicts", "accept", finding["id"], *why)
        played.findings = [f"{f['path']}:{f['line']}: {f['text']}" for f in _broken(one)]
        played.warnings = [text for patch in one["patches"] for text in patch["warnings"]]
        return in_conflict

    def _taken(self, stop: Stop) -> list[str]:
        """Take the merge's files for those in conflict; return options for those it deletes."""
        options = []
        for file in sorted(path for path in self._waiting.rglob("*") if path.is_file()):
            path = "/".join(file.relative_to(self._waiting).parts[1:])
            content = self._content(stop.merge, path)
            if content and MARKER.search(content):  # its maintainers committed them
                content = self._content(stop.before, path)
            if content is None:
                file.unlink()
                options += ["--accept", str(file)]
            else:
                file.write_bytes(content)
        return options

    def _likeness(self, stop: Stop, made: str, without: Collection[str]) -> Likeness:
        """Compare the files that either side changes with the maintainers'."""
        found = Likeness()
        paths = self._names(stop.onto, made) | self._names(stop.onto, stop.merge)
        for path in sorted(paths.difference(without)):
            found.add(path, self._content(made, path), self._content(stop.merge, path))
        return found

    def _merge(self, stop: Stop, played: Played) -> None:
        """Merge with git; an empty file stands for each content that the snapshots lack."""
        empty = self._git("hash-object", "-w", "-t", "blob", os.devnull)
        for commit in (stop.before, stop.onto):
            for path in absent_paths(self._store, (commit,), self._environment):
                blob = self._git("rev-parse", f"{commit}:{path}")
                self._git("update-ref", f"refs/replace/{blob}", empty)
        line = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
        printed = self._git(*line, stop.before, stop.onto, good=(0, 1))
        tree, *conflicts = (name for name in printed.split("\0") if name)
        played.merge.add([self._content(tree, path) or b"" for path in set(conflicts)])
        played.merge_alone = self._likeness(stop, tree, conflicts)

    def _rebase(self, stop: Stop, played: Played, before: str) -> None:
        """Rebase the same patches with git and rerere; conflicts get the merge's files."""
        environment = self._environment
        absent = absent_paths(self._store, (before, stop.onto, stop.old, stop.merge), environment)
        root = self._place / "clone"
        shutil.rmtree(root, ignore_errors=True)
        patterns = ["/*", *(f"!/{path}" for path in absent)]
        clone = make_clone(self._store, root, before, patterns, environment)
        for row in self._git(
            "for-each-ref", "--format=%(refname) %(objectname)", "refs/replace"
        ).splitlines():
            clone.git("update-ref", *row.split())
        clone.git("config", "rerere.enabled", "true")
        words = ["--onto", stop.onto, stop.old]
        while words:
            start = _processor()
            line = ["git", "rebase", *words]
            done = subprocess.run(line, cwd=root, env=environment, capture_output=True, check=False)
            played.rebase_seconds += _processor() - start
            printed = clone.git("diff", "--name-only", "--diff-filter=U", "-z")
            unmerged = [path for path in printed.split("\0") if path]
            if done.returncode and not unmerged and clone.git("status", "--porcelain", "-uno"):
                raise SystemExit(f"git rebase: {done.stderr.decode()[-600:]}")
            files = [root / path for path in unmerged]
            played.rebase.add([file.read_bytes() if file.is_file() else b"" for file in files])
            for path in unmerged:
                if self._content(stop.merge, path) is None:
                    clone.git("rm", "-q", "-f", "--sparse", "--", path)
                else:
                    clone.git("checkout", stop.merge, "--", path)
            is_empty = not clone.git("diff", "--cached", "--name-only")
            words = ["--skip" if is_empty else "--continue"] if done.returncode else []

    def _append(self, start: str, end: str) -> None:
        """Import what the fork's line has since a merge, a patch for each commit."""
        way = self._way(start, end)
        messages = (self._git("log", "-1", "--format=%B", commit) for commit in way)
        pairs = zip(messages, way, strict=True)
        self._import(start, [self._patch(said, f"{commit}^", commit) for said, commit in pairs])

    def _way(self, start: str, end: str) -> list[str]:
        """Return the commits of the fork's line between two, without those that it took back."""
        line = ("log", "--first-parent", "--reverse", "--format=%H %T", f"{start}..{end}")
        way: list[tuple[str, str]] = [("", self._git("rev-parse", f"{start}^{{tree}}"))]
        for row in self._git(*line).splitlines():
            commit, tree = row.split()
            trees = [tree for _, tree in way]
            if tree in trees:
                del way[trees.index(tree) + 1 :]
            else:
                way.append((commit, tree))
        return [commit for commit, _ in way[1:]]

    def _import(self, name: str, patches: Sequence[bytes]) -> None:
        if any(patches):
            folder = self._place / name
            folder.mkdir()
            for number, content in enumerate(filter(None, patches)):
                (folder / f"{number:04}-{name[:12]}.patch").write_bytes(content)
            self._ground.inside("import", str(folder), "--series", "fork")

    def _patch(self, message: str, old: str, new: str) -> bytes:
        """Return a patch file, nothing where nothing differs."""
        difference = self._bytes("diff", "--binary", "--full-index", "--no-renames", old, new)
        return message.encode() + b"\n\n---\n" + difference if difference else b""

    def _branch(self, name: str) -> str:
        self._ground.inside("branch", "fork", "--repo", str(self._store), "--name", name)
        return self._git("rev-parse", name)

    def _rebased(self, played: Played, *arguments: str) -> Any:
        start = _processor()
        answer = json.loads(self._ground.inside("rebase", *arguments, "--json", good=False))
        played.seconds += _processor() - start
        if "error" in answer:
            raise SystemExit(f"{arguments}: {answer['error']['message']}")
        tell(f"{self._fork.name} {played.onto}: {_processor() - start:.1f} s")
        return answer["series"][0]

    def _bytes(self, *arguments: str) -> bytes:
        line = ["git", f"--git-dir={self._store}", *arguments]
        return subprocess.run(line, capture_output=True, check=True).stdout

    def _names(self, one: str, other: str) -> set[str]:
        printed = self._git("diff-tree", "-r", "--name-only", "--no-renames", "-z", one, other)
        return {name for name in printed.split("\0") if name}

    def _content(self, commit: str, path: str) -> bytes | None:
        if not self._git("ls-tree", "--full-tree", commit, "--", path):
            return None
        return self._bytes("cat-file", "blob", f"{commit}:{path}")


def _broken(one: Any) -> list[Any]:
    return [each for patch in one["patches"] for each in patch["findings"] if each["id"]]


def _processor() -> float:
    """Return the processor seconds of all processes that ended so far."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
