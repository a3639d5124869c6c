"""`rebase`: carry series onto a new upstream state; write all of it, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from patchmgr.commands.carrying import Carried, Wishes, carry, items_of, needed_blobs, touched_paths
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
    forget_work,
    leave_work,
    read_unfinished,
    solved_conflicts,
)
from patchmgr.errors import PatchmgrError
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import without, write_series
from patchmgr.model.outcome import SeriesOutcome, Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.upstream import Lock, Pin, SeriesRecord
from patchmgr.plumbing.diffs import commit_diffs
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.stores import adopt_pack, references
from patchmgr.plumbing.workbench import Workbench
from patchmgr.store import LOCK, Change, RefPlan, lock_bytes

BRANCHES = "refs/heads/patchmgr/"


@dataclass(frozen=True, slots=True)
class RebaseResult:
    """What a rebase found, a series each; `work` is where conflicts wait, None where none do."""

    series: tuple[SeriesOutcome, ...]
    is_dry_run: bool
    work: Path | None = None

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
                f"a rebase of {', '.join(unfinished.series)} onto {unfinished.onto} is not finished",
                (
                    "go on with: patchmgr rebase --continue",
                    "or forget it with: patchmgr rebase --abort",
                ),
            )
        return _rebase_all(session, names, onto, wishes, is_dry_run)


def continue_rebase(session: Session, *, is_dry_run: bool) -> RebaseResult:
    """Finish a rebase with what was solved in the work area."""
    with session.writing():
        unfinished = read_unfinished(session.workspace)
        if unfinished is None:
            raise PatchmgrError("usage", "no rebase is unfinished here")
        wishes = Wishes(
            selected=frozenset(unfinished.selected),
            solved=solved_conflicts(session.workspace, unfinished),
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
    if is_dry_run:
        return result
    if result.has_conflicts:
        return replace(result, work=leave_work(session.workspace, outcomes, onto, wishes.selected))
    change.files[LOCK] = lock_bytes(lock)
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
    side = session.side_of(record)
    base, target = require_pin(side, record.pin), side.resolve(onto)
    patches = session.workspace.patches(record.name)
    with Workbench([side.store]) as bench:
        trees = bench.tree(base.commit), bench.tree(target.commit)
        if isinstance(side, GitUpstream):
            side.try_fetch_objects(needed_blobs(trees, touched_paths(patches)))
        history = history_between(side, base, target)
        series_file = session.workspace.series_file(record.name)
        carried = carry(
            bench,
            record.name,
            items_of(patches, series_file, wishes.selected),
            *trees,
            author=nobody(side, record.pin),
            wishes=wishes,
            progress=session.progress,
            history=history,
        )
        outcome = _write_commits(bench, record, make_pin(side, target), carried, history.count())
        if not outcome.has_conflicts:
            new_lock = _plan_files(session, bench, record, patches, outcome, change, lock)
            if not is_dry_run:
                _plan_branch(side, bench, record.name, outcome, change)
            return outcome, new_lock
    return outcome, lock


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
