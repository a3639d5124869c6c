"""What the merge of a file offers: clean text, and for each conflict region some candidates."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.outcome import Reliability, Suggestion


class Candidate(Struct, frozen=True):
    """What a region could become, what made it, and what is known of it.

    `features` are small vocabularies: of the region, of the candidate, and of its verification.
    `asks` says why it is never taken alone, however likely it is right.
    """

    text: str
    rule: str
    features: dict[str, str]
    asks: str = ""


Candidates = tuple[Candidate, ...]
"""The candidates of one region, no two with the same text, in the maker's own order."""


class FileCandidates(Struct, frozen=True):
    """Clean text and regions in order; with a candidate for each region, they are the file."""

    pieces: tuple[str | Candidates, ...]

    @property
    def regions(self) -> tuple[Candidates, ...]:
        """Return the regions alone."""
        return tuple(piece for piece in self.pieces if not isinstance(piece, str))

    def joined(self, chosen: tuple[str, ...]) -> str:
        """Return the file with one text for each region."""
        texts = iter(chosen)
        return "".join(p if isinstance(p, str) else next(texts) for p in self.pieces)


class Resolved(Struct, frozen=True):
    """The merged text, None where a region is left to a person, and how sure that is.

    `reliability` has an entry for each region that was taken; `suggestions` are what each region
    could become, the likeliest first, where a person is asked. `is_layout` says that in each
    region one side changed the format alone.
    """

    text: str | None
    reliability: tuple[Reliability, ...] = ()
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()
    is_layout: bool = False
