"""Apply patches to a tree one after the other, exactly as they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.placement import Rejected, apply_hunks
from patchmgr.errors import PatchmgrError
from patchmgr.formats.binary import apply_binary
from patchmgr.formats.paths import parents_of
from patchmgr.model.patch import BinaryChange, FilePatch, Patch
from patchmgr.model.ports import Blobs, Tree
from patchmgr.model.snapshot import EMPTY_BLOB, GITLINK, REGULAR, Entry, blob_id, is_full_id


class FileStep(Struct, frozen=True):
    """A patch's change to one file, in the state that the patch is written against."""

    change: FilePatch
    base: Entry | None  # the file before, at the old path
    theirs: Entry | None  # the file after, at the new path
    positions: tuple[int, ...] = ()  # the line of base (from 0) at which each hunk starts

    @property
    def size(self) -> int:
        """The number of verdicts that the file gets in a rebase: one per hunk, at least one."""
        return max(1, len(self.change.hunks))


class Overlay:
    """A tree with changes to some of its files, kept in memory."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._changed: dict[str, Entry | None] = {}
        self._inside: dict[str, dict[str, None]] = {}

    def entry(self, path: str) -> Entry | None:
        """Return the file at the path, or None if there is no file."""
        if path in self._changed:
            return self._changed[path]
        return self._tree.entry(path)

    def is_directory(self, path: str) -> bool:
        """Return whether the path is a folder with at least one file in or below it."""
        changed = self._inside.get(path, ())
        if any(self._changed[below] is not None for below in changed):
            return True
        if not self._tree.is_directory(path):
            return False
        return not changed or any(True for _ in self.files_below(path))

    def files_below(self, path: str) -> Iterator[str]:
        """Yield the paths of all files below a directory."""
        below = dict.fromkeys(self._below(path))
        return (name for name in below if self.entry(name) is not None)

    def set(self, path: str, entry: Entry | None) -> None:
        """Put a file at the path, or delete the file there if `entry` is None."""
        if path not in self._changed:
            for folder in parents_of(path):
                self._inside.setdefault(folder, {})[path] = None
        self._changed[path] = entry

    def changes(self) -> Mapping[str, Entry | None]:
        """Return the changed files, keyed by path. None stands for a deleted file."""
        return {p: e for p, e in self._changed.items() if e != self._tree.entry(p)}

    def obstacle(self, path: str, leaving: Collection[str] = ()) -> str | None:
        """Return a file (not in `leaving`) that is in the way of a new file at `path`, or None."""
        for parent in parents_of(path):
            if parent not in leaving and self.entry(parent) is not None:
                return parent
        below = (b for b in self._below(path) if b not in leaving and self.entry(b) is not None)
        return min(below, default=None)

    def _below(self, path: str) -> Iterator[str]:
        yield from self._inside.get(path, ())
        if self._tree.is_directory(path):
            yield from self._tree.files_below(path)


def step_patch(side: Overlay, patch: Patch, blobs: Blobs) -> tuple[FileStep, ...]:
    """Apply a patch exactly, and return its change to each file; raise "bad-patch" if it fails."""
    leaving = {path for change in patch.files for path in left_path(change)}
    steps = tuple(_step_file(side, patch.name, change, leaving, blobs) for change in patch.files)
    for path in sorted(leaving):
        side.set(path, None)
    for step in steps:
        if step.change.new_path is not None:
            obstacle = side.obstacle(step.change.new_path)
            if obstacle is not None:
                raise _refusal(patch.name, step.change.new_path, f"{obstacle} is in the way")
            side.set(step.change.new_path, step.theirs)
    return steps


def left_path(change: FilePatch) -> tuple[str, ...]:
    """Return `(old_path,)` if a change deletes or renames the file, or else an empty tuple."""
    is_leaving = change.new_path is None or change.is_rename
    return (change.old_path,) if is_leaving and change.old_path is not None else ()


def _step_file(
    side: Overlay, name: str, change: FilePatch, leaving: Collection[str], blobs: Blobs
) -> FileStep:
    if _makes(side, change):
        change = replace(change, old_path=None)
    is_new = change.old_path is None or change.is_rename or change.is_copy
    if is_new and side.entry(change.path) is not None and change.path not in leaving:
        raise _refusal(name, change.path, "the file that it creates already exists")
    if change.old_path is None:
        blob, positions = _content(name, change, None, blobs)
        return FileStep(change, None, Entry(change.new_mode or REGULAR, blob), positions)
    base = side.entry(change.old_path)
    if base is None:
        raise _refusal(name, change.old_path, "the file does not exist")
    if change.old_mode is not None and change.old_mode != base.mode:
        raise _refusal(name, change.old_path, f"its mode is {base.mode}, not {change.old_mode}")
    blob, positions = _content(name, change, base, blobs)
    if change.new_path is None:
        if blob != EMPTY_BLOB:
            raise _refusal(name, change.old_path, "the deletion does not delete all lines")
        return FileStep(change, base, None, positions)
    return FileStep(change, base, Entry(change.new_mode or base.mode, blob), positions)


def _makes(side: Overlay, change: FilePatch) -> bool:
    """Return whether a plain diff creates a file, although it names the file on both sides."""
    # Its hunk starts with `@@ -0,0`. As it may also fill an empty file, the tree decides.
    path = change.old_path
    if path is None or path != change.new_path or side.entry(path) is not None:
        return False
    is_plain = change.old_id is None and change.old_mode is None
    return is_plain and _begins_empty(change)


def _begins_empty(change: FilePatch) -> bool:
    return [(hunk.old_start, hunk.old_count) for hunk in change.hunks] == [(0, 0)]


def _content(
    name: str, change: FilePatch, base: Entry | None, blobs: Blobs
) -> tuple[str, tuple[int, ...]]:
    """Return the blob id of a file after a change, and the position of each hunk."""
    is_changed = bool(change.hunks) or change.binary is not None
    if base is not None and not is_changed:
        return base.blob, ()
    if GITLINK in (change.new_mode, base.mode if base else None):
        return _gitlink(name, change, base), (0,) * len(change.hunks)
    old = b"" if base is None else blobs.read(base.blob)
    if change.binary is not None:
        return blobs.add(_binary(name, change, change.binary, old)), ()
    if old and _begins_empty(change) and EMPTY_BLOB.startswith(change.old_id or ""):
        why = "hunk 1 at line 0: it has no context, so it fits only an empty file"
        raise _refusal(name, change.path, why)
    applied = apply_hunks(old, change.hunks)
    if isinstance(applied, Rejected):
        hunk = change.hunks[applied.index]
        where = f"hunk {applied.index + 1} at line {hunk.old_start}: {applied.reason}"
        raise _refusal(name, change.path, where)
    return blobs.add(applied.content), applied.positions


def _binary(name: str, change: FilePatch, binary: BinaryChange, old: bytes) -> bytes:
    if change.old_path is not None and not _is_named(change.old_id, old):
        raise _refusal(name, change.path, "its content does not match the patch's `index` line")
    new = apply_binary(binary, old)
    if change.new_path is not None and not _is_named(change.new_id, new):
        raise _refusal(name, change.path, "the result does not match the patch's `index` line")
    return new


def _is_named(name: str | None, content: bytes) -> bool:
    """Return whether content may have the blob id `name`, which is None or short in some patches.

    Only a full id is compared with the content.
    """
    return name is None or not is_full_id(name) or name == blob_id(content)


def _gitlink(name: str, change: FilePatch, base: Entry | None) -> str:
    """Return the commit of a submodule after a change, or the empty blob for a deletion."""
    lines = [line for hunk in change.hunks for line in hunk.lines]
    old = [] if base is None else [b"-Subproject commit %s\n" % base.blob.encode()]
    if [line for line in lines if line[:1] == b"-"] != old:
        raise _refusal(name, change.path, "the submodule is not at the commit that the patch names")
    added = [line for line in lines if line[:1] != b"-"]
    if not added and change.new_path is None:
        return EMPTY_BLOB
    match = re.fullmatch(rb"\+Subproject commit ([0-9a-f]{40})\n", b"".join(added))
    if match is None:
        raise _refusal(name, change.path, "a submodule change must name exactly one commit")
    return match[1].decode()


def _refusal(name: str, path: str, why: str) -> PatchmgrError:
    return PatchmgrError(
        "bad-patch",
        f"{name} does not apply: {path}: {why}",
        "check that the series is written against its pin, and that no earlier patch is missing",
    )
