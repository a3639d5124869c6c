"""The result of a sync: what it proposes, what it pushed, and what a person has to resolve."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from patchmgr.model.comparison import ComparedSeries
from patchmgr.model.footprint import Footprint
from patchmgr.model.notes import SyncNote
from patchmgr.model.outcome import SeriesOutcome, Verdict
from patchmgr.model.plan import Plan, PlannedPatch
from patchmgr.model.work_order import WorkOrder


class CarriedSeries(Struct, frozen=True):
    """A series before and after those steps of a plan that cause no conflict."""

    note: SyncNote
    before: Footprint
    after: Footprint
    compared: ComparedSeries


class SyncPreview(Struct, frozen=True):
    """A plan, and the results of its steps up to the first one that causes a conflict."""

    plan: Plan
    # of each step without conflict, then of the whole rebase if it leaves conflicts
    outcomes: tuple[tuple[SeriesOutcome, ...], ...] = ()
    carried: tuple[CarriedSeries, ...] = ()
    orders: tuple[WorkOrder, ...] = ()  # the work orders for these conflicts
    files: Mapping[str, bytes | None] = {}  # the changes to the workspace

    @property
    def heads(self) -> Mapping[str, str]:
        """Return the head of each series after the steps that cause no conflict."""
        done = [step for step in self.outcomes if not any(one.has_conflicts for one in step)]
        return {one.name: str(one.head) for one in done[-1]} if done else {}


class PushStatus(str, Enum):
    """What a sync did with a branch: pushed it, had nothing to push, or held it back."""

    PUSHED = "pushed"
    SAME = "same"
    # others pushed to the branch since the last sync
    HELD = "held"


class PushedBranch(Struct, frozen=True):
    """A branch of a remote, and what a sync did with it."""

    name: str
    commit: str  # the one that the branch should point to
    standing: PushStatus
    # the commit that the branch pointed to before the sync; None if it did not exist
    there: str | None


class PullRequest(Struct, frozen=True):
    """A pull request, and what was done to it: opened, updated, closed, refused, or left closed."""

    done: str
    number: int | None = None
    url: str | None = None
    reason: str = ""


class PullCheck(Struct, frozen=True):
    """The result of rebasing an open pull request's patches onto the pin of the base branch."""

    number: int
    url: str
    head: str
    patches: tuple[PlannedPatch, ...] = ()  # those with a verdict other than `unchanged`
    fault: str = ""  # why the result is unknown, or why it could not be reported

    @property
    def left(self) -> tuple[PlannedPatch, ...]:
        """Return the patches that are in conflict or blocked."""
        return tuple(p for p in self.patches if p.verdict in (Verdict.CONFLICT, Verdict.BLOCKED))


class Sync(Struct, frozen=True):
    """The result of a sync; `warnings` are sentences for the user."""

    proposal: SyncPreview
    branches: tuple[PushedBranch, ...] = ()
    pull_request: PullRequest | None = None
    warnings: tuple[str, ...] = ()
    checks: tuple[PullCheck, ...] = ()


class LastSync(Struct, frozen=True):
    """The last sync that succeeded, as recorded in the badge branch of a remote."""

    remote: str
    time: int  # in seconds since 1970
    age: int  # in seconds
    words: str  # a description of the result
