"""Plans, forecasts, and tables that compare rebases of a series onto several targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from patchmgr.model.outcome import SeriesOutcome, TargetOutcome, Verdict
from patchmgr.model.plan import (
    Assumption,
    BreakingCommit,
    ConflictPlace,
    Forecast,
    Plan,
    PlannedPatch,
    PlanStep,
    PullEffect,
)
from patchmgr.render.escape import clean, counted, tallied
from patchmgr.render.markdown_text import code, code_cell, table, text
from patchmgr.render.rebase import VERDICT_COLORS, commit_line, moved_text, painted, short_ref
from patchmgr.render.view import View
from patchmgr.render.view import table as aligned

_LEFT = (Verdict.CONFLICT, Verdict.BLOCKED)


def plan_text(plan: Plan, view: View) -> Iterator[str]:
    """Yield a plan: a heading, the steps, and the rebases that were tried to find them."""
    yield _heading(plan)
    width = len(str(len(plan.steps)))
    indent = " " * (width + 4)
    for step in plan.steps if not view.is_line else ():
        yield f"  {step.number:>{width}}  {_title(plan, step)}"
        for line in _facts(step):
            yield from view.folded(line, indent)
        for patch in step.patches:
            if patch.verdict in _LEFT or view.is_all:
                yield from patch_lines(patch, view, indent)
    if plan.steps and not view.is_line:
        yield from view.folded(_tried(plan), "  ")


def after_plan(plan: Plan) -> str:
    """Return a line with the command that carries out the first step of a plan, if it has any."""
    if not plan.steps:
        return "There is nothing to do."
    return f"Take the first step with: {clean(plan.command(plan.steps[0]))}"


def _heading(plan: Plan) -> str:
    base, onto = short_ref(plan.base.ref), short_ref(plan.onto.ref)
    breaking = sum(step.breaking is not None for step in plan.steps)
    moved = moved_text(plan.commits, plan.commits_back, plan.unit)
    counts = f"{moved}, {counted(len(plan.steps), 'step')}"
    told = f"{counts}, {breaking} with conflicts" if breaking else counts
    return f"{clean(', '.join(plan.series))}: {base} -> {onto}  ({told})"


def _title(plan: Plan, step: PlanStep) -> str:
    if step.breaking is not None:
        found = commit_line(step.breaking)
        return (
            f"conflicts when going back to {found}" if step.is_back else f"conflicts with {found}"
        )
    onto = short_ref(step.onto.ref)
    return (
        f"{counted(step.commits, plan.unit)}: rebases cleanly onto {onto}"
        if step.commits
        else f"back to {onto}"
    )


def _facts(step: PlanStep) -> Iterator[str]:
    changed = tallied((patch.verdict for patch in step.patches), Verdict)
    if step.breaking is not None:
        yield _about(step.breaking)
        if step.breaking.known_to:
            yield f"who to ask: {', '.join(map(clean, step.breaking.known_to))}"
    if changed:
        yield changed
    yield from assumed(step.assuming)


def assumed(assuming: Sequence[Assumption]) -> Iterator[str]:
    """Yield a line with the assumed resolutions of earlier conflicts, if there are any."""
    skipped = sum(one.is_skipped for one in assuming)
    taken = len(assuming) - skipped
    verb = "is" if taken == 1 else "are"
    told = [f"that {counted(taken, 'patch')} in conflict {verb} resolved with theirs"] * bool(taken)
    verb = "is" if skipped == 1 else "are"
    told += [f"that {counted(skipped, 'patch')} in conflict {verb} skipped"] * bool(skipped)
    if told:
        yield f"assuming {', and '.join(told)}"


def _about(found: BreakingCommit) -> str:
    by = f"by {clean(found.author)}, " if found.author else ""
    lines = "" if found.added is None else f", +{found.added} -{found.removed}"
    return f"{by}{found.date}, {counted(found.files, 'file')}{lines}"


def patch_lines(patch: PlannedPatch, view: View, indent: str) -> Iterator[str]:
    """Yield a patch's verdict and name, then the places of its conflicts, or else the reason."""
    verdict = painted(patch.verdict.value, VERDICT_COLORS[patch.verdict], color=view.color)
    yield f"{indent}{verdict} {clean(patch.name)}"
    places = [clean(_place(place)) for place in patch.places]
    for line in places or ([clean(patch.reason)] if patch.reason else []):
        yield from view.folded(line, f"{indent}  ")


