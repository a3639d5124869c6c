"""`plan`: plan the steps to an upstream state: clean ranges, and single breaking commits."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.init import Branch, import_branch, init, name_from
from patchmgr.commands.rebase import plan_lock, rebase_stack
from patchmgr.engines.cause.pulls import pull_number
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.text.marked import sides_of, split_marked
from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import FileConflict, PatchOutcome, SeriesOutcome, Verdict
from patchmgr.model.plan import (
    Assumption,
    BreakingCommit,
    ConflictPlace,
    Plan,
    PlannedPatch,
    PlanStep,
    Probe,
)
from patchmgr.model.upstream import Resolved, Upstream, UpstreamState
from patchmgr.plumbing.diffs import changed_files, changed_paths, last_authors, numstat
from patchmgr.plumbing.forks import commit_named
from patchmgr.plumbing.git_process import require_git
from patchmgr.plumbing.history import commit_facts
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.services.carry import CarryOptions
from patchmgr.services.forks import SQUASH
from patchmgr.services.load import RebaseRun, rebase_run
from patchmgr.services.plans import digests_of, keep_plan
from patchmgr.services.repeated_rebase import SKIPPED
from patchmgr.services.series import whole_stacks
from patchmgr.services.session import Session, pinned_state
from patchmgr.services.work_area import InProgress
from patchmgr.workspace import Change, Foreseen

MOST_KNOWING = 4


def make_plan(session: Session, name: str, *, onto: str, most: int | None) -> Plan:
    """Plan the steps of a rebase of a stack onto a state, by trial rebases, and save the plan.

    A clean step has at most `most` commits (or releases). If the state is the pin, there is no step
    and nothing to save.
    """
    require_git("a plan")
    with session.writing():
        stack = whole_stacks(session, [name])[0]
        record = session.workspace.series_record(stack[0])
        upstream = session.upstream_of(record)
        end = planned(upstream.resolve(onto))
        if end.commit == record.pin.commit:
            here = planned(pinned_state(upstream, record.pin))
            return Plan(stack, here, end, upstream.step, 0, (), (), ())
        states, is_back = states_to(session, upstream, stack[0], onto)
        with rebase_run(session, upstream.store, CarryOptions(session.selected)) as run:
            planning = Planning(run, stack, states, upstream, most or len(states))
            steps = tuple(planning.steps())
        if is_back:
            steps = (replace(steps[0], is_back=True), *steps[1:])
        plan = planning.plan(steps)
        keep_plan(session.workspace, plan)
        return plan


def plan_branch(
    branch: Branch, open_: Callable[[Path], Session], *, onto: str, most: int | None
) -> Plan:
    """Plan merges of upstream into a branch, by trial rebases of the branch as a single patch."""
    name, repository = name_from(branch.name), branch.repository
    end = commit_named(onto, repository)
    upstream = Upstream(name, "git", str(repository))
    with tempfile.TemporaryDirectory(prefix="patchmgr-plan-") as folder:
        session = open_(init(Path(folder), is_dry_run=False))
        import_branch(session, replace(branch, upstream=end, merges=SQUASH), upstream)
        found = make_plan(session, name, onto=end, most=most)
        return replace(found, onto=replace(found.onto, ref=onto), is_merge=True)


def states_to(
    session: Session, upstream: OpenUpstream, name: str, onto: str
) -> tuple[list[Resolved], bool]:
    """Return all states from the pin to a target, and whether the first step goes backwards."""
    start = pinned_state(upstream, session.workspace.series_record(name).pin)
    end = upstream.resolve(onto)
    between = upstream.between(start, end, 1 if upstream.has_history else None, session.say)
    way = [start, *between, end]
    # if the target lacks the pin, go back to a state that it has, and then forward
    if upstream.has_history:
        before = upstream.reader.commit(f"{way[1].commit}^1")
        if before is not None and before != start.commit:
            return [start, Resolved(before, before), *way[1:]], True
    return way, False


def planned(state: Resolved) -> UpstreamState:
    """Return a state in the form in which a plan stores it."""
    return UpstreamState(state.ref, state.commit, state.archive, state.sha256)


class Tried(Struct, frozen=True):
    """The outcome of a rebase in a dry run, and the change that the rebase would make."""

    outcomes: tuple[SeriesOutcome, ...]
    change: Change

    @property
    def left(self) -> tuple[tuple[str, PatchOutcome], ...]:
        """Return the patches in conflict or blocked, each with the name of its series."""
        return tuple((o.name, p) for o in self.outcomes for p in o.patches if p.is_left)


class Planning:
    """A plan under construction."""

    def __init__(
        self,
        run: RebaseRun,
        stack: tuple[str, ...],
        states: Sequence[Resolved],
        upstream: OpenUpstream,
        most: int,
    ) -> None:
        self.run, self.stack, self.states = run, stack, states
        self.upstream, self.most = upstream, most
        workspace = Foreseen(run.session.workspace, {})
        # the workspace as the steps so far leave it, and the index of the state they have reached
        self.session, self.at = replace(run.session, workspace=workspace), 0
        # what the steps change
        self.files: dict[str, bytes | None] = {}
        # of the last step, one for each series
        self.outcomes: tuple[SeriesOutcome, ...] = ()
        # conflicts that are assumed to be resolved
        self.assuming: tuple[Assumption, ...] = ()
        self.probes: list[Probe] = []
        self._tried: dict[int, Tried] = {}
        self._suspects: dict[tuple[str, str], set[int]] = {}
        self._numbers = {state.commit: n for n, state in enumerate(states)}

    def steps(self) -> Iterator[PlanStep]:
        """Yield the steps of the plan, each from the state where the previous one ends."""
        number, last = 0, len(self.states) - 1
        while self.at < last:
            number += 1
            top = min(self.at + self.most, last)
            end = longest_stretch(self.at, top, self._is_clean, self._named)
            yield self._stretch(number, end) if end > self.at else self._breaking(number)

    def plan(self, steps: Sequence[PlanStep]) -> Plan:
        """Return a plan with the given steps."""
        ends, last = (planned(self.states[0]), planned(self.states[-1])), len(self.states) - 1
        (count, back), probes = self._distance(0, last), tuple(self.probes)
        unit, selected = self.upstream.step, tuple(sorted(self.session.selected))
        return Plan(
            self.stack, *ends, unit, count, selected, tuple(steps), probes, commits_back=back
        )

    def _distance(self, start: int, end: int) -> tuple[int, int]:
        """Return how many commits only the end state has, and how many only the start has."""
        if not self.upstream.has_history:
            return end - start, 0
        # not the difference of the indexes, which counts an upstream merge as one commit
        return self.upstream.history(self.states[start], self.states[end]).distance()

    def _stretch(self, number: int, end: int) -> PlanStep:
        tried = self._tried[end]
        step = self._step(number, end, changed_patches(tried.outcomes))
        self._go_on(end, tried)
        return step

    def _breaking(self, number: int) -> PlanStep:
        """Plan a commit that breaks patches, and continue as if its conflicts were resolved."""
        end = self.at + 1
        tried = self._tried[end]
        known = _breaking_commit(self.upstream, self.states[self.at], self.states[end], tried)
        step = self._step(number, end, changed_patches(tried.outcomes), known)
        self.pass_over(end, tried)
        return step

    def pass_over(self, end: int, tried: Tried | None = None) -> None:
        """Advance to the state with index `end`, as if the conflicts there were resolved."""
        options = self.run.options
        tried = tried or self._carry(end, options)
        while tried.left:
            options = _as_if_resolved(options, tried.left)
            tried = self._carry(end, options)
        assumed = tuple(_assumed(options))
        self.assuming = tuple(dict.fromkeys((*self.assuming, *assumed)))
        for one in assumed:  # the suspects were found for the old form of the patch
            self._suspects.pop((one.series, one.patch), None)
        self._go_on(end, tried)

    def _step(
        self,
        number: int,
        end: int,
        patches: tuple[PlannedPatch, ...],
        known: BreakingCommit | None = None,
    ) -> PlanStep:
        base, onto = planned(self.states[self.at]), planned(self.states[end])
        start = digests_of(self.session, self.stack, self.run.options.selected)
        count, _ = self._distance(self.at, end)
        return PlanStep(number, base, onto, count, patches, known, self.assuming, start)

    def _go_on(self, end: int, tried: Tried) -> None:
        plan_lock(self.session.workspace.lock(), tried.outcomes, tried.change)
        self.files, self.outcomes = {**self.files, **tried.change.files}, tried.outcomes
        workspace = Foreseen(self.run.session.workspace, self.files)
        self.session, self.at = replace(self.session, workspace=workspace), end
        self._tried.clear()

    def _is_clean(self, end: int) -> bool:
        tried = self._tried[end] = self._carry(end)
        self.probes.append(Probe(self.at, end, not tried.left))
        for series, patch in tried.left:
            named = {self._numbers[c] for c in _suspected(patch) if c in self._numbers}
            self._suspects.setdefault((series, patch.name), set()).update(named)
        return not tried.left

    def _named(self) -> set[int]:
        return set().union(*self._suspects.values())

    def _carry(self, end: int, options: CarryOptions | None = None) -> Tried:
        """Rebase the stack onto a state in memory."""
        # conflicts are audited only if the step is a single commit
        audits = options is None and end == self.at + 1
        options = replace(options or self.run.options, audits_conflicts=audits)
        run = replace(self.run, session=self.session, options=options)
        return try_stack(run, self.stack, self.states[end].ref)


def try_stack(run: RebaseRun, stack: Sequence[str], onto: str) -> Tried:
    """Rebase a stack onto a state; the run's workspace must be a read-only view."""
    change, asked = Change(), InProgress(tuple(stack), onto, ())
    return Tried(tuple(rebase_stack(run, stack, asked, change)), change)


