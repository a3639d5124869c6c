"""`rebase --checkout`: show a conflict in a git worktree, and read back its resolution."""

from __future__ import annotations

import hashlib
import shlex
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain, count, takewhile
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.rebase.conflicts import solved_entry
from patchmgr.engines.rebase.ladder import Sides
from patchmgr.engines.rebase.work import Edits
from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.series.picking import SUFFIX
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.header_edits import new_header
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.paths import check_path
from patchmgr.formats.series_files import with_appended
from patchmgr.formats.shown import shown, typed
from patchmgr.model.outcome import PatchOutcome, SeriesOutcome, Verdict
from patchmgr.model.patch import own_author
from patchmgr.model.snapshot import FILE_MODES, GITLINK, Changes, Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.clones import Clone, author_of, open_clone
from patchmgr.plumbing.closing import Closing
from patchmgr.plumbing.linked_worktree import (
    LinkedWorktree,
    Stages,
    WorktreeState,
    add_worktree,
    find_worktree,
    forget_deleted,
    free_branch,
    is_free,
)
from patchmgr.plumbing.programs import run_in, whole_tree
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.plumbing.stores import cache_folder
from patchmgr.render.conflicts import marked_text
from patchmgr.services.load import RebaseRun
from patchmgr.services.series import LoadedSeries
from patchmgr.services.session import Session
from patchmgr.services.work_area import (
    STATE,
    Added,
    InProgress,
    PersonsEdit,
    Waiting,
    content_problem,
    edit_file,
    is_marked,
    is_named,
    original,
    state_file,
    work_path,
)
from patchmgr.workspace import Change, Workspace

_STAGES = ".patchmgr-stages"  # the folder, in a commit, that holds the stages of conflicts


def check_checkout(session: Session, in_progress: InProgress) -> None:
    """Raise PatchmgrError "usage" if the checkout of a rebase cannot be created or used."""
    if not (in_progress.checkout or in_progress.command):
        return
    folder, workspace = Path(in_progress.checkout), session.workspace
    upstreams = {workspace.series_record(name).upstream for name in in_progress.series}
    if len(upstreams) > 1:
        raise UsageError(
            "with --checkout or --exec, all series must have the same upstream",
            "name only series with the same upstream: patchmgr rebase SERIES ...",
        )
    if not in_progress.checkout:
        return
    tree = find_worktree(folder)
    stand = None if tree is None else tree.stand()
    if tree is None or stand is None:
        if not is_free(folder):
            hint = "name a folder that does not exist yet, or is empty"
            raise UsageError(f"{folder} already exists", hint)
        return
    hint = f"name another folder, or remove it: git -C {typed(folder)} worktree remove -f ."
    if stand.workspace != str(workspace.root):
        raise UsageError(f"{folder} belongs to the workspace {stand.workspace}", hint)
    if in_progress.repository:
        clone = open_clone(Path(in_progress.repository))
        if not clone.git_dir.samefile(tree.clone.git_dir):
            raise UsageError(f"{folder} is not a worktree of {clone.root}", hint)


