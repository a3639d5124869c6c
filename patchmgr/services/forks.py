"""Import a fork that merged upstream: as patches on the upstream state that it merged last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.linear import Closest, Line, Piece, Remark, closest
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.header_edits import IMPORTED_FROM
from patchmgr.formats.shown import shown, typed
from patchmgr.model.patch import COMMITTER_EMAIL
from patchmgr.model.snapshot import EMPTY_TREE, GITLINK, Changes, Entry, is_full_id
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.closing import task
from patchmgr.plumbing.forks import (
    PastMerge,
    commit_dates,
    commit_named,
    fetched_tip,
    newest,
    own_commits,
    range_ends,
    range_mails,
    read_commit_text,
    subtree_folder,
    tree_changes,
    write_commit_graph,
)
from patchmgr.plumbing.history import GitHistory, changes_between, is_ancestor
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.renames import find_renames, present_blobs
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.plumbing.text_merge import GitTextMerge
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.render.escape import counted
from patchmgr.services.learning import learn_again
from patchmgr.services.memory import Additions, Memory
from patchmgr.services.patch_sources import SourcePatch, found_in
from patchmgr.services.published import read_published
from patchmgr.services.session import Session, require_pin

FIRST_PARENT, LINEARIZE, SQUASH = "first-parent", "linearize", "squash"


class Fork(Struct, frozen=True):
    """A git fork that was converted to a list of patches on an upstream state (`base`)."""

    base: str
    head: str
    tree: str
    commits: int  # the number of ordinary commits
    merges: int  # the number of merges
    patches: tuple[SourcePatch, ...]
    rests: tuple[int, ...]  # indexes of patches with changes made in a merge commit itself
    dropped: tuple[str, ...]  # subjects of commits that did not become a patch
    remarks: tuple[Remark, ...]
    files: Mapping[str, Entry | None]  # the fork's files that differ from the base (None: deleted)
    learned: int  # the number of new resolutions
    lessons: Mapping[str, bytes | None]  # the files of the workspace that record these resolutions
    is_whole: bool  # every commit has a patch; a message may ask to leave its commit out
    goes_on: bool  # `base` is an earlier state of the fork, whose commits the series has already


def read_fork(
    session: Session, record: SeriesRecord, repository: Path, commits: str, form: str | None
) -> Fork | None:
    """Return a fork as patches, or None if its commits can be applied one after another.

    `form` is FIRST_PARENT, LINEARIZE, SQUASH, or None if the user chose none. Raises PatchmgrError
    "merges" if one must be chosen, and "base" if the series' pin is not the state merged last.
    """
    first, last = range_ends(commits)
    git_dir = find_git_dir(repository)
    start, head = (commit_named(name, repository) for name in (first, last))
    upstream = session.upstream_of(record)
    require_pin(upstream, record.pin)
    followed = session.workspace.upstream(record.upstream)
    # A fork may have merged what the clone has fetched, but the store has not.
    fetched = fetched_tip(git_dir, followed.git or "", followed.branch)
    with Scratch.outside(git_dir, upstream.store) as scratch:
        pin = record.pin.commit if upstream.has_history else start
        request = _Request(record, repository, first, last)
        tracked = _tracked(upstream, scratch, head, fetched)
        graph = _Graph(scratch, _own(scratch, head, start, pin, tracked), head)
        write_commit_graph(scratch, graph.merges)
        if tracked is None and graph.merges and upstream.has_history:
            # Only upstream's branch says which of the merged commits are upstream's.
            upstream.resolve("upstream/main")
            tracked = _tracked(upstream, scratch, head, fetched)
            graph = _Graph(scratch, _own(scratch, head, start, pin, tracked), head)
        if form is None and not graph.merges:
            _check_syncs(request, graph, pin, tracked, LINEARIZE)
            return None
        if not graph.own:
            raise UsageError(f"upstream already has every commit in {commits}")
        goes_on = start != pin and _has_commits_of(session, record, graph, start, pin)
        plan = _planned(graph, start if goes_on else pin, form or LINEARIZE)
        if goes_on:
            _check_brought(request, graph, (start, pin), form or "")
        elif upstream.has_history and plan.base != pin and (form or plan.brings):
            raise _wrong_base(request, graph, plan.base, form)
        _check_syncs(request, graph, pin, tracked, form or LINEARIZE)
        if form is None and plan.brings:
            raise _merges(request, graph, plan.base)
        fork = replace(_made(session, graph, plan, request, form or LINEARIZE), goes_on=goes_on)
        if form is not None:
            return fork
        if fork.rests or fork.dropped or fork.remarks:
            raise _merges(request, graph, plan.base)
        return None


class ForkBase(Struct, frozen=True):
    """The upstream commit that a branch last merged or is based on."""

    base: str
    merges: int  # the number of merges among the branch's own commits
    squashed: int  # the number of ordinary commits that brought in upstream's content


def find_fork_base(repository: Path, branch: str, upstream: str) -> ForkBase:
    """Return the upstream commit that a branch last merged, or else the one that it is based on.

    Raises PatchmgrError "usage" if the branch has no commits of its own.
    """
    git_dir = find_git_dir(repository)
    tip, head = (commit_named(name, repository) for name in (upstream, branch))
    with Scratch.outside(git_dir) as scratch:
        graph = _Graph(scratch, own_commits(scratch.git_dir, [head], [tip]), head)
        if not graph.own:
            raise UsageError(f"{branch} has no commit that {upstream} lacks")
        write_commit_graph(scratch, graph.merges)
        plan = _planned(graph, tip, LINEARIZE)
        return ForkBase(plan.base, len(graph.merges), len(plan.syncs))


def _tracked(
    upstream: OpenUpstream, scratch: Scratch, head: str, fetched: str | None
) -> str | None:
    """Return upstream's tip, or None if it is unknown or already contains the fork.

    `fetched`, the tip in the fork's clone, is returned if it is newer than the store's.
    """
    tip = upstream.tip()
    if fetched is not None and (tip is None or is_ancestor(scratch.git_dir, tip, fetched)):
        tip = fetched
    return None if tip is not None and is_ancestor(scratch.git_dir, head, tip) else tip


def _has_commits_of(
    session: Session, record: SeriesRecord, graph: _Graph, start: str, pin: str
) -> bool:
    """Return whether commits up to `start` were imported into the series, or built from it.

    They are known by `Imported-From`, by patchmgr as their committer, or by a published head.
    """
    workspace, git_dir = session.workspace, graph.scratch.git_dir
    known = {patch.says(IMPORTED_FROM) for patch in workspace.patches(record.name)}
    known |= {one.head for one in read_published(workspace) if one.series == record.name}
    if not known.isdisjoint(own_commits(git_dir, [start], [pin])):
        return True
    return bool(own_commits(git_dir, [start], [pin], f"--committer=<{COMMITTER_EMAIL}>"))


def _own(scratch: Scratch, head: str, *others: str | None) -> dict[str, tuple[str, ...]]:
    return own_commits(scratch.git_dir, [head], [name for name in others if name is not None])


class _Request(Struct, frozen=True):
    """What the user asked for; error messages use it to suggest the next command."""

    record: SeriesRecord
    repository: Path
    first: str
    last: str

    def command(
        self, base: str, form: str, *, series: str | None = None, end: str | None = None
    ) -> str:
        name = series or self.record.name
        how = f" --{form}" if form else ""
        commits = f"{base}..{end or self.last}"
        return f"patchmgr import --git {typed(self.repository)} {commits} --series {name}{how}"

    def on(self, base: str, form: str) -> tuple[str, ...]:
        """Return two commands: make a series on another base, and import the commits into it."""
        name = f"{self.record.name}-2"
        new = f"patchmgr series new {name} --upstream {self.record.upstream} --base {base}"
        return new, self.command(base, form, series=name)


class _Graph:
    """The commits of a fork that upstream lacks."""

    def __init__(self, scratch: Scratch, own: Mapping[str, tuple[str, ...]], head: str) -> None:
        self.scratch = scratch
        self.own = own
        self.head = head
        self.merges = [commit for commit, parents in own.items() if len(parents) > 1]
        line = [head] if head in own else []
        # If somebody ran `git merge fork` on upstream's branch, the first parent is upstream's.
        while line and (before := self.parent(line[-1])) in own:
            line.append(str(before))
        self.line = tuple(reversed(line))
        self._changes: dict[str, Changes] = {}

    def parent(self, commit: str) -> str | None:
        """Return a commit's first parent in the fork, or else its first parent, or None."""
        parents = self.own[commit]
        own = (p for p in parents if p in self.own and p not in self.folders)
        return next(own, parents[0] if parents else None)

    def tree(self, commit: str | None) -> str:
        return EMPTY_TREE if commit is None else self.scratch.reader.tree_of(commit)

    def files(self, commit: str | None) -> StoredTree:
        return StoredTree(self.scratch.reader, self.tree(commit))

    def changes(self, commits: Sequence[str]) -> list[Changes]:
        """Return, for each commit, its changes relative to `parent(commit)`."""
        missing = [commit for commit in commits if commit not in self._changes]
        pairs = [(self.tree(self.parent(commit)), self.tree(commit)) for commit in missing]
        found = tree_changes(self.scratch.git_dir, pairs)
        self._changes.update(zip(missing, found, strict=True))
        return [self._changes[commit] for commit in commits]

    def steps(self, old: str, new: str) -> list[tuple[str, Mapping[str, Entry | None]]]:
        history = GitHistory(self.scratch.git_dir, old, new)
        return [(step.commit, step.changes) for step in history.every()]

    def side(self, commit: str, done: set[str]) -> list[str]:
        """Return the fork's commits that a merge brings in, in order, except those in `done`."""
        todo, found = list(self.own[commit]), set[str]()
        while todo:
            at = todo.pop()
            if at in self.own and at not in done and at not in found:
                found.add(at)
                todo += self.own[at]
        return [each for each in self.own if each in found]

    @cached_property
    def folders(self) -> dict[str, str]:
        """Map the commits of other projects to the folders into which their trees were merged."""
        found: dict[str, str] = {}
        for merge in self.merges:
            for side in (side for side in self.own[merge][1:] if side in self.own):
                folder = subtree_folder(self.scratch.reader, merge, side)
                todo = [side] if folder else []
                while todo:
                    at = todo.pop()
                    if at in self.own and at not in found:
                        found[at] = folder
                        todo += self.own[at]
        return found

    def syncs(self, base: str, onto: str) -> dict[str, Closest]:
        """Return the ordinary commits whose trees show that they brought in upstream's content.

        In such a commit, at least half of the files that a range of two or more upstream commits
        changed are as upstream left them.
        """
        if base == onto or not is_ancestor(self.scratch.git_dir, base, onto):
            return {}
        steps = self.steps(base, onto)
        known = {item for _, changes in steps for item in changes.items()}
        plain = [commit for commit in self.line if len(self.own[commit]) == 1]
        found: dict[str, Closest] = {}
        start = self.files(base)
        for commit, changes in zip(plain, self.changes(plain), strict=True):
            if sum((path, new) in known for path, (_, new) in changes.items()) < 2:
                continue
            best = closest(steps, start, self.files(commit))
            if best is None or best.steps < 2:
                continue
            taken = best.taken & changes.keys()
            writers = {p: each for each, new in steps[: best.steps] for p in taken & new.keys()}
            # if one upstream commit wrote all of these files, this is the same change, and no sync
            if 2 * len(taken) >= best.changed and len(set(writers.values())) > 1:
                found[commit] = best
                steps = steps[best.steps :]
                start = self.files(best.commit)
        return found


