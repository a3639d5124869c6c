"""The result of a rebase for each hunk, patch and series."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from patchmgr.model.audit import AuditFinding, Ledger
from patchmgr.model.decision import Finding
from patchmgr.model.patch import Author
from patchmgr.model.snapshot import Entry
from patchmgr.model.upstream import Pin


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
    """The kind of a conflict: one of git's own kinds, or one specific to patch series.

    `moved` is for lines that upstream moved elsewhere; `mode` is for links, submodules and other
    kinds of file. A conflict over a `condition` in a header, or over a `finding` of the audit or
    the ledger, has no text to merge.
    """

    TEXT = "text"
    ADD_ADD = "add/add"
    MODIFY_DELETE = "modify/delete"
    RENAME = "rename"
    BINARY = "binary"
    MODE = "mode"
    MOVED = "moved"
    CONDITION = "condition"
    FINDING = "finding"


class Reliability(Struct, frozen=True):
    """How often a rule was right: `right` times in `of` cases whose correct result is known.

    Both numbers are None if the rule was not measured.
    """

    rule: str
    right: int | None = None
    of: int | None = None


class Suggestion(Struct, frozen=True):
    """A text that may resolve a conflicting region, and how often such a text was right."""

    text: bytes
    reliability: Reliability


class HunkOutcome(Struct, frozen=True):
    """The verdict on one hunk, and how it was reached.

    `path` is the path in the patch, and `new_path` is the path in the new upstream state. `line` is
    the first line, counted from 1, that the hunk's header gives for its new side. A change without
    hunks (mode, binary, rename, empty file) has one outcome with line 0. `how` is None for a
    conflict. `evidence` is the id of the upstream commit that the verdict rests on. For a
    structural merge, `reliability` is a lower bound for how often such merges were right.
    """

    path: str
    new_path: str
    line: int
    symbol: str | None
    verdict: Verdict
    how: How | None
    evidence: str | None = None
    reliability: Reliability | None = None


class UpstreamCommit(Struct, frozen=True):
    """An upstream commit that is the evidence for verdicts on hunks, or the cause of conflicts.

    If the commit is evidence, `reliability` says how often such a verdict was right.
    """

    commit: str
    subject: str
    pull: int | None
    how: How | None
    paths: tuple[str, ...]
    author: str = ""
    reliability: Reliability | None = None


class Likely(Struct, frozen=True):
    """An upstream commit that seems to make the change of some hunks in a different way.

    `confidence` is between 0 and 1. `named_by` is the field of the patch's header that names the
    commit, or None. `reliability` says how often such a proposal was right.
    """

    commit: str
    subject: str
    pull: int | None
    confidence: float
    paths: tuple[str, ...]
    named_by: str | None = None
    reliability: Reliability | None = None


class Resemblance(Struct, frozen=True):
    """Lines of upstream that resemble lines of a hunk.

    `line` is the number, from 1, of the first of upstream's lines. `commit` is the upstream state
    that contains upstream's lines, or None for the new state.
    """

    confidence: float
    line: int
    upstream: bytes
    patch: bytes
    commit: str | None = None


class Wording(Struct, frozen=True):
    """A part of a patch that upstream landed in a different form, with the text of both forms."""

    path: str
    upstream: bytes
    patch: bytes


class FileConflict(Struct, frozen=True):
    """A file that a person must merge.

    `base`, `ours` and `theirs` are contents, each None if that side lacks the file. `marked` is the
    text with git's markers, or None for binary files and deletions. `reason` says what conflicts.
    `proposal` is the decision that a person is likely to make, judging by `resemblances` or by the
    patch's header. `suggestions` lists possible resolutions for each region, the likeliest first.
    `shown` lists, for each region or for the whole file, the upstream commit that wrote the
    displayed part of `ours`, or None if that commit is unknown. `stages` are base, ours and theirs
    as entries of git's index. `home` is the path of the file in the new upstream state.
    """

    id: str
    path: str
    new_path: str
    reason: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    marked: bytes | None
    proposal: str | None = None
    resemblances: tuple[Resemblance, ...] = ()
    shown: tuple[UpstreamCommit | None, ...] = ()
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()
    stages: tuple[Entry | None, Entry | None, Entry | None] = (None, None, None)
    home: str = ""
    kind: ConflictKind = ConflictKind.TEXT


class PatchOutcome(Struct, frozen=True):
    """The verdict on one patch, and everything that the rebase found out about it.

    `changes` maps each path that the new commit changes to its new entry, or to None if the file is
    deleted; for a patch in conflict, these are the changes that merged cleanly. `reuses_diff` is
    true if the patch file stays as it is. `history` lists upstream commits and what each did to the
    patch's change: landed, evolved, reverted or gone. If upstream moved the landed lines, `now_in`
    is the file that contains them now. `superseded` lists the parts that landed in a different
    form. `likely` lists the commits that seem to do the same as the patch. `finding` is what a
    person's decision about the patch would rest on. `warnings` describe suspicious lines in a merge
    without conflict; each begins with a path. `findings` come from the audit of the result.
    `description` and `drop_when` are taken from the header: why the patch exists, and when it may
    be dropped.
    """

    name: str
    subject: str
    message: bytes
    author: Author
    verdict: Verdict
    hunks: tuple[HunkOutcome, ...] = ()
    changes: Mapping[str, Entry | None] | None = None
    evidence: tuple[UpstreamCommit, ...] = ()
    cause: tuple[UpstreamCommit, ...] = ()
    conflicts: tuple[FileConflict, ...] = ()
    reason: str | None = None
    reuses_diff: bool = False
    history: tuple[tuple[str, str], ...] = ()
    now_in: str | None = None
    superseded: tuple[Wording, ...] = ()
    likely: tuple[Likely, ...] = ()
    warnings: tuple[str, ...] = ()
    findings: tuple[AuditFinding, ...] = ()
    finding: Finding | None = None
    description: str | None = None
    drop_when: str | None = None

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
    """The result of a rebase for one series; `head` is None if conflicts remain.

    `upstream_commits` is the number of commits (or releases) that are only in the new upstream
    state, and `commits_back` is the number that are only in the old one. `commits` lists the new
    commit of each patch, or None if a patch has no commit. `tree` is the tree with all carried
    patches. `ledger` accounts for every line of the patches.
    """

    name: str
    upstream: str
    base: Pin
    onto: Pin
    upstream_commits: int
    head: str | None
    tree: str
    patches: tuple[PatchOutcome, ...]
    commits: tuple[str | None, ...]
    ledger: Ledger | None = None
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
