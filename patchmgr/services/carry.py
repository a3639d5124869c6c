"""Rebase a series onto another state in a temporary repository, and audit the result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache, partial
from hashlib import sha256

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.absorption.landing import find_absorbed
from patchmgr.engines.absorption.reliability import with_reliability
from patchmgr.engines.absorption.series import Folded, Series, Way
from patchmgr.engines.absorption.verdict import Absorption
from patchmgr.engines.audit.checks import CHECKS, LONGEST
from patchmgr.engines.audit.follow import Move, follow_moved_names, moves_in
from patchmgr.engines.audit.rebased import (
    AuditedUpstream,
    known_before,
    since_in,
    states_of,
    with_findings,
)
from patchmgr.engines.audit.states import Check, States, Told, run_checks
from patchmgr.engines.cause.commits import explain, explained_paths
from patchmgr.engines.conflicts.header_references import with_named
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.ledger.balance import balance
from patchmgr.engines.ledger.claims import Claimed, Fate, FileClaim
from patchmgr.engines.moved.files import ChangedFiles, is_of
from patchmgr.engines.rebase.blocking import OpenConflict, pass_on_causes
from patchmgr.engines.rebase.conflicts import shown_content
from patchmgr.engines.rebase.crosscheck import check_merged
from patchmgr.engines.rebase.rebase import Item, Judged, leave_out, rebase_series
from patchmgr.engines.rebase.work import Edits, FileResult, SeenSides, Tools, UpstreamRange
from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.engines.series.needs import Views, invalid_patches, place_items
from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import Ledger
from patchmgr.model.decision import Decision
from patchmgr.model.outcome import How, PatchOutcome, Verdict
from patchmgr.model.patch import Author, Patch
from patchmgr.model.ports import AnswerCache, Blobs, History, Step, Tree
from patchmgr.model.series import SeriesFile
from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing.answer_cache import Answers, answered, recalled, value_bytes
from patchmgr.plumbing.background import FEW, ForkedCall, in_processes
from patchmgr.plumbing.closing import task
from patchmgr.plumbing.diffs import changed_paths, readable_files
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.formatters import TreeFormatter, tree_reader
from patchmgr.plumbing.history import GitHistory, KnownHistory, ReleaseHistory
from patchmgr.plumbing.merge_process import MergeProcess
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.renames import find_renames, moved_folders, present_blobs
from patchmgr.plumbing.scratch_repository import Draft, Scratch
from patchmgr.plumbing.text_merge import GitTextMerge
from patchmgr.services.memory import Memory
from patchmgr.services.series import needed_blobs, new_paths, touched_paths
from patchmgr.services.session import Session

FEWEST_KEPT = 24  # upstream steps; a search over fewer steps is cheaper than the cache


class AbsorptionSearch(Struct, frozen=True):
    """The input of a search for changes that upstream already contains."""

    items: tuple[Item, ...]
    folded: tuple[Folded, ...]  # the changes of the patches
    way: Way  # upstream's commits since the base


def search_of(
    scratch: Scratch,
    items: Sequence[Item],
    base: StoredTree,
    onto: StoredTree,
    renames: Mapping[str, str],
    history: KnownHistory,
) -> AbsorptionSearch:
    """Return the input of a search for changes that upstream already contains."""
    # left out: what later patches do not build on, and skipped patches without computed changes
    kept = tuple(i for i in items if i.is_on_base and (i.refusal is None or i.steps is not None))
    paths = touched_paths([item.patch for item in kept])
    start = {path: base.entry(path) for path in paths}
    target = {path: onto.entry(renames.get(path, path)) for path in paths}
    steps = history.steps(tuple(dict.fromkeys((*paths, *renames.values()))))
    old = Overlay(base)
    folded = tuple(
        Folded(i.patch, i.steps or step_patch(old, i.patch, scratch))
        for i in (kept if steps else ())
    )

    def width(step: Step) -> int:
        return len(changed_paths(scratch.git_dir, history.before(step.commit), step.commit))

    return AbsorptionSearch(kept, folded, Way(start, target, renames, steps, width, history.inside))


def with_absorbed(
    scratch: Scratch,
    items: Sequence[Item],
    search: AbsorptionSearch,
    before: Answers,
    elsewhere: ChangedFiles,
    on_search: Callable[[], None],
) -> tuple[Item, ...]:
    """Find the changes that upstream already contains, and record them in the patches.

    `before` caches the results of long searches, and `on_search` is called before one that is not
    cached. `elsewhere` has the files to which upstream may have moved lines.
    """
    way = search.way
    if not way.steps:
        return tuple(items)

    is_long = len(way.steps) >= FEWEST_KEPT

    def find() -> dict[int, Absorption]:
        if is_long:
            on_search()
        series = Series(search.folded, way, scratch, elsewhere=elsewhere)
        later = ([*each.values()][1:] for each in series.versions.values())
        versions = (entry for each in later for entry in each)
        scratch.read_ahead([e.blob for e in versions if e is not None and e.mode in FILE_MODES])
        absorptions = find_absorbed(series)
        vars(series).clear()  # a cycle through its caches would keep all lines in memory
        return absorptions

    about = (search.folded, way.start, way.target, sorted(way.homes.items()), way.steps)
    if is_long:
        question = ("absorbed", value_bytes(about))
        form = dict[int, Absorption]
        found = answered(before, question, form, find, is_kept=lambda: elsewhere.is_whole)
    else:
        found = find()
    known = {
        id(item): replace(item, steps=search.folded[number].steps, absorption=found.get(number))
        for number, item in enumerate(search.items)
    }
    return tuple(known.get(id(item), item) for item in items)


class CarryOptions(Struct, frozen=True):
    """The options of a rebase; a mapping in it has the names of series as its outer keys."""

    selected: frozenset[str] = frozenset()  # symbols given with `--select`
    stops_at_conflict: bool = False
    # files that a person resolved (None: deleted), by patch and path
    solved: Mapping[str, Mapping[tuple[str, str], bytes | None]] = field(default_factory=dict)
    # both sides of these files as the person saw them
    solved_on: Mapping[str, Mapping[tuple[str, str], SeenSides]] = field(default_factory=dict)
    wants_detail: bool = False  # find the symbol around each hunk, which takes time
    detailed: Collection[str] | None = None  # the paths in which it is found; None: in all
    # reasons for skipping patches
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # reasons for accepting findings, only by their id
    accepted: Mapping[str, str] = field(default_factory=dict)
    # reliability (percent) that a structural merge needs; None: from the series' settings
    confidence: int | None = None
    audits_conflicts: bool = True  # audit, and make the ledger, even if a conflict remains
    # a person's changes to files without a conflict, by patch
    edits: Mapping[str, Mapping[str, Edits]] = field(default_factory=dict)


class RebasedSeries(Struct, frozen=True):
    """The result of a rebase: its patches, and the files that differ from the target state."""

    judged: tuple[Judged, ...]
    changes: Mapping[str, Entry | None]  # the new entry of each file; None if it is deleted
    # conflicts that remain after the last patch; their causes need upstream's history
    left: tuple[OpenConflict, ...] = ()
    # accounts for every line of the patches; None without upstream's history
    ledger: Ledger | None = None

    @property
    def outcomes(self) -> tuple[PatchOutcome, ...]:
        """Return the outcome of each patch."""
        return tuple(judged.outcome for judged in self.judged)

    @property
    def has_conflicts(self) -> bool:
        """Return whether a patch is in conflict or blocked."""
        return any(outcome.is_left for outcome in self.outcomes)

    def drafts(self) -> tuple[Draft, ...]:
        """Return the commits to write, one for each carried patch."""
        return tuple(
            Draft(o.author, o.message, o.changes or {}) for o in self.outcomes if o.is_carried
        )


def items_of(
    patches: Sequence[Patch], series: SeriesFile, selected: Collection[str]
) -> tuple[Item, ...]:
    """Return an item for each patch; if a guard leaves the patch out, the item has the reason."""
    refusals = {line.name: line.refusal(selected) for line in series.lines if line.name}
    return tuple(Item(patch, refusals[patch.name]) for patch in patches)


class CarryInput(Struct, frozen=True):
    """A series to rebase from `base` to `onto`, and everything that the rebase needs."""

    session: Session
    scratch: Scratch
    name: str
    items: tuple[Item, ...]
    base: StoredTree
    onto: StoredTree
    author: Author
    options: CarryOptions
    views: Views | None = None  # None: conditions in headers are not evaluated
    history: GitHistory | ReleaseHistory | None = None
    # fetches blobs of upstream that the store lacks, as far as possible
    bring: Callable[[set[str]], None] = lambda blobs: None
    decisions: tuple[Decision, ...] = ()
    memory: Memory | None = None  # earlier resolutions of conflicts
    formatters: Toolbox | None = None  # run with upstream's settings
    # called with the result before it has causes and warnings
    on_carried: Callable[[RebasedSeries], None] = lambda carried: None
    left: tuple[OpenConflict, ...] = ()  # conflicts that remain in the series below
    # upstream's URL, to recognize the URLs of its pull requests in headers
    repository: str | None = None

    def enter(self, patch: str) -> None:
        """Advance the progress bar, and set the patch for which resolutions are looked up."""
        self.session.progress.advance(1)
        if self.memory is not None:
            self.memory.enter(f"{self.name}/{patch}")


def carry(given: CarryInput) -> RebasedSeries:
    """Rebase a series; if `given` has a history, also audit the result and explain the verdicts."""
    kept, confidence = Answers(), given.options.confidence
    if confidence is None:
        confidence = given.session.workspace.settings(given.name).confidence
    structure = given.session.structures.setdefault(
        confidence, MergeProcess(answers=kept, confidence=confidence)
    )
    try:
        carrying = task(given.session.progress, "Carrying patches", len(given.items))
        with carrying, ExitStack() as helpers:
            return _Carry(given, kept, structure, helpers).carried()
    except BaseException:
        structure.close()  # the process may still be working on a merge that nobody waits for
        raise


class _Carry:
    known: Callable[[], dict[object, object]] = dict

    def __init__(
        self, given: CarryInput, kept: Answers, structure: MergeProcess, helpers: ExitStack
    ) -> None:
        scratch, base, bring = given.scratch, given.base, given.bring
        self.given, self.kept, self.structure, self.helpers = given, kept, structure, helpers
        items = tuple(replace(item, decisions=given.decisions) for item in given.items)
        if given.views is not None:
            items = place_items(items, given.views, scratch)
        left_out = given.options.left_out.get(given.name, {})
        self.items = leave_out(items, left_out, base, scratch)
        self.text = GitTextMerge(scratch, kept=kept)
        self.elsewhere = ChangedFiles(
            lambda language: readable_files(
                scratch, base.id, given.onto.id, is_wanted=is_of(language), bring=bring
            ),
            scratch,
        )

    def _tools(self) -> Tools:
        given, options = self.given, self.given.options
        index = lru_cache(maxsize=1)(SymbolIndex)  # keeps the index of the last file only
        formatter = None
        if given.formatters is not None:
            read = tree_reader(given.onto, given.scratch, given.bring)
            formatter = TreeFormatter(read, given.formatters)

        def symbol_at(path: str, content: bytes, line: int) -> str | None:
            is_wanted = options.detailed is None or path in options.detailed
            return index(path, content).at(line) if options.wants_detail and is_wanted else None

        return Tools(
            blobs=given.scratch,
            text=self.text,
            symbol_at=symbol_at,
            nobody=given.author,
            solved=options.solved.get(given.name, {}),
            solved_on=options.solved_on.get(given.name, {}),
            on_patch=given.enter,
            asks=given.history is not None,
            recall=given.memory,
            structure=self.structure,
            formatter=formatter,
            elsewhere=self.elsewhere,
            offers=None if given.memory is None else given.memory.offers,
            edits=options.edits.get(given.name, {}),
            ahead=self.structure.ahead,
        )

    def carried(self) -> RebasedSeries:
        """Rebase the patches, and return the result."""
        given, patches = self.given, [item.patch for item in self.items]
        scratch, base, onto, history = given.scratch, given.base, given.onto, given.history
        bring, paths, auditor = given.bring, touched_paths(patches), None
        renames = find_renames(scratch, base, onto, paths, history, bring)
        bring(set(needed_blobs((onto,), (*renames.values(),))))
        arrivals = moved_folders(scratch, base, onto, new_paths(patches, base), history, bring)
        if history is not None:
            every = (*paths, *renames.values())
            way = KnownHistory(history, every, lambda steps: _readable(scratch, steps, bring))
            auditor = Auditor(base, onto, history, way, self.kept, CHECKS)
            search = search_of(scratch, self.items, base, onto, renames, way)
            if len(paths) >= FEW:
                find = partial(known_before, search.folded, AuditedUpstream(base, onto, scratch))
                self.known = self.helpers.enter_context(ForkedCall(find, dict[object, object]))
            begin = self.structure.begin
            with task(given.session.progress, "Searching upstream's commits", None):
                self.items = with_absorbed(
                    scratch, self.items, search, self.kept, self.elsewhere, begin
                )
        judged, changes = rebase_series(
            self.items,
            UpstreamRange(base, onto, renames, arrivals),
            self._tools(),
            stops_at_conflict=given.options.stops_at_conflict,
            left=given.left,
        )
        if auditor is not None:
            with task(given.session.progress, "Checking the result", None):
                return self._audited(auditor, judged, changes)
        given.on_carried(RebasedSeries(judged, changes))
        return RebasedSeries(judged, changes, judged[-1].left if judged else given.left)

    def _audited(
        self, auditor: Auditor, judged: Sequence[Judged], changes: Mapping[str, Entry | None]
    ) -> RebasedSeries:
        """Return the result with explained verdicts, findings of the audit, and the ledger."""
        given, scratch = self.given, self.given.scratch
        if not given.options.audits_conflicts and any(one.outcome.is_left for one in judged):
            given.on_carried(RebasedSeries(tuple(judged), changes))
            judged, left = self._explained(auditor, judged)
            return RebasedSeries(judged, changes, left)
        left = judged[-1].left if judged else given.left
        upstream = AuditedUpstream(
            given.base,
            given.onto,
            scratch,
            changed=changed_paths(scratch.git_dir, given.base.id, given.onto.id),
            since=since_in(auditor.steps, scratch),
            bring=given.bring,
        )
        unknown = {path for one in left for path in (one.path, *one.whole)}
        states = merged = states_of(judged, changes, upstream, unknown=unknown)
        moves = auditor.moves(merged)
        if moves:
            judged, changes = follow_moved_names(judged, changes, merged, scratch, moves)
            states = states_of(judged, changes, upstream, unknown=unknown)
        # Both checks run while commits are written and verdicts are explained.
        checked = auditor.begin(states, self.known)
        suspected = check_merged(states, suspect_all=self.structure.suspect_all)
        given.on_carried(RebasedSeries(tuple(judged), changes))
        by_name = {item.patch.name: item.patch for item in self.items}
        judged, left = self._explained(auditor, judged)
        # The ledger checks `merged`: `states` has imports that were rewritten on purpose.
        ledger = auditor.ledger(merged, self.items, judged, scratch)
        solved = given.options.solved.get(given.name, {})
        told = tuple(_unless_resolved(checked(), judged, solved))
        told += suspected(told)
        told = (*invalid_patches(self.items, given.views), *told, *ledger.faults)
        judged = with_findings(judged, told, by_name, given.options.accepted)
        return RebasedSeries(judged, changes, tuple(left), ledger)

    def _explained(
        self, auditor: Auditor, judged: Sequence[Judged]
    ) -> tuple[tuple[Judged, ...], tuple[OpenConflict, ...]]:
        """Add evidence, causes and reliability to the verdicts."""
        given, scratch = self.given, self.given.scratch
        start = {path: given.base.entry(path) for path in explained_paths(judged)}
        judged = explain(judged, auditor.steps, start, blobs=scratch, text=self.text)
        judged = tuple(map(with_reliability, judged))
        patches = [item.patch for item in self.items]
        judged = with_named(judged, patches, auditor.history.find, given.repository)
        return pass_on_causes(judged, given.left)


def _unless_resolved(
    told: Sequence[Told], judged: Sequence[Judged], solved: Collection[tuple[str, str]]
) -> Iterator[Told]:
    """Yield the findings, except syntax findings in files that a person resolved."""
    theirs = {
        path
        for one in judged
        for result in one.files
        if (one.outcome.name, result.step.change.path) in solved
        for path in result.changes
    }
    yield from (one for one in told if one[1].kind != "syntax" or one[1].path not in theirs)


def _readable(
    scratch: Scratch, steps: Sequence[Step], bring: Callable[[set[str]], None]
) -> tuple[Step, ...]:
    """Return upstream's steps without the files whose content cannot be fetched."""
    blobs = {e.blob for s in steps for e in s.changes.values() if e and e.mode in FILE_MODES}
    bring(blobs)
    present = present_blobs(scratch, blobs)
    if len(present) == len(blobs):
        return tuple(steps)
    return tuple(
        replace(
            step,
            changes={
                path: entry
                for path, entry in step.changes.items()
                if entry is None or entry.mode not in FILE_MODES or entry.blob in present
            },
        )
        for step in steps
    )


