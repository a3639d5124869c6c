"""Times one real rebase with patchmgr and its peers, and writes docs/benchmarks.md.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.rebase [--rounds N] [--write]

The folder holds bare repositories as `<owner>+<name>/repo`. Every tool does the same work from
the same state, the results must be the same tree, and the order changes from round to round.
PATCHMGR_BENCH_ONLY names the sections to measure, as `clean,cxx`; the page is to have all.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from benchmarks.again import measure_again, status_of
from benchmarks.clones import output
from benchmarks.cxx_series import MOVES, NEEDED, CxxSeries
from benchmarks.long_series import LongSeries
from benchmarks.mirrored import mirrors_of
from benchmarks.pages import PICTURES, Section, measure_page, program, tell
from benchmarks.plots import plot, write_plot
from benchmarks.releases import fill
from benchmarks.stand_in import ENGINE, REPLAY, REPOSITORY, Entrant, StandIn
from benchmarks.timing import Measured, Tool, measure, run_once, table

VERDICTS = ("unchanged", "modified", "partial", "absorbed", "conflict", "blocked", "skipped")
ONLY = "PATCHMGR_BENCH_ONLY"
NEWER_GIT = "PATCHMGR_BENCH_GIT"  # a git that has `replay`
LENGTHS = (53, 200, 500)
PLOT = "benchmark-patches.svg"
BEGIN, END = "<!-- begin: python -m benchmarks.rebase -->", "<!-- end -->"


def main() -> None:
    """Measure, print, and write the page where that is asked for."""
    measure_page(
        Section(__doc__ or "", REPOSITORY, BEGIN, END, rounds=7),
        lambda mirror, place, environment, rounds: report(
            StandIn(mirror, place, program(), environment), rounds
        ),
    )


def report(stand_in: StandIn, rounds: int) -> str:
    """Measure everything and return the section of the page."""
    load = os.getloadavg()[0]
    only = os.environ.get(ONLY, ",".join(SECTIONS)).split(",")
    parts = []
    for name in only:
        parts.append(SECTIONS[name](stand_in, rounds))
        tell(parts[-1])
    return "\n\n".join((machine(stand_in, rounds, load), *parts))


def machine(stand_in: StandIn, rounds: int, load: float) -> str:
    """Return what was measured on, without naming the machine."""
    versions = [f"Python {platform.python_version()}"]
    programs = {"git": "git version", "quilt": "", "stg": "Stacked", "gbp": "gbp"}
    newer = os.environ.get(NEWER_GIT)
    if newer:
        programs[newer] = "git version"
    for name, beginning in programs.items():
        if shutil.which(name):
            said = output([name, "--version"], stand_in.place, stand_in.environment)
            own = next(line for line in said.splitlines() if line.startswith(beginning))
            versions.append(own if beginning else f"{name} {own}")
    return (
        f"{os.cpu_count()} shared cores, {platform.system()}, {', '.join(versions)}. "
        f"{rounds} timed rounds after one to warm the caches, in alternating order. "
        f"Load of the machine at the start: {load:.1f}."
    )


def clean_stretch(stand_in: StandIn, rounds: int) -> str:
    """Compare the whole rebase with its peers, on a stretch that is clean for all of them."""
    entrants = [
        stand_in.patchmgr(),
        stand_in.git_rebase(is_sparse=False),
        stand_in.git_rebase(is_sparse=True),
        stand_in.git_am(),
    ]
    missing = []
    if shutil.which("quilt"):
        entrants.append(stand_in.quilt())
    else:
        missing.append("`quilt push -a` (not installed)")
    if shutil.which("stg"):
        entrants += [stand_in.stgit(is_import=False), stand_in.stgit(is_import=True)]
    else:
        missing.append("StGit (not installed)")
    newer = os.environ.get(NEWER_GIT)
    if newer:
        entrants += [stand_in.git_replay(newer), stand_in.engine()]
    else:
        missing.append(f"{REPLAY} ({NEWER_GIT} names no git 2.44 or newer)")
    if shutil.which("gbp"):
        entrants.append(stand_in.gbp_pq())
    else:
        missing.append("`gbp pq` (not installed)")
    agreement = compare_trees(entrants)
    results = measure([entrant.tool for entrant in entrants], rounds, tell)
    return (
        f"### {stand_in.count} patches, a stretch without conflicts\n\n"
        f"{table(results, '`git rebase`')}\n\n{agreement}{engine_alone(results)}"
        + (f"\n\nNot measured: {', '.join(missing)}." if missing else "")
    )


def engine_alone(results: Sequence[Measured]) -> str:
    """Compare what comes after the imports with `git replay`, which starts in no time."""
    medians = {measured.tool.name: measured.median for measured in results}
    replay = medians.get(REPLAY)
    if replay is None:
        return ""
    return f"\n\n{ENGINE}, takes {medians[ENGINE] / replay:.1f} times as long as {REPLAY}."


def compare_trees(entrants: Sequence[Entrant]) -> str:
    """Run every tool once and say whose result is not that of `git rebase`."""
    trees = {}
    for entrant in entrants:
        tell(f"trying {entrant.tool.name}")
        entrant.tool.restore()
        run_once(entrant.tool)
        trees[entrant.tool.name] = entrant.tree()
    expected = trees["`git rebase`"]
    if trees["`patchmgr rebase`"] != expected:
        raise SystemExit(f"patchmgr made another tree than git rebase: {trees}")
    others = [name for name, tree in trees.items() if tree != expected]
    if others:
        return f"All end in the tree of `git rebase`, but for {', '.join(others)}."
    return f"All end in the same tree, `{expected[:12]}`."


def far_stretch(stand_in: StandIn, rounds: int) -> str:
    """Say how far each tool comes where upstream has moved, and what patchmgr takes for it."""
    tool, verdicts = stand_in.far_dry_run()
    stops = stand_in.far_stops()
    results = measure([tool, stand_in.unaudited(), stand_in.text_only()], rounds, tell)
    cost = 1 - results[1].processor / results[0].processor
    lines = [f"- {name} stops at patch {count + 1}." for name, count in stops.items()]
    counts = ", ".join(f"{verdicts[word]} {word}" for word in VERDICTS if verdicts.get(word))
    return (
        "### The same patches, 212 upstream commits further\n\n"
        + "\n".join(lines)
        + f"\n- {tool.name} gives all {stand_in.count} verdicts in one run: {counts}.\n\n"
        f"{table(results, results[2].tool.name)}\n\n"
        f"Audit and ledger take {cost:.0%} of the processor time of a first run."
    )


def second_runs(stand_in: StandIn, rounds: int) -> str:
    """Compare the far dry run with what it takes where a run before left its answers."""
    results = measure_again(stand_in, rounds, tell)
    return f"### Once more\n\n{table(results, results[0].tool.name)}"


def merge_driver(stand_in: StandIn, rounds: int) -> str:
    """Compare `git rebase` of the clean stretch with the same where the merge driver is there."""
    entrants = [stand_in.git_rebase(is_sparse=False), stand_in.git_rebase(has_driver=True)]
    results = measure([entrant.tool for entrant in entrants], rounds, tell)
    if len({entrant.tree() for entrant in entrants}) > 1:
        raise SystemExit("with the merge driver git rebase makes another tree")
    return (
        f"### The merge driver, where nothing conflicts\n\n{table(results, results[0].tool.name)}"
    )


def cxx_series(stand_in: StandIn, rounds: int) -> str:
    """Compare dry runs on large files of C++ with `git am -3`, which skips what fails."""
    mirrors = mirrors_of(NEEDED)
    if mirrors is None:
        return "### A series of C++\n\nNot measured: its histories are not there."
    parts = []
    for commits in MOVES:
        series = CxxSeries(stand_in, mirrors, commits)
        results = measure([series.dry_run(), series.git_am()], max(1, rounds // 2), tell)
        parts.append(f"### {series.title}\n\n{table(results, results[1].tool.name)}")
    return "\n\n".join(parts)


def release_table(stand_in: StandIn, rounds: int) -> str:
    """Time a series on every later release, where a run before left its answers."""
    root = stand_in.place / "releases" / "workspace"
    fill(root)
    words = ("rebase", "vllm-deepgemm", "--onto", "..v0.33.0", "--every", "release", "--dry-run")
    kept = {"XDG_CACHE_HOME": str(stand_in.place / "releases" / "cache")}
    tool = Tool(
        "vllm-deepgemm on releases 0.24 to 0.33", (*stand_in.program, *words), root,
        {**os.environ, **kept}, good=(0, 3),
    )  # fmt: skip
    results = measure([tool], max(1, rounds // 2), tell)
    return f"### Every release, once more\n\n{table(results, tool.name)}"


def long_series(stand_in: StandIn, rounds: int) -> str:
    """Compare series of growing length with `git rebase`, and draw both."""
    texts: list[str] = []
    lines: dict[str, list[tuple[float, float]]] = {"patchmgr rebase": [], "git rebase": []}
    for count in LENGTHS:
        series = LongSeries(stand_in, count)
        entrants = [series.patchmgr(), series.git_rebase()]
        results = measure([entrant.tool for entrant in entrants], max(1, rounds // 2), tell)
        if len({entrant.tree() for entrant in entrants}) > 1:
            texts.append(f"With {count} patches the trees differ.")
        texts.append(table(results, entrants[1].tool.name))
        for line, measured in zip(lines.values(), results, strict=True):
            line.append((count, measured.median))
    write_plot(stand_in.place / PICTURES / PLOT, plot(lines, across="patches", up="seconds"))
    title = f"### Up to {LENGTHS[-1]} patches"
    about = "The series has each commit, then the revert of each, and so on."
    return "\n\n".join([title, about, *texts, f"![Seconds by patches]({PLOT})"])


def start_up(stand_in: StandIn, rounds: int) -> str:
    """Compare `patchmgr --help` with the import of the library that draws it."""
    folder, environment = stand_in.workspace()[0], stand_in.environment
    python = (sys.executable, "-c", "import typer")
    tools = [
        Tool("`patchmgr --help`", (*program(), "--help"), folder, environment),
        Tool('`python -c "import typer"`', python, folder, environment),
    ]
    results = measure(tools, 3 * rounds, lambda line: None)
    status = measure([status_of(stand_in, 5)], rounds, tell)
    return f"### Start\n\n{table(results, tools[1].name)}\n\n{table(status, status[0].tool.name)}"


SECTIONS: Mapping[str, Callable[[StandIn, int], str]] = {
    "clean": clean_stretch,
    "far": far_stretch,
    "again": second_runs,
    "cxx": cxx_series,
    "releases": release_table,
    "driver": merge_driver,
    "long": long_series,
    "start": start_up,
}


if __name__ == "__main__":
    main()
