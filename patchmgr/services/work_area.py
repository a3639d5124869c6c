"""The work area of a rebase in progress: where a person resolves conflicts."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from patchmgr import __version__
from patchmgr.engines.rebase.conflicts import CHANGED_SINCE
from patchmgr.engines.rebase.work import SeenSides
from patchmgr.engines.text.leftover import leftover_marker, line_ending_problem, syntax_problem
from patchmgr.engines.text.marked import sides_of
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.paths import check_path, parents_of, refusal
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import FileConflict, PatchOutcome, SeriesOutcome, Verdict
from patchmgr.model.recorded_conflict import RecordKind
from patchmgr.model.snapshot import GITLINK, Entry, blob_id
from patchmgr.model.upstream import Resolved
from patchmgr.plumbing.durable import writes
from patchmgr.plumbing.plain_files import read_json, read_plain
from patchmgr.plumbing.upstream_kinds import OpenUpstream
from patchmgr.render.conflicts import marked_text
from patchmgr.workspace import PRIVATE, Workspace

_FOLDER = f"{PRIVATE}/rebase"
# The change that completes a rebase deletes this file.
STATE = f"{_FOLDER}/state.json"
CHOICES = f"{_FOLDER}/.choices.json"
"""The file with the choices that a person made in `resolve` but has not accepted yet."""
_FORMAT = 1
# The files as they were before a person resolved them. The name of a series has no leading dot.
_ORIGINALS = ".marked"
# Both sides of these files as the person saw them. A side may change before the rebase continues:
# when an earlier conflict is resolved, or when the patch is edited.
_OURS, _THEIRS = ".ours", ".theirs"
_LARGEST = 1 << 30
_EDITS = ".edits"  # the contents of edits to files that are not in conflict


class Waiting(Struct, frozen=True, array_like=True):
    """A file in conflict that a person has to resolve."""

    series: str
    patch: str
    path: str  # in the patch
    file: str  # below the work area
    conflict: str = ""  # its id; "" if an older version of patchmgr recorded the file


class PersonsEdit(Struct, frozen=True, array_like=True):
    """A person's edit to a file without a conflict: the patch, and the file before and after."""

    series: str
    patch: str
    path: str
    before: Entry | None
    after: Entry | None


class Added(Struct, frozen=True, array_like=True):
    """A new patch for a person's edits: its name, its header, and the patch that it comes after."""

    series: str
    after: str
    name: str
    header: str


class InProgress(Struct, frozen=True):
    """A rebase that stopped at conflicts: its options, and the files to resolve."""

    series: tuple[str, ...]
    onto: str
    selected: tuple[str, ...]
    waiting: tuple[Waiting, ...] = ()
    stuck: tuple[tuple[str, str], ...] = ()  # (series, patch) in conflict
    skipped: tuple[tuple[str, str], ...] = ()  # (series, patch) to leave out
    opened: tuple[str, ...] = ()  # ids of the conflicts that the rebase recorded
    confidence: int | None = None  # reliability (percent) that a structural merge needs
    checkout: str = ""  # the path of the worktree with the conflict
    repository: str = ""  # that of the worktree; "" for the store
    command: str = ""  # runs on each rebased patch
    ran: tuple[str, ...] = ()  # commits on which the command succeeded
    failed: str = ""  # the commit on which the command failed
    edits: tuple[PersonsEdit, ...] = ()  # changes to files without a conflict
    added: tuple[Added, ...] = ()  # new patches for such edits
    accepted: tuple[str, ...] = ()  # files to take as they are
    states: tuple[tuple[str, str], ...] = ()  # (series, commit) that `onto` named

    def target(self, series: str, upstream: OpenUpstream) -> Resolved:
        """Return the state that a series is rebased onto, even if a branch has moved since."""
        commit = dict(self.states).get(series, self.onto)
        found = upstream.resolve(commit)
        return replace(found, ref=self.onto) if found.ref == commit else found


