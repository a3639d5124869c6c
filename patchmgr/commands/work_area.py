"""The work area of an unfinished rebase: where a person solves conflicts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path
from patchmgr.model.outcome import FileConflict, PatchOutcome, SeriesOutcome, Verdict
from patchmgr.plumbing import door
from patchmgr.store import PRIVATE, Workspace

_FOLDER = f"{PRIVATE}/rebase"
_STATE = f"{_FOLDER}/state.json"


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
    state = workspace.root / _STATE
    if not state.exists():
        return None
    try:
        document = json.loads(state.read_bytes())
        return Unfinished(
            tuple(document["series"]),
            document["onto"],
            tuple(document["selected"]),
            tuple(Waiting(*(str(word) for word in words)) for words in document["waiting"]),
        )
    except (ValueError, KeyError, TypeError) as fault:
        raise PatchmgrError(
            "broken-workspace", f"{_STATE} cannot be read", ("patchmgr rebase --abort",)
        ) from fault


def leave_work(
    workspace: Workspace, outcomes: Sequence[SeriesOutcome], onto: str, selected: Collection[str]
) -> Path:
    """Write the conflicted files and the state; what waited before stays as a person left it."""
    folder = workspace.root / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    before = read_unfinished(workspace)
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
    beside.write_text(json.dumps(document, indent=1))
    beside.replace(folder / "state.json")
    return folder


def _leave_file(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def marked_text(outcome: SeriesOutcome, patch: PatchOutcome, conflict: FileConflict) -> bytes:
    """Return the conflict in git's markers, with series, patch and both commits as labels."""
    subject = f": {patch.cause[0].subject}" if patch.cause else ""
    ours = door.raw(f"{outcome.onto.ref} ({outcome.onto.commit[:12]}){subject}")
    base = door.raw(f"{outcome.base.ref} ({outcome.base.commit[:12]})")
    theirs = door.raw(f"{outcome.name}/{patch.name}: {patch.subject}")
    marked = conflict.marked
    if marked is None:
        marked = _whole_file(conflict)
    labels = {b"<<<<<<< ours": ours, b"||||||| base": base, b">>>>>>> theirs": theirs}
    lines = marked.split(b"\n")
    for number, line in enumerate(lines):
        bare = line.rstrip(b"\r")
        if bare in labels:
            lines[number] = bare[:8] + labels[bare] + line[len(bare) :]
    return b"\n".join(lines)


def _whole_file(conflict: FileConflict) -> bytes:
    def side(content: bytes | None) -> bytes:
        if content is None:
            return b""
        return content if content.endswith(b"\n") or not content else content + b"\n"

    return b"".join(
        (
            b"<<<<<<< ours\n", side(conflict.ours), b"||||||| base\n", side(conflict.base),
            b"=======\n", side(conflict.theirs), b">>>>>>> theirs\n",
        )
    )  # fmt: skip


Solved = dict[str, dict[tuple[str, str], "bytes | None"]]


def solved_conflicts(workspace: Workspace, unfinished: Unfinished) -> Solved:
    """Return by series, then by patch and path, what a person made of the waiting files.

    A file that is gone means that the file is to be deleted; one with markers is not solved.
    """
    solved: Solved = {}
    for item in unfinished.waiting:
        file = workspace.root / _FOLDER / check_path(item.file, what="path")
        content = file.read_bytes() if file.exists() else None
        if content is None or not _has_marker(content):
            solved.setdefault(item.series, {})[item.patch, item.path] = content
    return solved


def _has_marker(content: bytes) -> bool:
    return any(line.startswith((b"<<<<<<< ", b">>>>>>> ")) for line in content.split(b"\n"))


def forget_work(workspace: Workspace) -> None:
    """Delete the work area: the state first, so that half of it is no state."""
    (workspace.root / _STATE).unlink(missing_ok=True)
    shutil.rmtree(workspace.root / _FOLDER, ignore_errors=True)
