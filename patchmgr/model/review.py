"""Answers to what a reviewer asks about a series: its subsystems, gates, hotspots and risks."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from patchmgr.model.outcome import Reliability


class Reach(str, Enum):
    """Whom a change affects, in the order in which changes should be reviewed."""

    SHARED = "shared"
    GATED = "gated"
    ADDED = "added"
    INERT = "inert"


class Gate(Struct, frozen=True):
    """A condition in the code that guards a change; `kind` says what the condition tests."""

    kind: str
    text: str


class ChangedSite(Struct, frozen=True, rename={"is_removal": "removal"}):
    """Changed lines of existing code, in one statement or in a few consecutive statements."""

    path: str
    symbol: str | None
    line: int  # the first one, from 1, in the new file or, if `is_removal`, in the old one
    last: int  # the last line, counted like `line`
    is_removal: bool
    text: str  # the first changed line
    reach: Reach
    gates: tuple[Gate, ...]
    why: str  # the reason for `reach`
    patches: tuple[str, ...] = ()


class Subsystem(Struct, frozen=True):
    """A subsystem: the numbers of its changed files and lines, in total and in tests."""

    name: str
    files: int
    added: int
    removed: int
    test_files: int
    test_added: int
    test_removed: int
    rebuilt: int  # the number of files that take effect only after a build
    languages: tuple[str, ...]


class Hotspot(Struct, frozen=True):
    """A symbol of upstream that the series touches and that upstream changed recently."""

    path: str
    symbol: str | None  # None for code outside of symbols
    commits: int  # the number of upstream commits that changed the symbol
    file_commits: int  # the number of upstream commits that changed the file
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
    """A recorded rebase: its target, and the verdict on each patch."""

    ref: str
    commits: int
    is_dry_run: bool
    verdicts: tuple[tuple[str, str], ...]
    # of verdicts such as "absorbed", for each patch
    reliability: tuple[tuple[str, tuple[Reliability, ...]], ...] = ()


class Review(Struct, frozen=True):
    """The answers to a reviewer's questions."""

    parts_by: str  # where the names of the subsystems come from
    parts: tuple[Subsystem, ...]
    # in series order: the patch, and its number of changed lines in each part
    parts_of_patches: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    sites: tuple[ChangedSite, ...]
    hotspots: tuple[Hotspot, ...]
    # the number of upstream steps in which changes to hotspots are counted; None: no history
    window: int | None
    risks: tuple[Risk, ...]
    moments: tuple[Moment, ...] = ()
    part_of_files: tuple[tuple[str, str], ...] = ()  # (path, name of its part)
    step: str = "upstream commit"  # what a step is

    def count(self, reach: Reach) -> int:
        """Return the number of changed sites with this reach."""
        return sum(site.reach is reach for site in self.sites)
