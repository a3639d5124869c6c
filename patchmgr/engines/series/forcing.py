"""Apply as many hunks of a patch as possible, and reject the others, for `push --force`."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.engines.series.placement import Rejected, apply_hunks
from patchmgr.errors import PatchmgrError
from patchmgr.model.patch import FilePatch, Hunk, Patch
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import REGULAR, Entry


class RejectedHunks(Struct, frozen=True):
    """The hunks of a patch that do not apply to one file."""

    change: FilePatch
    hunks: tuple[Hunk, ...]


def force_patch(side: Overlay, patch: Patch, blobs: Blobs) -> tuple[RejectedHunks, ...]:
    """Apply the hunks of a patch that fit, and return the rejected ones.

    Raises PatchmgrError "bad-patch" if a change without text hunks does not apply.
    """
    rejected: list[RejectedHunks] = []
    for change in patch.files:
        try:
            step_patch(side, replace(patch, files=(change,)), blobs)
        except PatchmgrError:
            if change.binary is not None or not change.hunks:
                raise  # such a change cannot be written as a reject
            rejected.append(_part(side, change, blobs))
    return tuple(rejected)


def _part(side: Overlay, change: FilePatch, blobs: Blobs) -> RejectedHunks:
    """Apply the hunks that fit (none if the file is new, deleted or moved); return the others."""
    entry = None if change.old_path is None else side.entry(change.old_path)
    if entry is None or change.new_path is None or change.is_rename or change.is_copy:
        return RejectedHunks(change, change.hunks)
    content, left = blobs.read(entry.blob), []
    kept: list[Hunk] = []
    for hunk in change.hunks:
        if isinstance(apply_hunks(content, (*kept, hunk)), Rejected):
            left.append(hunk)
        else:
            kept.append(hunk)
    applied = apply_hunks(content, kept)
    assert not isinstance(applied, Rejected)  # each hunk was tried with the hunks before it
    side.set(change.path, Entry(entry.mode or REGULAR, blobs.add(applied.content)))
    return RejectedHunks(change, tuple(left))


def reject_text(rejected: RejectedHunks) -> bytes:
    """Return the rejected hunks as a diff, in the format of the `.rej` files of GNU patch."""
    change = rejected.change
    old = f"a/{change.old_path}" if change.old_path is not None else "/dev/null"
    new = f"b/{change.new_path}" if change.new_path is not None else "/dev/null"
    lines = [f"--- {old}\n+++ {new}\n".encode("utf-8", "surrogateescape")]
    for hunk in rejected.hunks:
        heading = b" " + hunk.heading if hunk.heading else b""
        numbers = hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count
        lines.append(b"@@ -%d,%d +%d,%d @@%s\n" % (*numbers, heading))
        for line in hunk.lines:
            lines.append(
                line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
            )
    return b"".join(lines)
