"""The engines whose mutants are made, the tests that must notice, and what nobody can notice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]

TESTS: Mapping[str, tuple[str, ...]] = {
    "absorb": ("absorb", "metamorphic", "decisions"),
    "ladder": ("ladder", "superset", "rungs", "rebase"),
    "rebase": ("rebase", "leaving_out", "carriage", "decisions", "dropping", "metamorphic"),
}

EQUIVALENT: Mapping[str, Mapping[tuple[str, str], str]] = {}


def module_path(name: str) -> str:
    """Return where an engine is in the tree."""
    return f"patchmgr/engines/{name}.py"
