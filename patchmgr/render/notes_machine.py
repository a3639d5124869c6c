"""The note on a sync as JSON."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from patchmgr.model.notes import SyncNote
from patchmgr.render.machine import pin_value


def note_value(note: SyncNote) -> dict[str, Any]:
    """Return the note of one series."""
    value = to_builtins(note)
    tags = {name: value.pop(name) for name in ("preview", "fallback")}
    for key in ("identical", "changed"):
        value[key] = [{"path": path, "language": language} for path, language in value[key]]
    return {**value, "tags": tags, "base": pin_value(note.base), "onto": pin_value(note.onto)}
