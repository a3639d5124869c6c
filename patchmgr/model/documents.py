"""The JSON document that `rebase` prints, and that the workspace saves for `notes`.

`docs/rebase.schema.json` is made from these classes. Keys may be added. If a key is removed or its
meaning changes, the number of the format changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from patchmgr.model.audit import Sums
from patchmgr.model.outcome import How, HunkOutcome, Likely, Reliability, Verdict
from patchmgr.model.upstream import CommitSummary, UpstreamState


class EvidenceDocument(CommitSummary, frozen=True):
    """An upstream commit or release that shows why hunks are absorbed."""

    paths: tuple[str, ...]
    how: How | None = None
    reliability: Reliability | None = None


class CauseDocument(CommitSummary, frozen=True):
    """The first upstream commit or release after which hunks no longer apply as they did."""

    paths: tuple[str, ...]
    author: str = ""


class CandidateDocument(Struct, frozen=True):
    """A text that may resolve a region in conflict."""

    text: str
    rule: str
    reliability: Reliability


class ConflictDocument(Struct, frozen=True):
    """A conflict; if a finding caused it, `shown` and `candidates` are absent."""

    id: str
    path: str | None
    new_path: str | None
    reason: str
    proposal: str | None
    shown: tuple[str | None, ...] | UnsetType = UNSET
    candidates: tuple[tuple[CandidateDocument, ...], ...] | UnsetType = UNSET


class EventDocument(Struct, frozen=True):
    """What an upstream commit did to the change of a patch: landed, evolved, reverted or gone."""

    commit: str
    event: str


class WordingDocument(Struct, frozen=True):
    """A part of a patch that upstream landed in a different form, with both texts."""

    path: str
    upstream: str
    patch: str


class FindingDocument(Struct, frozen=True, rename={"is_certain": "certain"}):
    """A finding of the audit or the ledger; `id` is null unless the finding is certain."""

    kind: str
    is_certain: bool
    path: str
    line: int
    symbol: str | None
    text: str
    commit: str | None
    proposal: str | None
    accepted: str | None
    id: str | None


class HunkDocument(HunkOutcome, frozen=True):
    """The verdict on a hunk, and how it was reached."""

    rule: str | None = None


class PatchDocument(Struct, frozen=True):
    """The verdict on a patch, and what the rebase found out about it."""

    name: str
    subject: str
    verdict: Verdict
    commit: str | None
    reason: str | None
    hunks: tuple[HunkDocument, ...]
    evidence: tuple[EvidenceDocument, ...]
    cause: tuple[CauseDocument, ...]
    conflicts: tuple[ConflictDocument, ...]
    history: tuple[EventDocument, ...] = ()
    now_in: str | None = None
    superseded: tuple[WordingDocument, ...] = ()
    likely: tuple[Likely, ...] = ()
    warnings: tuple[str, ...] = ()
    findings: tuple[FindingDocument, ...] = ()
    description: str | None = None
    drop_when: str | None = None


class LedgerDocument(Struct, frozen=True, rename={"is_balanced": "balanced"}):
    """The numbers of lines that all patches add and remove, and what became of these lines."""

    added: Sums
    removed: Sums
    is_balanced: bool


class SeriesDocument(Struct, frozen=True):
    """The result of a rebase for one series; `head` is null if conflicts remain."""

    name: str
    upstream: str
    base: UpstreamState
    onto: UpstreamState
    upstream_commits: int
    head: str | None
    tree: str
    summary: Mapping[Verdict, int]
    patches: tuple[PatchDocument, ...]
    commits_back: int = 0
    ledger: LedgerDocument | None = None

    @property
    def ends(self) -> tuple[str, str]:
        """Return the commit ids of the old and the new upstream state."""
        return self.base.commit, self.onto.commit


class RebaseDocument(Struct, frozen=True, rename={"is_dry_run": "dry_run"}):
    """The document that `rebase --json` prints."""

    is_dry_run: bool
    series: tuple[SeriesDocument, ...]
    checkout: str | None = None
    replayed: tuple[Mapping[str, Any], ...] = ()
    learned: tuple[Mapping[str, Any], ...] = ()
    resolver: tuple[Mapping[str, Any], ...] = ()
    format: Literal[1] = 1
    command: Literal["rebase"] = "rebase"


class SolutionDocument(Struct, frozen=True):
    """A sentence on how a conflict was resolved, and the place where it was first seen."""

    path: str
    seen: str
    solution: str


class SyncDocument(Struct, frozen=True, rename={"is_dry_run": "dry_run"}):
    """A rebase as the workspace saves it for `notes`; `solutions` is keyed by conflict id."""

    is_dry_run: bool
    old_head: str | None
    outcome: SeriesDocument
    solutions: Mapping[str, SolutionDocument] = {}
    format: Literal[1] = 1
