"""Public series of patches whose fate is known: read from a file, rebuilt from public histories.

A line of the file is a series. It is judged on one or more targets. Its patches are picks, applied
one after the other to its base:

    C               the change from C's first parent to C
    A..B            the change from A to B, with the message of B
    A..B@M          the same, with the message of M
    [pick, ...]     several picks in one patch

A pick whose parent has the present tree is taken as it is, any other one is merged.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from patchmgr.formats.patch_files import parse_patch
from patchmgr.model.patch import Patch
from patchmgr.plumbing import git_process
from patchmgr.plumbing.scratch_repository import Scratch

_RANGE = re.compile(r"(\w+)\.\.(\w+)(?:@(\w+))?")
_NOBODY = "case <case@localhost> 1700000000 +0000"

Pick = str | list[str]


class Target(Struct, frozen=True):
    """A new upstream state: `truth` has the verdict, its class and a number for each patch.

    `evidence` are the commits that landed the series, `patch_evidence` those of each patch where
    they differ.
    """

    at: str
    target: str
    evidence: tuple[str, ...]
    truth: tuple[tuple[str, str, int | None], ...]
    patch_evidence: tuple[tuple[str, ...] | None, ...] = ()

    def landed_by(self, number: int) -> tuple[str, ...]:
        """Return the commits that landed a patch."""
        own = self.patch_evidence[number] if self.patch_evidence else None
        return self.evidence if own is None else own


class KnownSeries(Struct, frozen=True):
    """A series: `stores` are the histories that it is in, `trees` what each patch comes to."""

    series: str
    kind: str
    stores: tuple[str, ...]
    base: str
    picks: tuple[Pick, ...]
    trees: tuple[str, ...]
    targets: tuple[Target, ...]

    def group(self, target: Target, number: int) -> str:
        """Return the row of the table in which a patch is counted."""
        truth, kind, _ = target.truth[number]
        if truth == "partial":
            return "false: partly absorbed"
        if truth == "not-absorbed":
            return f"false: {kind if kind in ('reverted', 'undo') else 'never landed'}"
        if self.kind == "A":
            return "target is the squash" if target.at == "i" else "later targets"
        return self.kind


class CannotRebuild(Exception):
    """The histories at hand do not give the series that was recorded."""


def read_cases(path: Path, only: str = "") -> Iterator[KnownSeries]:
    """Yield the series of a file, with those targets whose `series:at` matches a pattern."""
    for line in path.read_bytes().splitlines():
        series = msgspec.json.decode(line, type=KnownSeries)
        name, wanted = series.series, re.compile(only)
        targets = tuple(t for t in series.targets if wanted.search(f"{name}:{t.at}"))
        if targets:
            yield msgspec.structs.replace(series, targets=targets)


def rebuild(scratch: Scratch, series: KnownSeries) -> tuple[Patch, ...]:
    """Return the patches as `git format-patch` writes them; raise CannotRebuild."""
    head, tree = series.base, scratch.reader.tree_of(series.base)
    for pick, wanted in zip(series.picks, series.trees, strict=True):
        plain = [pick] if isinstance(pick, str) else pick
        about = _change(plain[0])[2]
        for one in plain:
            tree = _applied(scratch, one, tree)
        if tree != wanted:
            raise CannotRebuild(f"{series.series}: {pick} does not come to {wanted}")
        head = _commit(scratch, tree, head, like=about)
    return tuple(_patches(scratch, series.base, head))


def _change(pick: str) -> tuple[str, str, str]:
    """Return the commit before, the commit after, and the one that has the message."""
    found = _RANGE.fullmatch(pick)
    if found is None:
        return f"{pick}^1", pick, pick
    return found[1], found[2], found[3] or found[2]


def _applied(scratch: Scratch, pick: str, tree: str) -> str:
    before, after = (_tree(scratch, commit) for commit in _change(pick)[:2])
    if before == tree:
        return after
    base = _commit(scratch, before)
    sides = [_commit(scratch, side, base) for side in (tree, after)]
    arguments = ["merge-tree", "--write-tree", "--no-messages", *sides]
    return (
        git_process.run(arguments, git_dir=scratch.git_dir, good=(0, 1))[1].decode().split("\n")[0]
    )


def _tree(scratch: Scratch, commit: str) -> str:
    arguments = ["rev-parse", "--verify", f"{commit}^{{tree}}"]
    return git_process.output(arguments, git_dir=scratch.git_dir).decode().strip()


def _commit(scratch: Scratch, tree: str, parent: str | None = None, like: str = "") -> str:
    author, message = f"author {_NOBODY}".encode(), b"side\n"
    if like:
        found = git_process.output(["cat-file", "commit", like], git_dir=scratch.git_dir)
        head, _, message = found.partition(b"\n\n")
        author = next(line for line in head.split(b"\n") if line.startswith(b"author "))
    parents = () if parent is None else (f"parent {parent}".encode(),)
    lines = (f"tree {tree}".encode(), *parents, author, f"committer {_NOBODY}".encode(), b"")
    return scratch.write_loose("commit", b"\n".join((*lines, message or b"no message\n")))


def _patches(scratch: Scratch, base: str, head: str) -> Iterator[Patch]:
    with tempfile.TemporaryDirectory(dir=scratch.git_dir) as folder:
        options: Sequence[str] = ("--quiet", "--full-index", "--zero-commit", "--no-signature")
        arguments = ["format-patch", *options, "-o", folder, f"{base}..{head}"]
        git_process.output(arguments, git_dir=scratch.git_dir)
        for path in sorted(Path(folder).iterdir()):
            yield parse_patch(path.read_bytes(), name=path.name)
