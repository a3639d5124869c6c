"""What upstream has of a patch, and what happened to it after it landed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Kept, Step


class Event(str, Enum):
    """What happened upstream to a patch after it landed."""

    LANDED = "landed"
    EVOLVED = "evolved"
    REVERTED = "reverted"
    GONE = "gone"


class Absorption(Struct, frozen=True):
    """What upstream has of one patch.

    `hunks` are the indices of the absorbed hunks, counted over all files of the patch. `step` is
    the commit that landed it, and `event` is what became of it later. `since` is the commit that
    reverted it or changed it most. A reverted patch has no absorbed hunks. `wordings` are the parts
    that landed in other words. `undoes` maps a hunk to the earlier patches whose lines it removes.
    `now_in` is the file to which upstream moved the lines, if it did.
    """

    hunks: frozenset[int]
    step: Step
    event: Event
    is_whole: bool
    since: Step | None = None
    how: How = How.HISTORY
    wordings: tuple[Wording, ...] = ()
    undoes: Mapping[int, frozenset[str]] = field(default_factory=dict)
    now_in: str | None = None

    def without_undoing(self, carried: Collection[str]) -> Absorption:
        """Return the absorption without the hunks that remove lines of some carried patches."""
        held = {hunk for hunk, names in self.undoes.items() if not names.isdisjoint(carried)}
        if held.isdisjoint(self.hunks):
            return self
        return replace(self, hunks=self.hunks - held, is_whole=False)


def absorbed_before(
    kept: Kept, about: object, find: Callable[[], Mapping[int, Absorption]]
) -> Mapping[int, Absorption]:
    """Return the absorption of each patch from the cache, or else compute it with `find`.

    `about` is everything that the result depends on. Equal values must have equal representations.
    """
    question = ("absorbed", repr(about))
    known = kept.get(question)
    if known is not None:
        return msgspec.convert(known[0], dict[int, Absorption], str_keys=True)
    found = find()
    kept.put(question, msgspec.to_builtins(found, str_keys=True))
    return found