def read_in_progress(workspace: Workspace) -> InProgress | None:
    """Return the rebase in progress, or None if there is none.

    Raises PatchmgrError "broken-workspace" if its file is malformed, and "newer-state" if a newer
    version of patchmgr wrote it.
    """
    try:
        document = read_json(workspace.root, STATE)
        if document is None:
            return None
        _refuse_newer(document)
        return convert(document, InProgress)
    except (PatchmgrError, OSError, ValueError, AttributeError) as fault:
        if isinstance(fault, PatchmgrError) and fault.kind == "newer-state":
            raise
        raise PatchmgrError(
            "broken-workspace",
            f"{STATE} cannot be read",
            f"to give up the rebase in progress, delete {STATE}",
        ) from fault


def waiting_files(workspace: Workspace) -> tuple[Waiting, ...]:
    """Return the files to resolve of the rebase in progress; none if no rebase is in progress."""
    found = read_in_progress(workspace)
    return () if found is None else found.waiting


def refuse_needed(workspace: Workspace, series: str, patch: str) -> None:
    """Raise PatchmgrError "unfinished" if the rebase in progress needs the patch by this name."""
    found = read_in_progress(workspace)
    if found is not None and (series, patch) in (*found.stuck, *found.skipped):
        hints = ("finish it: patchmgr rebase --continue", "or stop it: patchmgr rebase --abort")
        message = f"the rebase in progress still needs {shown(patch)}"
        raise PatchmgrError("unfinished", message, *hints)


def _refuse_newer(document: dict[str, Any]) -> None:
    """Raise PatchmgrError "newer-state" if a newer version of patchmgr started the rebase."""
    number = document.get("format", _FORMAT)  # files from before 2026 have no format
    if type(number) is int and number > _FORMAT:
        by = shown(str(document.get("patchmgr", "(a newer version)")))
        raise PatchmgrError(
            "newer-state",
            f"the rebase in progress was started by patchmgr {by}, but this is patchmgr "
            f"{__version__}",
            f"continue with that version of patchmgr, or delete {_FOLDER} to end the rebase",
            "recorded resolutions are kept; to see them: patchmgr conflicts list",
        )


def work_files(
    workspace: Workspace, outcomes: Sequence[SeriesOutcome], in_progress: InProgress
) -> dict[str, bytes | None]:
    """Return the files to write into the work area, keyed by path below the workspace.

    A file that exists there is kept, unless a side has changed since it was resolved. If no rebase
    is in progress, the old work area is deleted first.
    """
    folder = workspace.root / _FOLDER
    if not (workspace.root / STATE).exists() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
    skipped = set(in_progress.skipped)
    waiting = [item for item in in_progress.waiting if (item.series, item.patch) not in skipped]
    known = {(item.series, item.patch, item.path): item for item in waiting}
    files: dict[str, bytes | None] = {}
    for outcome, patch, conflict in conflicts_left(outcomes):
        item = known.get((outcome.name, patch.name, conflict.path))
        if item is not None and conflict.reason != CHANGED_SINCE:
            continue
        if item is not None:
            waiting.remove(item)
        name = f"{outcome.name}/{patch.name}/{check_path(conflict.new_path, what='path')}"
        name = _apart(name, [other.file for other in waiting])
        waiting.append(Waiting(outcome.name, patch.name, conflict.path, name, conflict.id))
        files[f"{_FOLDER}/{name}"] = marked_text(outcome, patch, conflict)
        if conflict.marked is not None:
            files[f"{_FOLDER}/{_ORIGINALS}/{name}"] = conflict.marked
            files[f"{_FOLDER}/{_OURS}/{name}"] = conflict.ours
        if conflict.theirs is not None:
            files[f"{_FOLDER}/{_THEIRS}/{name}"] = conflict.theirs
    stuck = tuple(
        (o.name, p.name) for o in outcomes for p in o.patches if p.verdict is Verdict.CONFLICT
    )
    files[STATE] = state_file(replace(in_progress, waiting=tuple(waiting), stuck=stuck))
    return files