def _place(place: ConflictPlace) -> str:
    line = f":{place.line}" if place.line else ""
    return f"{place.path}{line}" + (f" {place.symbol}" if place.symbol else "")


def _tried(plan: Plan) -> str:
    words = [f"{p.start}..{p.end} {'clean' if p.is_clean else 'conflict'}" for p in plan.probes]
    units = "releases" if plan.unit == "release" else "first-parent commits"
    return f"trial rebases, by number of {units}: {', '.join(words)}"


def plan_markdown(plan: Plan, *, has_commands: bool = True) -> str:
    """Return a plan as Markdown with a section per step, and with commands if `has_commands`."""
    blocks = [f"## {text(_heading(plan))}"]
    blocks += [_step_markdown(plan, step, has_commands=has_commands) for step in plan.steps]
    blocks += [_tried(plan)] * bool(plan.steps)
    return "\n\n".join(blocks) + "\n"


def _step_markdown(plan: Plan, step: PlanStep, *, has_commands: bool) -> str:
    lines = [f"### {step.number}. {text(_title(plan, step))}", ""]
    names = f"`{step.base.commit[:12]}` to `{step.onto.commit[:12]}`"
    lines.append(f"- {counted(step.commits, plan.unit)}: {names}")
    found = step.breaking
    if found is not None and found.pull is not None:
        lines.append(f"- pull request {found.pull}")
    lines += [f"- {text(fact)}" for fact in _facts(step)]
    if has_commands:
        lines.append(f"- take this step with: {code(plan.command(step))}")
    if step.patches:
        lines += ["", *table(["patch", "verdict", "where and why"], map(_patch_row, step.patches))]
    return "\n".join(lines)


def _patch_row(patch: PlannedPatch) -> tuple[str, ...]:
    word = f"**{patch.verdict.value}**" if patch.verdict in _LEFT else patch.verdict.value
    where = [code_cell(_place(place)) for place in patch.places]
    where += [text(patch.reason)] if patch.reason else []
    return code_cell(patch.name), word, "<br>".join(where)


_COLORS = {
    PullEffect.BREAKS: VERDICT_COLORS[Verdict.CONFLICT],
    PullEffect.ABSORBS: VERDICT_COLORS[Verdict.ABSORBED],
    PullEffect.TOUCHES: VERDICT_COLORS[Verdict.MODIFIED],
    PullEffect.UNKNOWN: VERDICT_COLORS[Verdict.BLOCKED],
}
_WIDTH = max(len(effect.value) for effect in PullEffect)


def forecast_text(found: Forecast, view: View) -> Iterator[str]:
    """Yield a forecast: a heading, then the pull requests that affect a patch."""
    effects = Counter(pull.effect for pull in found.pulls)
    counts = [f"{effects[effect]} {effect.value}" for effect in _COLORS]
    told = f"{counted(found.open, 'open pull request')}: {', '.join(counts)}"
    yield f"{clean(', '.join(found.series))} on {found.tip.commit[:12]}: {told}"
    if not view.is_line:
        for line in assumed(found.assuming):
            yield from view.folded(line, "  ")
        for pull in found.pulls:
            word = painted(pull.effect.value.ljust(_WIDTH), _COLORS[pull.effect], color=view.color)
            yield f"  {word}  #{pull.number} {clean(pull.subject)}"
            indent = " " * (_WIDTH + 4)
            yield from view.folded(f"by {clean(pull.author)}, {pull.date}", indent)
            if pull.effect is PullEffect.UNKNOWN:
                paths = ", ".join(map(clean, pull.paths))
                yield from view.folded(f"does not merge into upstream; changes {paths}", indent)
            for patch in pull.patches:
                yield from patch_lines(patch, view, indent)
        age = f"its last commit is at most {found.days} days old"
        told = f"a pull request counts as open if the remote has a merge ref for it, or if {age}"
        yield from view.folded(told, "  ")


_WORDS = {verdict: verdict.value for verdict in Verdict} | {Verdict.UNCHANGED: "same"}
_GAP = "  "


