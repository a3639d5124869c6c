"""Find the version of a text that introduced each line."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.engines.text.differences import changed_blocks


def origins(versions: Sequence[tuple[str | None, bytes]]) -> tuple[str | None, ...]:
    """Return the version that introduced each line of the last version. Only LF ends a line."""
    owner: list[str | None] = []
    before: list[bytes] = []
    for name, content in versions:
        after = content.split(b"\n")
        found, at = list[str | None](), 0
        for block in changed_blocks(before, after):
            found += owner[at : block.old_start]
            found += [name] * (block.new_end - block.new_start)
            at = block.old_end
        owner, before = [*found, *owner[at:]], after
    return tuple(owner)
