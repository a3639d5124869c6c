"""`rebase`: rebase series onto a new upstream state, or try several states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from patchmgr.commands.conflicts import is_resolved
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.lock_files import write_lock
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import set_aside, without, without_strip, write_series
from patchmgr.formats.shown import typed
from patchmgr.model.outcome import SeriesOutcome, TargetOutcome, Verdict
from patchmgr.model.recorded_conflict import Recorded, ReplayedResolution
from patchmgr.model.snapshot import is_full_id
from patchmgr.model.upstream import Lock, Resolved
from patchmgr.plumbing.durable import uninterrupted
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.git_process import require_git
from patchmgr.plumbing.linked_worktree import LinkedWorktree
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.stores import adopt_pack, references
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.services.carry import CarryOptions
from patchmgr.services.checkouts import pushed_targets
from patchmgr.services.decisions import decided_now, keep_open_findings, save_undecided
from patchmgr.services.load import Parents, RebaseRun, rebase_run
from patchmgr.services.memory import Memory, closed_files, open_conflicts, resolutions_in_work
from patchmgr.services.plans import planned_state
from patchmgr.services.rebase_checkout import (
    NOT_SAID,
    OtherEdits,
    RebaseCheckout,
    check_checkout,
    forget_deleted_tree,
    require_trusted,
    take_back,
    tree_of,
    trust,
    with_added,
)
from patchmgr.services.repeated_rebase import SKIPPED, options_to_continue
from patchmgr.services.series import LoadedSeries, load_series, tell_strays, whole_stacks
from patchmgr.services.session import Session
from patchmgr.services.syncs import keep_syncs
from patchmgr.services.upstream_states import UpstreamStates
from patchmgr.services.upstreaming import with_follow_ups
from patchmgr.services.work_area import (
    STATE,
    InProgress,
    Solved,
    Waiting,
    closed_work,
    edit_contents,
    forget_work,
    is_refused,
    is_unresolved,
    read_in_progress,
    require_taken,
    unresolved_items,
    work_files,
    work_folder,
)
from patchmgr.workspace import LOCK, Change, RefPlan, Workspace

BRANCHES = "refs/heads/patchmgr/"


class ShownIn(Struct, frozen=True):
    """The worktree that shows conflicts, its clone, and the `--exec` command ("": none)."""

    checkout: str = ""
    # the clone that the worktree belongs to; without one, it belongs to the store
    repository: str = ""
    command: str = ""


NOWHERE = ShownIn()


def plan_files(
    diffs: Mapping[str, bytes], loaded: LoadedSeries, outcome: SeriesOutcome, change: Change
) -> None:
    """Add the patch files, rewritten from their commits' diffs, and the series file to a change."""
    pairs = list(zip(loaded.patches, outcome.patches, outcome.commits, strict=True))
    rewritten = {c: p for p, o, c in pairs if c is not None and not o.reuses_diff}
    folder = f"series/{outcome.name}"
    for patch, result, commit in pairs:
        if commit in rewritten:
            assert commit is not None
            raw = canonical_header(patch, author=result.author) + diffs[commit]
            parse_patch(raw, name=patch.name)
            change.files[f"{folder}/{patch.name}"] = raw
        elif result.verdict is Verdict.ABSORBED:
            change.files[f"{folder}/{patch.name}"] = None
    gone = {o.name for o in outcome.patches if o.verdict is Verdict.ABSORBED}
    aside = {o.name for o in outcome.patches if o.reason == SKIPPED}
    plain = without_strip(loaded.file, {patch.name for patch in rewritten.values()})
    onto = outcome.onto
    note = f"skipped on {onto.commit if '/' in onto.ref else onto.ref}"  # a branch moves on
    series_file = set_aside(without(plain, gone), aside, note)
    if series_file != loaded.file:
        change.files[f"{folder}/series"] = write_series(series_file)


