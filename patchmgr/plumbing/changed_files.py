"""Which files differ between two states, with both versions, in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing import door
from patchmgr.plumbing.renames import present_blobs
from patchmgr.plumbing.workbench import Workbench

_ABSENT = "000000"

Versions = Mapping[str, tuple["Entry | None", Entry]]


def changed_files(git_dir: Path, old: str, new: str) -> Versions:
    """Return the files that are new or other than before, by path: before (or None) and after.

    Only regular files count, on both sides.
    """
    arguments = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]
    printed = door.output([*arguments, "--diff-filter=AMT", old, new], git_dir=git_dir)
    fields = door.text(printed).split("\0")
    found: dict[str, tuple[Entry | None, Entry]] = {}
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old_id, new_id, _ = meta.removeprefix(":").split(" ")
        if new_mode in FILE_MODES:
            before = Entry(old_mode, old_id) if old_mode in FILE_MODES else None
            found[path] = before, Entry(new_mode, new_id)
    return found


def changed_paths(git_dir: Path, old: str, new: str) -> tuple[str, ...]:
    """Return the paths of all files that come, go or change between two states."""
    arguments = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new]
    return tuple(door.text(door.output(arguments, git_dir=git_dir)).rstrip("\0").split("\0"))


def readable_files(
    bench: Workbench,
    old: str,
    new: str,
    *,
    is_wanted: Callable[[str], bool],
    bring: Callable[[set[str]], None] = lambda blobs: None,
) -> Versions:
    """Return the wanted of the changed files whose contents the bench can read.

    `bring` fetches what the store lacks, as far as anybody has it.
    """
    files = {p: v for p, v in changed_files(bench.git_dir, old, new).items() if is_wanted(p)}
    blobs = {entry.blob for versions in files.values() for entry in versions if entry is not None}
    bring(blobs)
    present = present_blobs(bench, blobs)
    return {
        path: versions
        for path, versions in files.items()
        if all(entry is None or entry.blob in present for entry in versions)
    }
