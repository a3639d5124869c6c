"""What became of the lives of forks, and the tables of docs/forks.md with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import astuple

from benchmarks.releases import ROOT

PAGE = ROOT / "docs" / "forks.md"
BEGIN, END = "<!-- begin: stops -->", "<!-- end: stops -->"
MARKER = re.compile(rb"^<<<<<<< ", re.MULTILINE)


class Likeness(Struct):
    """Files beside the maintainers': equal to the byte, but for layout, or different."""

    same: int = 0
    layout: int = 0
    other: list[str] = field(default_factory=list)

    def add(self, path: str, made: bytes | None, wanted: bytes | None) -> None:
        """Count a file, None where there is none."""
        if made == wanted:
            self.same += 1
        elif None not in (made, wanted) and _layout(path, made) == _layout(path, wanted):
            self.layout += 1
        else:
            self.other.append(path)


class Asked(Struct):
    """What a person is asked: how often, and about how many files and regions in conflict."""

    stops: int = 0
    files: int = 0
    regions: int = 0

    def add(self, contents: Collection[bytes]) -> None:
        """Count the files of one stop."""
        self.stops += bool(contents)
        self.files += len(contents)
        self.regions += sum(max(1, len(MARKER.findall(content))) for content in contents)


class Played(Struct):
    """What became of one stop with patchmgr, `git merge` and `git rebase`."""

    fork: str
    onto: str
    date: str
    steps: int
    patches: int = 0
    ours: Asked = field(default_factory=Asked)
    merge: Asked = field(default_factory=Asked)
    rebase: Asked = field(default_factory=Asked)
    alone: Likeness = field(default_factory=Likeness)
    merge_alone: Likeness = field(default_factory=Likeness)
    findings: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    absorbed: list[tuple[str, str, str]] = field(default_factory=list)
    seconds: float = 0.0
    rebase_seconds: float = 0.0


def write(rows: Sequence[Played]) -> None:
    """Put the tables between the marks of the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text("\n".join([before + BEGIN, "", *_tables(rows), END]) + rest.partition(END)[2])


def _tables(rows: Sequence[Played]) -> Iterator[str]:
    """Yield a table for each fork; figures of git's merge and rebase stand behind patchmgr's."""
    columns = (
        "merged", "upstream commits", "patches", "stops", "files in conflict", "regions",
        "untouched files equal to the maintainers'", "found broken", "absorbed", "seconds",
    )  # fmt: skip
    for fork, group in groupby(rows, key=lambda row: row.fork):
        yield f"**{fork}**\n\n| {' | '.join(columns)} |\n|---{'|--:' * (len(columns) - 1)}|"
        for row in group:
            asked = zip(*(astuple(one) for one in (row.ours, row.merge, row.rebase)), strict=True)
            alike = [f"{one.same + one.layout} of {one.same + one.layout + len(one.other)}"
                     for one in (row.alone, row.merge_alone)]  # fmt: skip
            cells = [
                f"{row.date} `{row.onto}`", row.steps, row.patches,
                *(" / ".join(map(str, figures)) for figures in asked), " / ".join(alike),
                len(row.findings), len(row.absorbed),
                f"{row.seconds:.0f} / {row.rebase_seconds:.1f}",
            ]  # fmt: skip
            yield f"| {' | '.join(map(str, cells))} |"
        yield ""


def _layout(path: str, content: bytes | None) -> bytes | str:
    """Return what is left of a file without its layout."""
    if path.endswith(".py"):
        try:
            return ast.dump(ast.parse(content or b""))
        except (SyntaxError, ValueError, RecursionError):
            pass
    return b"".join((content or b"").split())