def plan_lock(lock: Lock, outcomes: Sequence[SeriesOutcome], change: Change) -> None:
    """Add the updated upstream.lock to a change."""
    records = {
        one.name: replace(lock.series[one.name], pin=one.onto, result=result_record(one))
        for one in outcomes
    }
    change.files[LOCK] = write_lock(replace(lock, series={**lock.series, **records}))


def result_record(outcome: SeriesOutcome) -> dict[str, object]:
    """Return the entry in upstream.lock for a rebase: the old pin, the head, and the verdicts."""
    return {
        "base": {"commit": outcome.base.commit, "ref": outcome.base.ref},
        "head": outcome.head or "",
        "patches": [
            {
                "name": patch.name,
                "verdict": patch.verdict.value,
                "evidence": [one.commit for one in patch.evidence],
            }
            for patch in outcome.patches
        ],
    }


def plan_branch(
    workspace: Workspace,
    upstream: OpenUpstream,
    scratch: Scratch,
    outcome: SeriesOutcome,
    change: Change,
) -> None:
    """Put the new commits into the store, and add the update of the series' branch to a change."""
    adopt_pack(upstream.store, scratch.git_dir)
    branch = BRANCHES + outcome.name
    old = references(upstream.store, workspace.ref_at(upstream.store, branch)).get("")
    change.refs.append(RefPlan(str(upstream.store), branch, outcome.head, old))


class RebaseResult(Struct, frozen=True):
    """The result of a rebase: one outcome for each series."""

    series: tuple[SeriesOutcome, ...]
    is_dry_run: bool
    work: Path | None = None  # the work area, if conflicts remain
    waiting: tuple[str, ...] = ()  # files in it that have conflict markers
    replayed: tuple[ReplayedResolution, ...] = ()  # conflicts resolved by recorded resolutions
    learned: tuple[Recorded, ...] = ()  # conflicts whose resolutions were recorded now
    notes: tuple[str, ...] = ()  # what could not be recorded, and formatters that are missing
    skipped: tuple[tuple[str, str], ...] = ()  # (series, patch) of patches that were left out
    checkout: Path | None = None  # of the rebase

    @property
    def has_conflicts(self) -> bool:
        """Return whether conflicts remain."""
        return any(outcome.has_conflicts for outcome in self.series)


def rebase(
    session: Session,
    names: Sequence[str],
    *,
    onto: str,
    options: CarryOptions,
    shown_in: ShownIn = NOWHERE,
) -> RebaseResult:
    """Rebase the named series, or all, onto an upstream state.

    If conflicts remain, patch files, pin and branch do not change. Raises PatchmgrError
    "unfinished" if another rebase is in progress.
    """
    with session.writing():
        in_progress = read_in_progress(session.workspace)
        if in_progress is not None and not session.is_dry_run:
            there = in_progress.onto[:12] if is_full_id(in_progress.onto) else in_progress.onto
            raise PatchmgrError(
                "unfinished",
                f"a rebase of {', '.join(in_progress.series)} onto {there} is in progress",
                "to continue it: patchmgr rebase --continue",
                "to leave out the first patch in conflict: patchmgr rebase --skip",
                "to abandon it: patchmgr rebase --abort",
            )
        chosen = tuple(chain.from_iterable(whole_stacks(session, names)))
        onto = planned_state(session, chosen, onto, options.selected)
        selected, confidence = tuple(sorted(options.selected)), options.confidence
        request = InProgress(chosen, onto, selected, confidence=confidence, **asdict(shown_in))
        check_checkout(session, request)
        if shown_in != NOWHERE and not session.is_dry_run:
            trust(session, request)
        return _rebase_all(session, request, options, tree_of(session, request))


