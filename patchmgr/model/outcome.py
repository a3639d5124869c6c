"""The result of a rebase for each hunk, patch and series."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from patchmgr.model.audit import AuditFinding, Ledger
from patchmgr.model.decision import Basis
from patchmgr.model.patch import Author
from patchmgr.model.snapshot import Entry
from patchmgr.model.upstream import CommitSummary, Pin


class Verdict(str, Enum):
    """The result for a patch or a hunk; only a patch can be `partial`, `blocked` or `skipped`."""

    UNCHANGED = "unchanged"
    MODIFIED = "modified"
    PARTIAL = "partial"
    ABSORBED = "absorbed"
    CONFLICT = "conflict"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


class How(str, Enum):
    """How the verdict on a hunk was reached."""

    IDENTICAL = "identical"
    TEXT = "text"
    RECORDED = "recorded"
    FORMAT = "format"
    STRUCTURAL = "structural"
    MOVED = "moved"
    EXACT = "exact"
    WHITESPACE = "whitespace"
    COMMENTS = "comments"
    SUPERSET = "superset"
    SYNTAX = "syntax"
    RANGE = "range"
    HISTORY = "history"
    DECIDED = "decided"


class ConflictKind(str, Enum):
    """The kind of a conflict: one of git's own kinds, or one specific to patch series."""

    TEXT = "text"
    ADD_ADD = "add/add"
    MODIFY_DELETE = "modify/delete"
    RENAME = "rename"
    BINARY = "binary"
    # links, submodules and other kinds of file
    MODE = "mode"
    # lines that upstream moved elsewhere
    MOVED = "moved"
    # of a header; no text to merge
    CONDITION = "condition"
    # of the audit or the ledger; no text to merge
    FINDING = "finding"


class Reliability(Struct, frozen=True):
    """How often a rule was right: `right` times in `of` measured cases, if there are any."""

    rule: str
    right: int | None = None
    of: int | None = None


class Suggestion(Struct, frozen=True):
    """A text that may resolve a conflicting region, and how often such a text was right."""

    text: bytes
    reliability: Reliability


class HunkOutcome(Struct, frozen=True):
    """The verdict on one hunk, and how it was reached."""

    path: str  # in the patch
    new_path: str  # in the new upstream state
    # the start line (from 1) in the hunk's header for its new side; 0 for a change without hunks
    # (mode, binary, rename, empty file)
    line: int
    symbol: str | None
    verdict: Verdict
    how: How | None  # None for a conflict
    evidence: str | None = None  # the upstream commit that the verdict rests on
    reliability: Reliability | None = None  # of a structural merge: a lower bound


class UpstreamCommit(CommitSummary, frozen=True):
    """An upstream commit that is the evidence for verdicts on hunks, or the cause of conflicts."""

    how: How | None
    paths: tuple[str, ...]
    author: str = ""
    reliability: Reliability | None = None  # of such a verdict, if the commit is evidence


class Likely(CommitSummary, frozen=True):
    """An upstream commit that seems to make the change of some hunks (confidence: 0 to 1)."""

    confidence: float
    paths: tuple[str, ...]
    named_by: str | None = None  # the field of the patch's header that names the commit, if any
    reliability: Reliability | None = None  # of such a proposal


class Resemblance(Struct, frozen=True):
    """Lines of upstream that resemble lines of a hunk."""

    confidence: float
    line: int  # the first of upstream's lines, from 1
    upstream: bytes
    patch: bytes
    # the upstream state that contains upstream's lines; None for the new one
    commit: str | None = None


class Wording(Struct, frozen=True):
    """A part of a patch that upstream landed in a different form, with the text of both forms."""

    path: str
    upstream: bytes
    patch: bytes


