"""Measure what a rebase says of merges that are clean for git and yet broken.

    python -m benchmarks.probes [--folder DIR] [--only REGEX] [-v] [--memory] [--prove]

Each probe of `tests/probes/cases` is a repository with a base, a branch with one patch, and what
upstream did since. `told` is a conflict, a warning, a finding, or a result that follows the change:
what proves the probe broken passes on it. Nothing may be told of a control. `PATCHMGR` is the
command to run. `--memory` asks the engine without git, `--prove` checks the probes themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.clones import output, quiet_environment
from tests.probes.probe import (
    CASES,
    Answer,
    Probe,
    Tree,
    ask_in_memory,
    fault_of,
    read_probes,
    write_tree,
)


def repository(folder: Path, probe: Probe, environment: Mapping[str, str]) -> tuple[Path, str]:
    """Make the history of a probe; the patch is the branch `work`. Return it with the base."""
    upstream = folder / "upstream"
    git = ["git", "-C", str(upstream)]
    output(["git", "init", "-q", "-b", "main", str(upstream)], folder, environment)
    commits = (
        ("main", probe.base, "base"),
        ("work", probe.patch, "our patch"),
        ("main", probe.upstream, "upstream moves on (#7)"),
    )
    for branch, files, subject in commits:
        known = output([*git, "branch", "--list", branch], folder, environment)
        output([*git, "checkout", "-q", *([] if known else ["-B"]), branch], folder, environment)
        output([*git, "rm", "-rfq", "--ignore-unmatch", "."], folder, environment)
        write_tree(upstream, files)
        output([*git, "add", "-A"], folder, environment)
        output([*git, "commit", "-qm", subject, "--allow-empty"], folder, environment)
    return upstream, output([*git, "rev-parse", "main~"], folder, environment)


def ask_program(probe: Probe) -> Answer:
    """Rebase the patch of a probe with the program, and return what is said of it."""
    command = shlex.split(os.environ.get("PATCHMGR") or f"{sys.executable} -m patchmgr")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = quiet_environment(folder / "home")
        environment |= {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
        environment.setdefault("PYTHONPATH", str(Path(__file__).parents[1]))
        upstream, base = repository(folder, probe, environment)
        workspace = str(folder / "workspace")

        def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*command, "-C", workspace, *arguments],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        output([*command, "init", workspace], folder, environment)
        tool("upstream", "add", "u", "--git", f"file://{upstream}")
        tool("series", "new", "s", "--upstream", "u", "--base", base)
        tool("import", "--git", str(upstream), f"{base}..work", "--series", "s")
        done = tool("rebase", "s", "--onto", "upstream/main", "--json")
        try:
            patch = json.loads(done.stdout)["series"][0]["patches"][0]
        except (ValueError, KeyError, IndexError):
            return Answer("error", ((done.stdout + done.stderr)[-300:],))
        found = [f["text"] for f in patch.get("findings") or ()]
        said = [*(patch.get("warnings") or ()), *found]
        said += [line for line in done.stderr.splitlines() if "warning" in line.lower()]
        if patch["verdict"] in ("conflict", "blocked"):
            return Answer("conflict", (patch["reason"] or "", *said))
        if said:
            return Answer("told", tuple(said))
        if probe.is_broken and patch["verdict"] == "modified":
            result = folder / "result"
            output(["git", "clone", "-q", str(upstream), str(result)], folder, environment)
            applied = tool("apply", "s", "--to", str(result))
            if applied.returncode == 0 and fault_of(probe, result) is None:
                return Answer("followed", (patch["verdict"],))
        return Answer("silent", (patch["verdict"],))


def prove(probe: Probe, *, is_verbose: bool) -> list[str]:
    """Return what is wrong with a probe itself."""
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = quiet_environment(folder / "home")
        upstream, _ = repository(folder, probe, environment)
        merge = ["-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "main", "work"]
        merged = subprocess.run(
            ["git", "-C", str(upstream), *merge],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if merged.returncode:
            return [f"git stops: {merged.stdout.strip()[-200:]}"]
        tree = merged.stdout.strip()
        output(["git", "-C", str(upstream), "read-tree", "-mu", tree], folder, environment)
        if probe.run is not None or probe.compile:
            written = folder / "written"
            write_tree(written, probe.patch)
            if (fault := fault_of(probe, written)) is not None:
                faults.append(f"the patch on the base: {fault}")
            fault = fault_of(probe, upstream)
            if probe.is_broken and fault is None:
                faults.append("the merge works")
            if not probe.is_broken and fault is not None:
                faults.append(f"the merge: {fault}")
            if probe.is_broken and is_verbose:
                print(f"{probe.label}: {fault}", flush=True)
    for side, files in (("base", probe.base), ("patch", probe.patch), ("new", probe.upstream)):
        faults += [f"{side}: {path}: {fault}" for path, fault in unparsed(files)]
    return faults


def unparsed(files: Tree) -> list[tuple[str, str]]:
    faults = []
    for path, text in files.items():
        if path.endswith((".py", ".pyi")):
            try:
                compile(text, path, "exec", dont_inherit=True)
            except SyntaxError as fault:
                faults.append((path, str(fault)))
    return faults


def proved(probes: Sequence[Probe], *, is_verbose: bool) -> int:
    count = 0
    for probe in probes:
        faults = prove(probe, is_verbose=is_verbose)
        count += bool(faults)
        for fault in faults:
            print(f"{probe.label}: {fault}", flush=True)
    unproved = [p.name for p in probes if p.is_broken and p.run is None and not p.compile]
    print(f"{len(probes)} probes and controls, {count} with faults; without proof: {unproved}")
    return 1 if count else 0


def measured(probes: Sequence[Probe], ask: Callable[[Probe], Answer], *, is_verbose: bool) -> int:
    kinds: dict[str, list[int]] = {}
    for probe in probes:
        answer = ask(probe)
        counts = kinds.setdefault(probe.kind, [0, 0, 0, 0])
        counts[0 if probe.is_broken else 2] += answer.is_told
        counts[1 if probe.is_broken else 3] += 1
        mark = "  " if answer.is_told == probe.is_broken else "! "
        said = f" {answer.said}" if is_verbose else ""
        print(f"{mark}{probe.label:50s} {answer.how}{said}", flush=True)
    print()
    for kind, (told, of, alarms, quiet) in sorted(kinds.items()):
        print(f"{kind:40s} told {told} of {of}, false alarms {alarms} of {quiet}")
    told, of, alarms, quiet = (sum(column) for column in zip(*kinds.values(), strict=True))
    print(f"{'SUMMARY':40s} told {told} of {of}, false alarms {alarms} of {quiet}")
    return 0 if told >= 0.85 * of and not alarms else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=CASES)
    parser.add_argument("--only", default="")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--prove", action="store_true")
    arguments = parser.parse_args()
    probes = [
        probe
        for probe in read_probes(arguments.folder)
        if re.search(arguments.only, f"{probe.label} {probe.kind}")
    ]
    if arguments.prove:
        return proved(probes, is_verbose=arguments.v)
    ask = ask_in_memory if arguments.memory else ask_program
    return measured(probes, ask, is_verbose=arguments.v)


if __name__ == "__main__":
    sys.exit(main())
