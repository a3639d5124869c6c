"""Which hunks of a patch upstream has, and what happened to them after they landed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Step


class Event(str, Enum):
    """What happened to a patch after it landed in upstream."""

    LANDED = "landed"
    EVOLVED = "evolved"
    REVERTED = "reverted"
    GONE = "gone"


class Absorption(Struct, frozen=True):
    """What upstream has of a patch: which hunks, since which commit, and what followed."""

    hunks: frozenset[int]
    step: Step
    event: Event
    is_whole: bool
    since: Step | None = None  # the commit that reverted the hunks, or changed them most
    how: How = How.HISTORY
    wordings: tuple[Wording, ...] = ()  # the parts that landed in a different form
    undoes: Mapping[int, Set[str]] = field(default_factory=dict)
    now_in: str | None = None
    inner: Step | None = None  # the commit that introduced the hunks, if `step` is its merge

    def without_undoing(self, carried: Collection[str]) -> Absorption:
        """Return this absorption without the hunks that undo changes of the `carried` patches."""
        held = {hunk for hunk, names in self.undoes.items() if not names.isdisjoint(carried)}
        left = self.hunks - held
        return replace(self, hunks=left, is_whole=self.is_whole and left == self.hunks)
