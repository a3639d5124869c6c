"""The facts about a sync: what a rebase did with each patch, and what upstream changed."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.outcome import Reliability
from patchmgr.model.upstream import CommitSummary, Pin


class Carried(Struct, frozen=True):
    """The verdict on a patch in a sync; `how` says how the verdicts on its hunks were reached."""

    name: str
    subject: str
    verdict: str
    how: tuple[str, ...]
    reason: str | None = None
    drop_when: str | None = None


class Arrival(CommitSummary, frozen=True):
    """A new upstream commit (or release); `pull` is the pull request in its subject."""

    paths: tuple[str, ...] = ()


class ResolvedFile(Struct, frozen=True, rename={"is_open": "open"}):
    """A file of a patch that git's text merge left in conflict, and how this was resolved."""

    patch: str
    path: str
    new_path: str
    symbols: tuple[str, ...]
    solution: str
    is_open: bool  # the file is still in conflict
    collided: tuple[Arrival, ...] = ()  # upstream commits that the patch conflicted with
    # how often proposals of the same kind were right, if there was one
    reliability: Reliability | None = None
    edits: tuple[str, ...] = ()  # what the patch does to the file, in words


class Dropped(Struct, frozen=True, rename={"is_whole": "whole"}):
    """A patch that upstream has landed, wholly or in part, and the commits that landed it."""

    patch: str
    subject: str
    is_whole: bool
    how: tuple[str, ...]  # the ways in which the verdict was reached
    by: tuple[Arrival, ...]
    # how often each of these ways was right; empty if not measured
    reliability: tuple[Reliability, ...] = ()


class SubsystemArrivals(Struct, frozen=True, rename={"arrivals": "commits"}):
    """A subsystem, and the upstream commits that changed the series' files in this subsystem."""

    subsystem: str
    arrivals: tuple[Arrival, ...]


class GateLine(Struct, frozen=True):
    """The result of a gate in the last check of the series, and the number of problems found."""

    name: str
    standing: str
    problems: int
    note: str


_KEYS = {
    "series": "name",
    "is_dry_run": "dry_run",
    "is_complete": "complete",
    "solved": "conflicts",
}


class SyncNote(Struct, frozen=True, rename=_KEYS):
    """The facts in a note on a sync, which is written for maintainers."""

    series: str
    base: Pin
    onto: Pin
    upstream_commits: int  # the number that only the new upstream state has
    unit: str  # of these numbers, for example "commit"
    head: str | None
    old_head: str | None
    is_dry_run: bool
    is_complete: bool  # it is known what became of every hunk
    patches: tuple[Carried, ...]
    solved: tuple[ResolvedFile, ...]
    dropped: tuple[Dropped, ...]
    brought: tuple[SubsystemArrivals, ...]
    subsystems_by: str
    identical: tuple[tuple[str, str], ...]  # files of the series with the same content as before
    changed: tuple[tuple[str, str], ...]  # the other files
    gates: tuple[GateLine, ...]
    preview: str | None  # the name of a tag, like `fallback`
    fallback: str | None
    warnings: tuple[str, ...] = ()
    commits_back: int = 0  # the number that only the old upstream state has
