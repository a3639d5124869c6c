"""The note on a sync: what a rebase did, and what upstream brought."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.model.outcome import Reliability
from patchmgr.model.upstream import Pin


class Carried(Struct, frozen=True):
    """A patch of the series, and what became of it; `how` says how its hunks were judged."""

    name: str
    subject: str
    verdict: str
    how: tuple[str, ...]
    reason: str | None = None
    drop_when: str | None = None


class Arrival(Struct, frozen=True):
    """An upstream commit (or release), with its pull request if the subject names one."""

    commit: str
    subject: str
    pull: int | None
    paths: tuple[str, ...] = ()


class Solved(Struct, frozen=True, rename={"is_open": "open"}):
    """A file of a patch that needed more than git's text merge, and how it was resolved.

    `collided` are the upstream commits that it collided with. If there was a proposal,
    `reliability` tells how often such proposals were right. `edits` say what the patch does there,
    in words.
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
    """A patch, or part of it, that upstream has now, and the commits that landed it.

    `reliability` gives, for each entry of `how`, how often such a verdict was right, if known.
    """

    patch: str
    subject: str
    is_whole: bool
    how: tuple[str, ...]
    by: tuple[Arrival, ...]
    reliability: tuple[Reliability, ...] = ()


class Brought(Struct, frozen=True, rename={"arrivals": "commits"}):
    """Upstream's changes in the files of a subsystem that the series touches."""

    subsystem: str
    arrivals: tuple[Arrival, ...]


class GateLine(Struct, frozen=True):
    """A gate of the last check of this state: its result, and its number of problems."""

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
    """All the facts that a maintainer records about a sync.

    `upstream_commits` counts the commits that came in, `commits_back` those that went out; `unit`
    is the word for one of them. `identical` are the files of the series with the same bytes as
    before, `changed` the others, or None if that is not known. `is_complete` says that facts were
    available for every hunk. `preview` and `fallback` are names of tags.
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
    solved: tuple[Solved, ...]
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
