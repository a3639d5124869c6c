"""Answers to what a reviewer asks about a series: its subsystems, gates, hotspots and risks."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from patchmgr.model.outcome import Reliability


class Reach(str, Enum):
    """Who is affected by a change, in the order in which changes should be reviewed."""

    SHARED = "shared"
    GATED = "gated"
    ADDED = "added"
    INERT = "inert"


class Gate(Struct, frozen=True):
    """A condition in the code that guards a change; `kind` says what the condition tests."""

    kind: str
    text: str


class ChangedSite(Struct, frozen=True, rename={"is_removal": "removal"}):
    """Changed lines of existing code, in one statement or in a few consecutive statements.

    `line` and `last` are the first and the last line, counted from 1 in the new file, or in the old
    file if `is_removal`. `text` is the first changed line. `why` gives the reason for `reach`.
    """

    path: str
    symbol: str | None
    line: int
    last: int
    is_removal: bool
    text: str
    reach: Reach
    gates: tuple[Gate, ...]
    why: str
    patches: tuple[str, ...] = ()


class Subsystem(Struct, frozen=True):
    """A subsystem: the numbers of its changed files and lines, in total and in tests.

    `rebuilt` is the number of files that take effect only after a build.
    """

    name: str
    files: int
    added: int
    removed: int
    test_files: int
    test_added: int
    test_removed: int
    rebuilt: int
    languages: tuple[str, ...]


class Hotspot(Struct, frozen=True):
    """A symbol of upstream that the series touches and that upstream changed recently.

    `commits` is the number of upstream commits that changed the symbol, and `file_commits` is the
    number that changed the file. `symbol` is None for code outside of symbols.
    """

    path: str
    symbol: str | None
    commits: int
    file_commits: int
    patches: tuple[str, ...]


class RiskKind(str, Enum):
    """The kinds of change that may surprise somebody who takes over the series."""

    RUNS = "runs by being there"
    BINARY = "binary"
    PIN = "build pin"
    DEPENDENCY = "new dependency"
    ENVIRONMENT = "environment variable"


class Risk(Struct, frozen=True):
    """A risk in one file; `what` is the line, requirement or variable that causes it."""

    kind: RiskKind
    path: str
    what: str
    patches: tuple[str, ...] = ()


class Moment(Struct, frozen=True):
    """A recorded rebase: its target, and the verdict on each patch.

    `reliability` says for each patch how often verdicts such as "absorbed" were right.
    """

    ref: str
    commits: int
    is_dry_run: bool
    verdicts: tuple[tuple[str, str], ...]
    reliability: tuple[tuple[str, tuple[Reliability, ...]], ...] = ()


class Review(Struct, frozen=True):
    """The answers to a reviewer's questions.

    `parts_by` says where the names of the subsystems come from. `parts_of_patches` lists, in series
    order, each patch and its number of changed lines in each part; `part_of_files` maps each path
    to the name of its part. `window` is the number of upstream steps in which changes to hotspots
    are counted, or None if the history is not available. `step` says what a step is, for example
    "upstream commit".
    """

    parts_by: str
    parts: tuple[Subsystem, ...]
    parts_of_patches: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    sites: tuple[ChangedSite, ...]
    hotspots: tuple[Hotspot, ...]
    window: int | None
    risks: tuple[Risk, ...]
    moments: tuple[Moment, ...] = ()
    part_of_files: tuple[tuple[str, str], ...] = ()
    step: str = "upstream commit"

    def count(self, reach: Reach) -> int:
        """Return the number of changed sites with this reach."""
        return sum(site.reach is reach for site in self.sites)
