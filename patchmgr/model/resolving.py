"""A person before the conflicts of a rebase: where they are, and what they chose so far."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.model.outcome import FileConflict
from patchmgr.model.work_order import WorkOrder


class OpenConflict(Struct, frozen=True):
    """A conflict that a rebase waits with: its work order, and its file (None of a finding)."""

    order: WorkOrder
    file: FileConflict | None

    @property
    def patch(self) -> tuple[str, str]:
        """Return the series and the patch that wait."""
        return self.order.series, self.order.patch


class Taken(str, Enum):
    """What stands for a region: a side, both in an order, a candidate, or a person's own text."""

    OURS = "ours"
    THEIRS = "theirs"
    BOTH = "both, ours first"
    BOTH_REVERSED = "both, theirs first"
    CANDIDATE = "candidate"
    EDITED = "edited"


class Choice(Struct, frozen=True):
    """What a person takes for a region; candidates have a number, from 1, and as edits a text."""

    taken: Taken
    number: int = 0
    text: bytes | None = None


Choices = Mapping[str, Choice]
"""What was chosen, by the id of the region: the same conflict elsewhere gets the same text."""


class Place(Struct, frozen=True):
    """A region within its file: the text before it, what stands for it, the text behind it.

    The text is None where nothing is chosen, or where the file is to be deleted.
    """

    before: bytes
    text: bytes | None
    behind: bytes


class Resolving(Struct, frozen=True):
    """What a person chose for the regions of all open conflicts, and how it was `before`.

    `at` is the place in `places`. `accepted` are the conflicts that are on record, `left_out` the
    patches that are to be skipped, as series and patch.
    """

    conflicts: tuple[OpenConflict, ...] = ()
    choices: Choices = field(default_factory=dict)
    accepted: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    at: int = 0
    before: Resolving | None = None

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Return conflict and region, by their numbers from 0, from the first to the last."""
        return tuple(
            (number, region)
            for number, one in enumerate(self.conflicts)
            for region in range(max(1, len(one.order.regions)))
        )

    @property
    def conflict(self) -> OpenConflict:
        """Return the conflict that the person is at."""
        return self.conflicts[self.places[self.at][0]]

    @property
    def region(self) -> int:
        """Return the number of the region that the person is at, from 0."""
        return self.places[self.at][1]

    @property
    def name(self) -> str | None:
        """Return the id of that region, None of what has no text."""
        regions = self.conflict.order.regions
        return regions[self.region].id if regions else None

    @property
    def choice(self) -> Choice | None:
        """Return what is chosen there."""
        return self.choices.get(self.name or "")

    def open_regions(self, one: OpenConflict) -> tuple[int, ...]:
        """Return the regions of a conflict that nothing is chosen for, by their numbers from 0."""
        regions = enumerate(one.order.regions)
        return tuple(number for number, each in regions if each.id not in self.choices)

    def is_done(self, one: OpenConflict) -> bool:
        """Say whether nothing more is asked about a conflict."""
        return one.order.id in self.accepted or one.patch in self.left_out

    @property
    def left(self) -> tuple[OpenConflict, ...]:
        """Return the conflicts that a person still has to say something about."""
        return tuple(one for one in self.conflicts if not self.is_done(one))

    def moved(self, step: int, *, is_conflict: bool) -> Resolving:
        """Go so many regions, or conflicts, on or back; behind the last one comes the first."""
        if not self.places:
            return self
        if not is_conflict:
            return replace(self, at=(self.at + step) % len(self.places))
        number = (self.places[self.at][0] + step) % len(self.conflicts)
        return replace(self, at=self.places.index((number, 0)))

    def chosen(self, choice: Choice) -> Resolving:
        """Take something for the region that the person is at."""
        assert self.name is not None
        return replace(self, choices={**self.choices, self.name: choice}, before=self)

    def with_accepted(self) -> Resolving:
        """Note that the conflict is on record, and go to the next one that is left."""
        accepted = (*self.accepted, self.conflict.order.id)
        return replace(self, accepted=accepted, before=self).at_next_left()

    def with_left_out(self) -> Resolving:
        """Leave out the patch, or no longer, and go to the next conflict that is left."""
        patch, others = self.conflict.patch, self.left_out
        if patch in others:
            return replace(self, left_out=tuple(o for o in others if o != patch), before=self)
        return replace(self, left_out=(*others, patch), before=self).at_next_left()

    def at_next_left(self) -> Resolving:
        """Go on to the next conflict that is left, if there is one."""
        for step in range(len(self.conflicts)):
            there = self.moved(step, is_conflict=True)
            if not self.is_done(there.conflict):
                return there
        return self

    def undone(self) -> Resolving:
        """Return what was before the last choice."""
        return self.before or self
