"""Where upstream moved files to, by git's own similarity, for the paths that a series needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from patchmgr.formats.paths import refusal
from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author
from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing import door
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.history import changed_paths
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.workbench import Workbench

_NOBODY = Author(COMMITTER_NAME, COMMITTER_EMAIL, "0 +0000")


def find_renames(
    bench: Workbench, base: StoredTree, onto: StoredTree, paths: Sequence[str]
) -> Mapping[str, str]:
    """Return old path to new path for those of the paths that upstream moved (50 % alike).

    Git compares a tree of the vanished paths with a tree of all that is new in onto, less
    what the store does not hold: no content that the series does not need is asked for. No file
    moves to a path that a patch may not have.
    """
    gone = [p for p in paths if base.entry(p) is not None and onto.entry(p) is None]
    if not gone:
        return {}
    _, added = changed_paths(bench.git_dir, base.id, onto.id)
    old = {p: e for p in gone if (e := base.entry(p)) is not None and e.mode in FILE_MODES}
    fit = (path for path in added if refusal(path) is None)
    new = {p: e for p in fit if (e := onto.entry(p)) is not None and e.mode in FILE_MODES}
    present = present_blobs(bench, [e.blob for e in (*old.values(), *new.values())])
    old, new = _only(old, present), _only(new, present)
    if not old or not new:
        return {}
    # Everything that is compared must be in one tree each, at its real path: git looks at
    # base names first.
    before = write_commits(bench, None, [Draft(_NOBODY, b"base\n", dict(old))])[0]
    after = write_commits(bench, None, [Draft(_NOBODY, b"onto\n", dict(new))])[0]
    arguments = ["diff-tree", "-r", "-z", "--name-status", "--find-renames=50%", "-l0"]
    fields = door.text(
        door.output([*arguments, "--diff-filter=R", before, after], git_dir=bench.git_dir)
    ).split("\x00")
    return dict(zip(fields[1::3], fields[2::3], strict=False))


def present_blobs(bench: Workbench, blobs: Iterable[str]) -> set[str]:
    """Return those of the blobs that the bench can read."""
    return {blob for blob, kind in bench.reader.kinds(blobs).items() if kind == "blob"}


def _only(entries: Mapping[str, Entry], present: set[str]) -> dict[str, Entry]:
    return {path: entry for path, entry in entries.items() if entry.blob in present}
