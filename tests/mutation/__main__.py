"""The long job: run the tests of an engine on each of its mutants; some test must fail.

Example: python -m tests.mutation --keep DIR absorb
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.engines import EQUIVALENT, ROOT, TESTS, module_path
from tests.mutation.mutants import Mutant, mutants

SECONDS = 60
# Tables first; random tests only for mutants that no table notices.
ROUNDS = (("-m", "not hypothesis"), ("-m", "hypothesis", "--hypothesis-seed=0"))


def main(arguments: Sequence[str]) -> int:
    """Run the engines one after the other; return 1 where a mutant lives that should not."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--keep", type=Path, required=True, help="copies of the tree, results")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", help="only mutants of lines with this text")
    parser.add_argument("engines", nargs="*", default=list(TESTS), help="only these")
    options = parser.parse_args(arguments)
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(options.workers):
        copies.put(_copy(options.keep / f"tree-{number}"))
    return max(_run(name, copies, options) for name in options.engines or TESTS)


def _copy(folder: Path) -> Path:
    """Copy what the tests of the engines need to a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in ("patchmgr", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def _run(name: str, copies: SimpleQueue[Path], options: argparse.Namespace) -> int:
    """Judge the mutants of one engine and print who survived."""
    source = (ROOT / module_path(name)).read_text()
    if _ends(name, source, copies) != "survived":
        raise SystemExit(f"{name}: the tests fail without a mutant")
    chosen = [m for m in mutants(source) if (options.only or "") in m.old_line]
    with ThreadPoolExecutor(options.workers) as pool:
        ends = list(pool.map(lambda mutant: _ends(name, mutant.source, copies), chosen))
    rows = list(_rows(name, chosen, ends))
    (options.keep / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
    for row in rows:
        if row["end"] == "survived":
            print(f"{name}: - {row['old']}\n{name}: + {row['new']}")
    counts = Counter(row["end"] for row in rows)
    print(f"{name}: {len(rows)} mutants, {dict(counts)}", flush=True)
    return 1 if counts["survived"] else 0


def _rows(name: str, chosen: Sequence[Mutant], ends: Sequence[str]) -> Iterator[dict[str, str]]:
    for mutant, end in zip(chosen, ends, strict=True):
        change = (mutant.old_line, mutant.new_line)
        if end == "survived" and change in EQUIVALENT.get(name, {}):
            end = "equivalent"
        yield {"end": end, "old": mutant.old_line, "new": mutant.new_line}


def _ends(name: str, source: str, copies: SimpleQueue[Path]) -> str:
    """Put a mutant in the place of the engine of a copy and run the tests on it."""
    copy = copies.get()
    try:
        module = copy / module_path(name)
        module.write_text(source)
        for cached in (module.parent / "__pycache__").glob(f"{name}.*"):
            cached.unlink()  # may have the time and the size of the mutant
        return next((end for r in ROUNDS if (end := _tested(name, copy, r))), "survived")
    finally:
        shutil.copy(ROOT / module_path(name), copy / module_path(name))
        copies.put(copy)


def _tested(name: str, copy: Path, choice: Sequence[str]) -> str | None:
    """Say how the tests noticed the mutant, None where they passed."""
    shutil.rmtree(copy / ".hypothesis", ignore_errors=True)
    line = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *choice]
    files = [f"tests/engines/test_{test}.py" for test in TESTS[name]]
    quiet = subprocess.DEVNULL
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(
            [*line, *files], cwd=copy, env=environment, stdout=quiet, stderr=quiet, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    return None if done.returncode == 0 else "killed"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