def _apart(file: str, others: Sequence[str]) -> str:
    """Return a path for a file; a `~` is added if it would collide with another file."""
    is_taken = any(other == file or other.startswith(f"{file}/") for other in others)
    part = next((part for part in parents_of(file) if part in others), file if is_taken else None)
    return file if part is None else _apart(f"{part}~{file.removeprefix(part)}", others)


def conflicts_left(
    outcomes: Sequence[SeriesOutcome],
) -> Iterator[tuple[SeriesOutcome, PatchOutcome, FileConflict]]:
    """Yield (series, patch, file) for each file that is in conflict."""
    for outcome in outcomes:
        for patch in outcome.patches:
            for conflict in patch.conflicts if patch.verdict is Verdict.CONFLICT else ():
                yield outcome, patch, conflict


def state_file(in_progress: InProgress) -> bytes:
    """Return the content of the file that describes the rebase in progress."""
    document = {"format": _FORMAT, "patchmgr": __version__, **to_builtins(in_progress)}
    return json.dumps(document, indent=1).encode()


def unresolved_items(
    workspace: Workspace, in_progress: InProgress, outcomes: Sequence[SeriesOutcome]
) -> tuple[Waiting, ...]:
    """Return the files that are still in conflict and still have conflict markers."""
    left = {(o.name, p.name, c.path) for o, p, c in conflicts_left(outcomes)}
    return tuple(
        item
        for item in in_progress.waiting
        if (item.series, item.patch, item.path) in left and is_unresolved(workspace, item)
    )


def is_unresolved(workspace: Workspace, item: Waiting) -> bool:
    """Return whether a file in the work area still has conflict markers."""
    content = read_work(workspace, item)
    return content is not None and is_marked(workspace, item, content)


def is_refused(workspace: Workspace, item: Waiting) -> bool:
    """Return whether `rebase --continue` would refuse a file in the work area."""
    return _problem(workspace, item, is_accepted=False) is not None


def work_path(item: Waiting) -> str:
    """Return the path, below the workspace, of a file in the work area."""
    return f"{_FOLDER}/{check_path(item.file, what='path')}"


def work_file(workspace: Workspace, item: Waiting) -> Path:
    """Return the full path of a file in the work area."""
    return workspace.root / work_path(item)


Place = tuple[str, str]
"""The name of a patch, and the path of a file that the patch changes."""

Solved = Mapping[str, Mapping[Place, "bytes | None"]]
"""The files that a person resolved (None: deleted), keyed by series, then by place."""


def resolved_files(workspace: Workspace, in_progress: InProgress) -> Solved:
    """Return the files that a person resolved; a file with conflict markers is not resolved."""
    solved: dict[str, dict[Place, bytes | None]] = {}
    for item in in_progress.waiting:
        content = read_work(workspace, item)
        if content is None or not is_marked(workspace, item, content):
            solved.setdefault(item.series, {})[item.patch, item.path] = content
    return solved


def solved_on(workspace: Workspace, in_progress: InProgress) -> dict[str, dict[Place, SeenSides]]:
    """Return, by series, ours and theirs of each file to resolve, as the person saw them."""
    found: dict[str, dict[Place, SeenSides]] = {}
    for item in in_progress.waiting:
        name = check_path(item.file, what="path")
        ours, theirs = (_read(workspace, f"{side}/{name}") for side in (_OURS, _THEIRS))
        found.setdefault(item.series, {})[item.patch, item.path] = ours, theirs
    return found


def edit_file(content: bytes) -> dict[str, bytes | None]:
    """Return the file, as {path: content}, that stores one side of a person's edit."""
    return {f"{_FOLDER}/{_EDITS}/{blob_id(content)}": content}


def edit_contents(workspace: Workspace, in_progress: InProgress) -> tuple[bytes, ...]:
    """Return the stored contents of the files that a person edited, before and after each edit."""
    entries = (entry for one in in_progress.edits for entry in (one.before, one.after))
    blobs = {entry.blob for entry in entries if entry is not None and entry.mode != GITLINK}
    found = (_read(workspace, f"{_EDITS}/{blob}") for blob in sorted(blobs))
    return tuple(content for content in found if content is not None)


