"""`forecast`: predict what upstream's open pull requests would do to a series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, cached_property

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from patchmgr.commands.plan import Planning, changed_patches, planned
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.recorded_conflict import CONFLICTS
from patchmgr.model.outcome import SeriesOutcome, Verdict
from patchmgr.model.plan import (
    Assumption,
    ConflictPlace,
    Forecast,
    PlannedPatch,
    PullEffect,
    PullFacts,
    PullForecast,
    PullHead,
)
from patchmgr.model.upstream import Resolved
from patchmgr.plumbing.answer_cache import Answers, answered, files_below, recalled
from patchmgr.plumbing.closing import task
from patchmgr.plumbing.diffs import changed_lines, changed_paths
from patchmgr.plumbing.forks import (
    commit_dates,
    merged_tree,
    own_commits,
    own_line,
    own_range,
    read_commit_text,
    tree_changes,
)
from patchmgr.plumbing.git_process import git_words, require_git
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.history import landed_pulls
from patchmgr.plumbing.pull_requests import pull_state
from patchmgr.services.carry import CarryOptions
from patchmgr.services.load import Parents, RebaseRun, rebase_run
from patchmgr.services.patch_sources import git_upstream_of
from patchmgr.services.plans import digests_of
from patchmgr.services.series import LoadedSeries, load_series, touched_paths, whole_stacks
from patchmgr.services.session import Session, pinned_state

DAYS = 90
BATCH = 200  # heads
_RANK = list(PullEffect)
_ABSORBED = (Verdict.ABSORBED, Verdict.PARTIAL)


def make_forecast(session: Session, name: str, *, watched: int, now: int, asks: bool) -> Forecast:
    """Predict what the newest open pull requests (at most `watched`) would do to a series' stack.

    `now` is in seconds since 1970. With `asks`, `gh` is run to leave out closed pull requests.
    """
    require_git("a forecast")
    with session.writing():
        stack = whole_stacks(session, [name])[0]
        record = session.workspace.series_record(stack[0])
        upstream = git_upstream_of(session, record)
        tip = Resolved("upstream/main", upstream.fetch())
        if record.pin.archive is not None:
            message = f"{stack[0]} is pinned to a release, and a forecast needs a git commit"
            raise UsageError(message, "patchmgr series new NAME --base TAG")
        start = pinned_state(upstream, record.pin)
        options = CarryOptions(session.selected, audits_conflicts=False)
        with rebase_run(session, upstream.store, options) as run:
            watch = Watch(run, stack, upstream, start, tip)
            heads = list(watch.open_heads(watched, now))
            if len(heads) == watched:
                session.say(f"Only the {watched} newest open pull requests count; see --watch")
            assuming = watch.on_tip.assuming
            found = list(watch.forecasts(heads))
    told = [one for one in found if one.effect is not PullEffect.NONE]
    if asks:
        url = session.workspace.upstream(record.upstream).git or ""
        told = list(_not_closed(session, url, told))
    told.sort(key=lambda one: (_RANK.index(one.effect), -one.number))
    return Forecast(stack, planned(tip), len(heads), DAYS, assuming, tuple(told))


def _not_closed(
    session: Session, url: str, pulls: Sequence[PullForecast]
) -> Iterator[PullForecast]:
    for one in pulls:
        state = pull_state(url, one.number)
        if state.startswith("unknown"):
            session.say(f"pull request {one.number} may be closed; its state is {state}")
        if state not in ("CLOSED", "MERGED"):
            yield one


class OnTip(Struct, frozen=True):
    """The files that a stack changes, and its conflicts on the tip (assumed to be resolved)."""

    paths: tuple[str, ...]
    assuming: tuple[Assumption, ...]


class Watch:
    """Finds open pull requests, and predicts what each would do to a stack on upstream's tip."""

    def __init__(
        self,
        run: RebaseRun,
        stack: tuple[str, ...],
        upstream: GitUpstream,
        start: Resolved,
        tip: Resolved,
    ) -> None:
        self.run, self.stack, self.upstream, self.start, self.tip = run, stack, upstream, start, tip
        self._kept = Answers()
        self._lacking: set[str] = set()  # heads that git cannot merge
        self._contents = cache(self._contents_of)
        session, workspace = run.session, run.session.workspace
        digests = digests_of(session, stack, run.options.selected)
        self._about: tuple[str | bytes, ...] = (
            git_words(),
            tip.commit,
            *(f"{name} {digest}" for name, digest in digests.items()),
            *(workspace.find(f"series/{name}/series.toml") or b"" for name in stack),
            *files_below(workspace.root / CONFLICTS),
        )

    @cached_property
    def on_tip(self) -> OnTip:
        """Return the files that the stack changes, and its conflicts on the tip."""

        def find() -> OnTip:
            patches = [patch for one in self._loaded for patch in one.patches]
            return OnTip(touched_paths(patches), self._planning.assuming)

        return answered(self._kept, ("forecast", *self._about), OnTip, find)

    def open_heads(self, most: int, now: int) -> Iterator[tuple[PullHead, PullFacts]]:
        """Yield the newest pull requests that count as open, each with facts about it.

        A pull request counts as open if upstream lacks its head, and either the host has a ref that
        merges it into the tracked branch, or the head is at most `DAYS` days old.
        """
        store, tip = self.upstream.store, self.tip.commit
        landed = landed_pulls(store, tip)
        heads = sorted(self.upstream.pull_heads(), key=lambda one: -one.number)
        rest = [one for one in heads if one.number not in landed]
        while rest and most:
            some, rest = rest[:BATCH], rest[BATCH:]
            self.upstream.bring_pulls(some)
            ends = (end for one in some for end in (one.head, one.merge) if end is not None)
            own = own_commits(store, tuple(ends), [tip])
            times = commit_dates(store, *(one.head for one in some), form="%ct")
            young = {head for head, date in times.items() if now - int(date) <= DAYS * 86400}
            if not young:  # so older ones need a merge ref: 500 of some 4,000 in FRRouting/frr
                rest = [one for one in rest if one.merge]
            is_open = [
                one
                for one in some
                if one.head in own
                and (one.merge or one.head in young)
                and not _is_elsewhere(one, own)
            ]
            facts = self.facts([one.head for one in is_open], own)
            found = [(one, facts[one.head]) for one in is_open if one.head in facts][:most]
            most -= len(found)
            yield from found

    def facts(
        self, heads: Sequence[str], own: Mapping[str, Sequence[str]]
    ) -> Mapping[str, PullFacts]:
        """Return the subject, author, date and changed paths of each pull request, by its head.

        Pull requests that share no history with upstream are left out. `own` maps the commits
        that upstream lacks to their parents.
        """
        store, reader = self.upstream.store, self.upstream.reader
        found, ends = dict[str, PullFacts](), dict[str, tuple[str, str]]()
        for head in heads:
            known = recalled(self._kept, _facts_of(head), PullFacts)
            end = None if known else self._ends(head, own)
            if known:
                found[head] = known
            elif end:
                ends[head] = end
        # one process for all pull requests, not five for each
        dates = commit_dates(store, *ends, form="%cs")
        pairs = [(reader.tree_of(base), reader.tree_of(head)) for head, (base, _) in ends.items()]
        for (head, (_, first)), paths in zip(ends.items(), tree_changes(store, pairs), strict=True):
            text = read_commit_text(reader, first)
            found[head] = PullFacts(text.subject, text.author.name, dates[head], tuple(paths))
            self._kept.put(_facts_of(head), to_builtins(found[head]))
        return found

    def _ends(self, head: str, own: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
        """Return a pull request's merge base with upstream, and its first commit after that.

        Returns None if they share no history.
        """
        line = own_line(own, head)
        if line is not None:
            return line
        try:
            base, commits = own_range(self.upstream.store, head, self.tip.commit)
        except PatchmgrError:
            return None
        return base, commits[0] if commits else head

    def forecasts(self, heads: Sequence[tuple[PullHead, PullFacts]]) -> Iterator[PullForecast]:
        """Yield the forecast for each pull request, and report the progress."""
        asked = [
            head.head
            for head, facts in heads
            if not set(self.on_tip.paths).isdisjoint(facts.paths)
            and recalled(self._kept, self._question(head.head), PullForecast) is None
        ]
        # one request, as each of 34 took 0.5 s of processor time for FRRouting/frr
        self.upstream.try_fetch_objects(set[str]().union(*map(self._contents, asked)))
        progress = self.run.session.progress
        with task(progress, "Merging pull requests", len(heads)):
            for head, facts in heads:
                yield self.forecast(head, facts)
                progress.advance(1)

    def forecast(self, pull: PullHead, facts: PullFacts) -> PullForecast:
        """Predict what a pull request would do to the stack on upstream's tip."""
        near = tuple(path for path in facts.paths if path in self.on_tip.paths)
        found = PullForecast(
            pull.number, pull.head, facts.subject, facts.author, facts.date, PullEffect.NONE, near
        )
        if not near:
            return found
        return answered(
            self._kept,
            self._question(pull.head),
            PullForecast,
            lambda: self._judge(found),
            is_kept=lambda: pull.head not in self._lacking,
        )

    def _judge(self, pull: PullForecast) -> PullForecast:
        """Merge a pull request into upstream's tip, and return the forecast with the effect."""
        scratch, tip = self.run.scratch, self.tip.commit
        self.upstream.try_fetch_objects(self._contents(pull.head))
        try:
            tree = merged_tree(scratch.git_dir, tip, pull.head)
        except PatchmgrError:  # git cannot detect renames without the contents of the files
            tree = None
            self._lacking.add(pull.head)
        if tree is None:
            return replace(pull, effect=PullEffect.UNKNOWN)
        merged = scratch.write_commit(tree, tip, f"pull request (#{pull.number})")
        patches = self.patches_on(merged)
        return replace(pull, effect=effect_of(patches), patches=patches)

    def patches_on(self, merged: str) -> tuple[PlannedPatch, ...]:
        """Return the patches that a merge into upstream's tip affects.

        A patch is affected if its verdict in a rebase onto the merge is not `unchanged`, or if the
        merge changes a symbol that the patch changes.
        """
        parents: Parents = {}
        target = Resolved(merged, merged)
        # a symbol in another file could not be one that the merge changes
        changed = changed_paths(self.run.scratch.git_dir, self.tip.commit, merged)
        options = replace(self.run.options, wants_detail=True, detailed=frozenset(changed))
        run = replace(self.run, session=self._planning.session, options=options)
        outcomes = [run.carry_onto(one, target, parents) for one in self._loaded]
        touched = {(p.series, p.name): p for p in _touched(outcomes, self._symbols(merged))}
        for patch in changed_patches(outcomes):
            if patch.verdict is Verdict.SKIPPED:
                continue
            known = touched.get((patch.series, patch.name))
            places = patch.places or (() if known is None else known.places)
            touched[patch.series, patch.name] = replace(patch, places=places)
        return tuple(touched.values())

    def _question(self, head: str) -> tuple[str | bytes, ...]:
        return "forecast", head, *self._about

    def _contents_of(self, head: str) -> Set[str]:
        """Return the ids of the file contents that git needs to merge a pull request."""
        reader, tip = self.upstream.reader, self.tip.commit
        base, _ = own_range(self.upstream.store, head, tip)
        trees = [reader.tree_of(commit) for commit in (base, head, tip)]
        theirs, ours = tree_changes(
            self.upstream.store, [(trees[0], trees[1]), (trees[0], trees[2])]
        )
        shared = [ours[path] for path in theirs.keys() & ours]
        has_moved = any(after is None for _, after in shared)
        new = [pair for pair in ours.values() if pair[0] is None] if has_moved else []
        pairs = (*theirs.values(), *shared, *new)
        return {e.blob for pair in pairs for e in pair if e is not None}

    @cached_property
    def _planning(self) -> Planning:
        states = [self.start, self.tip] if self.start.commit != self.tip.commit else [self.tip]
        planning = Planning(self.run, self.stack, states, self.upstream, 1)
        if len(states) > 1:
            planning.pass_over(1)
        return planning

    @cached_property
    def _loaded(self) -> tuple[LoadedSeries, ...]:
        """Return the stack's series on upstream's tip, read from the temporary repository."""
        session, progress = self._planning.session, self.run.session.progress
        name = session.workspace.series_record(self.stack[0]).upstream
        entry = session.workspace.upstream(name)
        upstream = GitUpstream(entry, self.run.scratch.reader, progress)
        return tuple(_beside(load_series(session, name), upstream) for name in self.stack)

    def _symbols(self, merged: str) -> Mapping[str, set[str]]:
        """Return the symbols that a pull request changes in files of the stack, by path."""
        scratch, found = self.run.scratch, dict[str, set[str]]()
        tree = scratch.tree(merged)
        for path, hunks in changed_lines(scratch.git_dir, self.tip.commit, merged).items():
            entry = tree.entry(path)
            if path in self.on_tip.paths and entry is not None:
                index = SymbolIndex(path, scratch.read(entry.blob))
                lines = {n for _, _, at, count in hunks for n in range(at, at + max(count, 1))}
                found[path] = {s for s in map(index.at, sorted(lines)) if s is not None}
        return found


def _is_elsewhere(pull: PullHead, own: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the host merges a pull request into a branch other than upstream's tip.

    The six newest that touched SONiC's patches on FRRouting/frr went into its stable branches. Each
    had some 600 commits that the tip lacks, and was reported as not merging.
    """
    parents = own.get(pull.merge or "", ())
    return len(parents) > 1 and parents[0] in own


def _facts_of(head: str) -> tuple[str, str]:
    return "pull request", head


def _beside(loaded: LoadedSeries, upstream: GitUpstream) -> LoadedSeries:
    below = None if loaded.below is None else _beside(loaded.below, upstream)
    return replace(loaded, upstream=upstream, below=below)


def _touched(
    outcomes: Sequence[SeriesOutcome], symbols: Mapping[str, set[str]]
) -> Iterator[PlannedPatch]:
    """Yield the patches with a hunk in a symbol that a pull request changes."""
    for outcome in outcomes:
        for patch in outcome.patches:
            places = dict.fromkeys(
                ConflictPlace(hunk.new_path, hunk.line, hunk.symbol)
                for hunk in patch.hunks
                if hunk.symbol in symbols.get(hunk.new_path, ())
            )
            if places:
                yield PlannedPatch(outcome.name, patch.name, patch.verdict, places=tuple(places))


def effect_of(patches: Sequence[PlannedPatch]) -> PullEffect:
    """Return the worst of the effects that a change has on the given patches."""
    verdicts = {patch.verdict for patch in patches}
    if verdicts & {Verdict.CONFLICT, Verdict.BLOCKED}:
        return PullEffect.BREAKS
    if verdicts.intersection(_ABSORBED):
        return PullEffect.ABSORBS
    return PullEffect.TOUCHES if verdicts else PullEffect.NONE
