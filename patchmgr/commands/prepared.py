"""Read a series, bring its pin, and carry it: on the pin itself, or onto another state."""

from __future__ import annotations

from dataclasses import dataclass, replace

from patchmgr.commands.carrying import Carried, Wishes, carry, items_of, needed_blobs, touched_paths
from patchmgr.commands.decide import read_decisions
from patchmgr.commands.memory import Memory
from patchmgr.commands.outlook import End, Outlook
from patchmgr.commands.session import (
    Session,
    Side,
    history_between,
    make_pin,
    nobody,
    require_pin,
)
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.model.patch import Author, Patch
from patchmgr.model.series import SeriesFile
from patchmgr.model.upstream import Pin, SeriesRecord
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.stores import Resolved
from patchmgr.plumbing.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Ready:
    """A series that is read and whose pin is there: what stays the same for every target."""

    record: SeriesRecord
    side: Side
    base: Resolved
    patches: tuple[Patch, ...]
    series_file: SeriesFile
    author: Author


def prepare(session: Session, record: SeriesRecord) -> Ready:
    """Read a series and bring its pin."""
    side = session.side_of(record)
    base = require_pin(side, record.pin)
    patches = session.workspace.patches(record.name)
    series_file = session.workspace.series_file(record.name)
    return Ready(record, side, base, patches, series_file, nobody(side, record.pin))


def carry_onto(
    session: Session,
    ready: Ready,
    target: Resolved,
    bench: Workbench,
    outlook: Outlook,
    *,
    wishes: Wishes,
    memory: Memory,
    formatters: Toolbox,
) -> SeriesOutcome:
    """Carry a series onto a state, with the commits that this makes in the bench."""
    side, record, base = ready.side, ready.record, ready.base
    decisions = tuple(d for d in read_decisions(session.workspace) if d.series == record.name)
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
        decisions=decisions,
        recall=memory,
        formatters=formatters,
        on_patch=lambda patch: memory.enter(f"{record.name}/{patch}"),
    )
    return _write_commits(bench, record, make_pin(side, target), carried, history.count())


def carry_in_place(
    session: Session, ready: Ready, bench: Workbench, outlook: Outlook, *, wishes: Wishes
) -> tuple[Carried, StoredTree]:
    """Carry a series on its own pin; return that together with the files of the pin."""
    side, record = ready.side, ready.record
    tree = bench.tree(ready.base.commit)
    if isinstance(side, GitUpstream):
        side.try_fetch_objects(needed_blobs([tree], touched_paths(ready.patches)))
    carried = carry(
        bench,
        record.name,
        items_of(ready.patches, ready.series_file, wishes.selected),
        tree,
        tree,
        author=ready.author,
        wishes=wishes,
        progress=session.progress,
        views=outlook.views(
            record.upstream, side, bench, patches=ready.patches, base=End(ready.base, tree)
        ),
    )
    return carried, tree


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
