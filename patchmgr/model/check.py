"""Results of `check`: gates and their problems."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Standing(str, Enum):
    """Whether a gate passed, failed, or was skipped."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Problem(Struct, frozen=True):
    """A problem that a gate found."""

    gate: str
    sentence: str
    patch: str | None = None  # None if it does not concern one patch
    path: str | None = None  # None if it does not concern one file
    # from 1 in the file as the patch leaves it or, without a path, in the patch's header
    line: int | None = None


class GateResult(Struct, frozen=True):
    """The result of one gate: the number of things it examined, and the problems it found."""

    name: str
    standing: Standing
    looked_at: int
    problems: tuple[Problem, ...] = ()
    note: str = ""  # why the gate was skipped
    log: str | None = None  # the path in the workspace of the output of the gate's command, if any
    seconds: float | None = None


class Checked(Struct, frozen=True):
    """The results of all gates for one series."""

    series: str
    head: str | None  # the commit that was checked; None if the series has no branch
    patches: tuple[str, ...]
    gates: tuple[GateResult, ...]

    @property
    def is_sound(self) -> bool:
        """Return whether no gate failed."""
        return all(gate.standing is not Standing.FAILED for gate in self.gates)


def gate_of(
    name: str, looked_at: int, problems: tuple[Problem, ...], *, note: str = ""
) -> GateResult:
    """Return the result of a gate that was run: failed if there are problems, otherwise passed."""
    standing = Standing.FAILED if problems else Standing.PASSED
    return GateResult(name, standing, looked_at, problems, note)


def skipped(name: str, why: str) -> GateResult:
    """Return the result of a gate that was skipped for the given reason."""
    return GateResult(name, Standing.SKIPPED, 0, (), why)
