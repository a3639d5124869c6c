"""What open pull requests of upstream would do to a series."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from patchmgr.model.plan import Assumption, PlannedPatch, PlannedState


class PullEffect(str, Enum):
    """The effect of a pull request on a series: the first of these that applies.

    It is `UNKNOWN` if the pull request changes the same files, but no longer merges into upstream.
    """

    BREAKS = "breaks"
    ABSORBS = "absorbs"
    TOUCHES = "touches"
    UNKNOWN = "unknown"
    NONE = "none"


class PullHead(Struct, frozen=True):
    """The head of a pull request on its remote; `has_merge` is the remote's sign of an open one."""

    number: int
    ref: str
    head: str
    has_merge: bool


class PullFacts(Struct, frozen=True):
    """Facts about a head: subject and author of its first own commit, the date of its last one.

    `paths` are the paths that it has changed since it left upstream.
    """

    subject: str
    author: str
    date: str
    paths: tuple[str, ...]


class PullForecast(Struct, frozen=True):
    """What a pull request would do to the patches that it touches."""

    number: int
    head: str
    subject: str
    author: str
    date: str
    effect: PullEffect
    paths: tuple[str, ...]
    patches: tuple[PlannedPatch, ...] = ()


class Forecast(Struct, frozen=True):
    """The open pull requests that touch the files of a series, those that break it first.

    `open` counts those that were examined. A pull request counts as open if its remote offers a
    merge of it, or if its last commit is at most `days` old.
    """

    series: tuple[str, ...]
    tip: PlannedState
    open: int
    days: int
    assuming: tuple[Assumption, ...]
    pulls: tuple[PullForecast, ...]
