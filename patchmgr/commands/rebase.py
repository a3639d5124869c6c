"""`rebase`: carry series onto a new upstream state; write all of it, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from patchmgr.commands.carrying import Carried, Wishes, carry, items_of, needed_blobs, touched_paths
from patchmgr.commands.decide import read_decisions
from patchmgr.commands.findings import keep_findings
from patchmgr.commands.outlook import End, Outlook
from patchmgr.commands.session import (
    Session,
    Side,
    history_between,
    make_pin,
    move_store_refs,
    nobody,
    require_pin,
)
from patchmgr.commands.work_area import (
    STATE,
    forget_work,
    leave_work,
    read_unfinished,
    solved_conflicts,
    unsolved_files,
)
from patchmgr.errors import PatchmgrError
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import without, write_series
from patchmgr.model.decision import Decision
from patchmgr.model.outcome import SeriesOutcome, Verdict
from patchmgr.model.patch import Author, Patch
from patchmgr.model.series import SeriesFile
from patchmgr.model.upstream import Lock, Pin, SeriesRecord
from patchmgr.plumbing.diffs import commit_diffs
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.stores import Resolved, adopt_pack, references
from patchmgr.plumbing.workbench import Workbench
from patchmgr.store import LOCK, Change, RefPlan, lock_bytes

BRANCHES = "refs/heads/patchmgr/"


@dataclass(frozen=True, slots=True)
class RebaseResult:
    """What a rebase found, a series each; `work` is where conflicts wait, None where none do.

    `waiting` names the files below `work` that have markers.
    """

    series: tuple[SeriesOutcome, ...]
    is_dry_run: bool
    work: Path | None = None
    waiting: tuple[str, ...] = ()

    @property
    def has_conflicts(self) -> bool:
        """Say whether something is left for a person."""
        return any(outcome.has_conflicts for outcome in self.series)


def rebase(
    session: Session, names: Sequence[str], *, onto: str, wishes: Wishes, is_dry_run: bool
) -> RebaseResult:
    """Rebase the named series, or all, onto an upstream state.

    With conflicts left, patch files, pin and branch stay; what is unfinished is recorded, and
    the files to solve are left in the work area.
    """
    with session.writing():
        unfinished = read_unfinished(session.workspace)
        if unfinished is not None and not is_dry_run:
            raise PatchmgrError(
                "unfinished",
                f"unfinished: the rebase of {', '.join(unfinished.series)} onto {unfinished.onto}",
                (
                    "go on with: patchmgr rebase --continue",
                    "or forget it with: patchmgr rebase --abort",
                ),
            )
        return _rebase_all(session, names, onto, wishes, is_dry_run)


def continue_rebase(
    session: Session, *, is_dry_run: bool, names_symbols: bool = False
) -> RebaseResult:
    """Finish a rebase with what was solved in the work area."""
    with session.writing():
        unfinished = read_unfinished(session.workspace)
        if unfinished is None:
            raise PatchmgrError("usage", "no rebase is unfinished here")
        wishes = Wishes(
            selected=frozenset(unfinished.selected),
            solved=solved_conflicts(session.workspace, unfinished),
            names_symbols=names_symbols,
        )
        return _rebase_all(session, unfinished.series, unfinished.onto, wishes, is_dry_run)


def abort_rebase(session: Session, *, is_dry_run: bool) -> None:
    """Forget an unfinished rebase and its work area."""
    with session.writing():
        if read_unfinished(session.workspace) is None:
            raise PatchmgrError("usage", "no rebase is unfinished here")
        if not is_dry_run:
            forget_work(session.workspace)


def _rebase_all(
    session: Session, names: Sequence[str], onto: str, wishes: Wishes, is_dry_run: bool
) -> RebaseResult:
    lock = session.workspace.lock()
    chosen = tuple(names) or tuple(sorted(lock.series))
    if not chosen:
        raise PatchmgrError("usage", "there is no series here yet", ("patchmgr series new --help",))
    change = Change()
    outcomes = []
    for name in chosen:
        record = session.workspace.series_record(name)
        outcome, lock = _rebase_one(session, record, onto, wishes, change, lock, is_dry_run)
        outcomes.append(outcome)
    result = RebaseResult(tuple(outcomes), is_dry_run)
    keep_findings(session.workspace, outcomes)
    if is_dry_run:
        return result
    if result.has_conflicts:
        # What a name stands for may move before the rebase goes on.
        commits = {outcome.onto.commit for outcome in outcomes}
        exact = next(iter(commits)) if len(commits) == 1 and "/" in onto else onto
        work = leave_work(session.workspace, outcomes, exact, wishes.selected)
        return replace(result, work=work, waiting=unsolved_files(session.workspace))
    change.files[LOCK] = lock_bytes(lock)
    change.spent.append(STATE)
    session.workspace.make(change, move_store_refs)
    forget_work(session.workspace)
    return result


def _rebase_one(
    session: Session,
    record: SeriesRecord,
    onto: str,
    wishes: Wishes,
    change: Change,
    lock: Lock,
    is_dry_run: bool,
) -> tuple[SeriesOutcome, Lock]:
    ready = prepare(session, record)
    target = ready.side.resolve(onto)
    with Workbench([ready.side.store]) as bench, Outlook(session) as outlook:
        outcome = carry_onto(session, ready, target, bench, outlook, wishes=wishes)
        if not outcome.has_conflicts:
            new_lock = _plan_files(session, bench, record, ready.patches, outcome, change, lock)
            if not is_dry_run:
                _plan_branch(ready.side, bench, record.name, outcome, change)
            return outcome, new_lock
    return outcome, lock


@dataclass(frozen=True, slots=True)
class Ready:
    """A series that is read and whose pin is there: what stays the same for every target."""

    record: SeriesRecord
    side: Side
    base: Resolved
    patches: tuple[Patch, ...]
    series_file: SeriesFile
    author: Author
    decisions: tuple[Decision, ...]


def prepare(session: Session, record: SeriesRecord) -> Ready:
    """Read a series and bring its pin."""
    side = session.side_of(record)
    base = require_pin(side, record.pin)
    patches = session.workspace.patches(record.name)
    series_file = session.workspace.series_file(record.name)
    decisions = tuple(d for d in read_decisions(session.workspace) if d.series == record.name)
    author = nobody(side, record.pin)
    return Ready(record, side, base, patches, series_file, author, decisions)


def carry_onto(
    session: Session,
    ready: Ready,
    target: Resolved,
    bench: Workbench,
    outlook: Outlook,
    *,
    wishes: Wishes,
) -> SeriesOutcome:
    """Carry a series onto a state, with the commits that this makes in the bench."""
    side, record, base = ready.side, ready.record, ready.base
    trees = bench.tree(base.commit), bench.tree(target.commit)
    if isinstance(side, GitUpstream):
        side.try_fetch_objects(needed_blobs(trees, touched_paths(ready.patches)))
    history = history_between(side, base, target)
    items = items_of(ready.patches, ready.series_file, wishes.selected)
    carried = carry(
        bench,
        record.name,
        items,
        *trees,
        author=ready.author,
        wishes=wishes,
        progress=session.progress,
        history=history,
        bring=side.try_fetch_objects if isinstance(side, GitUpstream) else lambda blobs: None,
        views=outlook.views(
            record.upstream,
            side,
            bench,
            patches=ready.patches,
            base=End(base, trees[0]),
            onto=End(target, trees[1]),
        ),
        decisions=ready.decisions,
    )
    return _write_commits(bench, record, make_pin(side, target), carried, history.count())


def _write_commits(
    bench: Workbench, record: SeriesRecord, onto: Pin, carried: Carried, count: int
) -> SeriesOutcome:

    outcomes = carried.outcomes
    outcome = SeriesOutcome(
        record.name, record.upstream, record.pin, onto, count, None, onto.tree, outcomes,
        (None,) * len(outcomes),
    )  # fmt: skip
    if outcome.has_conflicts:
        draft = Draft(outcomes[0].author, b"carried\n", carried.changes)
        commits = write_commits(bench, onto.commit, [draft])
        return replace(outcome, tree=bench.reader.tree_of(commits[0]))
    written = iter(write_commits(bench, onto.commit, carried.drafts()))
    ids = tuple(next(written) if o.is_carried else None for o in outcomes)
    head = next((commit for commit in reversed(ids) if commit is not None), onto.commit)
    return replace(outcome, head=head, tree=bench.reader.tree_of(head), commits=ids)


def _plan_files(
    session: Session,
    bench: Workbench,
    record: SeriesRecord,
    patches: Sequence[Patch],
    outcome: SeriesOutcome,
    change: Change,
    lock: Lock,
) -> Lock:
    """Plan the patch files, the series file and the lock for after the rebase."""
    pairs = list(zip(patches, outcome.patches, outcome.commits, strict=True))
    rewritten = {c: p for p, o, c in pairs if c is not None and not o.reuses_diff}
    diffs = commit_diffs(bench.git_dir, list(rewritten))
    folder = f"series/{record.name}"
    for patch, result, commit in pairs:
        if commit in rewritten:
            assert commit is not None
            raw = canonical_header(patch, author=result.author) + diffs[commit]
            parse_patch(raw, name=patch.name)
            change.files[f"{folder}/{patch.name}"] = raw
        elif result.verdict is Verdict.ABSORBED:
            change.files[f"{folder}/{patch.name}"] = None
    gone = {o.name for o in outcome.patches if o.verdict is Verdict.ABSORBED}
    if gone:
        series_file = session.workspace.series_file(record.name)
        change.files[f"{folder}/series"] = write_series(without(series_file, gone))
    new_record = replace(record, pin=outcome.onto, result=result_record(outcome))
    return replace(lock, series={**lock.series, record.name: new_record})


def result_record(outcome: SeriesOutcome) -> dict[str, object]:
    """Return what the lock keeps of a rebase: from, to, head, and the patches not unchanged."""
    return {
        "base": {"commit": outcome.base.commit, "ref": outcome.base.ref},
        "head": outcome.head or "",
        "patches": [
            {
                "name": patch.name,
                "verdict": patch.verdict.value,
                "evidence": [sighting.commit for sighting in patch.evidence],
            }
            for patch in outcome.patches
        ],
    }


def _plan_branch(
    side: Side, bench: Workbench, name: str, outcome: SeriesOutcome, change: Change
) -> None:
    """Put the commits into the store and plan the move of its branch."""
    adopt_pack(side.store, bench.git_dir)
    branch = BRANCHES + name
    old = references(side.store, branch).get("")
    change.refs.append(RefPlan(str(side.store), branch, outcome.head, old))
