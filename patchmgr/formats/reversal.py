"""The contrary of a patch: what takes its change back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import FilePatch, Hunk, Patch

_OTHER = {b"-": b"+", b"+": b"-"}


def reversed_patch(patch: Patch) -> Patch:
    """Return a patch that takes back what this one does; its text stays as it is.

    Raises PatchmgrError "unsupported" for a copy or a binary file: these say one way only.
    """
    files = tuple(_reversed_file(patch.name, change) for change in reversed(patch.files))
    return replace(patch, files=files, is_reversed=not patch.is_reversed)


def _reversed_file(name: str, change: FilePatch) -> FilePatch:
    if change.is_copy or change.binary is not None:
        what = "copies a file" if change.is_copy else "changes a binary file"
        raise PatchmgrError(
            "unsupported",
            f"{shown(name)} cannot be reversed (-R): it {what}: {shown(change.path)}",
            ("make a patch of the reverse instead: git diff -R --binary",),
        )
    return replace(
        change,
        old_path=change.new_path, new_path=change.old_path,
        old_mode=change.new_mode, new_mode=change.old_mode,
        old_id=change.new_id, new_id=change.old_id,
        hunks=tuple(map(_reversed_hunk, change.hunks)),
    )  # fmt: skip


def _reversed_hunk(hunk: Hunk) -> Hunk:
    return Hunk(
        hunk.new_start, hunk.new_count, hunk.old_start, hunk.old_count,
        hunk.heading, tuple(_reversed_lines(hunk.lines)),
    )  # fmt: skip


def _reversed_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a hunk the other way round; of a change, the removed ones come first."""
    for is_context, run in groupby(lines, key=lambda line: line[:1] == b" "):
        found = tuple(run)
        yield from found if is_context else _reversed_run(found)


def _reversed_run(run: Sequence[bytes]) -> Iterator[bytes]:
    for kind in (b"+", b"-"):
        yield from (_OTHER[kind] + line[1:] for line in run if line[:1] == kind)
