"""The engines whose mutants are made, the tests that must notice, and what nobody can notice."""

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]

TESTS: Mapping[str, tuple[str, ...]] = {
    "absorption/landing": ("absorption/landing", "absorption/landing_parts", "metamorphic",
        "conflicts/decisions"),
    "rebase/ladder": ("rebase/ladder", "rebase/values", "absorption/superset", "rebase/rungs",
        "rebase/rebase"),
    "rebase/rebase": ("rebase/rebase", "rebase/values", "conflicts/decisions", "series/needs"),
}  # fmt: skip


def module_path(name: str) -> str:
    """Return where an engine is in the tree."""
    return f"patchmgr/engines/{name}.py"


def path_of_tests(name: str) -> str:
    """Return where tests of an engine are in the tree."""
    folder, slash, test = name.rpartition("/")
    return f"tests/engines/{folder}{slash}test_{test}.py"


def equivalents() -> frozenset[tuple[str, str, str]]:
    """Return what changes nothing: an engine, its line, and that line in the mutant.

    The file has them as the job prints them, under the reason why.
    """
    lines = (Path(__file__).parent / "equivalent.txt").read_text().splitlines()
    told = [line for line in lines if line and not line.startswith("#")]
    return frozenset(map(_change, told[::2], told[1::2]))


def _change(old: str, new: str) -> tuple[str, str, str]:
    name, _, old_line = old.partition(": - ")
    other, _, new_line = new.partition(": + ")
    assert name == other, (old, new)
    return name, old_line, new_line