def require_taken(
    workspace: Workspace, in_progress: InProgress, accepted: Sequence[str]
) -> tuple[str, ...]:
    """Return the paths of the files to take as they are, named in this run or an earlier one.

    `accepted` has paths below the work area, or ends of them. Raises PatchmgrError "usage" for a
    name that matches no file, "unresolved" if a file contains a conflict marker or, unless it is
    named, is deleted or empty, does not compile, or has line endings that no side has, and
    "other-edits" if a person put other files into the work area.
    """
    skipped = set(in_progress.skipped)
    named = [
        item
        for item in in_progress.waiting
        if item.file in in_progress.accepted or is_named(workspace, item, accepted)
    ]
    for name in accepted:
        if not any(is_named(workspace, item, [name]) for item in named):
            known = "; ".join(item.file for item in in_progress.waiting)
            message = f"--accept {shown(name)}: no file to resolve has this name"
            raise UsageError(message, f"files to resolve: {known}")
    problems = [
        f"{_FOLDER}/{shown(item.file)}{problem}"
        for item in in_progress.waiting
        if (item.series, item.patch) not in skipped
        and (problem := _problem(workspace, item, is_accepted=item in named)) is not None
    ]
    if problems:
        hints = (*problems[1:], "correct the file, then run: patchmgr rebase --continue")
        hints += tuple(
            f"to restore the file: cp {_FOLDER}/{_ORIGINALS}/{shown(w.file)} {work_path(w)}"
            for w in in_progress.waiting
            if not (read_work(workspace, w) or b"").strip() and original(workspace, w) is not None
        )
        if any(not problem.endswith(_LEFT) for problem in problems):
            hints += ("if that is intended: patchmgr rebase --continue --accept FILE",)
        raise PatchmgrError("unresolved", problems[0], *hints)
    _refuse_others(workspace, in_progress)
    return tuple(dict.fromkeys((*in_progress.accepted, *(item.file for item in named))))


def _refuse_others(workspace: Workspace, in_progress: InProgress) -> None:
    """Raise PatchmgrError "other-edits" if the work area has files that were not in conflict."""
    top = workspace.root / _FOLDER
    waiting = [PurePosixPath(item.file) for item in in_progress.waiting]
    paths = (path for series in in_progress.series for path in sorted((top / series).rglob("*")))
    files = (p.relative_to(top).as_posix() for p in paths if p.is_file() and not p.is_symlink())
    others = [
        file
        for file in map(PurePosixPath, files)
        if file.parts[:2] not in in_progress.skipped and refusal(str(file)) is None
        # what an editor saves beside a file has its name: `a.c~`, `.a.c.swp`
        if not any(file.parent == known.parent and known.name in file.name for known in waiting)
    ]
    if others:
        names = ", ".join(f"{_FOLDER}/{shown(str(other))}" for other in others[:5])
        raise PatchmgrError(
            "other-edits",
            f"only files in conflict are read back from the work area, which also has: {names}",
            "to edit other files, too: patchmgr rebase --continue --checkout DIR",
            "to continue without these edits, move the file away",
        )


_LEFT = "a conflict marker is left"


def is_named(workspace: Workspace, item: Waiting, names: Sequence[str]) -> bool:
    """Return whether one of the names is a file's path in the work area, or the end of the path."""
    file = work_file(workspace, item)
    return any(
        item.file == name or item.file.endswith(f"/{name}") or file == Path(name).absolute()
        for name in names
    )


def _problem(workspace: Workspace, item: Waiting, *, is_accepted: bool) -> str | None:
    """Return why a resolved file cannot be taken, worded to follow the file's name, or None."""
    content = read_work(workspace, item)
    if content is None:
        known = workspace.conflict(item.conflict)
        is_gone = known and known.kind is RecordKind.FILE and known.theirs is None
        is_fine = is_accepted or is_gone  # the patch deletes the file
        return None if is_fine else ": the file is missing, so the patch would delete it"
    return content_problem(workspace, item, content, is_accepted=is_accepted)


