"""Load a series, and apply it to its pin or rebase it onto another upstream state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.rebase.blocking import OpenConflict
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import PatchOutcome, SeriesOutcome, Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.upstream import Pin, Resolved
from patchmgr.plumbing.background import ThreadCall
from patchmgr.plumbing.closing import Closing
from patchmgr.plumbing.diffs import commit_diffs
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.scratch_repository import Draft, Scratch, commits_writer, write_commits
from patchmgr.services.carry import CarryInput, CarryOptions, RebasedSeries, carry, items_of
from patchmgr.services.decisions import decisions_on, reasons_to_accept
from patchmgr.services.memory import Memory
from patchmgr.services.series import LoadedSeries, load_series, needed_blobs, touched_paths
from patchmgr.services.session import Session, default_author, pin_of
from patchmgr.services.upstream_states import End, UpstreamStates


class WrittenCommits(Struct, frozen=True):
    """The result of writing the commits of a series, and the new diffs of its patches."""

    top: str  # the commit that the series above is based on
    tree: str  # of `top`
    head: str | None  # the last commit; None if a conflict remains
    commits: tuple[str | None, ...]  # of each patch; None for a patch without a commit
    diffs: Mapping[str, bytes]  # the new diff of each commit that differs from its patch file


class CommitWriter(Closing):
    """Writes the commits of one series into the temporary repository, in the background."""

    def __init__(self, scratch: Scratch, parent: str, *, wants_diffs: bool) -> None:
        self._scratch = scratch
        self._parent = parent
        self._wants_diffs = wants_diffs
        self._outcomes: tuple[PatchOutcome, ...] = ()
        self._has_conflicts = False
        self._ahead: ThreadCall[tuple[tuple[str, ...], Mapping[str, bytes]]] | None = None

    def start(self, carried: RebasedSeries) -> None:
        """Start writing the commits, or one commit of all clean changes if a conflict remains."""
        self._outcomes, self._has_conflicts = carried.outcomes, carried.has_conflicts
        drafts = carried.drafts()
        if self._has_conflicts:
            drafts = (Draft(self._outcomes[0].author, b"carried\n", carried.changes),)
        write = commits_writer(self._scratch, self._parent, drafts)
        place = self._scratch.git_dir
        anew = [not o.reuses_diff for o in self._outcomes if o.is_carried]
        is_wanted = self._wants_diffs and not self._has_conflicts
        self._ahead = ThreadCall(lambda: _write(write, place, anew if is_wanted else ()))

    def written(self) -> WrittenCommits:
        """Wait until the commits are written, and return them."""
        assert self._ahead is not None
        commits, diffs = self._ahead.result()
        top = commits[-1] if commits else self._parent
        tree = self._scratch.reader.tree_of(top)
        if self._has_conflicts:
            return WrittenCommits(top, tree, None, (None,) * len(self._outcomes), diffs)
        rest = iter(commits)
        ids = tuple(next(rest) if o.is_carried else None for o in self._outcomes)
        return WrittenCommits(top, tree, top, ids, diffs)

    def close(self) -> None:
        """Wait for the git processes that `start` started."""
        if self._ahead is not None:
            self._ahead.close()


def _write(
    write: Callable[[], tuple[str, ...]], place: Path, anew: Sequence[bool]
) -> tuple[tuple[str, ...], Mapping[str, bytes]]:
    commits = write()
    wanted = [commit for commit, is_new in zip(commits, anew, strict=False) if is_new]
    half = len(wanted) // 2
    with ThreadCall(lambda: commit_diffs(place, wanted[:half], scratch=place)) as others:
        diffs = commit_diffs(place, wanted[half:], scratch=place)
        return commits, {**others.result(), **diffs}


class Parent(Struct, frozen=True):
    """The commit that a series is rebased onto, and the remaining conflicts of the series below."""

    commit: str  # if there are conflicts: what merged cleanly
    left: tuple[OpenConflict, ...] = ()
    # as in `WrittenCommits`, of the series below; empty if not requested
    diffs: Mapping[str, bytes] = field(default_factory=dict)


Parents = dict[str, Parent]


class SeriesAtPin(Struct, frozen=True):
    """A series applied to its own pin in a temporary repository."""

    loaded: LoadedSeries
    scratch: Scratch
    carried: RebasedSeries
    tree: StoredTree  # of `base`
    base: str  # the last commit of `below`, or the pin
    below: tuple[str, ...]  # the commits of all series below in the stack

    def commits(self) -> tuple[str, ...]:
        """Write one commit for each applied patch, and return all commits since the pin."""
        return (*self.below, *write_commits(self.scratch, self.base, self.carried.drafts()))

    @property
    def is_broken(self) -> bool:
        """Return whether any patch fails to apply, in which case no branch can be built."""
        return any(o.verdict is Verdict.CONFLICT for o in self.carried.outcomes)

    @property
    def patches(self) -> tuple[Patch, ...]:
        """Return the patches that are not skipped."""
        out = {o.name for o in self.carried.outcomes if o.verdict is Verdict.SKIPPED}
        return tuple(patch for patch in self.loaded.patches if patch.name not in out)


class SeriesRun(Struct, frozen=True):
    """The objects shared by all series that one run of a command applies."""

    session: Session
    options: CarryOptions
    scratch: Scratch
    upstreams: UpstreamStates

    def at_pin(self, loaded: LoadedSeries) -> SeriesAtPin:
        """Apply a series to its own pin."""
        pin = self.scratch.tree(loaded.base.commit)
        needed = needed_blobs([pin], touched_paths(loaded.patches))
        loaded.upstream.try_fetch_objects(needed, self.scratch)
        base, below = self.base_commit(loaded)
        tree = self.scratch.tree(base)
        end = End(loaded.base, tree)
        carried = carry(self.carry_input(loaded, tree, tree, (end, end)))
        return SeriesAtPin(loaded, self.scratch, carried, tree, base, below)

    def base_commit(self, loaded: LoadedSeries) -> tuple[str, tuple[str, ...]]:
        """Return the commit that a series is based on, and the commits of all series below it."""
        if loaded.below is None:
            return loaded.base.commit, ()
        below = self.at_pin(loaded.below)
        _refuse_broken(below.carried.outcomes)
        commits = below.commits()
        return commits[-1] if commits else loaded.base.commit, commits

    def carry_input(
        self, loaded: LoadedSeries, base: StoredTree, onto: StoredTree, ends: tuple[End, End]
    ) -> CarryInput:
        """Return what is needed to rebase a series from one tree onto another.

        `ends` are the upstream states of the two trees, for the conditions in headers.
        """
        record, options = loaded.record, self.options
        views = self.upstreams.views(
            record.upstream, loaded.upstream, self.scratch,
            patches=loaded.patches, base=ends[0], onto=ends[1],
        )  # fmt: skip
        items = items_of(loaded.patches, loaded.file, options.selected)
        return CarryInput(
            self.session, self.scratch, record.name, items, base, onto, loaded.author, options,
            views,
        )  # fmt: skip


class RebaseRun(SeriesRun, frozen=True):
    """The objects shared by all rebases of one run of a command."""

    memory: Memory
    formatters: Toolbox

    def carry_onto(
        self, loaded: LoadedSeries, target: Resolved, parents: Parents, *, wants_diffs: bool = False
    ) -> SeriesOutcome:
        """Rebase a series onto a state, and write its commits into the temporary repository.

        `parents` maps each series that is already rebased onto this state to the parent of the
        series above it. This series is added, as are those below it that were not rebased yet.
        """
        scratch, record = self.scratch, loaded.record
        if loaded.below is not None and loaded.below.record.name not in parents:
            self.carry_onto(loaded.below, target, parents)
        parent = Parent(target.commit)
        if loaded.below is not None:
            parent = parents[loaded.below.record.name]
        onto = pin_of(scratch.reader, target)
        writing = CommitWriter(scratch, parent.commit, wants_diffs=wants_diffs)
        given = self._carry_input(loaded, target, parent, onto, writing)
        assert given.history is not None
        with writing, ThreadCall(given.history.distance) as counted:
            carried = carry(given)
            written = writing.written()
            count, back = counted.result()
        # The audit runs after the commits are written; a certain finding makes them invalid.
        is_left = carried.has_conflicts
        outcome = SeriesOutcome(
            record.name, record.upstream, record.pin, onto, count,
            None if is_left else written.head, written.tree, carried.outcomes,
            (None,) * len(carried.outcomes) if is_left else written.commits, carried.ledger,
            commits_back=back,
        )  # fmt: skip
        parents[record.name] = Parent(written.top, carried.left, written.diffs)
        return outcome

    def _carry_input(
        self,
        loaded: LoadedSeries,
        target: Resolved,
        parent: Parent,
        onto: Pin,
        writing: CommitWriter,
    ) -> CarryInput:
        session, scratch, record = self.session, self.scratch, loaded.record
        ends = scratch.tree(loaded.base.commit), scratch.tree(target.commit)
        bring = partial(loaded.upstream.try_fetch_objects, seen=scratch)
        needed = needed_blobs(ends, touched_paths(loaded.patches))
        bring(set(needed))
        scratch.read_ahead(needed)
        below = CarryOptions(self.options.selected)  # the other options do not concern the base
        base = SeriesRun(session, below, scratch, self.upstreams).base_commit(loaded)[0]
        states = End(loaded.base, ends[0]), End(target, ends[1])
        given = self.carry_input(loaded, scratch.tree(base), scratch.tree(parent.commit), states)
        return replace(
            given,
            author=default_author(loaded.upstream, onto),
            history=loaded.upstream.history(loaded.base, target),
            bring=bring,
            decisions=decisions_on(session.workspace, record.name),
            on_carried=writing.start,
            left=parent.left,
            repository=session.workspace.upstream(record.upstream).git,
        )

    def carry_input(
        self, loaded: LoadedSeries, base: StoredTree, onto: StoredTree, ends: tuple[End, End]
    ) -> CarryInput:
        """Return what is needed to rebase a series, with resolutions and accepted findings."""
        given = super().carry_input(loaded, base, onto, ends)
        accepted = {**reasons_to_accept(self.session.workspace), **self.options.accepted}
        options = replace(self.options, accepted=accepted)
        return replace(given, options=options, memory=self.memory, formatters=self.formatters)


@contextmanager
def rebase_run(
    session: Session, store: Path, options: CarryOptions, *others: Path
) -> Iterator[RebaseRun]:
    """Yield a `RebaseRun` with a temporary repository that reads from several repositories."""
    with Scratch([store, *others]) as scratch, Toolbox() as formatters:
        memory, upstreams = Memory(session.workspace), UpstreamStates(session)
        yield RebaseRun(session, options, scratch, upstreams, memory, formatters)


@contextmanager
def series_at_pin(
    session: Session, name: str, options: CarryOptions | None = None, *, must_apply: bool = True
) -> Iterator[SeriesAtPin]:
    """Apply a series to its own pin in a temporary repository.

    If `must_apply`, raises PatchmgrError "conflict" or "bad-predicate" if a patch does not apply.
    """
    loaded, options = load_series(session, name), options or CarryOptions(session.selected)
    with Scratch([loaded.upstream.store]) as scratch:
        found = SeriesRun(session, options, scratch, UpstreamStates(session)).at_pin(loaded)
        if must_apply:
            _refuse_broken(found.carried.outcomes)
        yield found


def _refuse_broken(outcomes: Sequence[PatchOutcome]) -> None:
    """Raise PatchmgrError "conflict" or, if only `Ensures` fails, "bad-predicate"."""
    for outcome in outcomes:
        if outcome.conflicts or outcome.verdict is Verdict.BLOCKED:
            paths = ", ".join(shown(conflict.path) for conflict in outcome.conflicts)
            problem = f"patch {shown(outcome.name)} does not apply"
            if any(one.verdict is Verdict.SKIPPED for one in outcomes):
                problem += " without the patches that are left out"
            raise PatchmgrError("conflict", f"{problem}{': ' if paths else ''}{paths}")
        if outcome.verdict is Verdict.CONFLICT:
            hint = "correct the patch or its Ensures field"
            problem = f"patch {shown(outcome.name)} {outcome.reason}"
            raise PatchmgrError("bad-predicate", problem, hint)
