"""A series compared with itself: each patch in two states."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Sameness(str, Enum):
    """How a patch differs between two states."""

    IDENTICAL = "byte-identical"
    POSITION = "position only"
    CONTEXT = "context only"
    CHANGED = "changed"
    ADDED = "added"
    DROPPED = "dropped"


class ComparedPatch(Struct, frozen=True):
    """A patch in both states; ids are None where a state does not have it.

    `diff` has the lines that differ, if the change itself differs.
    """

    subject: str
    sameness: Sameness
    before: str | None
    after: str | None
    paths: tuple[str, ...] = ()
    diff: tuple[str, ...] = ()

    @property
    def is_other(self) -> bool:
        """Say whether the patch does something else now, or is in one of the states only."""
        return self.sameness in (Sameness.CHANGED, Sameness.ADDED, Sameness.DROPPED)


class ComparedSeries(Struct, frozen=True):
    """Two states of a series: their names as given, and their commits.

    Of the paths that the series touches in either state, `identical` have the same bytes in both
    branches, and `different` are the others.
    """

    series: str
    start: tuple[str, str]
    end: tuple[str, str]
    patches: tuple[ComparedPatch, ...]
    identical: tuple[str, ...]
    different: tuple[str, ...]
    claims: tuple[tuple[str, str], ...] = ()
