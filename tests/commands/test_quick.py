"""A call of the command line builds no more than it needs, and answers the same."""

import json
import subprocess
import sys
from pathlib import Path

from tests.tables import table

LOADED = """
import json, sys, typer
from patchmgr.cli import app
try:
    typer.main.get_command(app)(standalone_mode=False)
except Exception as fault:
    kind = getattr(fault, "kind", repr(fault))
print(json.dumps([kind, sorted(sys.modules)]))
"""


ROOT = Path(__file__).parents[2]


def run(*line: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run([sys.executable, *line], capture_output=True, cwd="/", check=False)
    return done.returncode, done.stdout, done.stderr


def test_strings_are_handed_on_without_a_validator() -> None:
    code, printed, said = run("-c", LOADED, "-C", "/nowhere", "rebase", "--onto", "v1")
    assert code == 0, said
    kind, modules = json.loads(printed)
    assert kind == "no-workspace"
    assert "typer" in modules
    assert "pydantic" not in modules


def test_what_only_conflicts_need_is_not_loaded_for_a_rebase() -> None:
    program = "import sys, patchmgr.commands.rebase; print(*sorted(sys.modules))"
    code, printed, said = run("-c", program)
    assert code == 0, said
    loaded = set(printed.decode().split())
    assert "patchmgr.engines.rebase.ladder" in loaded
    late = (
        "libcst", "git", "requests", "tree_sitter", "patchmgr.engines.moved.rung",
        "patchmgr.engines.rebase.rungs",
        "patchmgr.engines.series.predicates", "patchmgr.plumbing.package_index",
        "configparser",
    )  # fmt: skip
    assert loaded.isdisjoint(late)


@table(
    ("closed", "code"),
    [("help >&-", 0), ("help 2>&- >&-", 0), ("nothing >&- 2>&-", 2), ("help <&- >&-", 0)],
)
def test_a_closed_stream_is_no_fault_of_the_program(closed: str, code: int) -> None:
    line = f"exec {sys.executable} -m patchmgr {closed}"
    assert subprocess.run(["sh", "-c", line], cwd=ROOT, check=False).returncode == code
