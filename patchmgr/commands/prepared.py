"""Read a series, bring its pin, and carry it: on the pin itself, or onto another state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.commands.acceptance import reasons_to_accept
from patchmgr.commands.carrying import Carried, Wishes, carry, items_of
from patchmgr.commands.decide import read_decisions
from patchmgr.commands.memory import Memory
from patchmgr.commands.outlook import End, Outlook
from patchmgr.commands.session import (
    Session,
    nobody,
    pin_of,
    require_pin,
)
from patchmgr.commands.settings import with_confidence
from patchmgr.commands.stacks import require_one_pin
from patchmgr.commands.touched import needed_blobs, touched_paths
from patchmgr.commands.written import Writing
from patchmgr.engines.blocking import Left
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import PatchOutcome, SeriesOutcome, Verdict
from patchmgr.model.patch import Author, Patch
from patchmgr.model.series import SeriesFile
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.ahead import Ahead
from patchmgr.plumbing.fast_import import write_commits
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.sides import Side
from patchmgr.plumbing.stores import Resolved
from patchmgr.plumbing.workbench import Workbench


class Ready(Struct, frozen=True):
    """A series that is read and whose pin is there: what stays the same for every target.

    `below` is the series that it stands on, None where it stands on its pin.
    """

    record: SeriesRecord
    side: Side
    base: Resolved
    patches: tuple[Patch, ...]
    series_file: SeriesFile
    author: Author
    below: Ready | None = None


def prepare(session: Session, record: SeriesRecord) -> Ready:
    """Read a series, and those that it stands on, and bring its pin."""
    side = session.side_of(record)
    base, author = require_pin(side, record.pin), nobody(side, record.pin)
    patches = session.workspace.patches(record.name)
    series_file = session.workspace.series_file(record.name)
    below = None
    if record.on is not None:
        lower = session.workspace.series_record(record.on)
        require_one_pin(record, lower)
        below = prepare(session, lower)
    return Ready(record, side, base, patches, series_file, author, below)


class Footing(Struct, frozen=True):
    """What a series is carried onto: a commit, and the conflicts that the one below left.

    Where the series below has conflicts, the commit holds what of it could be carried. `diffs` has
    by commit those of the series' patches that are written anew, if they were wanted.
    """

    commit: str
    left: tuple[Left, ...] = ()
    diffs: Mapping[str, bytes] = field(default_factory=dict)


Footings = dict[str, Footing]


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
    footings: Footings | None = None,
    wants_diffs: bool = False,
) -> SeriesOutcome:
    """Carry a series onto a state, with the commits that this makes in the bench.

    A series of a stack goes from what the one below is on the old state to what became of it on
    the new one. `footings` has by name what the series carried so far leave to those above them,
    for this target; this one's is added. A series that is missing there is carried first.
    """
    side, record, base = ready.side, ready.record, ready.base
    footings = {} if footings is None else footings
    if ready.below is not None and ready.below.record.name not in footings:
        carry_onto(
            session, ready.below, target, bench, outlook,
            wishes=wishes, memory=memory, formatters=formatters, footings=footings,
        )  # fmt: skip
    footing = Footing(target.commit)
    if ready.below is not None:
        footing = footings[ready.below.record.name]
    decisions = tuple(d for d in read_decisions(session.workspace) if d.series == record.name)
    ends = bench.tree(base.commit), bench.tree(target.commit)
    bring = partial(side.try_fetch_objects, seen=bench.reader)
    needed = needed_blobs(ends, touched_paths(ready.patches))
    bring(set(needed))
    bench.read_ahead(needed)
    start = floor(session, ready, bench, outlook, wishes=replace(wishes, left_out={}))
    history = side.history(base, target)
    onto = pin_of(bench.reader, target)
    items = items_of(ready.patches, ready.series_file, wishes.selected)
    writing = Writing(bench, footing.commit, wants_diffs=wants_diffs)
    with writing, Ahead(history.distance) as counted:
        carried = carry(
            bench,
            record.name,
            items,
            bench.tree(start),
            bench.tree(footing.commit),
            author=nobody(side, onto),
            wishes=replace(
                with_confidence(session, record.name, wishes),
                accepted=reasons_to_accept(session.workspace),
            ),
            progress=session.progress,
            history=history,
            bring=bring,
            views=outlook.views(
                record.upstream,
                side,
                bench,
                patches=ready.patches,
                base=End(base, ends[0]),
                onto=End(target, ends[1]),
            ),
            decisions=decisions,
            recall=memory,
            formatters=formatters,
            on_patch=lambda patch: memory.enter(f"{record.name}/{patch}"),
            on_carried=writing.start,
            left=footing.left,
            repository=session.workspace.upstream(record.upstream).git,
        )
        written = writing.written()
        count, back = counted.result()
    # The audit looks at what is written already: a finding of it takes the commits back.
    is_left = carried.has_conflicts
    outcome = SeriesOutcome(
        record.name, record.upstream, record.pin, onto, count,
        None if is_left else written.head, written.tree, carried.outcomes,
        (None,) * len(carried.outcomes) if is_left else written.commits, carried.ledger,
        commits_back=back,
    )  # fmt: skip
    footings[record.name] = Footing(written.top, carried.left, written.diffs)
    return outcome


def floor(
    session: Session, ready: Ready, bench: Workbench, outlook: Outlook, *, wishes: Wishes
) -> str:
    """Return the commit that a series is written on: its pin, or the head of the one below."""
    commits = commits_below(session, ready, bench, outlook, wishes=wishes)
    return commits[-1] if commits else ready.base.commit


def commits_below(
    session: Session, ready: Ready, bench: Workbench, outlook: Outlook, *, wishes: Wishes
) -> tuple[str, ...]:
    """Write the commits that a series stands on into the bench, and return them, oldest first."""
    below = ready.below
    if below is None:
        return ()
    parents = commits_below(session, below, bench, outlook, wishes=wishes)
    carried, _ = carry_in_place(session, below, bench, outlook, wishes=wishes)
    refuse_broken(carried.outcomes)
    parent = parents[-1] if parents else below.base.commit
    return (*parents, *write_commits(bench, parent, carried.drafts()))


def carry_in_place(
    session: Session, ready: Ready, bench: Workbench, outlook: Outlook, *, wishes: Wishes
) -> tuple[Carried, StoredTree]:
    """Carry a series in its place; return that together with the files that it stands on."""
    side, record = ready.side, ready.record
    tree = bench.tree(ready.base.commit)
    side.try_fetch_objects(set(needed_blobs([tree], touched_paths(ready.patches))), bench.reader)
    if ready.below is not None:
        tree = bench.tree(floor(session, ready, bench, outlook, wishes=wishes))
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


def refuse_broken(outcomes: Sequence[PatchOutcome]) -> None:
    """Refuse a series with a patch that does not ensure what its header says."""
    for outcome in outcomes:
        if outcome.conflicts or outcome.verdict is Verdict.BLOCKED:
            paths = ", ".join(shown(conflict.path) for conflict in outcome.conflicts)
            problem = f"Patch {shown(outcome.name)} does not apply without those left out"
            raise PatchmgrError("conflict", f"{problem}{': ' if paths else ''}{paths}")
        if outcome.verdict is Verdict.CONFLICT:
            hint = "correct the patch, or its Ensures"
            problem = f"Patch {shown(outcome.name)} {outcome.reason}"
            raise PatchmgrError("bad-predicate", problem, (hint,))
