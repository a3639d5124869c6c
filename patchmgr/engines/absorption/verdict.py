"""Which hunks of a patch upstream has, and what became of them after they landed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.model.outcome import How, Wording
from patchmgr.model.ports import Kept, Step


class Event(str, Enum):
    """What upstream did with a patch after it landed."""

    LANDED = "landed"
    EVOLVED = "evolved"
    REVERTED = "reverted"
    GONE = "gone"


class Absorption(Struct, frozen=True):
    """Which hunks of a patch upstream has, and the upstream commit that brought them.

    `hunks` are indices over all files of the patch; a reverted patch has none. `step` is the commit
    that brought them, `event` is what became of them, and `since` is the commit that reverted or
    most changed them. `wordings` are the parts that landed in a different form. `undoes` maps a
    hunk to the earlier patches whose lines it removes. `now_in` is the file to which upstream moved
    the lines.
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
        """Return this value without the hunks that remove lines which the given patches add."""
        held = {hunk for hunk, names in self.undoes.items() if not names.isdisjoint(carried)}
        if held.isdisjoint(self.hunks):
            return self
        return replace(self, hunks=self.hunks - held, is_whole=False)


def absorbed_before(
    kept: Kept, about: object, find: Callable[[], Mapping[int, Absorption]]
) -> Mapping[int, Absorption]:
    """Return which hunks of each patch upstream has, from the cache or else as computed by `find`.

    `about` holds everything that the result depends on; its `repr` is the key in the cache.
    """
    question = ("absorbed", repr(about))
    known = kept.get(question)
    if known is not None:
        return msgspec.convert(known[0], dict[int, Absorption], str_keys=True)
    found = find()
    kept.put(question, msgspec.to_builtins(found, str_keys=True))
    return found
