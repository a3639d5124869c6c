"""The results of a structural merge of a file: clean text, and candidates for each region.

A region is a conflict region of git; a candidate is a text that may resolve it.
"""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.outcome import Reliability, Suggestion


class Candidate(Struct, frozen=True):
    """A text that may resolve a conflict region, and the name of the rule that produced it."""

    text: str
    rule: str
    # words from a fixed vocabulary about the region, the candidate and its verification
    features: dict[str, str]
    asks: str = ""  # why a person must confirm it even if it is likely right


Candidates = tuple[Candidate, ...]
"""The candidates of one region in the order in which they were made, each with a different text."""


class FileCandidates(Struct, frozen=True):
    """The parts of a file that merged, and the candidates for the conflict regions between them."""

    pieces: tuple[str | Candidates, ...]

    @property
    def regions(self) -> tuple[Candidates, ...]:
        """Return, for each conflict region of the file, the texts that may resolve it."""
        return tuple(piece for piece in self.pieces if not isinstance(piece, str))

    def joined(self, chosen: tuple[str, ...]) -> str:
        """Return the text of the file, with one `chosen` text for each conflict region."""
        texts = iter(chosen)
        return "".join(p if isinstance(p, str) else next(texts) for p in self.pieces)


class Resolved(Struct, frozen=True):
    """The result of a structural merge; `text` is None if a person must resolve a region."""

    text: str | None
    reliability: tuple[Reliability, ...] = ()  # of each text that was used
    # if a person must resolve a region: the candidates for each, the likeliest first
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()
    is_layout: bool = False  # in every region, a side changed only the layout
