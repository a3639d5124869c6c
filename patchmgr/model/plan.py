"""The steps of a planned rebase, and the forecast effects of open pull requests."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from patchmgr.model.outcome import Verdict
from patchmgr.model.upstream import CommitSummary, UpstreamState

PLAN_FORMAT = 1


class ConflictPlace(Struct, frozen=True):
    """A conflicting region: its line and symbol in upstream's file with earlier patches applied."""

    path: str
    line: int  # from 1; 0 if the file is not text
    symbol: str | None


class PlannedPatch(Struct, frozen=True):
    """The verdict on a patch in one step of a plan."""

    series: str
    name: str
    verdict: Verdict
    reason: str | None = None  # why a person must resolve a conflict
    places: tuple[ConflictPlace, ...] = ()  # where a person must resolve a conflict


class BreakingCommit(CommitSummary, frozen=True):
    """An upstream commit (or release) that breaks the series, although its predecessor does not."""

    author: str
    date: str  # the day of the commit
    files: int
    added: int | None  # how many lines; None if contents are missing from the store
    removed: int | None  # like `added`
    # people to ask: the author, then who last wrote the changed lines of files in conflict
    known_to: tuple[str, ...]


class Assumption(Struct, frozen=True, rename={"is_skipped": "skipped"}):
    """A patch in conflict; later steps of a plan assume that it is resolved as `theirs`."""

    series: str
    patch: str
    is_skipped: bool = False  # the patch conflicts even then, so it is assumed to be skipped


class PlanStep(Struct, frozen=True, rename={"is_back": "back"}):
    """A step of a plan: a rebase over commits without conflict, or over one with a conflict."""

    number: int
    base: UpstreamState
    onto: UpstreamState
    commits: int
    patches: tuple[PlannedPatch, ...]  # those with a verdict other than `unchanged`
    breaking: BreakingCommit | None
    assuming: tuple[Assumption, ...]  # about the patches that earlier steps left in conflict
    start: Mapping[str, str]  # the digest of each series before the step
    is_back: bool = False  # the step goes back to a common ancestor before the pin


class Probe(Struct, frozen=True, rename={"is_clean": "clean"}):
    """A rebase tried for a plan; `start` and `end` count the first-parent commits since the pin."""

    start: int
    end: int
    is_clean: bool


class Plan(Struct, frozen=True, rename={"is_merge": "merge"}):
    """The steps from the pin to an upstream state that is `commits` commits (or releases) away."""

    series: tuple[str, ...]
    base: UpstreamState
    onto: UpstreamState
    unit: str
    commits: int
    selected: tuple[str, ...]
    steps: tuple[PlanStep, ...]
    probes: tuple[Probe, ...]
    format: int = PLAN_FORMAT
    is_merge: bool = False  # each step is a merge into a branch
    commits_back: int = 0  # the number of commits that the pin has and the upstream state lacks

    def command(self, step: PlanStep) -> str:
        """Return the command that carries out a step."""
        if self.is_merge:
            return f"git merge {step.onto.commit[:12]}"
        return f"patchmgr rebase {self.series[0]} --onto plan:{step.number}"

    @property
    def has_conflicts(self) -> bool:
        """Return whether a step needs a person to resolve a conflict."""
        return any(step.breaking is not None for step in self.steps)


class PullEffect(str, Enum):
    """The effect of a pull request on a series; if several apply, the first one listed counts."""

    BREAKS = "breaks"
    ABSORBS = "absorbs"
    TOUCHES = "touches"
    # changes files of the series, but no longer merges into upstream
    UNKNOWN = "unknown"
    NONE = "none"


class PullHead(Struct, frozen=True):
    """The head commit of a pull request on its remote."""

    number: int
    ref: str
    head: str
    merge: str | None = None  # the remote's merge of it, as GitHub has for open pull requests


class PullFacts(Struct, frozen=True):
    """What is known about the head of a pull request."""

    subject: str  # of its first commit that upstream lacks; so is `author`
    author: str
    date: str  # of its last commit
    paths: tuple[str, ...]  # changed since it branched off from upstream


class PullForecast(Struct, frozen=True):
    """The effect of a pull request on the patches whose files it changes."""

    number: int
    head: str
    subject: str
    author: str
    date: str
    effect: PullEffect
    paths: tuple[str, ...]
    patches: tuple[PlannedPatch, ...] = ()


class Forecast(Struct, frozen=True):
    """The open pull requests that change files of some series; those that break it come first."""

    series: tuple[str, ...]
    tip: UpstreamState
    open: int  # how many were examined
    # if the remote has no merge of it, a pull request is open this long after its last commit
    days: int
    assuming: tuple[Assumption, ...]
    pulls: tuple[PullForecast, ...]
