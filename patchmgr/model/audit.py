"""Audit findings (faults that a clean merge can hide), and the ledger of patch lines."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

ENSURES = "ensures"


class AuditFinding(Struct, frozen=True):
    """A fault in the result of a clean merge; a certain one puts its patch in conflict."""

    kind: str  # a short stable word (`undefined-name`, `removed`, `signature`, ...)
    is_certain: bool
    path: str  # of a file in the result
    line: int  # from 1; 0 for the whole file
    symbol: str | None
    text: str  # a sentence for a person: what is wrong, and what to look at
    commit: str | None = None  # the upstream commit (or release) that caused the fault, if known
    proposal: str | None = None  # the name or text to use instead, if known
    id: str = ""  # of a certain finding; stable while the patch and the fault do not change
    accepted: str | None = None  # the reason of the person who accepted the finding

    @property
    def can_be_accepted(self) -> bool:
        """Return whether a person may accept the finding."""
        # if `Ensures` fails, a person must correct the header
        return self.kind != ENSURES

    def sentence(self) -> str:
        """Return the finding as one line: path and line number, text, and upstream commit."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        since = f" (upstream: {self.commit[:12]})" if self.commit else ""
        return f"{place}: {self.text}{since}" if place else f"{self.text}{since}"


class Accepted(Struct, frozen=True, forbid_unknown_fields=True):
    """A finding that a person accepted: its id, series, patch and text, and the reason given."""

    id: Annotated[str, Meta(pattern=r"^[0-9a-f]{12}\Z")]
    series: str
    patch: str
    text: str
    because: str


class Sums(Struct, frozen=True):
    """How many lines of patches are carried, are in upstream, are in conflict, or were given up."""

    carried: int = 0
    upstream: int = 0
    conflict: int = 0
    given_up: int = 0

    @property
    def total(self) -> int:
        """Return the total number of patch lines."""
        return self.carried + self.upstream + self.conflict + self.given_up


class Ledger(Struct, frozen=True):
    """What became of each added and each removed line of a series' patches."""

    added: Sums
    removed: Sums
    # (patch, finding) for lost lines; only a warning if upstream landed the patch without them
    faults: tuple[tuple[str, AuditFinding], ...] = ()

    @property
    def is_balanced(self) -> bool:
        """Return whether the ledger has no certain findings."""
        return not any(fault.is_certain for _, fault in self.faults)