class RebaseCheckout(Closing):
    """The checkout of a rebase, where the command of `--exec` is run on each rebased patch."""

    def __init__(
        self, session: Session, in_progress: InProgress, tree: LinkedWorktree | None
    ) -> None:
        self._session, self._asked, self._tree = session, in_progress, tree
        self._is_stopped = False
        self._branch: str | None = None
        # for the command without `--checkout`
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._heads: dict[str, str] = {}
        # commits on which the command succeeded, and the one on which it failed
        self.ran, self.failed = in_progress.ran, ""

    def close(self) -> None:
        """Delete the temporary checkout, if there is one."""
        if self._temporary is not None:
            if self._tree is not None:
                self._tree.remove()
            self._temporary.cleanup()

    @property
    def root(self) -> Path | None:
        """Return the folder of the checkout, or None if it is temporary."""
        return Path(self._asked.checkout) if self._asked.checkout else None

    def visit(self, run: RebaseRun, loaded: LoadedSeries, outcome: SeriesOutcome) -> SeriesOutcome:
        """Run the command on each rebased patch, then check out the first conflict or the result.

        A patch on which the command failed is in conflict in the returned outcome.
        """
        if self._is_stopped:
            return outcome
        below = None if loaded.below is None else self._heads[loaded.below.record.name]
        parent = below or outcome.onto.commit
        before = [*takewhile(lambda one: one.verdict is not Verdict.CONFLICT, outcome.patches)]
        carried = [one for one in before if one.is_carried]
        stop = next(iter(outcome.patches[len(before) :]), None)
        commits = [c for c in outcome.commits if c is not None]
        show, drafts = None, [Draft(o.author, o.message, o.changes or {}) for o in carried]
        if outcome.head is None:
            commits = list(write_commits(run.scratch, parent, drafts))
        top = commits[-1] if commits else parent
        if stop is not None:
            show = _shown_conflict(run.scratch, top, outcome, stop)
        repository = self._repository(loaded)
        last = show.last if show is not None else top
        if last != outcome.onto.commit:
            repository.take(run.scratch.git_dir, last, outcome.onto.commit)
        stand = WorktreeState(
            str(run.session.workspace.root), series=outcome.name, head=top, left=top
        )
        # What this run made is not in the store, even if upstream has a file with that content.
        if repository.git_dir == loaded.upstream.store:
            whole = whole_tree(repository.git_dir, outcome.onto.commit)
            loaded.upstream.try_fetch_objects(whole)
        self._open(repository, replace(stand, head=parent, left=parent))
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
        return open_clone(Path(asked) if asked else loaded.upstream.store)

    def _open(self, repository: Clone, stand: WorktreeState) -> None:
        """Create the worktree if there is none."""
        if self._tree is not None:
            return
        if self._asked.checkout:
            place = Path(self._asked.checkout)
            forget_deleted(repository.git_dir, place)
            branch = free_branch(repository, stand.series)
        else:
            self._temporary = tempfile.TemporaryDirectory(prefix="patchmgr-exec-")
            place, branch = Path(self._temporary.name) / "tree", None
        self._branch = branch
        self._tree = add_worktree(repository, place, replace(stand, branch=branch))

    def _show(self, stand: WorktreeState, stages: Stages) -> None:
        assert self._tree is not None
        known = self._tree.stand()
        branch = known.branch if known is not None else self._branch
        if self._tree.show(replace(stand, branch=branch), stages):
            self._session.say(stashed_text(self._tree.clone.root))

    def _run_on(
        self,
        carried: Sequence[PatchOutcome],
        commits: Sequence[str],
        parent: str,
        stand: WorktreeState,
    ) -> tuple[str, str] | None:
        """Run the command on each patch; return (name, reason) for the first failure, or None."""
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
        """Return the outcome of a series with the named patch in conflict for the given reason."""
        self._is_stopped = True
        patches = tuple(
            replace(one, verdict=Verdict.CONFLICT, reason=reason) if one.name == name else one
            for one in outcome.patches
        )
        return replace(outcome, head=None, patches=patches, commits=(None,) * len(patches))

    def release(self) -> None:
        """Turn the checkout into an ordinary worktree, once the rebase is complete."""
        if self._tree is not None and self._temporary is None:
            self._tree.release()


class _Shown(Struct, frozen=True):
    """A conflict, written as two commits that are to be copied into a repository."""

    patch: str
    left: str  # the commit of the files with conflict markers
    last: str  # the commit on top of `left`, which contains the stages
    stages: Mapping[str, tuple[Entry | None, ...]]
    files: tuple[tuple[str, str], ...]  # (path in the patch, path in the checkout)

    def at(self, stand: WorktreeState) -> WorktreeState:
        """Return a worktree's record after this conflict was checked out in it."""
        return replace(stand, patch=self.patch, left=self.left, files=self.files)


