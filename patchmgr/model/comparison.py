"""The comparison of two states of one series, patch by patch."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Sameness(str, Enum):
    """Whether and how a patch differs between two states of its series."""

    IDENTICAL = "byte-identical"
    POSITION = "position only"
    CONTEXT = "context only"
    CHANGED = "changed"
    ADDED = "added"
    DROPPED = "dropped"


class ComparedPatch(Struct, frozen=True):
    """One patch in two states of a series."""

    subject: str
    sameness: Sameness
    before: str | None  # the id of the patch's commit; None if the state lacks the patch
    after: str | None  # like `before`
    paths: tuple[str, ...] = ()
    diff: tuple[str, ...] = ()  # lines that differ; empty if both states make the same change

    @property
    def is_other(self) -> bool:
        """Return whether the patch's change differs between the states, or one lacks the patch."""
        return self.sameness in (Sameness.CHANGED, Sameness.ADDED, Sameness.DROPPED)


class ComparedSeries(Struct, frozen=True):
    """A series compared between two states."""

    series: str
    start: tuple[str, str]  # the name that the user typed, and a commit id
    end: tuple[str, str]  # like `start`
    patches: tuple[ComparedPatch, ...]
    # paths that the series touches, with the same content in both states
    identical: tuple[str, ...]
    different: tuple[str, ...]  # the other paths that the series touches
    claims: tuple[tuple[str, str], ...] = ()