class _Step(Struct, frozen=True):
    """A step of a plan, for the changes from the commit `old` to the commit `new`.

    "move" moves the base from one upstream state to another. "pick" makes a patch of one commit.
    "settle" makes a patch of whatever still differs from `new`; "rest" does so for the changes that
    were made in a merge itself.
    """

    action: Literal["move", "pick", "settle", "rest"]
    old: str | None
    new: str
    merge: str = ""  # the merge that moved the base or brought in the commit, if any


class _Plan(Struct, frozen=True):
    """The steps that turn a fork into patches, and the upstream state that the patches apply to."""

    steps: tuple[_Step, ...]
    base: str
    brings: bool  # a merge, or an ordinary commit in its place, brought in upstream's content
    # each such ordinary commit, with the upstream states before and after it
    syncs: Mapping[str, tuple[str, str]]


def _planned(graph: _Graph, pin: str, form: str) -> _Plan:
    parents = graph.own[graph.line[0]]
    base = parents[0] if parents else pin
    syncs = graph.syncs(base, pin) if parents else {}
    steps: list[_Step] = []
    known: dict[str, tuple[str, str]] = {}
    done, brings = set[str](), False
    if not parents:  # the fork began with a copy of upstream's files, without their history
        first = graph.line[0]
        steps += [_Step("move", None, pin, first), _Step("settle", pin, first)]
    for commit in graph.line if parents else graph.line[1:]:
        if commit in syncs:
            new, brings = syncs[commit].commit, True
            steps += [_Step("move", base, new, commit), _Step("settle", new, commit)]
            known[commit] = (base, new)
            base = new
        elif len(graph.own[commit]) == 1:
            steps.append(_Step("pick", graph.parent(commit), commit))
        else:
            done.add(str(graph.parent(commit)))
            side = graph.side(commit, done | set(graph.line))
            brought = {p for each in (commit, *side) for p in graph.own[each]} - graph.own.keys()
            onto = _onto(graph, base, brought - {base}, pin)
            brings = brings or bool(brought - {base})
            if onto != base:
                steps.append(_Step("move", base, onto, commit))
                base = onto
            if form == LINEARIZE:
                plain = (each for each in side if len(graph.own[each]) < 2)
                steps += [_Step("pick", graph.parent(each), each, commit) for each in plain]
            is_rest = form == LINEARIZE or not side
            steps.append(_Step("rest" if is_rest else "settle", base, commit))
            done.update(side)
        done.add(commit)
    return _Plan(tuple(steps), base, brings, known)