def _shown_conflict(
    scratch: Scratch, head: str, outcome: SeriesOutcome, patch: PatchOutcome
) -> _Shown:
    """Write commits that show a patch in conflict as git would: with markers and all stages."""
    changes = dict(patch.changes or {})
    stages: dict[str, tuple[Entry | None, ...]] = {}
    files: list[tuple[str, str]] = []
    for conflict in patch.conflicts:
        _, ours, theirs = conflict.stages
        place, there = conflict.new_path, Overlay(scratch.tree(head))
        obstacle = None if ours is not None else there.obstacle(place)
        if obstacle is not None:  # a parent of the file, or a file below it
            taken = min(obstacle, place, key=len)
            place = f"{taken}~{patch.name}{place[len(taken) :]}"
        if conflict.home != place and theirs is not None and there.entry(conflict.home) is not None:
            changes[conflict.home] = None
        entry = ours or theirs
        if entry is not None and conflict.marked is not None:
            marked = marked_text(outcome, patch, conflict)
            entry = solved_entry(marked, Sides(*conflict.stages), place, scratch)
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
    left, last = write_commits(scratch, head, drafts)
    return _Shown(patch.name, left, last, stages, tuple(files))


OTHER_EDITS = ("patch", "new", "none")


class OtherEdits(Struct, frozen=True):
    """What to do with edits to files that are not in conflict: the user's answer, or how to ask."""

    said: str | None = None  # one of `OTHER_EDITS`; None: not answered yet
    # called with the name of the patch and the paths, returns one of `OTHER_EDITS`
    ask: Callable[[str, Sequence[str]], str] | None = None

    def answer(self, patch: str, root: Path, paths: Sequence[str]) -> str:
        """Return where to put other edits; raise PatchmgrError "other-edits" without an answer."""
        if self.said is not None:
            return self.said
        if self.ask is not None:
            return self.ask(patch, paths)
        names = ", ".join(map(shown, paths[:5])) + (" and more" if len(paths) > 5 else "")
        raise PatchmgrError(
            "other-edits",
            f"files that are not in conflict were also edited in {root}: {names}",
            f"to add the edits to {shown(patch)}: patchmgr rebase --continue --other-edits patch",
            f"to put them into a new patch after {shown(patch)}: --other-edits new",
            "to let patchmgr save them with git stash: --other-edits none",
        )


NOT_SAID = OtherEdits()


def _trust_file(session: Session, in_progress: InProgress) -> Path:
    words = (str(session.workspace.root), in_progress.checkout, in_progress.command)
    name = hashlib.sha256(git_process.raw("\0".join(words))).hexdigest()
    return cache_folder() / "rebases" / name


def trust(session: Session, in_progress: InProgress) -> None:
    """Record that this user chose the checkout and the command of the rebase in progress."""
    note = _trust_file(session, in_progress)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()


def require_trusted(session: Session, in_progress: InProgress) -> None:
    """Raise a "usage" error unless this user chose the checkout and the command."""
    is_asked = in_progress.checkout or in_progress.command
    if is_asked and not _trust_file(session, in_progress).exists():
        words = [("--checkout", in_progress.checkout), ("--exec", in_progress.command)]
        typed = " ".join(f"{name} {shlex.quote(word)}" for name, word in words if word)
        raise UsageError(
            "this rebase was started elsewhere or by somebody else; to trust it, give its options",
            f"patchmgr rebase --continue {typed}",
            "or stop the rebase: patchmgr rebase --abort",
        )


def tree_of(session: Session, in_progress: InProgress) -> LinkedWorktree | None:
    """Return the worktree of the rebase in progress, or None if another workspace made it."""
    tree = find_worktree(Path(in_progress.checkout)) if in_progress.checkout else None
    stand = None if tree is None else tree.stand()
    is_ours = stand is not None and stand.workspace == str(session.workspace.root)
    return tree if is_ours else None


def forget_deleted_tree(session: Session, in_progress: InProgress) -> None:
    """If the folder of a rebase's checkout was deleted, remove the worktree from its repository."""
    if in_progress.checkout:
        record = session.workspace.series_record(in_progress.series[0])
        asked = in_progress.repository or session.upstream_of(record).store
        with suppress(PatchmgrError):  # the clone may be gone, too
            forget_deleted(open_clone(Path(asked)).git_dir, Path(in_progress.checkout))


