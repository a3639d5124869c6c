"""`rebase --dry-run` onto several states: what becomes of every patch on each of them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import SeriesOutcome, TargetOutcome
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.stores import Resolved
from patchmgr.plumbing.workbench import Workbench
from patchmgr.services.carrying import Wishes
from patchmgr.services.findings import keep_findings
from patchmgr.services.memory import Memory
from patchmgr.services.prepared import Footings, Ready, Run, prepare
from patchmgr.services.series import stacks_of, whole_stacks
from patchmgr.services.session import Session
from patchmgr.services.upstream_states import Outlook

RELEASE = "release"


class Span(Struct, frozen=True):
    """The states after one up to another: every release, or every so many commits.

    An empty start is the pin, an empty end what is tracked.
    """

    start: str
    end: str
    step: int | None = None


def read_targets(onto: Sequence[str], every: str | None) -> tuple[str | Span, ...]:
    """Read what --onto and --every name; raise "usage" for what has no meaning."""
    step: int | None = None
    if every not in (None, RELEASE):
        if not every.isdecimal() or not 0 < int(every) < 1_000_000:
            raise PatchmgrError("usage", f"--every is release or a number of commits, not {every}")
        step = int(every)
    targets: list[str | Span] = []
    for ref in onto:
        start, dots, end = ref.partition("..")
        targets.append(Span(start, end, step) if dots else ref)
    has_span = any(isinstance(target, Span) for target in targets)
    if has_span and every is None:
        raise PatchmgrError("usage", "a range needs --every release or --every N")
    if every is not None and not has_span:
        raise PatchmgrError("usage", "--every needs a range: --onto A..B")
    return tuple(targets)


def rebase_onto_many(
    session: Session,
    names: Sequence[str],
    *,
    targets: Sequence[str | Span],
    wishes: Wishes,
) -> tuple[TargetOutcome, ...]:
    """Rebase the named series, or all, onto each target, and write nothing.

    A target that only some series have lists these alone.
    """
    outlook = Outlook(session)
    with session.writing():
        memory, found = Memory(session.workspace), dict[str, list[SeriesOutcome]]()
        for stack in stacks_of(session, whole_stacks(session, names)):
            ready = [prepare(session, name) for name in stack]
            states = _states(session, ready[0], targets)
            with Workbench([ready[0].side.store]) as bench, Toolbox() as formatters:
                run = Run(session, wishes, bench, outlook, memory, formatters)
                for label, state in states.items():
                    footings: Footings = {}
                    outcomes = [run.carry_onto(one, state, footings) for one in ready]
                    found.setdefault(label, []).extend(outcomes)
        keep_findings(session.workspace, [o for outcomes in found.values() for o in outcomes])
        return tuple(TargetOutcome(label, tuple(outcomes)) for label, outcomes in found.items())


def _states(session: Session, ready: Ready, targets: Sequence[str | Span]) -> dict[str, Resolved]:
    """Return the states of all targets by name, in order."""
    found = [state for target in targets for state in _of_target(session, ready, target)]
    return {state.ref: state for state in found}


def _of_target(session: Session, ready: Ready, target: str | Span) -> tuple[Resolved, ...]:
    side = ready.side
    if not isinstance(target, Span):
        return (side.resolve(target),)
    start = side.resolve(target.start) if target.start else ready.base
    end = side.resolve(target.end or "upstream/main")
    between = side.between(start, end, target.step, session.say)
    if not between and end.commit == start.commit:
        raise PatchmgrError("usage", f"there is nothing after {start.ref} up to {end.ref}")
    return (*between, end)
