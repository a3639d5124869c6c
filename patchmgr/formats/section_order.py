"""The files of one patch together: no file twice, none below another file."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.formats.shown import shown
from patchmgr.model.patch import FilePatch


def clash(files: Sequence[FilePatch]) -> tuple[int, str] | None:
    """Return which file clashes with another and why, None where all go together.

    Each section is read as a change of the tree before the patch. A path may be left and
    taken anew, as in a change of type (deleted, then new) or in two renames that swap.
    """
    return _taken_twice(files) or _below_a_file(files)


def _taken_twice(files: Sequence[FilePatch]) -> tuple[int, str] | None:
    left: set[str] = set()
    taken: set[str] = set()
    for number, file in enumerate(files):
        old, new = (None if file.is_copy else file.old_path), file.new_path
        if old in left or new in taken:
            return number, f"a second section for {shown(file.path)}"
        if old is not None and new is None and old in taken:
            return number, f"{shown(old)} is made before it is deleted"
        left.update([old] if old is not None else [])
        taken.update([new] if new is not None else [])
    return None


def _below_a_file(files: Sequence[FilePatch]) -> tuple[int, str] | None:
    taken = {file.new_path for file in files}
    for number, file in enumerate(files):
        path = file.new_path or ""
        at = path.find("/")
        while at >= 0:
            if path[:at] in taken:
                return number, f"{shown(path)} is below {shown(path[:at])} which is a file"
            at = path.find("/", at + 1)
    return None
