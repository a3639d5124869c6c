"""`sync`: rebase a series as far as possible, and propose the result in a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.branch import check_remote
from patchmgr.commands.notes import note_on
from patchmgr.commands.plan import Planning, changed_patches, planned, states_to, try_stack
from patchmgr.commands.report import report
from patchmgr.engines.series.comparison import compare_states
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.model.comparison import ComparedSeries
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.model.plan import Plan, PlannedPatch
from patchmgr.model.sync import (
    CarriedSeries,
    PullCheck,
    PullRequest,
    PushedBranch,
    PushStatus,
    Sync,
    SyncPreview,
)
from patchmgr.model.upstream import Resolved
from patchmgr.model.work_order import WorkOrder
from patchmgr.plumbing.committing import fetch_ref
from patchmgr.plumbing.git_process import require_git
from patchmgr.plumbing.git_upstream import check_url
from patchmgr.plumbing.outputs import make_folder
from patchmgr.plumbing.pull_requests import FORGES, SYNC, PullRequests, RefusedError, Request
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.render.sync import (
    badge,
    check_markdown,
    check_words,
    comment_mark,
    comment_markdown,
    sync_markdown,
    sync_title,
)
from patchmgr.services.carry import CarryOptions
from patchmgr.services.load import Parents, RebaseRun, rebase_run
from patchmgr.services.patch_repository import (
    BADGE,
    PatchRepository,
    open_patch_repository,
    workspace_at,
)
from patchmgr.services.repeated_rebase import RepeatedRebase
from patchmgr.services.series import load_series, patch_commits, whole_stacks
from patchmgr.services.session import Session, default_author, pin_of
from patchmgr.services.work_orders import orders_of, shorter
from patchmgr.workspace import LOCK


class SyncRequest(Struct, frozen=True):
    """A request for a sync: the target, and where to publish the results."""

    onto: str
    now: int  # in seconds since 1970
    remote: str | None = None  # of the repository that contains the workspace; None for a dry run
    fork: str | None = None  # the URL to push the built branch to
    forge: str = "none"  # the program that opens the pull request
    base: str | None = None  # the branch that the pull request is for
    output: Path | None = None  # a folder for the result, made before anything is pushed


def sync(session: Session, name: str, request: SyncRequest) -> Sync:
    """Rebase a stack towards an upstream state, up to the first conflict, and publish the result.

    The workspace does not change: the result is a commit on a branch of the repository around it.
    """
    require_git("a sync")
    if request.output is not None:
        make_folder(request.output)
    fork = None if request.fork is None else check_url(request.fork)
    with session.writing():
        repository = open_patch_repository(session.workspace)
        check_remote(request.remote, repository.clone)
        stack = whole_stacks(session, [name])[0]
        pulls = _pulls(repository, request, stack[0])
        upstream = session.upstream_of(session.workspace.series_record(stack[0]))
        is_branch = request.onto.startswith("upstream/") and request.onto != "upstream/main"
        upstream.fetch([request.onto] if is_branch else [])
        with rebase_run(session, upstream.store, CarryOptions(session.selected)) as run:
            end = upstream.resolve(request.onto)
            proposal = _proposal(run, stack, upstream, end)
            date = default_author(upstream, pin_of(upstream.reader, end)).date
            return _Publisher(run, repository, request, proposal, pulls, fork).published(date)


def _pulls(repository: PatchRepository, request: SyncRequest, series: str) -> PullRequests | None:
    if request.forge == "none":
        return None
    base = request.base or (repository.clone.branch() or "").removeprefix("refs/heads/")
    if not base:
        hint = "name the target branch of the pull request with --base BRANCH"
        raise UsageError("no branch is checked out", hint)
    branch = f"{SYNC}{series}"
    return PullRequests(FORGES[request.forge], repository.clone.root, branch, base)


def _proposal(
    run: RebaseRun, stack: tuple[str, ...], upstream: OpenUpstream, end: Resolved
) -> SyncPreview:
    """Return the clean steps up to the first breaking commit, and the conflicts after them."""
    session, here = run.session, planned(end)
    if session.workspace.series_record(stack[0]).pin.commit == end.commit:
        return SyncPreview(Plan(stack, here, here, upstream.step, 0, (), (), ()))
    states = states_to(session, upstream, stack[0], end.ref)[0]
    planning = Planning(run, stack, states, upstream, len(states))
    steps, outcomes, after, files, at = [], [], session, planning.files, 0
    for step in planning.steps():
        steps.append(step)
        if step.breaking is not None:
            break
        outcomes.append(planning.outcomes)
        after, files, at = planning.session, planning.files, planning.at
    carried = tuple(_carried(run, after, stack, (states[0], states[at]), outcomes))
    orders = list[WorkOrder]()
    if at < len(states) - 1:
        left = tuple(_left(replace(run, session=after), stack, end))
        orders += [shorter(each.order, {})[0] for one in left for each in orders_of(one)]
        outcomes.append(tuple(one.outcome for one in left))
    plan = planning.plan(steps)
    return SyncPreview(plan, tuple(outcomes), carried, tuple(orders), files)


def _left(run: RebaseRun, stack: Sequence[str], target: Resolved) -> Iterator[RepeatedRebase]:
    """Rebase a stack onto a state that causes conflicts; yield each series with all details."""
    run = replace(run, options=replace(run.options, wants_detail=True))
    parents: Parents = {}
    for name in stack:
        loaded = load_series(run.session, name)
        outcome = run.carry_onto(loaded, target, parents)
        top = parents[name].commit
        yield RepeatedRebase(run.session, loaded, target, run.scratch, outcome, top)


def _carried(
    run: RebaseRun,
    after: Session,
    stack: Sequence[str],
    ends: tuple[Resolved, Resolved],
    steps: Sequence[Sequence[SeriesOutcome]],
) -> Iterator[CarriedSeries]:
    """Yield, for each series, the result of the clean steps, with a note and two reports."""
    both = run.session, after
    for number, name in enumerate(stack if steps else ()):
        outcomes = [step[number] for step in steps]
        note = note_on(after, name, ends, outcomes, run.memory.used())
        before, now = (report(each, name) for each in both)
        patches = compare_states(*(patch_commits(each.workspace, name) for each in both))
        same, other = (tuple(path for path, _ in kind) for kind in (note.identical, note.changed))
        start, end = ((one.ref, one.commit) for one in ends)
        compared = ComparedSeries(name, start, end, patches, same, other)
        yield CarriedSeries(note, before, now, compared)


class _Publisher(Struct, frozen=True):
    """Publishes a proposal as branches, a pull request and a badge."""

    run: RebaseRun
    repository: PatchRepository
    request: SyncRequest
    proposal: SyncPreview
    pulls: PullRequests | None
    fork: str | None

    def published(self, date: str) -> Sync:
        """Push the branches of a sync, update its pull request, and return what was done."""
        remote, stack = self.request.remote, self.proposal.plan.series
        if remote is None:
            return Sync(self.proposal)
        pushed, warnings, pull = list[PushedBranch](), list[str](), None
        checks = tuple[PullCheck, ...]()
        try:
            for one in self._pushed(remote, date):
                pushed.append(one)
                warnings += [_held(one)] * (one.standing is PushStatus.HELD)
            if self.pulls is not None:
                pull = self._pull_request(self.pulls, pushed, warnings)
                if pull is not None and pull.done == "refused":
                    warnings.append(f"the pull request cannot be updated: {pull.reason}. {_ALLOW}")
                else:
                    told = PullChecks(self.run, self.repository, self.pulls, stack, remote)
                    checks = tuple(told.found())
                    warnings += [check_words(one) for one in checks if one.fault or one.left]
            pushed.append(self._push_badge(remote))
            warnings += [_held(pushed[-1])] * (pushed[-1].standing is PushStatus.HELD)
        except PatchmgrError as fault:
            if not pushed:
                raise
            names = ", ".join(one.name for one in pushed)
            hint = f"pushed before that: {names}; the next run continues from there"
            raise PatchmgrError(fault.kind, fault.message, *fault.hints, hint) from fault
        return Sync(self.proposal, tuple(pushed), pull, tuple(warnings), checks)

    def _pushed(self, remote: str, date: str) -> Iterator[PushedBranch]:
        if self.proposal.plan.steps:
            message = f"{sync_title(self.proposal)}\n"
            commit = self.repository.commit(self.proposal.files, message, date)
            name = self.proposal.plan.series[0]
            yield self.repository.push(remote, f"{SYNC}{name}", commit)
        for name, head in self.proposal.heads.items() if self.fork is not None else ():
            session, place = self.run.session, self.run.scratch.git_dir
            upstream = session.upstream_of(session.workspace.series_record(name))
            yield self.repository.push(
                str(self.fork),
                f"patchmgr/{name}",
                head,
                git_dir=place,
                bring=upstream.try_fetch_objects,
            )

    def _push_badge(self, remote: str) -> PushedBranch:
        """Push the badge: a commit with the state of the series and the time."""
        now, name = self.request.now, self.proposal.plan.series[0]
        date = f"{datetime.fromtimestamp(now, timezone.utc):%Y-%m-%d}"
        words, content = badge(self.proposal, date)
        commit = self.repository.commit(
            {"badge.json": content}, f"{words}\n", f"{now} +0000", is_alone=True
        )
        return self.repository.push(remote, f"{BADGE}{name}", commit)

    def _pull_request(
        self, pulls: PullRequests, pushed: Sequence[PushedBranch], warnings: Sequence[str]
    ) -> PullRequest | None:
        """Open, update or close the pull request of the series."""
        try:
            known = pulls.find()
            found, is_current = next((one for one in known if one.is_open), None), not pushed
            if found is None and is_current:
                return None
            if found is None and any(one.head == pushed[0].commit for one in known):
                # a person closed it for this commit
                return _done("left closed", known[0])
            done = "closed" if is_current else "opened" if found is None else "updated"
            if self.repository.is_dry_run:
                return PullRequest(done) if found is None else _done(done, found)
            written = self._written(pulls, found, warnings, closes=is_current)
            if pushed and pushed[0].standing is not PushStatus.HELD:
                title, body = sync_title(self.proposal), sync_markdown(self.proposal, warnings)
                is_done = not self.proposal.plan.has_conflicts
                pulls.check(pushed[0].commit, title, body, is_done=is_done)
            return _done(done, written)
        except RefusedError as refused:
            return PullRequest("refused", reason=str(refused))

    def _written(
        self, pulls: PullRequests, found: Request | None, warnings: Sequence[str], *, closes: bool
    ) -> Request:
        """Update the pull request; post a comment unless the body says that it was posted."""
        title, body = sync_title(self.proposal), sync_markdown(self.proposal, warnings)
        found = found or pulls.open(title, body)
        comment = comment_markdown(self.proposal)
        mark = comment_mark(comment)
        if mark not in found.body:
            pulls.comment(found.number, comment)
        pulls.change(found.number, title, f"{mark}\n{body}", closes=closes)
        return found


def _done(what: str, request: Request) -> PullRequest:
    return PullRequest(what, request.number, request.url)


_ALLOW = (
    "On GitHub, give the workflow the permission pull-requests: write, and turn on"
    " Settings > Actions > General > Allow GitHub Actions to create and approve pull requests"
)


def _held(one: PushedBranch) -> str:
    there, commit = str(one.there)[:12], one.commit[:12]
    return (
        f"{one.name} is at {there}, which patchmgr did not push, so {commit} was not pushed to it."
        " Merge or delete that branch; the next run then pushes again"
    )


class PullChecks(Struct, frozen=True):
    """Rebases the stack in each open pull request onto the new pin, and comments on the result."""

    run: RebaseRun
    repository: PatchRepository
    pulls: PullRequests
    stack: tuple[str, ...]
    remote: str

    def found(self) -> Iterator[PullCheck]:
        """Yield the results for pull requests that change a series of the stack.

        A pull request that edits the pin (upstream.lock) is left out, and so is one whose comment
        is up to date.
        """
        prefix = self.repository.prefix
        folders = tuple(f"{prefix}series/{name}/" for name in self.stack)
        for request in self.pulls.others():
            check = PullCheck(request.number, request.url, request.head)
            try:
                paths = [*self.pulls.paths(request.number)]
                if f"{prefix}{LOCK}" not in paths and any(p.startswith(folders) for p in paths):
                    yield from self._told(request, check)
            except RefusedError as refused:
                yield replace(check, fault=str(refused))
            except PatchmgrError as fault:
                yield replace(check, fault=fault.message)

    def _told(self, request: Request, check: PullCheck) -> Iterator[PullCheck]:
        name = self.stack[0]
        pin = self.run.session.workspace.series_record(name).pin
        about = f"<!-- patchmgr pin {name} "
        mark = f"{about}{request.head} {pin.commit} -->"
        comments = self.pulls.comments(request.number)
        number, body = next((c for c in comments if c[1].startswith(about)), (None, ""))
        if body.startswith(mark):
            return
        fetch_ref(self.repository.clone.git_dir, self.remote, self.pulls.head_ref(request.number))
        patches = self._carried(request.head, pin.ref, pin.commit)
        if patches is None:
            return
        check = replace(check, patches=patches)
        if not self.repository.is_dry_run:
            text = f"{mark}\n{check_markdown(check, name, pin)}"
            self.pulls.comment(request.number, text, instead=number)
        yield check

    def _carried(self, head: str, ref: str, commit: str) -> tuple[PlannedPatch, ...] | None:
        """Return the patches that a rebase onto the new pin changes; None if the pin is not new."""
        session = self.run.session
        workspace = workspace_at(session.workspace, head)[1]
        record = workspace.series_record(self.stack[0])
        if record.pin.commit == commit:
            return None
        run = replace(self.run, session=replace(session, workspace=workspace))
        onto = commit if session.upstream_of(record).has_history else ref
        return changed_patches(try_stack(run, self.stack, onto).outcomes)
