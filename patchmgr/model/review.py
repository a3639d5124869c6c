"""What a reviewer asks about a series besides the numbers: parts, gates, hotspots, risks."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from patchmgr.model.outcome import Reliability


class Reach(str, Enum):
    """Whom a change reaches; the order is the order of review."""

    SHARED = "shared"
    GATED = "gated"
    ADDED = "added"
    INERT = "inert"


class Gate(Struct, frozen=True):
    """A condition that guards a change; `kind` says what it tests."""

    kind: str
    text: str


class ChangedSite(Struct, frozen=True, rename={"is_removal": "removal"}):
    """Changed lines of existing code: those of one statement, or of a few in a row.

    `line` and `last` count from 1 in the new file, or in the old one where `is_removal`. `text` is
    the first changed line. `why` gives the reason for the reach.
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


class Part(Struct, frozen=True):
    """A subsystem: its files and their lines, and which of them are tests."""

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
    """A symbol of upstream that the series touches, and how often upstream changed it lately.

    `commits` counts upstream commits that changed the symbol, `file_commits` those that changed the
    file. `symbol` is None for code outside of symbols.
    """

    path: str
    symbol: str | None
    commits: int
    file_commits: int
    patches: tuple[str, ...]


class RiskKind(str, Enum):
    """The kinds of surprises for somebody who takes the series over."""

    RUNS = "runs by being there"
    BINARY = "binary"
    PIN = "build pin"
    DEPENDENCY = "new dependency"
    ENVIRONMENT = "environment variable"


class Risk(Struct, frozen=True):
    """One risk: the file, and the line, requirement or variable concerned."""

    kind: RiskKind
    path: str
    what: str
    patches: tuple[str, ...] = ()


class Moment(Struct, frozen=True):
    """A recorded rebase: its target, and the verdict of each patch.

    `reliability` says, by patch, how often verdicts like "upstream has it" were right.
    """

    ref: str
    commits: int
    is_dry_run: bool
    verdicts: tuple[tuple[str, str], ...]
    reliability: tuple[tuple[str, tuple[Reliability, ...]], ...] = ()


class Review(Struct, frozen=True):
    """The answers to a reviewer's questions.

    `parts_by` says where the subsystems are from. `parts_of_patches` counts the changed lines of
    each patch by part, in series order, `part_of_files` names the part of each path. `window` is
    the number of upstream steps in which hotspots are counted, or None if the history is not
    available; `step` is the word for one of them.
    """

    parts_by: str
    parts: tuple[Part, ...]
    parts_of_patches: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    sites: tuple[ChangedSite, ...]
    hotspots: tuple[Hotspot, ...]
    window: int | None
    risks: tuple[Risk, ...]
    moments: tuple[Moment, ...] = ()
    part_of_files: tuple[tuple[str, str], ...] = ()
    step: str = "upstream commit"

    def count(self, reach: Reach) -> int:
        """Count the changed sites with this reach."""
        return sum(site.reach is reach for site in self.sites)