def _onto(graph: _Graph, base: str, brought: set[str], pin: str) -> str:
    """Return the upstream state after a merge of `base` with other upstream states."""
    if not brought:
        return base
    git_dir = graph.scratch.git_dir
    ends = newest(git_dir, [base, *sorted(brought)])
    others = [end for end in ends if end != base]
    if base not in ends:
        return pin if pin in others else others[-1]
    # The merge joined two upstream branches that have diverged. The pin says which one counts.
    wanted = [end for end in others if is_ancestor(git_dir, end, pin)]
    return wanted[-1] if wanted and not is_ancestor(git_dir, base, pin) else base


def _made(session: Session, graph: _Graph, plan: _Plan, request: _Request, form: str) -> Fork:
    """Carry out a plan; raise AssertionError if the result differs from the fork's tree."""
    scratch, head = graph.scratch, graph.head
    tree = graph.tree(head)
    changes = changes_between(scratch.git_dir, plan.base, tree)
    additions = Additions(Memory(session.workspace))
    if form == SQUASH:
        line = Line(graph.files(plan.base), scratch, GitTextMerge(scratch), additions)
        line.settle(head, changes, graph.files(head), is_rest=False)
        drafts = [_squashed(graph, request, piece) for piece in line.pieces]
    else:
        text = GitTextMerge(scratch)
        learn_again(session, scratch, text, tuple(_past_merges(graph, plan)), additions)
        line = _run(session, graph, plan, additions, text)
        drafts = [_draft(graph, piece) for piece in line.pieces]
    _check_contents(graph, request, line.pieces)
    ids = write_commits(scratch, plan.base, drafts)
    end = ids[-1] if ids else plan.base
    if scratch.reader.tree_of(end) != tree:
        raise AssertionError(f"the trees of {head} and of the last patch, {end}, differ")
    label = f"{request.first}..{request.last}"
    mails = range_mails(scratch.git_dir, f"{plan.base}..{end}")
    own = {made: piece.commit for made, piece in zip(ids, line.pieces, strict=True)}
    dates = commit_dates(scratch.git_dir, *own.values())
    # The first line of each mail names the fork's commit instead of patchmgr's copy of it.
    mails = [mail[:5] + own[mail[5:45].decode()].encode() + mail[45:] for mail in mails]
    patches = tuple(found_in(mails, label, session.say, dates))
    recorded = [one for one in additions.recorded() if one.resolution is not None]
    return Fork(
        plan.base,
        head,
        tree,
        len(graph.own) - len(graph.merges),
        len(graph.merges),
        patches,
        tuple(n for n, piece in enumerate(line.pieces) if piece.is_rest),
        tuple(read_commit_text(scratch.reader, commit).subject for commit in line.dropped),
        tuple(line.remarks),
        {path: new for path, (_, new) in changes.items()},
        len(recorded),
        additions.files(),
        len(patches) == len(drafts),
        goes_on=False,
    )


