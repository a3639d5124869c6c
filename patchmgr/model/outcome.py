"""What became of hunks, patches and series in a rebase."""

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
    """What became of a patch; hunks use unchanged, modified, absorbed and conflict."""

    UNCHANGED = "unchanged"
    MODIFIED = "modified"
    PARTIAL = "partial"
    ABSORBED = "absorbed"
    CONFLICT = "conflict"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


class How(str, Enum):
    """How a hunk's verdict was reached."""

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
    """The kind of a conflict: git's own kinds, and those that only a patch manager meets.

    `moved` is for lines that upstream moved, `mode` for links, submodules and other kinds of file.
    A `condition` of a header and a `finding` of the audit or the ledger have no text.
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
    """How often a rule was right where the truth is known: `right` of `of` verdicts.

    Both are None if nobody measured it.
    """

    rule: str
    right: int | None = None
    of: int | None = None


class Suggestion(Struct, frozen=True):
    """A text that a region in conflict could become, and how often such a text was right."""

    text: bytes
    reliability: Reliability


class HunkOutcome(Struct, frozen=True):
    """The fate of one hunk; `how` is None for a conflict.

    `path` is the path in the patch, `new_path` the one on the new side. `line` counts from 1: it is
    where the hunk starts on the patch's own new side. A change without hunks (mode, binary, rename,
    empty file) has one outcome with line 0. `evidence` is a commit id. `reliability` gives, for a
    structural merge, a lower bound of how often such merges were right.
    """

    path: str
    new_path: str
    line: int
    symbol: str | None
    verdict: Verdict
    how: How | None
    evidence: str | None = None
    reliability: Reliability | None = None


class Sighting(Struct, frozen=True):
    """An upstream commit that explains hunks: as evidence, or as cause.

    `reliability` gives, for evidence, how often such a verdict was right.
    """

    commit: str
    subject: str
    pull: int | None
    how: How | None
    paths: tuple[str, ...]
    author: str = ""
    reliability: Reliability | None = None


class Likely(Struct, frozen=True):
    """An upstream commit that seems to do, in other words, what some hunks of a patch do.

    `confidence` is between 0 and 1. `named_by` is the field of the patch's header that names it.
    `reliability` says how often such a proposal was right.
    """

    commit: str
    subject: str
    pull: int | None
    confidence: float
    paths: tuple[str, ...]
    named_by: str | None = None
    reliability: Reliability | None = None


class Resemblance(Struct, frozen=True):
    """Upstream's text from a line (from 1) on, and the hunk's lines that it resembles.

    `commit` is where upstream had it, or None if that is the new state.
    """

    confidence: float
    line: int
    upstream: bytes
    patch: bytes
    commit: str | None = None


class Wording(Struct, frozen=True):
    """A part of a patch that upstream landed in other words, with both texts."""

    path: str
    upstream: bytes
    patch: bytes


class FileConflict(Struct, frozen=True):
    """A file that a person must merge.

    Contents are None where the side has no such file. `marked` is the text with git's markers, or
    None without any (binaries, deletions). `reason` says what collided. `proposal` is a ruling that
    a person is likely to give, because `resemblances` or the patch's header speak for it.
    `suggestions` has, for each region, possible resolutions, the likeliest first. `shown` has, for
    each region (or for the whole file), the upstream commit that wrote the part of `ours` that is
    shown; it is None if that is not known. `stages` are base, ours and theirs as git's index would
    have them, and `home` is where the new side has the file.
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
    shown: tuple[Sighting | None, ...] = ()
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()
    stages: tuple[Entry | None, Entry | None, Entry | None] = (None, None, None)
    home: str = ""
    kind: ConflictKind = ConflictKind.TEXT


class PatchOutcome(Struct, frozen=True):
    """The fate of one patch.

    `changes` is what the new commit does to the tree of the new side (None deletes); for a patch in
    conflict, the part that merged. `reuses_diff` says that the patch file stays as it is. `history`
    names upstream commits and what they did to the patch's effect: landed, evolved, reverted or
    gone. If upstream moved what landed, `now_in` is the file that has it now. `superseded` has the
    parts that landed in other words; `likely` names commits that seem to do the same in other
    words. `finding` is what a person can decide about. `warnings` are suspicious places in a merge
    without conflict, the path first, and `findings` come from the audit of the result.
    `description` and `drop_when` are the header's words on why the patch exists, and until when.
    """

    name: str
    subject: str
    message: bytes
    author: Author
    verdict: Verdict
    hunks: tuple[HunkOutcome, ...] = ()
    changes: Mapping[str, Entry | None] | None = None
    evidence: tuple[Sighting, ...] = ()
    cause: tuple[Sighting, ...] = ()
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
        """Return the certain findings that nobody has accepted: the patch waits for a person."""
        return tuple(f for f in self.findings if f.is_certain and f.accepted is None)

    @property
    def is_left(self) -> bool:
        """Return whether the patch is left for a person."""
        return self.verdict in (Verdict.CONFLICT, Verdict.BLOCKED)

    @property
    def is_carried(self) -> bool:
        """Return whether the patch has a commit on the new side."""
        return self.verdict in (Verdict.UNCHANGED, Verdict.MODIFIED, Verdict.PARTIAL)


class SeriesOutcome(Struct, frozen=True):
    """The fate of a series; `head` is None where conflicts are left.

    `upstream_commits` counts the commits (or releases) that only the new state has, `commits_back`
    those that only the old one has.
    `commits` has the new commit of each patch, or None if it has none. `tree` is the tree of
    all that was carried. `ledger` accounts for every line of the patches.
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
        """Return whether a person has something left to do."""
        return any(patch.is_left for patch in self.patches)

    def count(self, verdict: Verdict) -> int:
        """Count the patches with a verdict."""
        return sum(patch.verdict is verdict for patch in self.patches)


class TargetOutcome(Struct, frozen=True):
    """The fate of some series on one of several targets; `onto` is the target's name."""

    onto: str
    series: tuple[SeriesOutcome, ...]

    @property
    def has_conflicts(self) -> bool:
        """Return whether a person has something left to do."""
        return any(outcome.has_conflicts for outcome in self.series)
