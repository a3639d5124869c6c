"""The facts about a sync: what a rebase did with each patch, and what upstream changed."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.outcome import Reliability
from patchmgr.model.upstream import Pin


class Carried(Struct, frozen=True):
    """The verdict on a patch in a sync; `how` lists how the verdicts on its hunks were reached."""

    name: str
    subject: str
    verdict: str
    how: tuple[str, ...]
    reason: str | None = None
    drop_when: str | None = None


class Arrival(Struct, frozen=True):
    """A new upstream commit (or release); `pull` is the pull request that its subject names."""

    commit: str
    subject: str
    pull: int | None
    paths: tuple[str, ...] = ()


class ResolvedFile(Struct, frozen=True, rename={"is_open": "open"}):
    """A file of a patch that git's text merge could not merge, and how the conflict was resolved.

    `is_open` is true if the file is still in conflict. `collided` lists the upstream commits that
    the patch conflicted with. `reliability` says how often proposals of the same kind were right,
    and is None if there was no proposal. `edits` describes in words what the patch does to the
    file.
    """

    patch: str
    path: str
    new_path: str
    symbols: tuple[str, ...]
    solution: str
    is_open: bool
    collided: tuple[Arrival, ...] = ()
    reliability: Reliability | None = None
    edits: tuple[str, ...] = ()


class Dropped(Struct, frozen=True, rename={"is_whole": "whole"}):
    """A patch that upstream has landed, wholly or in part, and the commits that landed it.

    `how` lists the ways in which the verdict was reached; `reliability` says, for each of them, how
    often such a verdict was right, and is empty if this was not measured.
    """

    patch: str
    subject: str
    is_whole: bool
    how: tuple[str, ...]
    by: tuple[Arrival, ...]
    reliability: tuple[Reliability, ...] = ()


class Brought(Struct, frozen=True, rename={"arrivals": "commits"}):
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
    """The facts about a sync that a note for maintainers states.

    `upstream_commits` is the number of commits that only the new upstream state has, and
    `commits_back` is the number that only the old state has. `unit` says what these numbers count,
    for example "commit". `identical` lists the files of the series whose content is the same as
    before, and `changed` lists the others. `is_complete` is true if what became of every
    hunk is known. `preview` and `fallback` are names of tags.
    """

    series: str
    base: Pin
    onto: Pin
    upstream_commits: int
    unit: str
    head: str | None
    old_head: str | None
    is_dry_run: bool
    is_complete: bool
    patches: tuple[Carried, ...]
    solved: tuple[ResolvedFile, ...]
    dropped: tuple[Dropped, ...]
    brought: tuple[Brought, ...]
    subsystems_by: str
    identical: tuple[tuple[str, str], ...]
    changed: tuple[tuple[str, str], ...]
    gates: tuple[GateLine, ...]
    preview: str | None
    fallback: str | None
    warnings: tuple[str, ...] = ()
    commits_back: int = 0
