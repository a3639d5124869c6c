"""Hold what a side made of the tokens of the base."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchmgr.engines.structure.tokens import Token, contents
from patchmgr.engines.structure.tokens_align import Edit, edits_between


class Side(Struct, frozen=True):
    """One side's tokens, its edits, and where each kept base token stands in it."""

    tokens: tuple[Token, ...]
    edits: tuple[Edit, ...]
    kept: dict[int, int]

    def token(self, at: int) -> Token | None:
        """Return the side's token for one of the base, None where it is removed."""
        return self.tokens[self.kept[at]] if at in self.kept else None

    def before(self, at: int) -> tuple[Token, ...]:
        """Return the side's own token before one of its own, none at the beginning."""
        return self.tokens[max(at - 1, 0) : at]

    def added(self, edit: Edit) -> tuple[Token, ...]:
        """Return what an edit of this side puts in."""
        return self.tokens[edit.first : edit.last]


def side_of(base: Sequence[Token], other: tuple[Token, ...]) -> Side:
    """Compare a side with the base."""
    edits = edits_between(contents(base)[:-1], contents(other)[:-1])
    kept: dict[int, int] = {}
    at = to = 0
    for edit in (*edits, None):
        end = len(base) if edit is None else edit.start
        while at < end:
            kept[at] = to
            at, to = at + 1, to + 1
        if edit is not None:
            at, to = edit.end, edit.last
    return Side(other, edits, kept)
