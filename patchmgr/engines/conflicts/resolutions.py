"""What a person made of a conflict, as a file of the new side."""

from __future__ import annotations

import re

from patchmgr.errors import PatchmgrError
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import EXECUTABLE, FILE_MODES, GITLINK, REGULAR, Entry

_COMMIT = re.compile(rb"Subproject commit ([0-9a-f]{40})\n?")


def shown_content(entry: Entry | None, blobs: Blobs) -> bytes | None:
    """Return a side as a person sees it: a submodule as the line that diffs have for it."""
    if entry is None:
        return None
    if entry.mode == GITLINK:
        return f"Subproject commit {entry.blob}\n".encode()
    return blobs.read(entry.blob)


def solved_entry(
    content: bytes,
    base: Entry | None,
    ours: Entry | None,
    theirs: Entry | None,
    *,
    path: str,
    blobs: Blobs,
) -> Entry:
    """Return the file that a person's content stands for.

    It is a link where it is that of one side, or where no side is anything else; a last line
    feed is no part of a link. Its mode is that of the side that changed it. Raises PatchmgrError
    "bad-resolution" where only a link will do and the content is none.
    """
    for side in (ours, theirs):
        if side is not None and side.mode not in FILE_MODES:
            shown = shown_content(side, blobs) or b""
            if content.removesuffix(b"\n") == shown.removesuffix(b"\n"):
                return side
    present = [side.mode for side in (ours, theirs) if side is not None]
    if set(present) & FILE_MODES:
        return Entry(_file_mode(base, present), blobs.add(content))
    return _solved_link(content, present, path, blobs)


def _file_mode(base: Entry | None, present: list[str]) -> str:
    modes = [mode for mode in present if mode in FILE_MODES]
    if base is not None and base.mode in FILE_MODES:
        return next((mode for mode in modes if mode != base.mode), base.mode)
    return EXECUTABLE if EXECUTABLE in modes else REGULAR


def _solved_link(content: bytes, present: list[str], path: str, blobs: Blobs) -> Entry:
    match = _COMMIT.fullmatch(content)
    if GITLINK in present and match is not None:
        return Entry(GITLINK, match[1].decode())
    target = content.removesuffix(b"\n")
    link = next((mode for mode in present if mode != GITLINK), None)
    if link is None:
        hint = "write one line: Subproject commit, and the 40 letters of the commit"
        raise PatchmgrError("bad-resolution", f"{path}: this names no commit", (hint,))
    if not target or b"\n" in target or b"\0" in target:
        hint = "write the path that the link points to, on one line"
        raise PatchmgrError("bad-resolution", f"{path}: this is no target of a link", (hint,))
    return Entry(link, blobs.add(target))
