"""What persons decided about patches, as the workspace keeps it."""

from __future__ import annotations

from patchmgr.formats.decisions import DECISIONS, parse_decisions
from patchmgr.model.decision import Decision
from patchmgr.store import Workspace


def read_decisions(workspace: Workspace) -> tuple[Decision, ...]:
    """Return all decisions of a workspace; none where the file is missing."""
    if not (workspace.root / DECISIONS).exists():
        return ()
    return parse_decisions(workspace.read(DECISIONS))


def decisions_on(workspace: Workspace, series: str) -> tuple[Decision, ...]:
    """Return what is decided about the patches of a series."""
    return tuple(d for d in read_decisions(workspace) if d.series == series)
