"""Save the plans that `patchmgr plan` makes, and look up their steps for `--onto plan:N`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.shown import shown
from patchmgr.model.plan import PLAN_FORMAT, Plan, PlanStep
from patchmgr.services.checkouts import series_digest
from patchmgr.services.session import Session
from patchmgr.workspace import PRIVATE, Workspace

FOLDER = f"{PRIVATE}/plans"
_STEP = re.compile(r"plan:([0-9]{1,9})")


def keep_plan(workspace: Workspace, plan: Plan) -> None:
    """Save a plan, replacing the previous plan for the same series; ignore a failed write."""
    with suppress(OSError):
        workspace.keep(f"{FOLDER}/{plan.series[0]}.json", plan)


def digests_of(
    session: Session, series: Sequence[str], selected: Collection[str]
) -> Mapping[str, str]:
    """Return, by series, the sha256 of everything on which a step of a plan depends."""
    records = [session.workspace.series_record(name) for name in series]
    return {record.name: series_digest(session, record, selected) for record in records}


def planned_state(
    session: Session, series: Sequence[str], onto: str, selected: Collection[str]
) -> str:
    """Return the target of the plan's step N if `onto` is `plan:N`, or else `onto` itself.

    Raises PatchmgrError "stale-plan" if the pin, the patches or the target have changed since, and
    "usage" if there is no plan with such a step.
    """
    named = _STEP.fullmatch(onto)
    if named is None:
        return onto
    first = (series[0], *session.workspace.lock().below(series[0]))[-1]
    plan = session.workspace.kept(f"{FOLDER}/{first}.json", Plan)
    if plan is None or plan.format != PLAN_FORMAT:
        hint = f"make a plan with: patchmgr plan {first} --onto REF"
        raise UsageError(f"there is no plan for {first}", hint)
    if set(plan.series) != set(series):
        message = f"the plan is only for {', '.join(plan.series)}"
        raise UsageError(message, f"patchmgr rebase {first} --onto {onto}")
    number = int(named[1])
    if not 0 < number <= len(plan.steps):
        raise UsageError(f"the plan for {first} has steps 1 to {len(plan.steps)}")
    step = plan.steps[number - 1]
    _refuse_stale(session, plan, step, digests_of(session, series, selected))
    return step.onto.ref


def _refuse_stale(session: Session, plan: Plan, step: PlanStep, now: Mapping[str, str]) -> None:
    first, onto = plan.series[0], plan.onto
    again = f"make a new plan: patchmgr plan {first} --onto {onto.ref}"
    upstream = session.upstream_of(session.workspace.series_record(first))
    if upstream.resolve(onto.ref).commit != onto.commit:
        message = f"{shown(onto.ref)} has changed since the plan for {first} was made"
        raise PatchmgrError("stale-plan", message, again)
    if step.start == now:
        return
    due = next((one.number for one in plan.steps if one.start == now), None)
    message = f"step {step.number} of the plan starts from a different pin or different patches"
    hint = again if due is None else f"the next step is: patchmgr rebase --onto plan:{due}"
    raise PatchmgrError("stale-plan", message, hint)
