"""The workspaces whose commands may change files of a target: those that a person named it to."""

from __future__ import annotations

import os
from pathlib import Path

from patchmgr.plumbing.target import Target

_NOTED = "workspaces"


def serves(target: Target, workspace: Path) -> bool:
    """Say whether a person let commands of a workspace change files here."""
    known = target.private / _NOTED
    return known.is_file() and os.fsencode(workspace) in known.read_bytes().split(b"\0")


def serve(target: Target, workspace: Path) -> None:
    """Note that a person named this target to a workspace."""
    if not serves(target, workspace):
        with open(target.private / _NOTED, "ab") as file:
            file.write(os.fsencode(workspace) + b"\0")
