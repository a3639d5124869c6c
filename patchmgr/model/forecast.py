"""What open pull requests of upstream would do to a series."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from patchmgr.model.plan import Assumption, PlannedPatch
from patchmgr.model.upstream import UpstreamState


class PullEffect(str, Enum):
    """The effect of a pull request on a series; if several apply, the first one listed counts.

    `UNKNOWN` means that the pull request changes files of the series, but no longer merges into
    upstream.
    """

    BREAKS = "breaks"
    ABSORBS = "absorbs"
    TOUCHES = "touches"
    UNKNOWN = "unknown"
    NONE = "none"


class PullHead(Struct, frozen=True):
    """The head commit of a pull request on its remote.

    `has_merge` is true if the remote also has a commit that merges the pull request, as GitHub
    provides for open pull requests.
    """

    number: int
    ref: str
    head: str
    has_merge: bool


class PullFacts(Struct, frozen=True):
    """What is known about the head of a pull request.

    `subject` and `author` are those of the pull request's first commit that upstream lacks, and
    `date` is that of its last commit. `paths` are the paths changed since the pull request branched
    off from upstream.
    """

    subject: str
    author: str
    date: str
    paths: tuple[str, ...]


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
    """The open pull requests that change files of some series; those that break it come first.

    `open` is the number of pull requests that were examined. A pull request counts as open if the
    remote has a commit that merges it, or if its last commit is at most `days` days old.
    """

    series: tuple[str, ...]
    tip: UpstreamState
    open: int
    days: int
    assuming: tuple[Assumption, ...]
    pulls: tuple[PullForecast, ...]
