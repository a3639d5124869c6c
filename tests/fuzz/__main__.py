"""The long job: atheris on every target, one process at a time, until enough inputs were run.

Example: python -m tests.fuzz --parsers 10000000 --merges 200000 --keep DIR
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fuzz.targets import TARGETS


def main(arguments: Sequence[str]) -> int:
    """Run the targets, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--parsers", type=int, default=10_000_000, help="inputs for all parsers")
    parser.add_argument("--merges", type=int, default=200_000, help="inputs for all merges")
    parser.add_argument("--keep", type=Path, required=True, help="corpora, findings, counts.json")
    parser.add_argument("targets", nargs="*", help="only these")
    options = parser.parse_args(arguments)
    names = options.targets or list(TARGETS)
    return max(_run(name, options.keep, _wanted(name, options)) for name in names)


def _wanted(name: str, options: argparse.Namespace) -> int:
    target = TARGETS[name]
    inputs: int = options.parsers if target.is_parser else options.merges
    return round(target.share * inputs)


def _run(name: str, keep: Path, wanted: int) -> int:
    """Run one target in processes until it had its inputs; return 1 where something was found."""
    counts_file = keep / "counts.json"
    counts = json.loads(counts_file.read_bytes()) if counts_file.exists() else {}
    row: dict[str, Any] = counts.setdefault(name, {"inputs": 0, "seconds": 0.0, "ended": 0})
    while row["inputs"] < wanted:
        started = time.monotonic()
        before = row["inputs"]
        line = [sys.executable, "-m", "tests.fuzz.one", name, str(wanted - before), str(keep)]
        done = subprocess.run(line, check=False, stderr=subprocess.DEVNULL)
        row["inputs"] += int((keep / name / "inputs").read_text())
        row["seconds"] = round(row["seconds"] + time.monotonic() - started, 1)
        row["ended"] += done.returncode != 0
        counts_file.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
        if row["inputs"] == before:
            break
    found = list((keep / name / "findings").glob("*.txt"))
    print(f"{name}: {row['inputs']} inputs, {len(found)} findings, {row['ended']} ends", flush=True)
    return 1 if found or row["ended"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