def _check_contents(graph: _Graph, request: _Request, pieces: Sequence[Piece]) -> None:
    """Raise PatchmgrError "missing-object" if a partial clone lacks a file that a patch needs."""
    files = [
        (entry.blob, path, piece.commit)
        for piece in pieces
        for path, entry in piece.after.items()
        if entry is not None and entry.mode != GITLINK and not graph.scratch.is_made(entry.blob)
    ]
    present = present_blobs(graph.scratch, {blob for blob, _, _ in files})
    missing = [(path, commit) for blob, path, commit in files if blob not in present]
    if missing:
        path, commit = missing[0]
        raise PatchmgrError(
            "missing-object",
            f"{request.repository} lacks the content of {counted(len(missing), 'file')} that"
            f" patches need; the first is {shown(path)} in {_name(graph, commit)}",
            "or import fewer commits, with --first-parent or --squash",
        )


def _past_merges(graph: _Graph, plan: _Plan) -> Iterator[PastMerge]:
    for commit in graph.own:
        parents = graph.own[commit]
        if len(parents) == 2:
            yield PastMerge(None, *parents, commit)
        elif commit in plan.syncs:
            base, new = plan.syncs[commit]
            yield PastMerge(base, new, parents[0], commit)


def _run(
    session: Session, graph: _Graph, plan: _Plan, recall: Additions, text: GitTextMerge
) -> Line:
    scratch = graph.scratch
    pairs = [(graph.tree(step.old), graph.tree(step.new)) for step in plan.steps]
    found = tree_changes(scratch.git_dir, pairs)
    line = Line(graph.files(plan.steps[0].old), scratch, text, recall)
    with task(session.progress, "Replaying", len(plan.steps)):
        for step, changes in zip(plan.steps, found, strict=True):
            want = graph.files(step.merge or step.new)
            if step.action == "move":
                new = graph.files(step.new)
                touched = sorted(line.paths().intersection(changes))
                renames = find_renames(scratch, graph.files(step.old), new, touched)
                line.move(new, changes, renames, want, step.merge)
            elif step.action == "pick":
                folder = graph.folders.get(step.new)
                here = {f"{folder}/{path}": x for path, x in changes.items()} if folder else changes
                line.pick(step.new, here, want, step.merge)
            else:
                line.settle(step.new, changes, want, is_rest=step.action == "rest")
            session.progress.advance(1)
        line.finish(graph.head, graph.files(graph.head))
    return line


