"""Merges of somebody's repository, done again: what was in conflict, and what was committed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing import door
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.workbench import Workbench


class PastMerge(Struct, frozen=True):
    """Two commits to merge, and the commit with what a person made of it.

    `base` is the commit to merge over, None where git is to find it.
    """

    base: str | None
    ours: str
    theirs: str
    made: str


class Clash(Struct, frozen=True):
    """A path in conflict: its three sides, None where a side has no such file, and the outcome.

    `made` is the file in the commit, None where it has none at the path.
    """

    path: str
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    made: Entry | None


def find_merges(repository: Path, name: str) -> tuple[Path, tuple[PastMerge, ...]]:
    """Return the git directory, and the merge of that name or those of a range `A..B`.

    Raises PatchmgrError "usage" where a named commit is no merge of two.
    """
    if not name or name.startswith("-") or "\n" in name or "\0" in name:
        raise PatchmgrError("usage", f"{shown(name)} is no commit or range A..B")
    git_dir = find_git_dir(repository)
    is_range = ".." in name
    wanted = ["rev-list", "--parents", "--topo-order"]
    wanted += ["--merges"] if is_range else ["--no-walk"]
    code, printed = door.run(
        [*wanted, "--end-of-options", name, "--"], git_dir=git_dir, cwd=git_dir, good=(0, 128)
    )
    if code:
        what = "range" if is_range else "commit"
        raise PatchmgrError("unknown-ref", f"{repository} has no {what} {shown(name)}")
    rows = [line.split() for line in printed.decode().splitlines()]
    found = tuple(PastMerge(None, row[1], row[2], row[0]) for row in rows if len(row) == 3)
    if not is_range and not found:
        parents = len(rows[0]) - 1 if rows else 0
        reason = f"{shown(name)} has {parents} parents, and a merge of two is needed"
        raise PatchmgrError("usage", reason, ("a rebase is learned with --was OLD",))
    return git_dir, found


def find_rebased(repository: Path, name: str, was: str) -> tuple[Path, tuple[PastMerge, ...]]:
    """Return the commits of a range `A..B` that are those of an older branch, on another parent.

    They are known by author, author date and subject; what is there twice is left out.
    """
    for given in (name, was):
        if not given or given.startswith("-") or "\n" in given or "\0" in given:
            raise PatchmgrError("usage", f"{shown(given)} is no commit or range A..B")
    start, dots, end = name.partition("..")
    if not dots or not start or not end or end.startswith("."):
        raise PatchmgrError("usage", f"{shown(name)} is no range A..B")
    git_dir = find_git_dir(repository)
    new = _by_author(git_dir, [name], repository)
    old = _by_author(git_dir, [was, f"^{end}"], repository)
    found = [
        PastMerge(old[key][1], new[key][1], old[key][0], new[key][0])
        for key in new
        if key in old and old[key][0] != new[key][0]
    ]
    return git_dir, tuple(found)


def _by_author(
    git_dir: Path, revisions: Sequence[str], repository: Path
) -> dict[bytes, tuple[str, str]]:
    """Return commit and parent by what a rebase leaves as it is; of merges, nothing."""
    form = "--format=tformat:%H%x09%P%x09%an%x09%ae%x09%at%x09%s"
    code, printed = door.run(
        ["log", "--no-merges", "--reverse", "-z", form, "--end-of-options", *revisions, "--"],
        git_dir=git_dir,
        cwd=git_dir,
        good=(0, 128),
    )
    if code:
        raise PatchmgrError("unknown-ref", f"{repository} has no {shown(' '.join(revisions))}")
    found: dict[bytes, tuple[str, str]] = {}
    doubled: set[bytes] = set()
    for row in printed.split(b"\0"):
        commit, _, rest = row.partition(b"\t")
        parent, _, key = rest.partition(b"\t")
        if len(parent) != 40:
            continue
        if key in found:
            doubled.add(key)
        found[key] = (commit.decode(), parent.decode())
    return {key: commits for key, commits in found.items() if key not in doubled}


def merge_again(bench: Workbench, past: PastMerge) -> Iterator[Clash]:
    """Merge two commits as git does, and yield what is in conflict."""
    door.require_git("merging again")
    arguments = ["merge-tree", "--write-tree", "-z", "--no-messages"]
    theirs = past.theirs
    if past.base is not None:
        # git 2.39 has no --merge-base: a commit of the same tree on top of the base has it.
        ours = _on(bench, past.ours, past.base)
        theirs = _on(bench, past.theirs, past.base)
    else:
        ours = past.ours
    code, printed = door.run([*arguments, ours, theirs], git_dir=bench.git_dir, good=(0, 1))
    if code == 0:
        return
    made = StoredTree(bench.reader, bench.reader.tree_of(past.made))
    stages: dict[str, dict[int, Entry]] = {}
    for row in door.text(printed).split("\0")[1:]:
        facts, tab, path = row.partition("\t")
        if tab:
            mode, blob, stage = facts.split(" ")
            stages.setdefault(path, {})[int(stage)] = Entry(mode, blob)
    for path, sides in stages.items():
        yield Clash(path, sides.get(1), sides.get(2), sides.get(3), made.entry(path))


def _on(bench: Workbench, commit: str, base: str) -> str:
    ident = b"patchmgr <patchmgr@localhost> 0 +0000"
    tree = bench.reader.tree_of(commit)
    if commit == base:
        return base
    lines = [
        f"tree {tree}".encode(), f"parent {base}".encode(), b"author " + ident,
        b"committer " + ident, b"", b"side", b"",
    ]  # fmt: skip
    return bench.write_loose("commit", b"\n".join(lines))


def is_plain(clash: Clash) -> bool:
    """Say whether every side that is there is a file, no link and no submodule."""
    entries = (clash.base, clash.ours, clash.theirs, clash.made)
    return all(entry is None or entry.mode in FILE_MODES for entry in entries)