def _as_if_resolved(
    options: CarryOptions, left: Sequence[tuple[str, PatchOutcome]]
) -> CarryOptions:
    """Return options that resolve the remaining conflicts as `conflicts accept ID theirs` would."""
    solved = {series: dict(known) for series, known in options.solved.items()}
    left_out = {series: dict(known) for series, known in options.left_out.items()}
    accepted = dict(options.accepted)
    is_stuck = all(patch.verdict is Verdict.BLOCKED for _, patch in left)
    for series, patch in left:
        texts = {(patch.name, one.path): _theirs(one) for one in patch.conflicts}
        faults = {one.id: "assumed by a plan" for one in patch.open_findings if one.can_be_accepted}
        known = solved.setdefault(series, {})
        if (texts or faults) and known.keys().isdisjoint(texts):
            known |= texts
            accepted |= faults
        # still in conflict: left out, as with `rebase --skip`
        elif patch.verdict is Verdict.CONFLICT or is_stuck:
            left_out.setdefault(series, {})[patch.name] = SKIPPED
    return replace(options, solved=solved, left_out=left_out, accepted=accepted)


def _theirs(conflict: FileConflict) -> bytes | None:
    return conflict.theirs if conflict.marked is None else sides_of(conflict.marked)[2]


def _assumed(options: CarryOptions) -> Iterator[Assumption]:
    for series, patches in options.left_out.items():
        yield from (Assumption(series, patch, is_skipped=True) for patch in patches)
    for series, solved in options.solved.items():
        names = {patch for patch, _ in solved} - options.left_out.get(series, {}).keys()
        yield from (Assumption(series, patch) for patch in sorted(names))