_REST = """\
Merge {short}: changes made in the merge itself

{subject}

No commit of the branch has these lines: edits that were made while merging, and conflicts whose
resolution belongs to no single commit.
"""


def _draft(graph: _Graph, piece: Piece) -> Draft:
    told = read_commit_text(graph.scratch.reader, piece.commit)
    message = told.message
    if piece.is_rest:
        filled = _REST.format(short=piece.commit[:12], subject=told.subject)
        message = filled.encode("utf-8", "surrogateescape")
    return Draft(told.author, message, piece.after)


def _squashed(graph: _Graph, request: _Request, piece: Piece) -> Draft:
    reader = graph.scratch.reader
    own = [commit for commit in graph.own if commit not in graph.merges]
    name = request.last.removeprefix("refs/heads/")
    ref = request.record.pin.ref
    lines = [f"{name}: all changes on top of {ref[:12] if is_full_id(ref) else ref}", ""]
    lines += [f"* {commit[:12]} {read_commit_text(reader, commit).subject}" for commit in own]
    message = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
    return Draft(read_commit_text(reader, piece.commit).author, message, piece.after)


def _name(graph: _Graph, commit: str) -> str:
    return f"{commit[:12]} ({shown(read_commit_text(graph.scratch.reader, commit).subject)})"


