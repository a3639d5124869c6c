"""`notes`: write a note on a rebase, with computed figures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.rebase import BRANCHES
from patchmgr.engines.cause.pulls import pull_number
from patchmgr.engines.languages.file_types import language
from patchmgr.engines.report.subsystems import Subsystems, folders_of, subsystems
from patchmgr.engines.report.sync_facts import (
    carried_of,
    dropped_of,
    files_by_change,
    solved_of,
    touched_by,
    warnings_of,
)
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.model.documents import SyncDocument
from patchmgr.model.notes import (
    Arrival,
    Carried,
    Dropped,
    GateLine,
    ResolvedFile,
    SubsystemArrivals,
    SyncNote,
)
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.model.ports import Step
from patchmgr.model.recorded_conflict import ReplayedResolution
from patchmgr.model.upstream import Pin, Resolved, SeriesRecord
from patchmgr.plumbing.answer_cache import Answers
from patchmgr.plumbing.history import GitHistory
from patchmgr.plumbing.merge_process import MergeProcess
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.plumbing.stores import references
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.services.carry import CarryOptions
from patchmgr.services.load import rebase_run
from patchmgr.services.published import Published, current_gates, read_published
from patchmgr.services.series import load_series
from patchmgr.services.session import Fetching, Session, pin_of, pinned_state, subject_of
from patchmgr.services.syncs import keep_syncs, read_syncs, sync_document

TRACKED = "upstream/main"


def note(session: Session, name: str, *, start: str | None, end: str | None) -> SyncNote:
    """Return the note on the rebase of a series from one upstream state to another.

    A state is a REF, or a tag that `branch --tag` made. `start` is by default the state before the
    last rebase, and `end` the pin. If `start` is the pin, the note is on a dry run, by default onto
    the tracked state. Raises PatchmgrError "usage" if the series was never rebased, and "no-facts"
    if nothing is known about the rebase.
    """
    record = session.workspace.series_record(name)
    upstream = session.upstream_of(record)
    ends = _ends(session, record, upstream, start, end)
    if ends[0].commit == record.pin.commit:
        syncs = [_dry_run(session, record, ends[1])]
    else:
        syncs = _chain(read_syncs(session.workspace, name), ends[0].commit, ends[1].commit)
    if syncs:
        patches, is_complete = carried_of(syncs), True
        paths = touched_by(syncs)
    else:
        syncs, is_complete = [], False
        patches = _from_lock(session, record, ends)
        paths = tuple(p for patch in session.workspace.patches(name) for p in patch.paths())
    return _Writer(session, record, upstream, ends, syncs, is_complete).note(patches, paths)


def note_on(
    session: Session,
    name: str,
    ends: tuple[Resolved, Resolved],
    outcomes: Sequence[SeriesOutcome],
    known: Sequence[ReplayedResolution],
) -> SyncNote:
    """Return one note that covers consecutive rebases; `known` are conflicts that they replayed."""
    record = session.workspace.series_record(name)
    syncs = [sync_document(one, is_dry_run=True, old_head=None, known=known) for one in outcomes]
    writer = _Writer(session, record, session.upstream_of(record), ends, syncs, True)
    return writer.note(carried_of(syncs), touched_by(syncs))


def _ends(
    session: Session,
    record: SeriesRecord,
    upstream: OpenUpstream,
    start: str | None,
    end: str | None,
) -> tuple[Resolved, Resolved]:
    """Return the states that the rebase in a note starts from and ends at."""
    pin, base = _fetched(upstream, record.pin), record.result.get("base")
    if start is not None:
        first = _state(session, record, upstream, start)
    elif isinstance(base, dict) and base.get("commit"):
        first = _state(session, record, upstream, str(base["commit"]), str(base.get("ref", "")))
    else:
        hint = "name the upstream state before the rebase with --from REF"
        raise UsageError(f"{record.name} has not been rebased yet", hint)
    if end is not None:
        return first, _state(session, record, upstream, end)
    return first, upstream.resolve(TRACKED) if first.commit == pin.commit else pin


def _state(
    session: Session, record: SeriesRecord, upstream: OpenUpstream, name: str, shown: str = ""
) -> Resolved:
    """Return the upstream state that a commit, ref or tag names; look among saved rebases first."""
    for published in read_published(session.workspace):
        if published.series == record.name and name in (published.tag, published.fallback):
            name = shown = published.base
            break
    if name in (record.pin.commit, record.pin.ref):
        return _fetched(upstream, record.pin)
    for sync in read_syncs(session.workspace, record.name):
        for pin in (sync.outcome.base, sync.outcome.onto):
            if name in (pin.commit, pin.ref):
                return _fetched(upstream, Pin(pin.ref, pin.commit, "", pin.archive, pin.sha256))
    return replace(upstream.resolve(name), ref=shown or name)


def _fetched(upstream: OpenUpstream, pin: Pin) -> Resolved:
    """Return a pinned state, after fetching it if the store was deleted."""
    upstream.bring_pin(pin)
    return pinned_state(upstream, pin)


def _chain(syncs: Sequence[SyncDocument], start: str, end: str) -> list[SyncDocument]:
    """Return the saved rebases from one commit to another, or the dry run between them."""
    direct = [sync for sync in syncs if sync.outcome.ends == (start, end)]
    if direct:
        return direct[:1]
    done = {sync.outcome.ends[0]: sync for sync in reversed(syncs) if not sync.is_dry_run}
    chain: list[SyncDocument] = []
    while start != end and start in done and len(chain) <= len(done):
        chain.append(done[start])
        start = done[start].outcome.ends[1]
    return chain if start == end else []


def _dry_run(session: Session, record: SeriesRecord, target: Resolved) -> SyncDocument:
    """Rebase a series in a dry run; save the result for later notes, and return it."""
    loaded = load_series(session, record.name)
    with rebase_run(session, loaded.upstream.store, CarryOptions(wants_detail=True)) as run:
        outcome = run.carry_onto(loaded, loaded.upstream.resolve(target.ref), {})
    known = run.memory.used()
    return keep_syncs(session.workspace, [outcome], is_dry_run=True, old_heads={}, known=known)[0]


def _from_lock(
    session: Session, record: SeriesRecord, ends: tuple[Resolved, Resolved]
) -> tuple[Carried, ...]:
    """Return the patches of the last rebase from upstream.lock, for lack of a detailed record."""
    result = record.result
    base = result.get("base")
    is_last = isinstance(base, dict) and base.get("commit") == ends[0].commit
    if not is_last or ends[1].commit != record.pin.commit:
        raise PatchmgrError(
            "no-facts",
            f"there is no record of a rebase of {record.name} from {ends[0].ref} to {ends[1].ref}",
            "use --from to name the state before the last rebase, or leave --from out",
            f"to see what a rebase would do: patchmgr notes --from {record.pin.ref} --to REF",
        )
    subjects = {p.name: p.subject for p in session.workspace.patches(record.name)}
    return tuple(
        Carried(row["name"], subjects.get(row["name"], ""), row["verdict"], ())
        for row in result.get("patches", ())
    )


class _Writer(Struct, frozen=True):
    """Writes the note on a rebase between two states."""

    session: Session
    record: SeriesRecord
    upstream: OpenUpstream
    ends: tuple[Resolved, Resolved]
    syncs: Sequence[SyncDocument]
    is_complete: bool

    def note(self, patches: tuple[Carried, ...], paths: tuple[str, ...]) -> SyncNote:
        history = self.upstream.history(*self.ends)
        steps = [s for s in history.steps(paths) if not s.is_back] if paths else []
        base, onto = (pin_of(self.upstream.reader, end) for end in self.ends)
        count, back = history.distance()
        head, old_head = self._heads()
        parts = self._subsystems(onto, paths)
        same, other = self._files(onto, head)
        tags = self._tags(head)
        dropped = tuple(dropped_of(self.syncs)) if self.syncs else self._dropped()
        is_git = isinstance(history, GitHistory)
        landed = {by.commit for one in dropped for by in one.by} if is_git else set[str]()
        return SyncNote(
            series=self.record.name,
            base=base,
            onto=onto,
            upstream_commits=count,
            commits_back=back,
            unit="commit" if is_git else "release",
            head=head,
            old_head=old_head,
            is_dry_run=bool(self.syncs) and self.syncs[-1].is_dry_run,
            is_complete=self.is_complete,
            patches=patches,
            solved=self._solved(),
            dropped=dropped,
            brought=_brought([s for s in steps if s.commit not in landed], set(paths), parts),
            subsystems_by=parts.source,
            identical=tuple((path, language(path)) for path in same),
            changed=tuple((path, language(path)) for path in other),
            gates=self._gates(onto),
            preview=tags.tag if tags else None,
            fallback=tags.fallback if tags else None,
            warnings=warnings_of(self.syncs),
        )

    def _solved(self) -> tuple[ResolvedFile, ...]:
        """Return how each conflict was resolved, with the edits that the patch makes now."""
        changes = {
            (patch.name, path): change
            for patch in self.session.workspace.patches(self.record.name)
            for change in patch.files
            for path in filter(None, (change.old_path, change.new_path))
        }
        with closing(MergeProcess(answers=Answers())) as structure:

            def told(one: ResolvedFile) -> ResolvedFile:
                found = changes.get((one.patch, one.new_path)) or changes.get((one.patch, one.path))
                edits = () if found is None else structure.edits_of_hunks(found)
                return replace(one, edits=tuple(map(str, edits)))

            return tuple(map(told, solved_of(self.syncs)))

    def _heads(self) -> tuple[str | None, str | None]:
        store = self.upstream.store
        branch = f"{BRANCHES}{self.record.name}"
        known = references(store, self.session.workspace.ref_at(store, branch)).get("")
        if self.syncs:
            return self.syncs[-1].outcome.head, self.syncs[0].old_head
        return str(self.record.result.get("head", "")) or known, None

    def _subsystems(self, onto: Pin, paths: Sequence[str]) -> Subsystems:
        settings = self.session.workspace.settings(self.record.name)
        reader = self.upstream.reader
        tree, files = StoredTree(reader, onto.tree), Fetching(self.upstream, reader.blob)
        return subsystems(settings.subsystems, lambda p: files.file(tree, p), folders_of(paths))

    def _files(self, onto: Pin, head: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files whose bytes did not change in the rebase, and those whose bytes did."""
        same, other = files_by_change(self.syncs)
        reader = self.upstream.reader
        if head is None or reader.commit(head) is None:
            return same, other
        trees = StoredTree(reader, reader.tree_of(head)), StoredTree(reader, onto.tree)

        def is_own(path: str) -> bool:
            return trees[0].entry(path) != trees[1].entry(path)

        # files that are the same as upstream's are left out
        return tuple(filter(is_own, same)), tuple(filter(is_own, other))

    def _gates(self, onto: Pin) -> tuple[GateLine, ...]:
        if onto.commit != self.record.pin.commit:
            return ()
        return current_gates(self.session, self.record)

    def _tags(self, head: str | None) -> Published | None:
        found = [
            one
            for one in read_published(self.session.workspace)
            if one.series == self.record.name and one.head == head
        ]
        return next((one for one in found if one.tag), found[0] if found else None)

    def _dropped(self) -> tuple[Dropped, ...]:
        """Return the absorbed and partial patches in upstream.lock, with upstream's commits."""
        found = []
        for row in self.record.result.get("patches", ()):
            if row["verdict"] in ("absorbed", "partial"):
                by = tuple(_arrival(self.upstream.reader, commit) for commit in row["evidence"])
                found.append(Dropped(row["name"], "", row["verdict"] == "absorbed", (), by))
        return tuple(found)


def _arrival(reader: ObjectReader, commit: str) -> Arrival:
    subject = subject_of(reader, commit)
    return Arrival(commit, subject, pull_number(subject))


def _brought(
    steps: Sequence[Step], paths: set[str], parts: Subsystems
) -> tuple[SubsystemArrivals, ...]:
    """Return upstream's commits (`steps`) to files of the series, grouped by subsystem."""
    groups: dict[str, dict[str, tuple[Step, list[str]]]] = {}
    for step in steps:
        for path in sorted(paths & set(step.changes)):
            group = groups.setdefault(parts.of(path), {})
            group.setdefault(step.commit, (step, []))[1].append(path)
    return tuple(
        SubsystemArrivals(
            name,
            tuple(
                Arrival(s.commit, s.subject, pull_number(s.subject), tuple(own))
                for s, own in group.values()
            ),
        )
        for name, group in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    )
