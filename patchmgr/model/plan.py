"""A plan: how a series gets to an upstream state, in steps that were each tried."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from patchmgr.model.outcome import Verdict

PLAN_FORMAT = 1


class PlannedState(Struct, frozen=True, omit_defaults=True):
    """An upstream state of a plan, with the archive of a release."""

    ref: str
    commit: str
    archive: str | None = None
    sha256: str | None = None


class Place(Struct, frozen=True):
    """A region in conflict: its line (from 1) and symbol in upstream's file with earlier patches.

    The line is 0 if the file is not text.
    """

    path: str
    line: int
    symbol: str | None


class PlannedPatch(Struct, frozen=True):
    """What a step does to a patch; `places` and `reason` describe one that needs a person."""

    series: str
    name: str
    verdict: Verdict
    reason: str | None = None
    places: tuple[Place, ...] = ()


class BreakingCommit(Struct, frozen=True):
    """An upstream commit (or release) that breaks the series, though the state before it does not.

    `date` is the day on which it was committed. `added` and `removed` count lines, or are None if
    contents are missing. `known_to` are people to ask: the author, then those who last wrote the
    lines that it changed in the files in conflict.
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
    """How the rest of a plan treats a patch in conflict: as if its lines were taken.

    If that is not enough, the patch is treated as if it was skipped.
    """

    series: str
    patch: str
    is_skipped: bool = False


class PlanStep(Struct, frozen=True, rename={"is_back": "back"}):
    """One rebase to a later state: a stretch that carries, or a single commit that does not.

    `patches` are those that change. `assuming` is about the patches that steps before this one left
    in conflict. `start` has the digest of each series as the step finds it. `is_back` says that the
    state is a common ancestor before the pin.
    """

    number: int
    base: PlannedState
    onto: PlannedState
    commits: int
    patches: tuple[PlannedPatch, ...]
    breaking: BreakingCommit | None
    assuming: tuple[Assumption, ...]
    start: Mapping[str, str]
    is_back: bool = False


class Probe(Struct, frozen=True, rename={"is_clean": "clean"}):
    """A dry rebase of a plan: from the series at one number of commits to another."""

    start: int
    end: int
    is_clean: bool


class Plan(Struct, frozen=True, rename={"is_merge": "merge"}):
    """The steps from the pin to a state; `commits` are upstream's (or releases) between them.

    `is_merge` says that each step is a merge into a branch.
    """

    series: tuple[str, ...]
    base: PlannedState
    onto: PlannedState
    unit: str
    commits: int
    selected: tuple[str, ...]
    steps: tuple[PlanStep, ...]
    probes: tuple[Probe, ...]
    format: int = PLAN_FORMAT
    is_merge: bool = False

    def command(self, step: PlanStep) -> str:
        """Return the command that takes a step."""
        if self.is_merge:
            return f"git merge {step.onto.commit[:12]}"
        return f"patchmgr rebase {self.series[0]} --onto plan:{step.number}"

    @property
    def has_conflicts(self) -> bool:
        """Return whether a step needs a person."""
        return any(step.breaking is not None for step in self.steps)