def _suspected(patch: PatchOutcome) -> set[str]:
    """Return the commits that wrote the lines in conflict or, if none are known, all causes."""
    shown = {s.commit for conflict in patch.conflicts for s in conflict.shown if s is not None}
    shown |= {finding.commit for finding in patch.open_findings if finding.commit}
    return shown or {cause.commit for cause in patch.cause}


def changed_patches(outcomes: Sequence[SeriesOutcome]) -> tuple[PlannedPatch, ...]:
    """Return each patch whose verdict is not unchanged, in the form in which a plan stores it."""
    return tuple(
        PlannedPatch(outcome.name, patch.name, patch.verdict, _reason(patch), tuple(_places(patch)))
        for outcome in outcomes
        for patch in outcome.patches
        if patch.verdict is not Verdict.UNCHANGED
    )


def _reason(patch: PatchOutcome) -> str | None:
    reasons = [f"{conflict.new_path}: {conflict.reason}" for conflict in patch.conflicts]
    return patch.reason or "; ".join(reasons) or None


def _places(patch: PatchOutcome) -> Iterator[ConflictPlace]:
    """Yield the position of each finding and each region in conflict, in upstream's new state."""
    for finding in patch.open_findings:
        yield ConflictPlace(finding.path, finding.line, finding.symbol)
    for conflict in patch.conflicts:
        yield from _regions(conflict)