def continue_rebase(
    session: Session,
    *,
    accepted: Sequence[str] = (),
    others: OtherEdits = NOT_SAID,
    shown_in: ShownIn = NOWHERE,
) -> RebaseResult:
    """Continue a rebase with the files resolved in the work area or in its checkout.

    `accepted` names files to accept as they are, and `others` says what becomes of edits to files
    without a conflict. Raises PatchmgrError "unresolved" for a conflict marker, or if a file not in
    `accepted` is deleted or empty, does not compile, or has line endings that no side has.
    """
    with session.writing():
        in_progress, tree = require_in_progress(session), None
        if shown_in != NOWHERE:
            said = {name: each for name, each in asdict(shown_in).items() if each}
            in_progress = replace(in_progress, failed="", **said)
            check_checkout(session, in_progress)
            trust(session, in_progress)
        elif in_progress.checkout and session.is_dry_run:
            hint = "run the command without --dry-run; your resolutions there are kept"
            message = f"--dry-run cannot read the resolutions in {in_progress.checkout}"
            raise UsageError(message, hint)
        require_trusted(session, in_progress)
        in_progress, tree = take_back(session, in_progress, others, _is_answered(session), accepted)
        ran = (*in_progress.ran, *filter(None, (in_progress.failed,)))
        in_progress = replace(in_progress, ran=ran, failed="")
        taken = require_taken(session.workspace, in_progress, accepted)
        in_progress = replace(in_progress, accepted=taken)
        options = options_to_continue(session, in_progress)
        return _rebase_all(session, in_progress, options, tree)


def _is_answered(session: Session) -> Callable[[Waiting], bool]:
    """Return a function that says whether a conflict was resolved outside the checkout."""
    workspace, memory = session.workspace, Memory(session.workspace)
    decided = decided_now(workspace)
    return lambda item: (
        not is_unresolved(workspace, item)
        or (item.series, item.patch) in decided
        or is_resolved(memory, item.conflict)
    )


def skip_patch(session: Session, named: Sequence[tuple[str, str]] = ()) -> RebaseResult:
    """Continue a rebase without the patches in `named`, by default the first one in conflict.

    The patch file does not change, and its line in the series file becomes a comment.
    """
    with session.writing():
        in_progress = require_in_progress(session)
        workspace = session.workspace
        waiting = {(w.series, w.patch) for w in in_progress.waiting}
        unresolved = {
            (w.series, w.patch)
            for w in in_progress.waiting
            if is_unresolved(workspace, w)
            or (w.file not in in_progress.accepted and is_refused(workspace, w))
        }
        stuck = in_progress.stuck or tuple((w.series, w.patch) for w in in_progress.waiting)
        # `--continue` may refuse a resolution, so a resolved patch can be left out as well.
        first = ([s for s in stuck if s in unresolved or s not in waiting] or stuck)[:1]
        require_trusted(session, in_progress)
        in_progress = replace(in_progress, skipped=(*in_progress.skipped, *(named or first)))
        require_taken(workspace, in_progress, ())
        options = options_to_continue(session, in_progress)
        return _rebase_all(session, in_progress, options, tree_of(session, in_progress))


@uninterrupted()
def abort_rebase(session: Session) -> None:
    """End the rebase in progress; delete its conflicts, work area and (if unedited) checkout."""
    with session.writing():
        in_progress = require_in_progress(session)
        if session.is_dry_run:
            return
        memory = Memory(session.workspace)
        files = {**closed_files(memory, in_progress.opened), **closed_work(session.workspace)}
        session.workspace.make(Change(files, spent=[STATE]))
        forget_work(session.workspace)
        tree = tree_of(session, in_progress)
        forget_deleted_tree(session, in_progress)
        if tree is not None and tree.is_untouched():
            tree.remove()
        elif tree is not None:
            root = tree.clone.root
            tree.release()
            session.say(
                f"{root} is kept, because it has edits."
                f" To remove it: git -C {typed(root)} worktree remove -f ."
            )


def require_in_progress(session: Session) -> InProgress:
    """Return the rebase in progress; raise PatchmgrError "usage" if there is none."""
    in_progress = read_in_progress(session.workspace)
    if in_progress is None:
        raise UsageError("no rebase is in progress here")
    return in_progress


