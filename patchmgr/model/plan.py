"""A plan: the steps in which to rebase a series onto an upstream state, each tried beforehand."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from patchmgr.model.outcome import Verdict
from patchmgr.model.upstream import UpstreamState

PLAN_FORMAT = 1


class ConflictPlace(Struct, frozen=True):
    """A conflicting region: its line and symbol in upstream's file with earlier patches applied.

    `line` counts from 1, and is 0 if the file is not text.
    """

    path: str
    line: int
    symbol: str | None


class PlannedPatch(Struct, frozen=True):
    """The verdict on a patch in one step of a plan.

    If a person must resolve a conflict, `reason` says why, and `places` says where.
    """

    series: str
    name: str
    verdict: Verdict
    reason: str | None = None
    places: tuple[ConflictPlace, ...] = ()


class BreakingCommit(Struct, frozen=True):
    """An upstream commit (or release) that breaks the series, while its predecessor does not.

    `date` is the day of the commit. `added` and `removed` are numbers of lines, or None if contents
    are missing from the store. `known_to` lists people to ask: first the author, then whoever last
    wrote the lines that the commit changed in the files in conflict.
    """

    commit: str
    subject: str
    pull: int | None
    author: str
    date: str
    files: int
    added: int | None
    removed: int | None
    known_to: tuple[str, ...]


class Assumption(Struct, frozen=True, rename={"is_skipped": "skipped"}):
    """A patch in conflict, and what the later steps of a plan assume about it.

    Later steps assume that each conflict is resolved to the patch's own lines. If the series
    conflicts even then, `is_skipped` is true, and later steps assume that the patch is skipped.
    """

    series: str
    patch: str
    is_skipped: bool = False


class PlanStep(Struct, frozen=True, rename={"is_back": "back"}):
    """A step of a plan: a rebase over commits without conflicts, or over one with conflicts.

    `patches` are those with a verdict other than `unchanged`. `assuming` lists what is assumed
    about the patches that earlier steps left in conflict. `start` maps each series to its digest
    before the step. `is_back` is true if the step goes back to a common ancestor before the pin.
    """

    number: int
    base: UpstreamState
    onto: UpstreamState
    commits: int
    patches: tuple[PlannedPatch, ...]
    breaking: BreakingCommit | None
    assuming: tuple[Assumption, ...]
    start: Mapping[str, str]
    is_back: bool = False


class Probe(Struct, frozen=True, rename={"is_clean": "clean"}):
    """A trial rebase for a plan; `start` and `end` count the first-parent commits since the pin."""

    start: int
    end: int
    is_clean: bool


class Plan(Struct, frozen=True, rename={"is_merge": "merge"}):
    """The steps from the pin to an upstream state that is `commits` commits (or releases) away.

    `commits_back` is the number of commits that the pin has and the upstream state lacks.
    `is_merge` is true if each step is a merge into a branch.
    """

    series: tuple[str, ...]
    base: UpstreamState
    onto: UpstreamState
    unit: str
    commits: int
    selected: tuple[str, ...]
    steps: tuple[PlanStep, ...]
    probes: tuple[Probe, ...]
    format: int = PLAN_FORMAT
    is_merge: bool = False
    commits_back: int = 0

    def command(self, step: PlanStep) -> str:
        """Return the command that carries out a step."""
        if self.is_merge:
            return f"git merge {step.onto.commit[:12]}"
        return f"patchmgr rebase {self.series[0]} --onto plan:{step.number}"

    @property
    def has_conflicts(self) -> bool:
        """Return whether a step needs a person to resolve a conflict."""
        return any(step.breaking is not None for step in self.steps)
