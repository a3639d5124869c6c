"""The comparison of two states of one series, patch by patch."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Sameness(str, Enum):
    """How a patch differs between two states of its series, if it does."""

    IDENTICAL = "byte-identical"
    POSITION = "position only"
    CONTEXT = "context only"
    CHANGED = "changed"
    ADDED = "added"
    DROPPED = "dropped"


class ComparedPatch(Struct, frozen=True):
    """One patch in two states of a series.

    `before` and `after` are the ids of the patch's commits; an id is None if the state lacks the
    patch. `diff` lists the lines that differ; it is empty if both states make the same change.
    """

    subject: str
    sameness: Sameness
    before: str | None
    after: str | None
    paths: tuple[str, ...] = ()
    diff: tuple[str, ...] = ()

    @property
    def is_other(self) -> bool:
        """Return whether the states differ in the patch's change, or one state lacks the patch."""
        return self.sameness in (Sameness.CHANGED, Sameness.ADDED, Sameness.DROPPED)


class ComparedSeries(Struct, frozen=True):
    """A series compared between two states.

    `start` and `end` are the states, each given as the name that the user typed and a commit id.
    `identical` lists the paths that the series touches in at least one state and whose content is
    the same in both; `different` lists the other paths that the series touches.
    """

    series: str
    start: tuple[str, str]
    end: tuple[str, str]
    patches: tuple[ComparedPatch, ...]
    identical: tuple[str, ...]
    different: tuple[str, ...]
    claims: tuple[tuple[str, str], ...] = ()
