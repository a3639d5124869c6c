"""The runs of changed lines that a hunk is made of."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from patchmgr.engines.differences import Block
from patchmgr.engines.languages.words import is_blank, is_import
from patchmgr.model.patch import Hunk


class Run(Struct, frozen=True):
    """A run of changed lines of a hunk: the line of base where it starts, and both sides."""

    start: int
    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]

    @property
    def end(self) -> int:
        """Return the line of base behind the run."""
        return self.start + len(self.removed)

    def gap(self, block: Block) -> int:
        """Return how many lines of base are between the run and a block."""
        return max(0, block.old_start - self.end, self.start - block.old_end)

    @property
    def says_something(self) -> bool:
        """Say whether the run adds more than blank lines and imports."""
        return any(not is_blank(line) and not is_import(line) for line in self.added)


def runs_of(hunk: Hunk, position: int) -> Iterator[Run]:
    """Yield the runs of changed lines of a hunk that starts at a line of base (from 0)."""
    line = start = position
    removed: list[bytes] = []
    added: list[bytes] = []
    for text in (*hunk.lines, b" "):
        if text[:1] == b" ":
            if removed or added:
                yield Run(start, tuple(removed), tuple(added))
            removed, added = [], []
            start = line + 1
        elif text[:1] == b"-":
            removed.append(text[1:])
        else:
            added.append(text[1:])
        line += text[:1] != b"+"
