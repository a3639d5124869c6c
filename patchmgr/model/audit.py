"""Faults that a clean merge can hide: findings of the audit, and the sums of the ledger."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

ENSURES = "ensures"


class AuditFinding(Struct, frozen=True):
    """A fault in a result that merged without a conflict.

    `kind` is a short stable word (`undefined-name`, `removed`, `signature`, ...). A certain finding
    makes its patch a conflict, any other is a warning. `line` counts from 1 and is 0 where the
    finding is about a whole file; `path` and `line` are places in the result. `text` is one
    sentence for a person: what is wrong, and what to look at. `commit` is the upstream commit (or
    release) that made it so, and `proposal` the name or text to use instead, where one is known. A
    certain finding has an `id`, which stays the same while the patch and the fault do. A person
    accepts the finding by its id; `accepted` is then the reason given.
    """

    kind: str
    is_certain: bool
    path: str
    line: int
    symbol: str | None
    text: str
    commit: str | None = None
    proposal: str | None = None
    id: str = ""
    accepted: str | None = None

    @property
    def can_be_accepted(self) -> bool:
        """Say whether a person may accept it; who no longer wants what a header ensures says so."""
        return self.kind != ENSURES

    def sentence(self) -> str:
        """Return the finding as one line, its place first."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        since = f" (upstream: {self.commit[:12]})" if self.commit else ""
        return f"{place}: {self.text}{since}" if place else f"{self.text}{since}"


class Accepted(Struct, frozen=True, forbid_unknown_fields=True):
    """An accepted finding: its id, its subject, and why it was accepted."""

    id: Annotated[str, Meta(pattern=r"^[0-9a-f]{12}\Z")]
    series: str
    patch: str
    text: str
    because: str


class Sums(Struct, frozen=True):
    """What became of the lines of a series' patches, as counts."""

    carried: int = 0
    upstream: int = 0
    conflict: int = 0
    given_up: int = 0

    @property
    def total(self) -> int:
        """Return the number of lines that are accounted for."""
        return self.carried + self.upstream + self.conflict + self.given_up


class Ledger(Struct, frozen=True):
    """The sums of a series: each added and removed line of its patches is in one of them.

    `faults` are lines that are not accounted for, each with the name of its patch. A fault that is
    not certain concerns a patch that upstream landed without those lines.
    """

    added: Sums
    removed: Sums
    faults: tuple[tuple[str, AuditFinding], ...] = ()

    @property
    def is_balanced(self) -> bool:
        """Return whether every line is accounted for."""
        return not any(fault.is_certain for _, fault in self.faults)
