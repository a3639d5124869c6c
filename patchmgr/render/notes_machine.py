"""The note on a sync as JSON."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from patchmgr.model.notes import Arrival, SyncNote
from patchmgr.render.machine import document, pin_value


def note_document(note: SyncNote) -> str:
    """Return the document of `notes --json`."""
    return document("notes", series=note_value(note))


def note_value(note: SyncNote) -> dict[str, Any]:
    """Return the note of one series."""
    return {
        "name": note.series,
        "base": pin_value(note.base),
        "onto": pin_value(note.onto),
        "upstream_commits": note.upstream_commits,
        "commits_back": note.commits_back,
        "unit": note.unit,
        "head": note.head,
        "old_head": note.old_head,
        "dry_run": note.is_dry_run,
        "complete": note.is_complete,
        "patches": [to_builtins(patch) for patch in note.patches],
        "conflicts": [
            {
                "patch": one.patch,
                "path": one.path,
                "new_path": one.new_path,
                "symbols": list(one.symbols),
                "solution": one.solution,
                "open": one.is_open,
                "collided": [_arrival(arrival) for arrival in one.collided],
                "reliability": to_builtins(one.reliability),
            }
            for one in note.solved
        ],
        "dropped": [
            {
                "patch": one.patch,
                "subject": one.subject,
                "whole": one.is_whole,
                "how": list(one.how),
                "by": [_arrival(arrival) for arrival in one.by],
                "reliability": [to_builtins(found) for found in one.reliability],
            }
            for one in note.dropped
        ],
        "brought": [
            {
                "subsystem": group.subsystem,
                "commits": [_arrival(arrival) for arrival in group.arrivals],
            }
            for group in note.brought
        ],
        "subsystems_by": note.subsystems_by,
        "identical": [{"path": path, "language": spoken} for path, spoken in note.identical],
        "changed": [{"path": path, "language": spoken} for path, spoken in note.changed],
        "gates": [to_builtins(gate) for gate in note.gates],
        "tags": {"preview": note.preview, "fallback": note.fallback},
        "warnings": list(note.warnings),
    }


def _arrival(arrival: Arrival) -> dict[str, Any]:
    return {
        "commit": arrival.commit,
        "subject": arrival.subject,
        "pull": arrival.pull,
        "paths": list(arrival.paths),
    }
