"""What open pull requests of upstream would do to a series."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from patchmgr.model.plan import Assumption, PlannedPatch
from patchmgr.model.upstream import UpstreamState


class PullEffect(str, Enum):
    """The effect of a pull request on a series; if several apply, the first one listed counts."""

    BREAKS = "breaks"
    ABSORBS = "absorbs"
    TOUCHES = "touches"
    # changes files of the series, but no longer merges into upstream
    UNKNOWN = "unknown"
    NONE = "none"


class PullHead(Struct, frozen=True):
    """The head commit of a pull request on its remote."""

    number: int
    ref: str
    head: str
    has_merge: bool  # the remote also has its merge, as GitHub has for open pull requests


class PullFacts(Struct, frozen=True):
    """What is known about the head of a pull request."""

    subject: str  # of its first commit that upstream lacks; so is `author`
    author: str
    date: str  # of its last commit
    paths: tuple[str, ...]  # changed since it branched off from upstream


class PullForecast(Struct, frozen=True):
    """The effect of a pull request on the patches whose files it changes."""

    number: int
    head: str
    subject: str
    author: str
    date: str
    effect: PullEffect
    paths: tuple[str, ...]
    patches: tuple[PlannedPatch, ...] = ()


class Forecast(Struct, frozen=True):
    """The open pull requests that change files of some series; those that break it come first."""

    series: tuple[str, ...]
    tip: UpstreamState
    open: int  # how many were examined
    # without a merge on the remote, a pull request is open for so long after its last commit
    days: int
    assuming: tuple[Assumption, ...]
    pulls: tuple[PullForecast, ...]
