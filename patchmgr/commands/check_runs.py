"""Run a series' own commands on its branch, and find the patch that breaks one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.checked import FOLDER, check_folder
from patchmgr.commands.prepared import InPlace
from patchmgr.commands.session import Session
from patchmgr.errors import PatchmgrError
from patchmgr.model.check import Gate, Problem, Standing, skipped
from patchmgr.model.settings import CheckCommand
from patchmgr.plumbing.durable import unwritable
from patchmgr.plumbing.throwaway import TIMED_OUT, ThrowAway, is_program, whole_tree


class How(Struct, frozen=True):
    """Which commands of a series are to run: the named ones, or all; none unless it `runs`."""

    runs: bool
    names: Sequence[str]
    is_dry_run: bool


def run_commands(
    session: Session,
    placed: InPlace,
    commits: Sequence[str],
    commands: Sequence[CheckCommand],
    how: How,
) -> list[Gate]:
    """Run the commands of the series in a throw-away checkout; a gate each."""
    unknown = set(how.names) - {command.name for command in commands}
    if unknown:
        known = ", ".join(command.name for command in commands) or "none"
        raise PatchmgrError(
            "usage", f"there is no command {min(unknown)}", (f"commands in series.toml: {known}",)
        )
    gates: dict[str, Gate] = {}
    runs = []
    for command in commands:
        why = _why_not(command, how, placed.is_broken)
        if why is None:
            runs.append(command)
        else:
            gates[command.name] = skipped(command.name, why)
    if runs:
        gates |= {gate.name: gate for gate in _run_all(session, placed, commits, runs)}
    return [gates[command.name] for command in commands]


def _why_not(command: CheckCommand, how: How, is_broken: bool) -> str | None:
    """Return why a command does not run, None where it does."""
    line = " ".join(command.run)
    missing = [name for name in command.needs if not is_program(name)]
    if how.names and command.name not in how.names:
        return "another command was asked for"
    if not how.runs:
        return f"runs with --run: {line}"
    if missing:
        return f"this machine has no {', '.join(missing)}"
    if is_broken:
        return "there is no branch to run it on"
    return f"would run: {line}" if how.is_dry_run else None


def _run_all(
    session: Session, placed: InPlace, commits: Sequence[str], commands: Sequence[CheckCommand]
) -> list[Gate]:
    ready = placed.ready
    states = (ready.base.commit, *commits)
    ready.side.try_fetch_objects(whole_tree(ready.side.store, ready.base.commit))
    carried = [o.name for o in placed.carried.outcomes if o.is_carried]
    with ThrowAway(placed.bench.git_dir) as place:
        runner = _Runner(session, ready.record.name, place, states, carried)
        return [runner.gate(command) for command in commands]


class _Runner(Struct, frozen=True):
    """Runs commands on the states of a branch: the pin, and after each patch."""

    session: Session
    series: str
    place: ThrowAway
    states: Sequence[str]
    patches: Sequence[str]

    def gate(self, command: CheckCommand) -> Gate:
        """Run a command on the head, and where it fails find the first patch that breaks it."""
        name = f"{self.series}-{command.name}.log"
        log = check_folder(self.session.workspace) / name
        try:
            log.write_bytes(b"")
        except OSError as fault:
            raise unwritable(f"{FOLDER}/{name}", fault) from fault
        told_log = f"{FOLDER}/{name}"
        last = len(self.states) - 1
        code, seconds = self._run(command, last, log)
        if code == 0:
            return Gate(command.name, Standing.PASSED, 1, (), "", told_log, seconds)
        how = f"took more than {command.timeout} s" if code == TIMED_OUT else f"exit {code}"
        first = self._first_bad(command, log, code)
        if first == 0:
            problem = Problem(command.name, f"{how}, and so it does without the series")
        else:
            problem = Problem(command.name, how, self.patches[first - 1])
        return Gate(command.name, Standing.FAILED, 1, (problem,), "", told_log, seconds)

    def _first_bad(self, command: CheckCommand, log: Path, code: int) -> int:
        """Return the number of the first state that fails: 0 is the pin."""

        def fails(number: int) -> bool:
            return self._run(command, number, log)[0] != 0

        last = len(self.states) - 1
        return 0 if last == 0 or fails(0) else first_bad(fails, last)

    def _run(self, command: CheckCommand, number: int, log: Path) -> tuple[int, float]:
        commit = self.states[number]
        where = self.patches[number - 1] if number else "the pin"
        self.session.say(f"Running {command.name} on {where}")
        with log.open("ab") as out:
            out.write(f"== {where} {commit}\n".encode(errors="replace"))
        self.place.check_out(commit)
        told = {
            "PATCHMGR_SERIES": self.series,
            "PATCHMGR_BASE": self.states[0],
            "PATCHMGR_HEAD": commit,
        }
        ended = self.place.run(command.run, timeout=command.timeout, log=log, told=told)
        return ended.code, ended.seconds


def first_bad(is_bad: Callable[[int], bool], last: int) -> int:
    """Return the first bad state after 0, which is good, up to `last`, which is bad."""
    good, bad = 0, last
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad
