"""What the last check of a series found, as the workspace keeps it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.model.check import Checked
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.durable import unwritable
from patchmgr.services.session import Session
from patchmgr.services.targets import series_digest
from patchmgr.store import PRIVATE, Workspace

FOLDER = f"{PRIVATE}/checks"


class KeptGate(Struct, frozen=True):
    """What is kept of a gate."""

    name: str
    standing: str
    looked_at: int
    problems: int
    note: str


class KeptCheck(Struct, frozen=True):
    """What is kept of a check; it is about the series of that digest."""

    digest: str
    head: str | None
    gates: tuple[KeptGate, ...]


def check_folder(workspace: Workspace) -> Path:
    """Return the folder of results and logs, made if need be."""
    folder = workspace.root / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise unwritable(FOLDER, fault) from fault
    return folder


def keep_checked(
    session: Session, record: SeriesRecord, checked: Checked, *, selected: Collection[str]
) -> None:
    """Remember what a check found; commands that did not run keep their last result."""
    digest = series_digest(session, record, selected)
    before = last_checked(session.workspace, record.name)
    rows = {
        gate.name: KeptGate(
            gate.name, gate.standing.value, gate.looked_at, len(gate.problems), gate.note
        )
        for gate in checked.gates
    }
    if before is not None and before.digest == digest:
        for row in before.gates:
            if row.name in rows and rows[row.name].standing == "skipped":
                rows[row.name] = row
    kept = KeptCheck(digest, checked.head, tuple(rows.values()))
    with suppress(OSError):
        session.workspace.keep(f"{FOLDER}/{record.name}.json", kept)


def last_checked(workspace: Workspace, series: str) -> KeptCheck | None:
    """Return what is kept of a series; what cannot be read is as good as nothing."""
    return workspace.kept(f"{FOLDER}/{series}.json", KeptCheck)


def current_gates(session: Session, record: SeriesRecord) -> tuple[KeptGate, ...]:
    """Return the gates of the last check if it was of the series as it is now, else none."""
    kept = last_checked(session.workspace, record.name)
    if kept is None or kept.digest != series_digest(session, record, ()):
        return ()
    return kept.gates