def content_problem(
    workspace: Workspace, item: Waiting, content: bytes, *, is_accepted: bool
) -> str | None:
    """Return what is wrong with a file's content, worded to follow the file's name, or None."""
    # not resolved yet
    if is_marked(workspace, item, content):
        return None
    left = leftover_marker(content, _known_lines(workspace, item))
    if left is not None:
        return f":{left[0]}: {shown(left[1].decode('utf-8', 'replace'))}: {_LEFT}"
    if is_accepted:
        return None
    sides = _sides(workspace, item)
    if not content.strip() and sides and all(side.strip() for side in sides):
        return ": the file is empty, so the patch would delete all its lines"
    broken = syntax_problem(item.path, content, sides)
    if broken is not None:
        return f":{broken[0]}: the file does not compile: {shown(broken[1])}"
    changed = line_ending_problem(content, sides)
    return None if changed is None else f":{changed[0]}: {changed[1]}"


def _sides(workspace: Workspace, item: Waiting) -> tuple[bytes, ...]:
    """Return the contents of a file on each side of its conflict, or () if they are unknown."""
    marked = original(workspace, item)
    if marked is not None:
        return sides_of(marked)
    known = workspace.conflict(item.conflict)
    return () if known is None else known.sides


def original(workspace: Workspace, item: Waiting) -> bytes | None:
    """Return a file of the work area as it was first written, or None if it had no markers."""
    name = check_path(item.file, what="path")
    return _read(workspace, f"{_ORIGINALS}/{name}")


def read_work(workspace: Workspace, item: Waiting) -> bytes | None:
    """Return the content of a file in the work area, or None if it does not exist."""
    return _read(workspace, check_path(item.file, what="path"))


def _read(workspace: Workspace, name: str) -> bytes | None:
    return read_plain(workspace.root, f"{_FOLDER}/{name}", limit=_LARGEST)


def is_marked(workspace: Workspace, item: Waiting, content: bytes) -> bool:
    """Return whether a file in conflict still has a marker `<<<<<<< ` or `>>>>>>> `."""
    signs = Counter(x for x in _lines(content) if x.startswith((b"<<<<<<< ", b">>>>>>> ")))
    # more often than in the sides themselves
    return bool(signs) and bool(signs - _known_lines(workspace, item))


_MARKERS = (b"<<<<<<< ours", b"||||||| base", b"=======", b">>>>>>> theirs")


def _known_lines(workspace: Workspace, item: Waiting) -> Counter[bytes]:
    """Count how often each line occurs in the sides of a file in conflict."""
    marked = original(workspace, item)
    if marked is None:
        return Counter(line for side in _sides(workspace, item) for line in _lines(side))
    lines = _lines(marked)
    return Counter(lines) - Counter(_MARKERS * lines.count(_MARKERS[-1]))


def _lines(content: bytes) -> list[bytes]:
    return [line.removesuffix(b"\r") for line in content.split(b"\n")]


def closed_work(workspace: Workspace) -> dict[str, bytes | None]:
    """Map each file of the work area to None, which means that the file is to be deleted."""
    top = workspace.root / _FOLDER
    if top.is_symlink():
        return {}
    found = (path for path in sorted(top.rglob("*")) if path.is_file() and not path.is_symlink())
    paths = (path.relative_to(top).as_posix() for path in found)
    # `forget_work` deletes the others, such as one below `.git`
    files = {f"{_FOLDER}/{path}": None for path in paths if refusal(path) is None}
    return {path: None for path in files if path != STATE}


def work_folder(workspace: Workspace) -> Path:
    """Return the folder of the work area, which contains the files to resolve."""
    return workspace.root / _FOLDER


def forget_work(workspace: Workspace) -> None:
    """Delete the work area, beginning with the file that describes the rebase in progress."""
    folder = workspace.root / _FOLDER
    with writes(str(folder)):
        (workspace.root / STATE).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
