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

    `hunks` numbers the absorbed hunks, in the order of the patch's files and hunks. `step` is the
    commit that landed it, `event` what became of it later, and `since` the commit that reverted it.
    A reverted patch has no absorbed hunks. `wordings` are the parts that the commit has in other
    words. `undoes` tells, by hunk, which earlier patches add lines that the hunk removes. If
    upstream moved the lines to another file, `now_in` is that file.
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
        """Return the absorption without hunks that undo lines of carried patches."""
        held = {hunk for hunk, names in self.undoes.items() if not names.isdisjoint(carried)}
        if held.isdisjoint(self.hunks):
            return self
        return replace(self, hunks=self.hunks - held, is_whole=False)


def absorbed_before(
    kept: Kept, about: object, find: Callable[[], Mapping[int, Absorption]]
) -> Mapping[int, Absorption]:
    """Return the absorption of each patch: a cached answer, or a new one from `find`.

    `about` is everything that the answer depends on; equal values must print alike.
    """
    question = ("absorbed", repr(about))
    known = kept.get(question)
    if known is not None:
        return msgspec.convert(known[0], dict[int, Absorption], str_keys=True)
    found = find()
    kept.put(question, msgspec.to_builtins(found, str_keys=True))
    return found