def take_back(
    session: Session,
    in_progress: InProgress,
    others: OtherEdits,
    is_answered: Callable[[Waiting], bool],
    accepted: Sequence[str],
) -> tuple[InProgress, LinkedWorktree | None]:
    """Save the user's changes in the checkout of a rebase to the workspace.

    Returns the updated rebase, and the checkout if there is one. `is_answered` returns whether a
    file was resolved elsewhere; `accepted` names files to take as they are. Raises PatchmgrError
    "unresolved" if a file is still in conflict, and "other-edits" if other files were edited and
    the user has not said what to do with the edits.
    """
    tree = tree_of(session, in_progress)
    stand = None if tree is None else tree.stand()
    if tree is None or stand is None or stand.moving_from:
        return in_progress, tree
    if (stand.series, stand.patch) not in in_progress.stuck:
        return in_progress, tree
    tree.require_branch(stand)
    tree.seen = tree.snapshot()
    edits = tree.changes(stand.left, tree.seen)
    places = {place for _, place in stand.files}
    files, meant, elsewhere = _resolved(session.workspace, in_progress, tree, is_answered, accepted)
    half = {place: edits[place][0] for place in elsewhere if place in edits}
    if half:  # resolved outside the checkout, so edits of these files in it do not count
        tree.seen = tree.with_entries(tree.seen, half)
    beside = {path: change for path, change in edits.items() if path not in places}
    in_progress = replace(in_progress, accepted=(*in_progress.accepted, *meant))
    modes = _other_modes(edits, places - set(elsewhere))
    in_progress = _with_edits(session, in_progress, tree, stand, modes, is_new=False)
    files |= _contents(tree, modes)
    if beside:
        root = tree.clone.root
        said = others.answer(stand.patch, root, tuple(beside))
        if said == "none":
            back = tree.with_entries(tree.seen, {path: old for path, (old, _) in beside.items()})
            tree.stash(back, tree.seen)
            session.say(stashed_text(root))
        else:
            is_new = said == "new"
            in_progress = _with_edits(session, in_progress, tree, stand, beside, is_new=is_new)
            files |= _contents(tree, beside)
    files[STATE] = state_file(in_progress)
    Workspace(session.workspace.root).make(Change(files))
    return in_progress, tree


def stashed_text(root: Path) -> str:
    """Return a message that says that edits were saved with `git stash`."""
    return f"The edits in {root} are in git's stash; to see them: git -C {typed(root)} stash list"


def _resolved(
    workspace: Workspace,
    in_progress: InProgress,
    tree: LinkedWorktree,
    is_answered: Callable[[Waiting], bool],
    accepted: Sequence[str],
) -> tuple[dict[str, bytes | None], list[str], list[str]]:
    """Return the resolved files to write into the work area, keyed by path.

    Also returns the files to take as they are, and those that were resolved outside the checkout.
    """
    stand = tree.stand()
    assert stand is not None
    waiting = {(w.series, w.patch, w.path): w for w in in_progress.waiting}
    entries = tree.entries(tree.seen, [place for _, place in stand.files])
    unmerged, root = tree.unmerged(), tree.clone.root
    files: dict[str, bytes | None] = {}
    meant: list[str] = []
    left: list[str] = []
    elsewhere: list[str] = []
    for path, place in stand.files:
        item = waiting.get((stand.series, stand.patch, path))
        if item is None:
            continue
        entry = entries.get(place)
        content = None if entry is None else _content(tree, entry)
        is_open = place in unmerged and (content is None or original(workspace, item) is None)
        if is_open or (content is not None and is_marked(workspace, item, content)):
            (elsewhere if is_answered(item) else left).append(place)
            continue
        is_meant = content is None or is_named(workspace, item, accepted)
        meant += [item.file] if is_meant else []
        if content is not None:
            _refuse_broken(workspace, item, content, root / place, is_accepted=is_meant)
        files[work_path(item)] = content
    if left:
        names = ", ".join(map(shown, left))
        raise PatchmgrError(
            "unresolved",
            f"still in conflict in {root}: {names}",
            f"edit each file, then mark it as resolved: git -C {typed(root)} add FILE (or rm FILE)",
            "then run: patchmgr rebase --continue",
        )
    return files, meant, elsewhere