def _rebase_all(
    session: Session, in_progress: InProgress, options: CarryOptions, tree: LinkedWorktree | None
) -> RebaseResult:
    """Rebase the series and write the results; `tree` is the checkout if it exists already."""
    require_git("a rebase")
    change, memory, upstreams = Change(), Memory(session.workspace), UpstreamStates(session)
    outcomes, checkout = list[SeriesOutcome](), None
    if not session.is_dry_run and (in_progress.checkout or in_progress.command):
        checkout = RebaseCheckout(session, in_progress, tree)
    with Toolbox() as formatters, checkout or nullcontext():
        for stack in whole_stacks(session, in_progress.series):
            lowest = session.workspace.series_record(stack[0])
            with Scratch([session.upstream_of(lowest).store]) as scratch:
                for content in edit_contents(session.workspace, in_progress):
                    scratch.add(content)
                run = RebaseRun(session, options, scratch, upstreams, memory, formatters)
                outcomes += rebase_stack(run, stack, in_progress, change, checkout)
    paths = {c.new_path for o in outcomes for p in o.patches for c in p.conflicts}
    result = RebaseResult(
        tuple(outcomes),
        session.is_dry_run,
        replayed=memory.used(),
        notes=formatters.notes(paths),
        skipped=in_progress.skipped,
        checkout=None if checkout is None else checkout.root,
    )
    with uninterrupted():
        save_undecided(session.workspace, outcomes)
        keep_open_findings(session.workspace, outcomes)
        if not result.has_conflicts:
            result = _finish(memory, in_progress, result, change, options.solved)
            _tell_outdated(session, result)
            if checkout is not None:
                checkout.release()
        elif not session.is_dry_run:
            if checkout is not None:
                in_progress = replace(in_progress, ran=checkout.ran, failed=checkout.failed)
            result = _leave(session, in_progress, result, memory)
        keep_syncs(
            session.workspace,
            outcomes,
            is_dry_run=session.is_dry_run or result.has_conflicts,
            old_heads={plan.name.removeprefix(BRANCHES): plan.old for plan in change.refs},
            known=(*result.replayed, *result.learned),
        )
    return result


def rebase_stack(
    run: RebaseRun,
    names: Sequence[str],
    in_progress: InProgress,
    change: Change,
    checkout: RebaseCheckout | None = None,
) -> Iterator[SeriesOutcome]:
    """Rebase a stack, lowest series first; yield outcomes, and add the clean ones to `change`."""
    parents: Parents = {}
    for name in names:
        loaded = with_added(load_series(run.session, name), in_progress)
        tell_strays(run.session, name)
        target = in_progress.target(name, loaded.upstream)
        outcome = run.carry_onto(loaded, target, parents, wants_diffs=True)
        if checkout is not None:
            outcome = checkout.visit(run, loaded, outcome)
        outcome = with_follow_ups(run.session, loaded.record, loaded.patches, outcome)
        if not outcome.has_conflicts:
            plan_files(parents[name].diffs, loaded, outcome, change)
            if any(one.series == name for one in in_progress.added):
                path = f"series/{name}/series"
                change.files.setdefault(path, write_series(loaded.file))
            if not run.session.is_dry_run:
                plan_branch(run.session.workspace, loaded.upstream, run.scratch, outcome, change)
        yield outcome


def _leave(
    session: Session, in_progress: InProgress, result: RebaseResult, memory: Memory
) -> RebaseResult:
    """Write the files in conflict into the work area, and record the conflicts."""
    workspace = session.workspace
    # A branch may move before the rebase is continued, so the commits are saved.
    states = tuple((outcome.name, outcome.onto.commit) for outcome in result.series)
    additions = open_conflicts(memory, result.series)
    opened = {*in_progress.opened, *(recorded.id for recorded in additions.recorded())}
    in_progress = replace(in_progress, opened=tuple(sorted(opened)), states=states)
    files = {**additions.files(), **work_files(workspace, result.series, in_progress)}
    workspace.make(Change(files))
    waiting = unresolved_items(workspace, require_in_progress(session), result.series)
    names = tuple(item.file for item in waiting)
    return replace(result, work=work_folder(workspace), waiting=names)