def _merges(request: _Request, graph: _Graph, base: str) -> PatchmgrError:
    short = base[:12]
    return PatchmgrError(
        "merges",
        f"{request.first}..{request.last} has {_counted_merges(graph)}, and its commits"
        " cannot be applied one after the other",
        f"{request.command(short, LINEARIZE)}   (a patch for each commit)",
        f"{request.command(short, FIRST_PARENT)}   (a patch for each commit or merged branch)",
        f"{request.command(short, SQUASH)}   (one patch)",
    )


def _wrong_base(request: _Request, graph: _Graph, base: str, form: str | None) -> PatchmgrError:
    record, short = request.record, base[:12]
    return PatchmgrError(
        "base",
        f"{request.last} is based on upstream's commit {_name(graph, base)}, but the series"
        f" {record.name} is on {shown(record.pin.ref)} ({record.pin.commit[:12]})"
        + (f"; the branch has {_counted_merges(graph)}" if graph.merges else ""),
        *(request.on(short, form or LINEARIZE) + (() if form else (_OTHERS,))),
    )


def _check_brought(request: _Request, graph: _Graph, ends: tuple[str, str], form: str) -> None:
    """Raise PatchmgrError "base" if the fork merged upstream after the state imported last.

    `ends` has that state and the pin.
    """
    git_dir, (start, pin) = graph.scratch.git_dir, ends
    outside = {p for parents in graph.own.values() for p in parents} - graph.own.keys()
    brought = set(newest(git_dir, [start, *sorted(outside)])) - {start}
    if not brought:
        return
    done = set[str]()
    for merge in graph.line:
        side = graph.side(merge, done | set(graph.line))
        done.update(side)
        found = brought.intersection(p for each in (merge, *side) for p in graph.own[each])
        if found:
            break
    onto, before = sorted(found)[0], graph.parent(merge)
    steps = [] if before in (None, start) else [(start, before)]
    series = request.record.name
    commands = [request.command(a[:12], form, end=b[:12]) for a, b in steps]
    if not is_ancestor(git_dir, onto, pin):
        commands.append(f"patchmgr rebase {series} --onto {onto[:12]}")
    if merge != graph.head:
        commands.append(request.command(merge[:12], form))
    raise PatchmgrError(
        "base",
        f"{request.first}..{request.last} merges upstream in {_name(graph, merge)}; import the"
        " commits before it, rebase the series onto what it merged, then import those after it",
        *commands,
    )


_OTHERS = "or replace --linearize with --first-parent (a patch for each merged branch) or --squash"


def _counted_merges(graph: _Graph) -> str:
    first = _name(graph, graph.merges[0])
    return f"{counted(len(graph.merges), 'merge')} (the first is {first})"


def _check_syncs(
    request: _Request, graph: _Graph, pin: str, tracked: str | None, form: str
) -> None:
    """Raise PatchmgrError "base" if an ordinary commit copies content newer than the pin."""
    if tracked is None or not graph.own:
        return
    tip, head, base = graph.files(tracked), graph.files(graph.head), graph.files(pin)
    changes = changes_between(graph.scratch.git_dir, base.id, head.id)
    if not any(new is not None and tip.entry(path) == new for path, (_, new) in changes.items()):
        return
    syncs = graph.syncs(pin, tracked)
    if not syncs:
        return
    commit, best = list(syncs.items())[-1]
    commits = f"{request.first}..{request.last}"
    mail = f"git -C {typed(request.repository)} format-patch --stdout {commits} > own.mbox"
    raise PatchmgrError(
        "base",
        f"{_name(graph, commit)} is not a merge, but it contains upstream content:"
        f" {len(best.taken)} of the {best.changed} files that upstream changed are identical to"
        f" those in upstream commit {_name(graph, best.commit)}, which is the fork's real base",
        *request.on(best.commit[:12], form),
        f"or, to import {commit[:12]} as a patch: {mail}",
    )
