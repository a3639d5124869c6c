"""A person's work on the conflicts of a rebase: the current region, and the choices so far."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.model.outcome import FileConflict
from patchmgr.model.work_order import WorkOrder


class OpenConflict(Struct, frozen=True):
    """A conflict of a rebase in progress: its work order and, unless it is a finding, its file."""

    order: WorkOrder
    file: FileConflict | None

    @property
    def patch(self) -> tuple[str, str]:
        """Return the names of the series and of the patch in conflict."""
        return self.order.series, self.order.patch


class ChoiceKind(str, Enum):
    """How a region is resolved: as one side, as both sides, as a candidate, or with edited text."""

    OURS = "ours"
    THEIRS = "theirs"
    BOTH = "both, ours first"
    BOTH_REVERSED = "both, theirs first"
    CANDIDATE = "candidate"
    EDITED = "edited"


class Choice(Struct, frozen=True):
    """A person's choice for a region."""

    taken: ChoiceKind
    number: int = 0  # of the chosen candidate, from 1
    text: bytes | None = None  # the edited text


Choices = Mapping[str, Choice]
"""Choices keyed by region id, so that the same conflict elsewhere gets the same resolution."""


class InFile(Struct, frozen=True):
    """A region within its file: the text before the region, its resolution, and the text after."""

    before: bytes
    text: bytes | None  # None if nothing was chosen yet, or if the file is to be deleted
    behind: bytes


class Resolving(Struct, frozen=True):
    """A person's choices for the regions of all open conflicts."""

    conflicts: tuple[OpenConflict, ...] = ()
    choices: Choices = field(default_factory=dict)
    accepted: tuple[str, ...] = ()  # ids of conflicts that have been recorded
    left_out: tuple[tuple[str, str], ...] = ()  # (series, patch) to skip
    at: int = 0  # the index of the current region in `places`
    before: Resolving | None = None  # the state before the last choice

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Return (conflict index, region index) of each region.

        A conflict without regions counts as one region.
        """
        return tuple(
            (number, region)
            for number, one in enumerate(self.conflicts)
            for region in range(max(1, len(one.order.regions)))
        )

    @property
    def conflict(self) -> OpenConflict:
        """Return the current conflict."""
        return self.conflicts[self.places[self.at][0]]

    @property
    def region(self) -> int:
        """Return the number of the current region, counted from 0."""
        return self.places[self.at][1]

    @property
    def name(self) -> str | None:
        """Return the id of the current region, or None if the conflict has no regions."""
        regions = self.conflict.order.regions
        return regions[self.region].id if regions else None

    @property
    def choice(self) -> Choice | None:
        """Return the choice for the current region, or None if nothing was chosen."""
        return self.choices.get(self.name or "")

    def open_regions(self, one: OpenConflict) -> tuple[int, ...]:
        """Return the numbers (from 0) of the conflict's regions for which nothing was chosen."""
        regions = enumerate(one.order.regions)
        return tuple(number for number, each in regions if each.id not in self.choices)

    def is_done(self, one: OpenConflict) -> bool:
        """Return whether the conflict has a recorded resolution, or its patch will be skipped."""
        return one.order.id in self.accepted or one.patch in self.left_out

    @property
    def left(self) -> tuple[OpenConflict, ...]:
        """Return the conflicts that are still open: neither recorded nor skipped."""
        return tuple(one for one in self.conflicts if not self.is_done(one))

    def moved(self, step: int, *, is_conflict: bool) -> Resolving:
        """Return the state after moving `step` regions or conflicts forward, with wraparound."""
        if not self.places:
            return self
        if not is_conflict:
            return replace(self, at=(self.at + step) % len(self.places))
        number = (self.places[self.at][0] + step) % len(self.conflicts)
        return replace(self, at=self.places.index((number, 0)))

    def chosen(self, choice: Choice) -> Resolving:
        """Return the state after this choice for the current region."""
        assert self.name is not None
        return replace(self, choices={**self.choices, self.name: choice}, before=self)

    def with_accepted(self) -> Resolving:
        """Return the state after recording the current conflict; the next open one is current."""
        accepted = (*self.accepted, self.conflict.order.id)
        return replace(self, accepted=accepted, before=self).at_next_left()

    def with_left_out(self) -> Resolving:
        """Return the state with the current patch marked to be skipped, or unmarked if it was."""
        patch, others = self.conflict.patch, self.left_out
        if patch in others:
            return replace(self, left_out=tuple(o for o in others if o != patch), before=self)
        return replace(self, left_out=(*others, patch), before=self).at_next_left()

    def at_next_left(self) -> Resolving:
        """Return the state at the next open conflict, or the same state if none is open."""
        for step in range(len(self.conflicts)):
            there = self.moved(step, is_conflict=True)
            if not self.is_done(there.conflict):
                return there
        return self

    def undone(self) -> Resolving:
        """Return the state before the last choice, or the same state if there was no choice."""
        return self.before or self
