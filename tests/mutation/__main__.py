"""The long job: run the tests of an engine on each of its mutants; some test must fail.

Example: python -m tests.mutation --keep DIR absorb
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.engines import ROOT, TESTS, equivalents, module_path, path_of_tests
from tests.mutation.mutants import Mutant, mutants

SECONDS = 30
# Tables alone: what only random tests notice, they may miss the next time.
PLUGINS = ("-p", "no:cacheprovider", "-p", "xdist.plugin", "-p", "_hypothesis_pytestplugin")
CHOICE = ("-x", "-q", *PLUGINS, "-m", "not hypothesis")


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
    rows: list[dict[str, str]] = []
    with ThreadPoolExecutor(options.workers) as pool:
        ends = pool.map(lambda mutant: _ends(name, mutant.source, copies), chosen)
        for mutant, end in zip(chosen, ends, strict=True):
            rows.append(_row(name, mutant, end))
            if rows[-1]["end"] == "survived":
                print(f"{name}: - {mutant.old_line}\n{name}: + {mutant.new_line}", flush=True)
    results = options.keep / f"{Path(name).name}{'-part' if options.only else ''}.json"
    results.write_text(json.dumps(rows, indent=1) + "\n")
    counts = Counter(row["end"] for row in rows)
    print(f"{name}: {len(rows)} mutants, {dict(counts)}", flush=True)
    return 1 if counts["survived"] else 0


def _row(name: str, mutant: Mutant, end: str) -> dict[str, str]:
    change = (name, mutant.old_line, mutant.new_line)
    if end == "survived" and change in equivalents():
        end = "equivalent"
    return {"end": end, "old": mutant.old_line, "new": mutant.new_line}


def _ends(name: str, source: str, copies: SimpleQueue[Path]) -> str:
    """Put a mutant in the place of the engine of a copy and run the tests on it."""
    copy = copies.get()
    try:
        module = copy / module_path(name)
        module.write_text(source)
        for cached in (module.parent / "__pycache__").glob(f"{module.stem}.*"):
            cached.unlink()  # may have the time and the size of the mutant
        return _tested(name, copy)
    finally:
        shutil.copy(ROOT / module_path(name), copy / module_path(name))
        copies.put(copy)


def _tested(name: str, copy: Path) -> str:
    """Say how the tests noticed a mutant, or that they did not."""
    files = [path_of_tests(test) for test in TESTS[name]]
    line = [sys.executable, "-m", "pytest", *CHOICE, *files]
    quiet = subprocess.DEVNULL
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    try:
        done = subprocess.run(
            line, cwd=copy, env=alone, stdout=quiet, stderr=quiet, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    return "survived" if done.returncode == 0 else "killed"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
