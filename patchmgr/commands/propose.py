"""`conflicts propose`: check a proposed resolution, and save one that passes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.check import Runner
from patchmgr.commands.conflicts import record, require
from patchmgr.engines.conflicts.solution import Fitted, fit, text_failures
from patchmgr.engines.conflicts.work_order import in_place, regions_of
from patchmgr.engines.text.marked import split_marked
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.recorded_conflict import MAX_SIDE
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import FileConflict
from patchmgr.model.recorded_conflict import Origin, Recorded, Resolution
from patchmgr.model.work_order import Failure, Proposed, Solution
from patchmgr.plumbing.clones import identity
from patchmgr.plumbing.durable import writes
from patchmgr.plumbing.outputs import read_named
from patchmgr.plumbing.programs import TemporaryCheckout, whole_tree
from patchmgr.render.escape import counted
from patchmgr.services.decisions import is_finding, open_findings, reason_in
from patchmgr.services.memory import Memory, waiting_with
from patchmgr.services.repeated_rebase import RepeatedRebase, repeated_rebase
from patchmgr.services.session import Session
from patchmgr.services.work_area import InProgress, Place, Waiting, read_in_progress, work_file
from patchmgr.services.work_orders import OFFERED

Given = Callable[[FileConflict], "bytes | None"]
"""A function that returns the resolved content of a file in conflict, or None to delete it."""


class _Target(Struct, frozen=True):
    """A conflict of a rebase in progress: its record, and its file."""

    recorded: Recorded
    item: Waiting
    in_progress: InProgress

    @property
    def place(self) -> Place:
        return self.item.patch, self.item.path


class _Checked(Struct, frozen=True):
    """A checked solution of a conflict."""

    target: _Target
    proposed: Proposed
    solution: Solution
    # the resolved file; None if the solution does not fit into the file in conflict
    fitted: Fitted | None


def given(
    name: str, *, file: Path | None = None, candidate: int | None = None, is_deleted: bool = False
) -> Given:
    """Return a function from a conflict to the proposed content of its file (None: deleted).

    The content comes from `file`, from candidate number `candidate` (see `candidate_of`), or else
    from standard input.
    """
    if is_deleted:
        return lambda conflict: None
    if candidate is not None:
        return lambda conflict: candidate_of(conflict, name, candidate)
    if file is not None:
        content = read_named(file.absolute(), limit=MAX_SIDE)
    else:
        content = sys.stdin.buffer.read(MAX_SIDE + 1)
    return lambda conflict: content


def candidate_of(conflict: FileConflict, name: str, number: int) -> bytes:
    """Return the content of a file in conflict, with one region replaced by a candidate.

    The region is the only one, or the one whose id starts with `name`. Raises PatchmgrError
    "usage" if there is no such region or candidate.
    """
    regions = regions_of(conflict)
    found = [n for n, one in enumerate(regions) if one.id.startswith(name)] or [0]
    known = conflict.suggestions[found[0]] if found[0] < len(conflict.suggestions) else ()
    if len(regions) > 1 and not regions[found[0]].id.startswith(name):
        ids = ", ".join(one.id for one in regions)
        raise UsageError(f"{shown(name)} is not the id of a region; the regions are: {ids}")
    if number > len(known):
        raise UsageError(f"{shown(name)} has {counted(len(known), 'candidate')}, not {number}")
    assert conflict.marked is not None
    return in_place(split_marked(conflict.marked), found[0], known[number - 1].text)


def propose(session: Session, name: str, given: Given, *, by: str, runs: bool) -> Proposed:
    """Check a proposed resolution and, if it passes, save it until a person accepts it."""
    with session.writing():
        checked = _check(session, _target(session, name), given, by=by, runs=runs)
        if checked.proposed.has_passed and not session.is_dry_run:
            path = OFFERED.format(checked.proposed.id)
            with writes(path):
                session.workspace.keep(path, checked.solution)
        return checked.proposed


def accept_proposed(session: Session, name: str, *, by: str) -> tuple[Recorded, ...]:
    """Check a saved proposal again, and record it; raise "not-accepted" if none has passed."""
    with session.writing():
        target = _target(session, name)
        found = session.workspace.kept(OFFERED.format(target.recorded.id), Solution)
        if found is None:
            hint = f"patchmgr conflicts propose {name} --file FILE"
            raise PatchmgrError("not-accepted", f"no resolution is proposed for {name}", hint)
        checked = _check(session, target, lambda conflict: found.content, by=found.by)
        if not checked.proposed.has_passed:
            raise refused(checked.proposed)
        return _accept(session, checked, by)


def resolve_if_passed(session: Session, name: str, given: Given, *, by: str, who: str) -> Proposed:
    """Check a resolution that `by` proposes; if it passes, record it as accepted by `who`."""
    with session.writing():
        checked = _check(session, _target(session, name), given, by=by)
        if checked.proposed.has_passed:
            _accept(session, checked, who)
        return checked.proposed


def accept_anyway(
    session: Session, name: str, given: Given, *, by: str, because: str
) -> tuple[Proposed, tuple[Recorded, ...]]:
    """Record a resolution that may fail checks, if it resolves the conflict; `because` says why."""
    because = reason_in(because)
    with session.writing():
        checked = _check(session, _target(session, name), given, by=by)
        if checked.fitted is None:
            problem = checked.proposed.failures[0]
            message = f"the proposed text does not resolve {name}: {problem.check}: {problem.text}"
            file = work_file(session.workspace, checked.target.item)
            hint = f"or write the resolution to {file}"
            raise PatchmgrError("bad-resolution", message, hint)
        return checked.proposed, _accept(session, checked, by, because)


def refused(proposed: Proposed) -> PatchmgrError:
    """Return the error for a proposed resolution that fails the checks."""
    told = tuple(f"{one.check}: {one.text}" for one in proposed.failures)
    return PatchmgrError("not-accepted", f"the resolution of {proposed.id} fails a check", *told)


def user_name(session: Session) -> str:
    """Return the user's name from git's configuration, or "a person" if it is not set."""
    for name in sorted(session.workspace.lock().series):
        found = identity(
            session.upstream_of(session.workspace.series_record(name)).store, "COMMITTER"
        )
        return found.partition(" <")[0] if found else "a person"
    return "a person"


def _target(session: Session, name: str) -> _Target:
    workspace = session.workspace
    if is_finding(workspace, name):
        hints = ["correct the patch in a checkout, with patchmgr push and patchmgr refresh"]
        findings = [one.finding for one in open_findings(workspace)]
        if all(one.can_be_accepted for one in findings if one.id.startswith(name)):
            hints.append(f"or accept it: patchmgr conflicts accept {name} --because TEXT")
        raise UsageError(f"{name} is a finding, which has no text to resolve", *hints)
    memory = Memory(workspace)
    found, in_progress = require(memory, name), read_in_progress(workspace)
    item = next(waiting_with(memory, found), None)
    if in_progress is None or item is None:
        hint = "to list the files to resolve: patchmgr status"
        raise UsageError(f"{found.id} is not a conflict of a rebase in progress", hint)
    return _Target(found, item, in_progress)


def _check(
    session: Session, target: _Target, given: Given, *, by: str, runs: bool = False
) -> _Checked:
    """Run all checks on a solution, the cheapest first."""
    if not by.strip() or not by.isprintable() or len(by) > _LONGEST_NAME:
        raise UsageError("--by must be a name: one line of plain text")
    item, failures, rests = target.item, list[Failure](), tuple[str, ...]()
    again = (session, target.in_progress, item.series, target.place)
    with repeated_rebase(*again) as carried:
        conflict = carried.conflict(target.place)
        known = {one.id for patch in carried.outcome.patches for one in patch.open_findings}
    if conflict is None:
        raise UsageError(f"{target.recorded.id} is no longer in conflict")
    content, fitted = given(conflict), None
    if content is not None and len(content) > MAX_SIDE:
        failures.append(Failure("size", f"it has more than {MAX_SIDE} bytes"))
    else:
        found = fit(conflict, content, target.recorded.id, Memory(session.workspace).find)
        if isinstance(found, Failure):
            failures.append(found)
        else:
            fitted = found
            failures += text_failures(conflict, fitted)
    if fitted is not None:
        try:
            with repeated_rebase(*again, (fitted.content,)) as carried:
                failures += _merge_failures(carried, target.place, known)
                rests = _rests_on(carried, target.place)
                if runs and not failures:
                    failures += _run_failures(session, carried)
        except PatchmgrError as fault:
            if fault.kind != "bad-resolution":
                raise
            failures.append(Failure("merge", fault.message))
    left_out = session.workspace.settings(item.series).left_out - {"markers"}
    failures = [one for one in failures if one.check not in left_out]
    proposed = Proposed(
        target.recorded.id, item.series, item.patch, item.path, by, not failures, tuple(failures),
        rests,
    )  # fmt: skip
    return _Checked(target, proposed, Solution(content, by), fitted)


_LONGEST_NAME = 200


def _merge_failures(carried: RepeatedRebase, place: Place, known: set[str]) -> Iterator[Failure]:
    """Yield the conflicts and findings that the solution causes in the rebase."""
    left = carried.conflict(place)
    if left is not None:
        yield Failure("merge", left.reason)
    for patch in carried.outcome.patches:
        paths = {place[1], *(h.new_path for h in patch.hunks if h.path == place[1])}
        for one in patch.open_findings:
            if one.id not in known and (patch.name == place[0] or one.path in paths):
                check = "condition" if one.kind == "condition" else "audit"
                yield Failure(check, f"{shown(patch.name)}: {one.sentence()}")
    if carried.outcome.ledger is not None:
        for name, fault in carried.outcome.ledger.faults:
            if fault.is_certain and name == place[0]:
                yield Failure("ledger", fault.sentence())


def _rests_on(carried: RepeatedRebase, place: Place) -> tuple[str, ...]:
    patch, outcome = carried.patch(place[0]), carried.outcome
    causes = [one.commit for one in patch.cause if place[1] in one.paths]
    return tuple(dict.fromkeys((outcome.base.commit, outcome.onto.commit, *causes)))


def _run_failures(session: Session, carried: RepeatedRebase) -> Iterator[Failure]:
    """Yield a failure for each command of the series that fails on the rebased patches."""
    name, upstream, onto = carried.outcome.name, carried.loaded.upstream, carried.target.commit
    upstream.try_fetch_objects(whole_tree(upstream.store, onto))
    with TemporaryCheckout(carried.scratch.git_dir) as place:
        runner = Runner(session, name, place, (onto, carried.top), ("the solution",))
        for command in session.workspace.settings(name).commands:
            for problem in runner.gate(command).problems:
                yield Failure("run", f"{command.name}: {problem.sentence}")


def _accept(
    session: Session, checked: _Checked, by: str, because: str = ""
) -> tuple[Recorded, ...]:
    """Record a solution as the resolution of each region, and remove the proposal."""
    target, fitted, memory = checked.target, checked.fitted, Memory(session.workspace)
    assert fitted is not None
    made = Resolution(
        fitted.content, Origin.PROPOSE, f"{target.item.series}/{target.item.patch}",
        checked.solution.by, by, because, checked.proposed.rests_on,
    )  # fmt: skip
    texts: dict[str, bytes | None] = {one.id: one.resolution for one in fitted.lessons}
    solved = []
    for name, text in (texts or {target.recorded.id: fitted.content}).items():
        by = memory.whose(name, text) or made.proposed_by
        resolution = replace(made, content=text, proposed_by=by)
        solved.append(replace(require(memory, name), resolution=resolution))
    recorded = record(memory, solved)
    if not session.is_dry_run:
        (session.workspace.root / OFFERED.format(target.recorded.id)).unlink(missing_ok=True)
    return recorded