def _refuse_broken(
    workspace: Workspace, item: Waiting, content: bytes, file: Path, *, is_accepted: bool
) -> None:
    problem = content_problem(workspace, item, content, is_accepted=is_accepted)
    if problem is not None:
        raise PatchmgrError(
            "unresolved",
            f"{shown(str(file))}{problem}",
            "correct the file, then run: patchmgr rebase --continue",
            "if that is intended: patchmgr rebase --continue --accept FILE",
        )


def _other_modes(edits: Changes, places: Collection[str]) -> Changes:
    """Return the changes that a person made to the modes of resolved files."""
    return {
        place: (replace(new, mode=old.mode), new)
        for place, (old, new) in edits.items()
        if place in places and old and new and {old.mode, new.mode} == FILE_MODES
    }


def _content(tree: LinkedWorktree, entry: Entry) -> bytes:
    if entry.mode == GITLINK:
        return f"Subproject commit {entry.blob}\n".encode()
    return tree.blob(entry)


def _contents(tree: LinkedWorktree, edits: Changes) -> dict[str, bytes | None]:
    """Return the files of the work area that store the contents before and after edits."""
    entries = {entry for change in edits.values() for entry in change if entry is not None}
    contents = (tree.blob(entry) for entry in entries if entry.mode != GITLINK)
    return {path: content for each in contents for path, content in edit_file(each).items()}


def _with_edits(
    session: Session,
    in_progress: InProgress,
    tree: LinkedWorktree,
    stand: WorktreeState,
    beside: Changes,
    *,
    is_new: bool,
) -> InProgress:
    """Add edits to the patch in conflict, or, if `is_new`, to a new patch after it."""
    owner = stand.patch
    if is_new:
        known = {(one.series, one.after): one.name for one in in_progress.added}
        owner = known.get((stand.series, stand.patch), "")
        if not owner:
            one = _new_patch(session, in_progress, tree, stand)
            owner, in_progress = one.name, replace(in_progress, added=(*in_progress.added, one))
    edits = {(one.series, one.patch, one.path): one for one in in_progress.edits}
    for path, (before, after) in beside.items():
        key = (stand.series, owner, check_path(path, what="path"))
        first = edits[key].before if key in edits else before
        edits[key] = PersonsEdit(*key, first, after)
    return replace(in_progress, edits=tuple(edits.values()))


def _new_patch(
    session: Session, in_progress: InProgress, tree: LinkedWorktree, stand: WorktreeState
) -> Added:
    taken = {*session.workspace.series_file(stand.series).names()}
    taken |= session.workspace.names_beside(stand.series).keys()
    taken |= {one.name for one in in_progress.added}
    stem = stand.patch.removesuffix(SUFFIX)
    names = (f"{stem}-edits{end}{SUFFIX}" for end in chain([""], (f"-{n}" for n in count(2))))
    is_free = session.workspace.is_free
    name = next(n for n in names if n not in taken and is_free(stand.series, n))
    author = author_of(tree.clone.private) or own_author()
    header = new_header(f"Edits made while rebasing {shown(stem)}", "", author)
    return Added(stand.series, stand.patch, name, git_process.text(header))


def with_added(loaded: LoadedSeries, in_progress: InProgress) -> LoadedSeries:
    """Add new patches, which are still empty, to a series for the edits in the checkout."""
    for one in in_progress.added:
        if one.series == loaded.record.name and (one.series, one.name) not in in_progress.skipped:
            file = with_appended(loaded.file, one.name, after=one.after)
            patch = parse_patch(git_process.raw(one.header), name=one.name)
            patches = list(loaded.patches)
            patches.insert([p.name for p in patches].index(one.after) + 1, patch)
            loaded = replace(loaded, patches=tuple(patches), file=file)
    return loaded


def edits_of(in_progress: InProgress) -> Mapping[str, Mapping[str, Edits]]:
    """Return the edits to files that are not in conflict, keyed by series, patch and path."""
    found: dict[str, dict[str, dict[str, tuple[Entry | None, Entry | None]]]] = {}
    for one in in_progress.edits:
        by_path = found.setdefault(one.series, {}).setdefault(one.patch, {})
        by_path[check_path(one.path, what="path")] = one.before, one.after
    return found
