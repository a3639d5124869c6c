"""A sync: what it proposes, where it was pushed, and what needs a person."""

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
    """A series as the steps that carry would leave it, and what they change."""

    note: SyncNote
    before: Footprint
    after: Footprint
    compared: ComparedSeries


class Proposal(Struct, frozen=True):
    """The steps of a plan that carry, and the first one that does not (none if all is up to date).

    `outcomes` has one entry for each step that carries, and one for a rebase from there to the end
    if that leaves conflicts; `orders` are for these. `files` are the changes to the workspace.
    """

    plan: Plan
    outcomes: tuple[tuple[SeriesOutcome, ...], ...] = ()
    carried: tuple[CarriedSeries, ...] = ()
    orders: tuple[WorkOrder, ...] = ()
    files: Mapping[str, bytes | None] = {}

    @property
    def heads(self) -> Mapping[str, str]:
        """Return the branch that carries, by series."""
        done = [step for step in self.outcomes if not any(one.has_conflicts for one in step)]
        return {one.name: str(one.head) for one in done[-1]} if done else {}


class Standing(str, Enum):
    """The result for a branch: pushed, up to date, or left to whoever pushed to it."""

    PUSHED = "pushed"
    SAME = "same"
    HELD = "held"


class PushedBranch(Struct, frozen=True):
    """A branch of a remote: the commit it is to have, and the one it had."""

    name: str
    commit: str
    standing: Standing
    there: str | None


class PullRequest(Struct, frozen=True):
    """A pull request, and what was done: opened, updated, closed, refused, or left closed."""

    done: str
    number: int | None = None
    url: str | None = None
    reason: str = ""


class PullCheck(Struct, frozen=True):
    """What becomes of the series of an open pull request on the pin that the base has now.

    `patches` are those that change; `fault` says why that is not known, or could not be told.
    """

    number: int
    url: str
    head: str
    patches: tuple[PlannedPatch, ...] = ()
    fault: str = ""

    @property
    def left(self) -> tuple[PlannedPatch, ...]:
        """Return the patches that need a person."""
        return tuple(p for p in self.patches if p.verdict in (Verdict.CONFLICT, Verdict.BLOCKED))


class Sync(Struct, frozen=True):
    """The result of a sync; `warnings` are sentences for a person."""

    proposal: Proposal
    branches: tuple[PushedBranch, ...] = ()
    pull_request: PullRequest | None = None
    warnings: tuple[str, ...] = ()
    checks: tuple[PullCheck, ...] = ()


class LastSync(Struct, frozen=True):
    """The last sync without a fault, as the badge on a remote has it: its time and age in seconds.

    `words` are its result.
    """

    remote: str
    time: int
    age: int
    words: str
