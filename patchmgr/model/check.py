"""Results of `check`: gates and their problems."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Standing(str, Enum):
    """The result of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Problem(Struct, frozen=True):
    """A problem that a gate found: its place, or None for the whole branch, and its text.

    `line` counts from 1 in the file as the patch leaves it, or in the header where `path` is
    None.
    """

    gate: str
    sentence: str
    patch: str | None = None
    path: str | None = None
    line: int | None = None


class Gate(Struct, frozen=True):
    """A gate: the number of things it examined, its problems, and why it was skipped.

    `log` is the path in the workspace of a command's output.
    """

    name: str
    standing: Standing
    looked_at: int
    problems: tuple[Problem, ...] = ()
    note: str = ""
    log: str | None = None
    seconds: float | None = None


class Checked(Struct, frozen=True):
    """All gates of one series; `head` is the commit that was checked, None without a branch."""

    series: str
    head: str | None
    patches: tuple[str, ...]
    gates: tuple[Gate, ...]

    @property
    def is_sound(self) -> bool:
        """Return whether no gate failed."""
        return all(gate.standing is not Standing.FAILED for gate in self.gates)


def gate_of(name: str, looked_at: int, problems: tuple[Problem, ...], *, note: str = "") -> Gate:
    """Return a gate that passed or failed."""
    standing = Standing.FAILED if problems else Standing.PASSED
    return Gate(name, standing, looked_at, problems, note)


def skipped(name: str, why: str) -> Gate:
    """Return a gate that was skipped."""
    return Gate(name, Standing.SKIPPED, 0, (), why)
