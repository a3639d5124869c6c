"""A rebase in progress as a checkout: what stops it is shown there, and a command runs in it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.rebase.conflicts import solved_entry
from patchmgr.engines.rebase.ladder import Sides
from patchmgr.engines.series.fold import Overlay
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import PatchOutcome, SeriesOutcome, Verdict
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.plumbing.clones import Clone, open_clone
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.linked_worktree import (
    LinkedWorktree,
    Stages,
    Stand,
    add_worktree,
    find_worktree,
    free_branch,
    is_free,
)
from patchmgr.plumbing.programs import run_in
from patchmgr.plumbing.workbench import Workbench
from patchmgr.render.conflicts import marked_text
from patchmgr.services.load import LoadedSeries, RebaseRun
from patchmgr.services.resolved_checkout import stashed_text
from patchmgr.services.session import Session
from patchmgr.services.work_area import (
    InProgress,
)

_STAGES = ".patchmgr-stages"  # a folder of a commit that brings contents along


def check_checkout(session: Session, in_progress: InProgress) -> None:
    """Raise PatchmgrError "usage" where the checkout of a rebase cannot be made, or is no one's."""
    if not (in_progress.checkout or in_progress.command):
        return
    folder, workspace = Path(in_progress.checkout), session.workspace
    upstreams = {workspace.series_record(name).upstream for name in in_progress.series}
    if len(upstreams) > 1:
        raise PatchmgrError(
            "usage",
            "--checkout and --exec are for series of one upstream",
            ("name the series: patchmgr rebase SERIES ...",),
        )
    if not in_progress.checkout:
        return
    tree = find_worktree(folder)
    stand = None if tree is None else tree.stand()
    if tree is None or stand is None:
        if not is_free(folder):
            hint = "name a folder that is not there yet, or is empty"
            raise PatchmgrError("usage", f"{folder} is there already", (hint,))
        return
    if stand.workspace != str(workspace.root):
        raise PatchmgrError("usage", f"{folder} is of the workspace {stand.workspace}")
    if in_progress.repository:
        clone = open_clone(Path(in_progress.repository))
        if not clone.git_dir.samefile(tree.clone.git_dir):
            raise PatchmgrError("usage", f"{folder} is no worktree of {clone.root}")


class RebaseCheckout:
    """The checkout of one run, in which the command runs on each carried patch.

    Without a folder it is a temporary one, for the command alone. `ran` and `failed` are commits.
    """

    def __init__(
        self, session: Session, in_progress: InProgress, tree: LinkedWorktree | None
    ) -> None:
        self._session, self._asked, self._tree = session, in_progress, tree
        self._is_stopped = False
        self._branch: str | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._heads: dict[str, str] = {}
        self.ran, self.failed = in_progress.ran, ""

    def __enter__(self) -> RebaseCheckout:
        return self

    def __exit__(self, *fault: object) -> None:
        if self._temporary is not None:
            if self._tree is not None:
                self._tree.remove()
            self._temporary.cleanup()

    @property
    def root(self) -> Path | None:
        """Return the folder of the checkout, None of a temporary one."""
        return Path(self._asked.checkout) if self._asked.checkout else None

    def visit(self, run: RebaseRun, loaded: LoadedSeries, outcome: SeriesOutcome) -> SeriesOutcome:
        """Run the command on each carried patch, and show what stops the series, or its end.

        A patch that the command fails on is in conflict then.
        """
        if self._is_stopped:
            return outcome
        below = None if loaded.below is None else self._heads[loaded.below.record.name]
        parent = below or outcome.onto.commit
        carried, stop = _until_stop(outcome)
        commits = [c for c in outcome.commits if c is not None]
        show, drafts = None, [Draft(o.author, o.message, o.changes or {}) for o in carried]
        if outcome.head is None:
            commits = list(write_commits(run.bench, parent, drafts))
        top = commits[-1] if commits else parent
        if stop is not None:
            show = _shown_conflict(run.bench, top, outcome, stop)
        repository = self._repository(loaded)
        last = show.last if show is not None else top
        if last != outcome.onto.commit:
            repository.take(run.bench.git_dir, last, outcome.onto.commit)
        stand = Stand(str(run.session.workspace.root), series=outcome.name, head=top, left=top)
        self._open(repository, run, loaded, replace(stand, head=parent, left=parent))
        failure = self._run_on(carried, commits, parent, stand)
        if failure is not None:
            return self._stopped(outcome, *failure)
        if show is not None:
            self._is_stopped = True
            self._show(show.at(stand), show.stages)
        else:
            self._heads[outcome.name] = top
            self._show(stand, {})
        return outcome

    def _repository(self, loaded: LoadedSeries) -> Clone:
        asked = self._asked.repository
        if self._tree is not None:
            return self._tree.clone
        return open_clone(Path(asked) if asked else loaded.side.store)

    def _open(self, repository: Clone, run: RebaseRun, loaded: LoadedSeries, stand: Stand) -> None:
        """Make the worktree unless it is there."""
        if repository.git_dir == loaded.side.store:
            files = run.bench.tree(stand.head)
            entries = filter(None, map(files.entry, files.files()))
            wanted = {entry.blob for entry in entries if entry.mode != GITLINK}
            loaded.side.try_fetch_objects(wanted, run.bench.reader)
        if self._tree is not None:
            return
        if self._asked.checkout:
            place, branch = Path(self._asked.checkout), free_branch(repository, stand.series)
        else:
            self._temporary = tempfile.TemporaryDirectory(prefix="patchmgr-exec-")
            place, branch = Path(self._temporary.name) / "tree", None
        self._branch = branch
        self._tree = add_worktree(repository, place, replace(stand, branch=branch))

    def _show(self, stand: Stand, stages: Stages) -> None:
        assert self._tree is not None
        known = self._tree.stand()
        branch = known.branch if known is not None else self._branch
        if self._tree.show(replace(stand, branch=branch), stages):
            self._session.say(stashed_text(self._tree.clone.root))

    def _run_on(
        self, carried: Sequence[PatchOutcome], commits: Sequence[str], parent: str, stand: Stand
    ) -> tuple[str, str] | None:
        """Run the command on each patch; return the first on which it fails, and how."""
        command = self._asked.command
        for patch, commit in zip(carried if command else (), commits, strict=False):
            if commit not in self.ran:
                here = replace(stand, patch=patch.name, head=commit, left=commit)
                self._show(here, {})
                assert self._tree is not None
                self._session.say(f"Executing: {command}  # {shown(patch.name)}")
                code = run_in(self._tree.clone.root, command)
                changed = {} if code else self._tree.edits(here)
                if code or changed:
                    self.failed = commit
                    self._show(replace(here, head=parent), {})
                    what = f"changed {shown(next(iter(changed)))}" if changed else f"exit {code}"
                    return patch.name, f"{shown(command)}: {what}"
                self.ran = (*self.ran, commit)
            parent = commit
        return None

    def _stopped(self, outcome: SeriesOutcome, name: str, reason: str) -> SeriesOutcome:
        """Return the outcome of a series with a patch that the command failed on."""
        self._is_stopped = True
        patches = tuple(
            replace(one, verdict=Verdict.CONFLICT, reason=reason) if one.name == name else one
            for one in outcome.patches
        )
        return replace(outcome, head=None, patches=patches, commits=(None,) * len(patches))

    def release(self) -> None:
        """Let the tree stand for itself: the rebase is made."""
        if self._tree is not None and self._temporary is None:
            self._tree.release()