def targets_text(targets: Sequence[TargetOutcome], form: str, view: View) -> Iterator[str]:
    """Yield a table of patches and targets for each series; `form` is "markdown" or "terminal"."""
    found: dict[str, list[SeriesOutcome]] = {}
    for target in targets:
        for outcome in target.series:
            found.setdefault(outcome.name, []).append(outcome)
    for number, outcomes in enumerate(found.values()):
        if view.is_line:
            fates = (f"{short_ref(outcome.onto.ref)} {_fate(outcome)}" for outcome in outcomes)
            yield f"{_targets_heading(outcomes)}: {'; '.join(fates)}"
        else:
            yield from [""] * bool(number)
            yield from _markdown(outcomes) if form == "markdown" else _terminal(outcomes, view)


def after_targets(targets: Sequence[TargetOutcome]) -> str:
    """Return a line with the number of targets on which conflicts remain."""
    count = sum(target.has_conflicts for target in targets)
    left = f"Conflicts on {count} of {len(targets)} targets." if count else "No conflict."
    return f"{left} Nothing was written: this was a dry run."


def _targets_heading(outcomes: Sequence[SeriesOutcome]) -> str:
    first = outcomes[0]
    targets, patches = counted(len(outcomes), "target"), counted(len(first.patches), "patch")
    return f"{first.name}: {short_ref(first.base.ref)} -> {targets}  ({patches})"


def _terminal(outcomes: Sequence[SeriesOutcome], view: View) -> Iterator[str]:
    yield _targets_heading(outcomes)
    names = {
        row: clean(patch.name)
        for row, patch in enumerate(outcomes[0].patches)
        if view.is_all or any(o.patches[row].verdict is not Verdict.UNCHANGED for o in outcomes)
    }
    first = max([len("patch"), *map(len, names.values())])
    columns = [max(len(short_ref(o.onto.ref)), *map(len, _WORDS.values())) for o in outcomes]
    for start, end in _blocks(columns, view.width - first - len(_GAP)) if names else ():
        shown = outcomes[start:end]
        rows = [["patch", *(short_ref(outcome.onto.ref) for outcome in shown)]]
        for row, name in names.items():
            rows.append([name, *(_cell(o.patches[row].verdict, view.color) for o in shown)])
        yield from (f"{_GAP}{line}" for line in aligned(rows))
        yield ""
    alike = len(outcomes[0].patches) - len(names)
    if alike:
        yield f"{_GAP}{counted(alike, 'patch')} unchanged on every target"
    ends = [(short_ref(outcome.onto.ref), _fate(outcome)) for outcome in outcomes]
    yield from (f"{_GAP}{line}" for line in aligned(ends))


def _blocks(columns: Sequence[int], width: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each block of columns that fit side by side."""
    start, used = 0, 0
    for number, column in enumerate(columns):
        used += column + len(_GAP)
        if used > width and number > start:
            yield start, number
            start, used = number, column + len(_GAP)
    yield start, len(columns)


def _cell(verdict: Verdict, color: bool) -> str:
    return painted(_WORDS[verdict], VERDICT_COLORS[verdict], color=color)


def _fate(outcome: SeriesOutcome) -> str:
    """Return the numbers of patches in conflict and blocked; without any, the head and verdicts."""
    if outcome.has_conflicts:
        conflicts, blocked = (outcome.count(verdict) for verdict in _LEFT)
        rest = f", {blocked} blocked" if blocked else ""
        return f"{counted(conflicts, 'conflict')}{rest}"
    counts = tallied((patch.verdict for patch in outcome.patches), Verdict)
    return f"head {outcome.head}{_GAP}{counts or 'no patches'}"


def _markdown(outcomes: Sequence[SeriesOutcome]) -> Iterator[str]:
    yield f"### {text(_targets_heading(outcomes))}"
    yield ""
    rows = []
    for row, patch in enumerate(outcomes[0].patches):
        words = [_WORDS[outcome.patches[row].verdict] for outcome in outcomes]
        cells = [f"**{word}**" if word in ("conflict", "blocked") else word for word in words]
        rows.append([code_cell(patch.name), *cells])
    yield from table(["patch", *(text(short_ref(o.onto.ref)) for o in outcomes)], rows)
    yield ""
    for outcome in outcomes:
        yield f"- {text(short_ref(outcome.onto.ref))}: {_fate(outcome)}"
