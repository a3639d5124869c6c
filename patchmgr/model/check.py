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
    """A problem that a gate found.

    `patch` and `path` are None if the problem does not concern one patch or one file. `line` counts
    from 1 in the file as the patch leaves it, or in the patch's header if `path` is None.
    """

    gate: str
    sentence: str
    patch: str | None = None
    path: str | None = None
    line: int | None = None


class GateResult(Struct, frozen=True):
    """The result of one gate: the number of things it examined, and the problems it found.

    If the gate was skipped, `note` is the reason. `log` is the path, within the workspace, of the
    file with the output of the gate's command, or None if the gate runs no command.
    """

    name: str
    standing: Standing
    looked_at: int
    problems: tuple[Problem, ...] = ()
    note: str = ""
    log: str | None = None
    seconds: float | None = None


class Checked(Struct, frozen=True):
    """The results of all gates for one series.

    `head` is the commit that was checked, or None if the series has no branch.
    """

    series: str
    head: str | None
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
