"""The values that a structural merge of a file yields: clean text, and candidates for each region.

A region is a conflict region of git, a candidate a text that may resolve it.
"""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.outcome import Reliability, Suggestion


class Candidate(Struct, frozen=True):
    """A text that may resolve a region, and the rule that made it.

    `features` describe the region, the candidate and its verification, each by a word of a fixed
    vocabulary. `asks` is the reason why a person must confirm it however likely it is right, or
    empty.
    """

    text: str
    rule: str
    features: dict[str, str]
    asks: str = ""


Candidates = tuple[Candidate, ...]
"""The candidates of one region in the order they were made, no two with the same text."""


class FileCandidates(Struct, frozen=True):
    """The clean texts of a file and the candidates of its regions, in order."""

    pieces: tuple[str | Candidates, ...]

    @property
    def regions(self) -> tuple[Candidates, ...]:
        """The candidates of each region."""
        return tuple(piece for piece in self.pieces if not isinstance(piece, str))

    def joined(self, chosen: tuple[str, ...]) -> str:
        """Return the whole file, given one text for each region."""
        texts = iter(chosen)
        return "".join(p if isinstance(p, str) else next(texts) for p in self.pieces)


class Resolved(Struct, frozen=True):
    """The merged text, or None if any region is left to a person.

    `reliability` lists the measured reliability of the texts taken. If a region is left to a
    person, `suggestions` lists the candidates of each region, the likeliest first. `is_layout` says
    whether one side changed only the layout in every region.
    """

    text: str | None
    reliability: tuple[Reliability, ...] = ()
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()
    is_layout: bool = False