def _regions(conflict: FileConflict) -> Iterator[ConflictPlace]:
    if conflict.marked is None:
        yield ConflictPlace(conflict.new_path, 0, None)
        return
    found, ours = split_marked(conflict.marked), sides_of(conflict.marked)[1]
    index, line = SymbolIndex(conflict.new_path, ours), 1
    for text, one in zip(found.texts, found.regions, strict=False):
        line += text.count(b"\n")
        yield ConflictPlace(conflict.new_path, line, index.at(line))
        line += one.region.ours.count(b"\n")


def _breaking_commit(
    upstream: OpenUpstream, before: Resolved, state: Resolved, tried: Tried
) -> BreakingCommit:
    """Return a breaking commit with its size and the authors of the lines that it changes."""
    ends, store = (before.commit, state.commit), upstream.store
    subject, author, date = commit_facts(store, state.commit)
    changes = changed_files(store, *ends)
    upstream.try_fetch_objects({e.blob for pair in changes.values() for e in pair if e is not None})
    counts, known = list[tuple[int, int] | None](), [author] if upstream.has_history else []
    with suppress(PatchmgrError):  # a blob may be missing
        counts = [*numstat(store, *ends).values()]
        paths = {conflict.new_path for _, patch in tried.left for conflict in patch.conflicts}
        known += last_authors(store, *ends, paths) if upstream.has_history else ()
    added, removed = (sum(count[n] for count in counts if count is not None) for n in (0, 1))
    return BreakingCommit(
        state.commit, subject, pull_number(subject), known[0] if known else "", date,
        len(changed_paths(store, *ends)), added if counts else None, removed if counts else None,
        tuple(dict.fromkeys(known))[:MOST_KNOWING],
    )  # fmt: skip


def longest_stretch(
    start: int, end: int, is_clean: Callable[[int], bool], suspects: Callable[[], Collection[int]]
) -> int:
    """Return the index of the newest upstream state onto which a series rebases cleanly.

    The series is on state `start`, which is returned only if a rebase to `start + 1` has conflicts.
    `suspects` returns the states that earlier conflicts name as their causes.
    """
    # A state after one with a conflict may be clean again, so a bisection could miss the conflict.
    # First come the state before each suspect and, if it is clean, one after the suspect.
    best, worst = start, end + 1
    while best + 1 < worst:
        named = sorted(n for n in suspects() if best < n <= min(worst, end))
        is_last = best > start and named[:1] == [best + 1]
        if is_last:
            number = named[1] - 1 if named[1:] else (best + 1 + worst) // 2
        elif named:
            number = max(named[0] - 1, best + 1)
        else:
            number = end if worst > end else (best + worst) // 2
        if is_clean(number):
            best = number
        elif is_last:
            break
        else:
            worst = number
    return best
