"""The far dry run once more: with nothing changed, with a patch refreshed, with upstream moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.clones import output
from benchmarks.stand_in import BASE, FAR, SERIES, StandIn
from benchmarks.timing import Measured, Tool, measure

FEWER = 10  # commits that upstream moved since the first run


def measure_again(
    stand_in: StandIn, rounds: int, tell: Callable[[str], None]
) -> tuple[Measured, ...]:
    """Return the first far dry run, and runs that find the answers of one before."""
    first, _ = stand_in.far_dry_run()
    nearer = stand_in.git("rev-parse", f"{FAR}~{FEWER}")

    def after(command: tuple[str, ...], change: Callable[[], None]) -> Callable[[], None]:
        def restore() -> None:
            first.restore()
            output(command, first.folder, first.environment, good=False)
            change()

        return restore

    to_nearer = tuple(nearer if word == FAR else word for word in first.command)
    name = first.name
    same = replace(first, name=f"{name} again", restore=after(first.command, lambda: None))
    refreshed = replace(
        first,
        name=f"{name}, one patch changed",
        restore=after(first.command, lambda: _change_a_patch(first.folder)),
    )
    moved = replace(
        first,
        name=f"{name}, {FEWER} commits more",
        restore=after(to_nearer, lambda: None),
    )
    return tuple(measure([first, same, refreshed, moved], rounds, tell))


def _change_a_patch(workspace: Path) -> None:
    """Give the last patch that adds a comment line another one."""
    for path in sorted((workspace / "series" / SERIES).glob("*.patch"), reverse=True):
        content = path.read_bytes()
        at = content.find(b"\n+# ")
        if at >= 0 and content.count(content[at : content.index(b"\n", at + 1)]) == 1:
            path.write_bytes(content[:at] + b"\n+# Also:" + content[at + 3 :])
            return
    raise SystemExit("no patch of the series adds a comment line")


def status_of(stand_in: StandIn, count: int) -> Tool:
    """Return `patchmgr status` in a workspace with so many series of the same patches."""
    folder, _ = stand_in.workspace()
    inside = (*stand_in.program, "-C", str(folder))

    for number in range(2, count + 1):
        name = f"{SERIES}-{number}"
        for words in (
            ("series", "new", name, "--upstream", "vllm", "--base", BASE),
            ("import", str(stand_in.mails), "--series", name),
        ):
            output([*inside, *words], stand_in.place, stand_in.environment)
    name = f"`patchmgr status`, {count} series"
    return Tool(name, (*stand_in.program, "status"), folder, stand_in.environment)
