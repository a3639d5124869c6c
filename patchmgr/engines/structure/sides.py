"""What a structural rung is given and what it answers."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

IMPORTED = "imports upstream has"
"""The rule where the fork changes only what a file imports, and upstream imports the same."""


class Texts(Struct, frozen=True):
    """The three texts of a file that a text merge leaves in conflict.

    `upstream` is the new upstream's, `fork` the patch's. Line endings are as in the file; bytes
    that are not UTF-8 are surrogate escapes.
    """

    base: str
    upstream: str
    fork: str

    def sides(self) -> tuple[str, str, str]:
        """Return base, upstream and fork."""
        return self.base, self.upstream, self.fork


class Solution(Struct, frozen=True):
    """The whole merged text, and the names of the rules that it took."""

    text: str
    rules: tuple[str, ...]


class Solver(Protocol):
    """Merge a whole file, or answer None where any part of it is not sure.

    A solver has proved its answer: it parses where its inputs do, nothing of either side is lost
    or doubled, and what no conflict touches is as in a text merge.
    """

    def __call__(self, texts: Texts, path: str, *, marked: str) -> Solution | None:
        """Merge the texts; `marked` is git's merge with zdiff3 markers, upstream's side first."""