_BY_TEXT = frozenset({How.IDENTICAL, How.TEXT})
_BY_PERSON = frozenset({How.RECORDED, How.DECIDED})


def ledger_of(
    patches: Sequence[Claimed], states: States, base: Tree, *, blobs: Blobs, history: History
) -> Ledger:
    """Return the ledger, which checks line by line what a rebase claims about the patches."""

    def cited(commit: str, path: str) -> Iterator[tuple[bytes, bytes]]:
        before = base.entry(path)
        for step in history.steps((path,)):
            after = step.changes.get(path)
            if step.commit == commit and path in step.changes:
                yield _content(before, blobs), _content(after, blobs)
            before = after

    return balance(patches, states.base, states.onto, states.merged, cited=cited)


def claimed(item: Item, judged: Judged) -> Claimed:
    """Return what a rebase claims about a patch: what became of each hunk, with the evidence."""
    outcome = judged.outcome
    rest = Fate.CONFLICT if outcome.is_left else Fate.GIVEN_UP
    cited = [one.commit for one in outcome.evidence]
    cited += [hunk.evidence for hunk in outcome.hunks if hunk.evidence is not None]
    cited += [commit for commit, _ in outcome.history]
    return Claimed(
        outcome.name,
        item.patch.diff,
        tuple(_claim(result) for result in judged.files),
        rest,
        tuple(dict.fromkeys(cited)),
        on_base=item.is_on_base and (item.refusal is None or item.steps is not None),
        is_reversed=item.patch.is_reversed,
        reworded=tuple(wording.patch for wording in outcome.superseded),
        edited=judged.edited,
    )


