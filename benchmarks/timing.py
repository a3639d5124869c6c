"""Whole processes, timed in turn: several rounds, every other one in reverse order."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tool:
    """A command to time: `restore` puts its place back before each run.

    `good` holds the exit codes of a run that did its work. `told` finds wall and processor time in
    what the command printed, where those of the whole process are not wanted.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    restore: Callable[[], None] = lambda: None
    good: tuple[int, ...] = (0,)
    told: Callable[[str], tuple[float, float]] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Wall time and processor time in seconds, and the memory of the largest process in MB."""

    seconds: float
    processor: float
    megabytes: float


@dataclass(slots=True)
class Measured:
    """The runs of one tool."""

    tool: Tool
    runs: list[Run] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Return the median wall time."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def processor(self) -> float:
        """Return the median processor time, that of all its processes."""
        return statistics.median(run.processor for run in self.runs)

    @property
    def peak(self) -> float:
        """Return the most memory that one process had in any run, in MB."""
        return max(run.megabytes for run in self.runs)


def run_once(tool: Tool) -> Run:
    """Run the command to its end."""
    log = tool.folder.parent / "last-output"
    starter = (sys.executable, "-I", "-S", str(Path(__file__).with_name("starter.py")))
    counted = subprocess.run(
        [*starter, str(log), *tool.command],
        cwd=tool.folder,
        env=dict(tool.environment),
        stdout=subprocess.PIPE,
        check=True,
    )
    code, seconds, processor, kilobytes = map(float, counted.stdout.split())
    said = log.read_text(errors="replace")
    if code not in tool.good:
        raise SystemExit(f"{tool.name}: exit {code:.0f}\n{said[-2000:]}")
    if tool.told is not None:
        seconds, processor = tool.told(said)
    return Run(seconds, processor, kilobytes / 1024)


def measure(tools: Sequence[Tool], rounds: int, tell: Callable[[str], None]) -> list[Measured]:
    """Time every tool once a round, after one run each that warms the caches."""
    results = [Measured(tool) for tool in tools]
    for number in range(rounds + 1):
        order = results if number % 2 else results[::-1]
        for measured in order:
            measured.tool.restore()
            run = run_once(measured.tool)
            if number:
                measured.runs.append(run)
        tell(f"round {number} of {rounds}" if number else "warmed up")
    return results


def table(results: Sequence[Measured], reference: str) -> str:
    """Return a Markdown table; ratios are to the tool of that name."""
    base = next(measured.median for measured in results if measured.tool.name == reference)
    lines = [
        "| command | median | ratio | fastest to slowest | processor time | largest process |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for measured in results:
        times = [run.seconds for run in measured.runs]
        lines.append(
            f"| {measured.tool.name} | {measured.median:.2f} s | {measured.median / base:.2f} "
            f"| {min(times):.2f} to {max(times):.2f} s | {measured.processor:.2f} s "
            f"| {measured.peak:.0f} MB |"
        )
    return "\n".join(lines)
