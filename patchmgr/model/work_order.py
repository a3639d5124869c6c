"""A work order: everything that is known about a conflict, and what its resolution must satisfy."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.audit import AuditFinding
from patchmgr.model.outcome import ConflictKind, Likely, Reliability
from patchmgr.model.upstream import CommitSummary, Pin


class SideText(Struct, frozen=True):
    """A side of a conflict: its size in bytes, and its text (None if it is not UTF-8)."""

    size: int
    text: str | None
    mode: str | None = None


class OrderedCandidate(Struct, frozen=True):
    """A candidate for the text of a region: its number (from 1), text and reliability."""

    number: int
    text: str
    reliability: Reliability


class OrderedRegion(Struct, frozen=True):
    """A conflicting region; `base`, `ours` or `theirs` is None if that side lacks the file."""

    id: str
    line: int  # from 1 in the file with markers; 0 if the whole file is in conflict
    symbol: str | None
    base: SideText | None
    ours: SideText | None
    theirs: SideText | None
    candidates: tuple[OrderedCandidate, ...] = ()
    written_by: str | None = None  # the upstream commit that wrote the text shown for ours


class SymbolSides(Struct, frozen=True):
    """The whole text of a symbol on each side, or None for a side without the symbol."""

    name: str
    path: str
    base: str | None
    ours: str | None
    theirs: str | None = None
    # its text in a merge without conflict that the audit or the ledger rejected
    result: str | None = None


class UpstreamChange(CommitSummary, frozen=True):
    """An upstream commit (or release); `diff` is its change to the text in conflict."""

    author: str
    message: str = ""
    diff: str = ""


class SymbolUse(Struct, frozen=True):
    """A line in the new upstream state that uses a symbol in conflict."""

    path: str
    line: int
    text: str


class EarlierResolution(Struct, frozen=True):
    """An earlier resolution for the same patch or file: its id, its description, and its text."""

    id: str
    path: str
    seen: str
    words: str
    text: str | None


class Requirement(Struct, frozen=True):
    """A requirement for a proposed resolution, and the name of the check that tests it."""

    check: str
    text: str


class WorkOrder(Struct, frozen=True):
    """A conflict, and everything that is known about it."""

    id: str
    kind: ConflictKind
    series: str
    patch: str
    subject: str
    message: str  # the whole commit message
    why: str | None  # the reason for the patch, from its header
    fields: tuple[tuple[str, str], ...]
    path: str
    new_path: str
    reason: str
    base: Pin
    onto: Pin
    regions: tuple[OrderedRegion, ...] = ()
    symbols: tuple[SymbolSides, ...] = ()
    causes: tuple[UpstreamChange, ...] = ()
    later: tuple[UpstreamChange, ...] = ()
    uses: tuple[SymbolUse, ...] | None = None  # None if the store cannot be searched
    earlier: tuple[EarlierResolution, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    finding: AuditFinding | None = None
    proposal: str | None = None  # the decision that a person is likely to make
    likely: tuple[Likely, ...] = ()  # the evidence for `proposal`
    # who proposed a resolution that passed its checks and is not accepted yet
    offered: str | None = None
    # fields that were cut to shorten the order, each with how much of it is left
    cut: tuple[str, ...] = ()


class Failure(Struct, frozen=True):
    """A check that a proposed resolution did not pass: the name of the check, and the reason."""

    check: str
    text: str


class Solution(Struct, frozen=True):
    """The proposed content of a file in conflict, or None to delete the file."""

    content: bytes | None
    by: str  # the name of the proposer


class Proposed(Struct, frozen=True, rename={"has_passed": "passed"}):
    """A proposed resolution, the checks that it fails, and the commits that the checks used."""

    id: str
    series: str
    patch: str
    path: str
    by: str
    has_passed: bool
    failures: tuple[Failure, ...]
    rests_on: tuple[str, ...] = ()