def _claim(result: FileResult) -> FileClaim:
    change = result.step.change
    places = (place.path for place in result.places.values())
    homes = tuple(dict.fromkeys((result.home, *result.changes, *places)))
    if result.conflict is not None:
        return FileClaim(change.path, homes, (Fate.CONFLICT,) * max(1, len(result.answers)))
    return FileClaim(change.path, homes, tuple(_fate(*answer) for answer in result.answers))


def _fate(verdict: Verdict, how: How | None) -> Fate:
    if verdict is Verdict.ABSORBED:
        return Fate.GIVEN_UP if how in _BY_PERSON else Fate.UPSTREAM
    if verdict is Verdict.CONFLICT:
        return Fate.CONFLICT
    if how in _BY_PERSON:
        return Fate.PERSON
    return Fate.TEXT if how in _BY_TEXT else Fate.OTHERWISE


def _content(entry: Entry | None, blobs: Blobs) -> bytes:
    try:
        return shown_content(entry, blobs) or b""
    except PatchmgrError:
        return b""


Moves = dict[str, tuple[Move, ...]]


class Auditor(Struct, frozen=True):
    """Runs the audit of a rebase, and caches the results."""

    base: StoredTree
    onto: StoredTree
    history: GitHistory | ReleaseHistory
    steps: KnownHistory
    kept: AnswerCache
    checks: Sequence[Check]
    keys: dict[int, str] = field(default_factory=dict)  # hashes that `_about` returned

    def moves(self, states: States) -> Mapping[str, Sequence[Move]]:
        """Return the imports to rewrite because upstream moved the imported name, keyed by path."""
        question, is_kept = ("moves", self._about(states)), lambda: not states.lacks
        return answered(self.kept, question, Moves, lambda: moves_in(states), is_kept=is_kept)

    def begin(
        self, states: States, before: Callable[[], dict[object, object]] = dict
    ) -> Callable[[], tuple[Told, ...]]:
        """Start the checks of the audit; return a function that waits for the findings.

        `before` returns values that the checks reuse; it is not called if the findings are cached.
        """
        question = ("audit", self._about(states))
        known = recalled(self.kept, question, tuple[Told, ...])
        if known is not None:
            return lambda: known
        states.kept.update(before())
        begin_first = {check: number for number, check in enumerate(LONGEST)}
        numbers = range(len(self.checks))
        order = sorted(numbers, key=lambda n: begin_first.get(self.checks[n], len(LONGEST)))
        tasks = [partial(_checked, states, self.checks[n]) for n in order]
        running = in_processes(tasks, helpers=len(states.carriers) >= FEW)

        def found() -> tuple[Told, ...]:
            answers = dict(zip(order, running(), strict=True))
            told = tuple(dict.fromkeys(one for n in numbers for one in answers[n][0]))
            if not states.lacks and not any(lacks for _, lacks in answers.values()):
                self.kept.put(question, msgspec.to_builtins(told))
            return told

        return found

    def ledger(
        self, merged: States, items: Sequence[Item], judged: Sequence[Judged], blobs: Blobs
    ) -> Ledger:
        """Return the ledger of a rebase, from the cache if an earlier run made the same rebase."""
        claims = [claimed(item, one) for item, one in zip(items, judged, strict=True)]
        return answered(
            self.kept,
            ("ledger", self._about(merged), value_bytes(claims)),
            Ledger,
            lambda: ledger_of(claims, merged, self.base, blobs=blobs, history=self.steps),
            is_kept=lambda: not merged.lacks,
        )

    def _about(self, states: States) -> str:
        """Return a hash of all that the results depend on, except what the ledger checks."""
        # `states` outlive the auditor
        if id(states) not in self.keys:
            sides = [sorted(one.tree.changes().items()) for one in (states.written, states.merged)]
            about = (self.base.id, self.onto.id, self.history.ends, self.steps.known())
            said = value_bytes((about, sides, states.patches, sorted(states.carriers.items())))
            self.keys[id(states)] = sha256(said).hexdigest()
        return self.keys[id(states)]


def _checked(states: States, check: Check) -> tuple[tuple[Told, ...], bool]:
    """Return the findings of a check, and whether the content of a file was missing."""
    return run_checks(states, [check]), states.lacks