def _finish(
    memory: Memory, in_progress: InProgress, result: RebaseResult, change: Change, solved: Solved
) -> RebaseResult:
    """Write the patches, new resolutions and upstream.lock; a dry run writes nothing."""
    workspace = memory.workspace
    additions, notes = resolutions_in_work(memory, in_progress, solved)
    result = replace(result, learned=additions.recorded(), notes=notes)
    if workspace.is_dry_run:
        return result
    change.files.update(closed_files(memory, in_progress.opened, additions))
    change.files.update(additions.files())
    plan_lock(workspace.lock(), result.series, change)
    change.files.update(closed_work(workspace))
    change.spent.append(STATE)
    workspace.make(change)
    forget_work(workspace)
    return result


def _tell_outdated(session: Session, result: RebaseResult) -> None:
    """Tell the user which checkouts still have the patches from before a rebase."""
    for outcome in () if result.is_dry_run else result.series:
        for root, record in pushed_targets(session.workspace, outcome.name):
            if record.pushed != () and outcome.base.commit != outcome.onto.commit:
                session.say(
                    f"{root} still has {outcome.name} as it was before."
                    f" To remove it there: patchmgr unapply {outcome.name} --to {typed(root)}"
                )


RELEASE = "release"


class Span(Struct, frozen=True):
    """A range of upstream states: every release in it, or every Nth commit."""

    start: str  # "" is the pin
    end: str  # "" is the tracked state
    step: int | None = None  # N; None for every release


def read_targets(onto: Sequence[str], every: str | None) -> tuple[str | Span, ...]:
    """Parse --onto and --every; raise PatchmgrError "usage" if they do not fit together."""
    step: int | None = None
    if every not in (None, RELEASE):
        if not every.isdecimal() or not 0 < int(every) < 1_000_000:
            raise UsageError(f"--every must be 'release' or a number of commits, not {every}")
        step = int(every)
    targets: list[str | Span] = []
    for ref in onto:
        start, dots, end = ref.partition("..")
        targets.append(Span(start, end, step) if dots else ref)
    has_span = any(isinstance(target, Span) for target in targets)
    if has_span and every is None:
        raise UsageError("--onto A..B needs --every release or --every N")
    if every is not None and not has_span:
        raise UsageError("--every needs a range: --onto A..B")
    return tuple(targets)


def rebase_onto_many(
    session: Session, names: Sequence[str], *, targets: Sequence[str | Span], options: CarryOptions
) -> tuple[TargetOutcome, ...]:
    """Rebase the named series, or all, onto each target; nothing is written."""
    with session.writing():
        found = dict[str, list[SeriesOutcome]]()
        for stack in whole_stacks(session, names):
            loaded = [load_series(session, name) for name in stack]
            states = {state.ref: state for state in _states(session, loaded[0], targets)}
            with rebase_run(session, loaded[0].upstream.store, options) as run:
                for label, state in states.items():
                    parents: Parents = {}
                    outcomes = [run.carry_onto(one, state, parents) for one in loaded]
                    found.setdefault(label, []).extend(outcomes)
        # series whose upstream has no such state are left out
        save_undecided(session.workspace, [o for outcomes in found.values() for o in outcomes])
        return tuple(TargetOutcome(label, tuple(outcomes)) for label, outcomes in found.items())


def _states(
    session: Session, loaded: LoadedSeries, targets: Sequence[str | Span]
) -> Iterator[Resolved]:
    """Yield the state of each target, and all states of a range."""
    upstream = loaded.upstream
    for target in targets:
        if not isinstance(target, Span):
            yield upstream.resolve(target)
            continue
        start = upstream.resolve(target.start) if target.start else loaded.base
        end = upstream.resolve(target.end or "upstream/main")
        between = upstream.between(start, end, target.step, session.say)
        if not between and end.commit == start.commit:
            raise UsageError(f"{start.ref} and {end.ref} are the same upstream commit")
        yield from (*between, end)
