"""The result of the last `check` of each series: kept for tags and notes, never committed."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from patchmgr.commands.session import Session
from patchmgr.commands.targets import series_digest
from patchmgr.errors import PatchmgrError
from patchmgr.model.check import Checked
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.durable import replace_file, unwritable
from patchmgr.plumbing.plain_files import read_json
from patchmgr.store import PRIVATE, Workspace

FOLDER = f"{PRIVATE}/checks"


class KeptGate(Struct, frozen=True):
    """What is kept of a gate."""

    name: str
    standing: str
    looked_at: int
    problems: int
    note: str


class Kept(Struct, frozen=True):
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
        for kept in before.gates:
            if kept.name in rows and rows[kept.name].standing == "skipped":
                rows[kept.name] = kept
    value = {
        "digest": digest,
        "head": checked.head,
        "gates": [_value(row) for row in rows.values()],
    }
    path = check_folder(session.workspace) / f"{record.name}.json"
    with suppress(OSError):
        replace_file(path, json.dumps(value, indent=1).encode())


def _value(row: KeptGate) -> dict[str, Any]:
    return {
        "name": row.name,
        "standing": row.standing,
        "looked_at": row.looked_at,
        "problems": row.problems,
        "note": row.note,
    }


def last_checked(workspace: Workspace, series: str) -> Kept | None:
    """Return what is kept of a series; what cannot be read is as good as nothing."""
    try:
        value = read_json(workspace.root, f"{FOLDER}/{series}.json")
        gates = tuple(
            KeptGate(
                str(row["name"]),
                str(row["standing"]),
                int(row["looked_at"]),
                int(row["problems"]),
                str(row["note"]),
            )
            for row in value["gates"]
        )
        return Kept(str(value["digest"]), value["head"], gates)
    except (PatchmgrError, OSError, ValueError, KeyError, TypeError):
        return None


def current_gates(session: Session, record: SeriesRecord) -> tuple[KeptGate, ...]:
    """Return the gates of the last check if it was of the series as it is now, else none."""
    kept = last_checked(session.workspace, record.name)
    if kept is None or kept.digest != series_digest(session, record, ()):
        return ()
    return kept.gates
