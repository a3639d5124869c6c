"""The work area of an unfinished rebase: where a person solves conflicts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path
from patchmgr.model.outcome import SeriesOutcome, Verdict
from patchmgr.plumbing.durable import unwritable, write_synced
from patchmgr.render.conflicts import marked_text
from patchmgr.store import PRIVATE, Workspace

_FOLDER = f"{PRIVATE}/rebase"
# A change that finishes a rebase names this file as spent.
STATE = f"{_FOLDER}/state.json"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A conflicted file: its series, patch, path in the patch, and name in the work area."""

    series: str
    patch: str
    path: str
    file: str


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A rebase with conflicts left: what was asked, and which files wait where."""

    series: tuple[str, ...]
    onto: str
    selected: tuple[str, ...]
    waiting: tuple[Waiting, ...]


def read_unfinished(workspace: Workspace) -> Unfinished | None:
    """Return the unfinished rebase, None where there is none."""
    state = workspace.root / STATE
    if not state.exists():
        return None
    try:
        document = json.loads(state.read_bytes())
        waiting = tuple(Waiting(*map(str, words)) for words in document["waiting"])
        series, selected = (tuple(map(str, document[key])) for key in ("series", "selected"))
        return Unfinished(series, str(document["onto"]), selected, waiting)
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise PatchmgrError(
            "broken-workspace", f"{STATE} cannot be read", ("delete it to forget that rebase",)
        ) from fault


def leave_work(
    workspace: Workspace, outcomes: Sequence[SeriesOutcome], onto: str, selected: Collection[str]
) -> Path:
    """Write the conflicted files and the state; what waited before stays as a person left it.

    The state is written last: without it the files are nothing.
    """
    folder = workspace.root / _FOLDER
    before = read_unfinished(workspace)
    try:
        _leave(folder, before, outcomes, onto, selected)
    except OSError as fault:
        left = "patch files and pin are as they were"
        raise unwritable(str(folder), fault, left=left) from fault
    return folder


def _leave(
    folder: Path,
    before: Unfinished | None,
    outcomes: Sequence[SeriesOutcome],
    onto: str,
    selected: Collection[str],
) -> None:
    if folder.is_symlink():
        raise PatchmgrError("unsafe-path", f"{folder} is a symbolic link")
    if before is None:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    waiting = list(before.waiting) if before is not None else []
    for outcome in outcomes:
        for patch in outcome.patches:
            for conflict in patch.conflicts if patch.verdict is Verdict.CONFLICT else ():
                name = f"{outcome.name}/{patch.name}/{check_path(conflict.new_path, what='path')}"
                item = Waiting(outcome.name, patch.name, conflict.path, name)
                if item not in waiting:
                    waiting.append(item)
                    _leave_file(folder / name, marked_text(outcome, patch, conflict))
    document = {
        "series": [outcome.name for outcome in outcomes],
        "onto": onto,
        "selected": sorted(selected),
        "waiting": [[w.series, w.patch, w.path, w.file] for w in waiting],
    }
    beside = folder / "state.json.new"
    write_synced(beside, json.dumps(document, indent=1).encode())
    beside.replace(folder / "state.json")


def _leave_file(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def unsolved_files(workspace: Workspace) -> tuple[str, ...]:
    """Return the waiting files that still have markers, by name below the work area."""
    unfinished = read_unfinished(workspace)
    assert unfinished is not None
    files = [
        (item.file, _read(workspace.root / _FOLDER / item.file)) for item in unfinished.waiting
    ]
    return tuple(name for name, content in files if content is not None and _has_marker(content))


Solved = dict[str, dict[tuple[str, str], "bytes | None"]]


def solved_conflicts(workspace: Workspace, unfinished: Unfinished) -> Solved:
    """Return by series, then by patch and path, what a person made of the waiting files.

    A file that is gone means that the file is to be deleted; one with markers is not solved.
    """
    solved: Solved = {}
    for item in unfinished.waiting:
        file = workspace.root / _FOLDER / check_path(item.file, what="path")
        content = _read(file)
        if content is None or not _has_marker(content):
            solved.setdefault(item.series, {})[item.patch, item.path] = content
    return solved


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise PatchmgrError("broken-workspace", f"{file} cannot be read: {reason}") from fault


def _has_marker(content: bytes) -> bool:
    return any(line.startswith((b"<<<<<<< ", b">>>>>>> ")) for line in content.split(b"\n"))


def forget_work(workspace: Workspace) -> None:
    """Delete the work area: the state first, so that half of it is no state."""
    folder = workspace.root / _FOLDER
    try:
        (workspace.root / STATE).unlink(missing_ok=True)
    except OSError as fault:
        raise unwritable(str(folder), fault) from fault
    shutil.rmtree(folder, ignore_errors=True)
