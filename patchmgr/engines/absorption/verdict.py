"""What upstream has of one patch, and what happened to it later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Kept, Step


class Event(str, Enum):
    """What happened upstream to the effect of a patch."""

    LANDED = "landed"
    EVOLVED = "evolved"
    REVERTED = "reverted"
    GONE = "gone"


class Absorption(Struct, frozen=True):
    """What upstream has of one patch.

    `hunks` numbers the absorbed hunks, in the order of the patch's files and hunks. `step` is
    the commit that landed it, `event` what became of it since, and `since` the commit that
    took it back. A reverted patch has no absorbed hunks. `wordings` is what the commit has in
    other words. `undoes` tells by hunk which earlier patches bring lines that it takes away.
    `now_in` is the file that has the lines now, where upstream moved them to another one.
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
        """Return what stays absorbed when hunks undo lines that carried patches add."""
        held = {hunk for hunk, names in self.undoes.items() if not names.isdisjoint(carried)}
        if held.isdisjoint(self.hunks):
            return self
        return replace(self, hunks=self.hunks - held, is_whole=False)


def absorbed_before(
    kept: Kept, about: object, find: Callable[[], Mapping[int, Absorption]]
) -> Mapping[int, Absorption]:
    """Return what is absorbed of each patch: a cached answer, or a new one from `find`.

    `about` is everything that the answer depends on; equal values must print alike.
    """
    question = ("absorbed", repr(about))
    known = kept.get(question)
    if known is not None:
        return msgspec.convert(known[0], dict[int, Absorption], str_keys=True)
    found = find()
    kept.put(question, msgspec.to_builtins(found, str_keys=True))
    return found