class _Shown(Struct, frozen=True):
    """A conflict as commits that bring it into a repository, the last of them `last`."""

    patch: str
    left: str
    last: str
    stages: Mapping[str, tuple[Entry | None, ...]]
    files: tuple[tuple[str, str], ...]

    def at(self, stand: Stand) -> Stand:
        """Return what the tree shows then."""
        return replace(stand, patch=self.patch, left=self.left, files=self.files)


def _until_stop(outcome: SeriesOutcome) -> tuple[list[PatchOutcome], PatchOutcome | None]:
    """Return the carried patches before the first in conflict, and that one."""
    carried: list[PatchOutcome] = []
    for patch in outcome.patches:
        if patch.verdict is Verdict.CONFLICT:
            return carried, patch
        carried += [patch] if patch.is_carried else []
    return carried, None


def _shown_conflict(
    bench: Workbench, head: str, outcome: SeriesOutcome, patch: PatchOutcome
) -> _Shown:
    """Write a patch in conflict as git leaves one: what merged, files with markers, all sides."""
    changes = dict(patch.changes or {})
    stages: dict[str, tuple[Entry | None, ...]] = {}
    files: list[tuple[str, str]] = []
    for conflict in patch.conflicts:
        _, ours, theirs = conflict.stages
        place, there = conflict.new_path, Overlay(bench.tree(head))
        obstacle = None if ours is not None else there.obstacle(place)
        if obstacle is not None:
            place = f"{obstacle}~{patch.name}{place[len(obstacle) :]}"
        if conflict.home != place and theirs is not None and there.entry(conflict.home) is not None:
            changes[conflict.home] = None
        entry = ours or theirs
        if entry is not None and conflict.marked is not None:
            marked = marked_text(outcome, patch, conflict)
            entry = solved_entry(marked, Sides(*conflict.stages), place, bench)
        changes[place] = entry
        stages[place] = conflict.stages
        files.append((conflict.path, place))
    brought = {
        f"{_STAGES}/{number}/{path}": entry
        for path, sides in stages.items()
        for number, entry in enumerate(sides, 1)
        if entry is not None
    }
    drafts = [Draft(patch.author, patch.message, each) for each in (changes, brought)]
    left, last = write_commits(bench, head, drafts)
    return _Shown(patch.name, left, last, stages, tuple(files))