class FileConflict(Struct, frozen=True):
    """A file that a person must merge; `base`, `ours` or `theirs` is None if that side lacks it."""

    id: str
    path: str
    new_path: str
    reason: str  # what conflicts
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    marked: bytes | None  # the text with git's markers; None for binary files and deletions
    # the likely decision of a person, judging by `resemblances` or the patch's header
    proposal: str | None = None
    resemblances: tuple[Resemblance, ...] = ()
    # for each region or the whole file: the upstream commit that wrote that part of `ours`
    shown: tuple[UpstreamCommit | None, ...] = ()
    # possible resolutions of each region, the likeliest first
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()
    # base, ours and theirs in git's index
    stages: tuple[Entry | None, Entry | None, Entry | None] = (None, None, None)
    home: str = ""  # the file's path in the new upstream state
    kind: ConflictKind = ConflictKind.TEXT


class PatchOutcome(Struct, frozen=True):
    """The verdict on one patch, and everything that the rebase found out about it."""

    name: str
    subject: str
    message: bytes
    author: Author
    verdict: Verdict
    hunks: tuple[HunkOutcome, ...] = ()
    # new entries by path (None: deleted) in the new commit; in a conflict, what merged cleanly
    changes: Mapping[str, Entry | None] | None = None
    evidence: tuple[UpstreamCommit, ...] = ()
    cause: tuple[UpstreamCommit, ...] = ()
    conflicts: tuple[FileConflict, ...] = ()
    reason: str | None = None
    reuses_diff: bool = False  # the patch file stays as it is
    # upstream commits, and what each did to the patch's change: landed, evolved, reverted or gone
    history: tuple[tuple[str, str], ...] = ()
    now_in: str | None = None  # the file that contains the landed lines, if upstream moved them
    superseded: tuple[Wording, ...] = ()  # parts that landed in a different form
    likely: tuple[Likely, ...] = ()  # commits that seem to do the same as the patch
    # suspicious lines in a merge without conflict; each begins with a path
    warnings: tuple[str, ...] = ()
    findings: tuple[AuditFinding, ...] = ()  # of the audit of the result
    basis: Basis | None = None  # of a decision that a person could make about the patch
    description: str | None = None  # from the header: why the patch exists
    drop_when: str | None = None  # from the header: when the patch may be dropped

    @property
    def open_findings(self) -> tuple[AuditFinding, ...]:
        """Return the certain findings that nobody has accepted yet."""
        return tuple(f for f in self.findings if f.is_certain and f.accepted is None)

    @property
    def is_left(self) -> bool:
        """Return whether the patch is in conflict or blocked."""
        return self.verdict in (Verdict.CONFLICT, Verdict.BLOCKED)

    @property
    def is_carried(self) -> bool:
        """Return whether the patch has a commit after the rebase."""
        return self.verdict in (Verdict.UNCHANGED, Verdict.MODIFIED, Verdict.PARTIAL)


class SeriesOutcome(Struct, frozen=True):
    """The result of a rebase for one series; `head` is None if conflicts remain."""

    name: str
    upstream: str
    base: Pin
    onto: Pin
    # the number of commits (or releases) that are only in the new upstream state
    upstream_commits: int
    head: str | None
    tree: str  # with all carried patches
    patches: tuple[PatchOutcome, ...]
    commits: tuple[str | None, ...]
    ledger: Ledger | None = None  # accounts for every line of the patches
    # the number of commits (or releases) that are only in the old upstream state
    commits_back: int = 0

    @property
    def has_conflicts(self) -> bool:
        """Return whether a patch of the series is in conflict or blocked."""
        return any(patch.is_left for patch in self.patches)

    def count(self, verdict: Verdict) -> int:
        """Return the number of patches with this verdict."""
        return sum(patch.verdict is verdict for patch in self.patches)


class TargetOutcome(Struct, frozen=True):
    """The results of rebasing some series onto one of several targets; `onto` is the target."""

    onto: str
    series: tuple[SeriesOutcome, ...]

    @property
    def has_conflicts(self) -> bool:
        """Return whether a patch of one of the series is in conflict or blocked."""
        return any(outcome.has_conflicts for outcome in self.series)
