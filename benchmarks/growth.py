"""Times a rebase as patches, commits, a file or a tree grow, beside git; for docs/benchmarks.md.

    python -m benchmarks.growth [--rounds N] [--upto SHARE] [--write]

All is constructed in a temporary folder; no public history is needed.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

from benchmarks.clones import quiet_environment
from benchmarks.grounds import Ground
from benchmarks.growth_histories import Measures
from benchmarks.pages import PAGE, PICTURES, Section, tell, write
from benchmarks.plots import plot, write_plot
from benchmarks.timing import Measured, measure

SECTION = Section(
    about=__doc__ or "",
    repository="",
    begin="<!-- begin: python -m benchmarks.growth -->",
    end="<!-- end: growth -->",
    rounds=7,
)


@dataclass(frozen=True, slots=True)
class Axis:
    """What grows, and by how much; `file` names its plot."""

    grows: str
    file: str
    sizes: tuple[int, ...]
    measures: Callable[[int], Measures]


AXES = (
    Axis("patches", "patches", (10, 30, 100, 300, 1000), lambda n: Measures(patches=n, busy=100)),
    Axis("upstream commits", "commits", (10, 50, 200, 1000, 5000), lambda n: Measures(commits=n)),
    Axis(
        "lines of the touched file",
        "lines",
        (100, 1000, 10_000, 100_000),
        lambda n: Measures(lines=n, busy=1),
    ),
    Axis(
        "touched files",
        "touched",
        (10, 50, 200, 1000, 2000),
        lambda n: Measures(files=n + 300, busy=n, together=n // 10),
    ),
    Axis("files of the tree", "files", (100, 1000, 10_000, 100_000), lambda n: Measures(files=n)),
)


def main() -> None:
    """Measure, print, and write the section where that is asked for."""
    parser = argparse.ArgumentParser(description=SECTION.about.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=SECTION.rounds, help="timed runs of each")
    parser.add_argument("--upto", type=float, default=1.0, help="leave out what is larger")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="patchmgr-growth-") as folder:
        place = Path(folder)
        environment = quiet_environment(place / "home")
        texts = [
            grown(axis, place, environment, rounds=options.rounds, upto=options.upto)
            for axis in AXES
        ]
        if options.write:
            shutil.copytree(place / PICTURES, PAGE.parent, dirs_exist_ok=True)
    print("\n\n".join(texts))
    if options.write:
        write(SECTION, "\n\n".join(texts))


def grown(
    axis: Axis, place: Path, environment: Mapping[str, str], *, rounds: int, upto: float
) -> str:
    """Measure along one axis and return its part of the section; its plot is written, too."""
    sizes = [size for size in axis.sizes if size <= upto * axis.sizes[-1]]
    yard = place / axis.file
    grounds = [Ground(yard / str(size), environment) for size in sizes]
    for ground, size in zip(grounds, sizes, strict=True):
        ground.fill(axis.measures(size).history())
    tools = [ground.rebase() for ground in grounds] + [ground.git_rebase() for ground in grounds]
    measured = measure(tools, rounds, lambda line: tell(f"{axis.grows}: {line}"))
    results, peers = measured[: len(sizes)], measured[len(sizes) :]
    for ground, size in zip(grounds, sizes, strict=True):
        ground.require_unchanged(axis.measures(size).patches)
    shutil.rmtree(yard)
    points, peer = (
        [(size, each.median) for size, each in zip(sizes, some, strict=True)]
        for some in (results, peers)
    )
    picture = f"benchmark-growth-{axis.file}.svg"
    drawn = plot({"patchmgr rebase": points, "git rebase": peer}, across=axis.grows, up="seconds")
    write_plot(place / PICTURES / picture, drawn)
    lines = [f"### By {axis.grows}", "\n".join(_rows(axis.grows, sizes, results, peers))]
    return "\n\n".join([*lines, _exponent(points), f"![Seconds by {axis.grows}]({picture})"])


def _rows(
    grows: str, sizes: Sequence[int], results: Sequence[Measured], peers: Sequence[Measured]
) -> Iterator[str]:
    yield f"| {grows} | median | processor time | largest process | `git rebase` |"
    yield "|--:|--:|--:|--:|--:|"
    for size, each, peer in zip(sizes, results, peers, strict=True):
        yield (
            f"| {size:,} | {each.median:.2f} s | {each.processor:.2f} s | {each.peak:.0f} MB "
            f"| {peer.median:.2f} s |"
        )


def _exponent(points: Sequence[tuple[float, float]]) -> str:
    """Say how the time grows between the last two points, and how less what the first takes."""
    fixed = points[0][1]
    if points[-1][1] < 2 * fixed:
        return "The last takes less than twice as long as the first."
    whole, net = _power(points[-2:]), _power([(size, time - fixed) for size, time in points[-2:]])
    return f"Exponent between the last two: {whole:.2f}; without the time of the first, {net:.2f}."


def _power(points: Sequence[tuple[float, float]]) -> float:
    """Return the exponent of a curve through two points; 1 is linear."""
    (size, time), (more, longer) = points
    return log(longer / max(time, 0.01)) / log(more / size)


if __name__ == "__main__":
    main()
