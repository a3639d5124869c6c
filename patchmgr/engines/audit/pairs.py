"""A use of names as two states understand it, and what is wrong with it."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.engines.audit.python_modules import Entity
from patchmgr.engines.audit.python_uses import Reader


class Fault(Struct, frozen=True):
    """What is wrong with a use; `old` is what it meant on its side, `new` what it means now.

    `name` is what is looked for, where it is gone.
    """

    kind: str
    text: str
    symbol: str
    is_certain: bool
    line: int
    old: Entity
    new: Entity


class Pair(Struct, frozen=True):
    """A file as the result reads it, and as the side reads it that its lines come from.

    `changed` are the paths that the other side changed.
    """

    now: Reader
    then: Reader
    changed: frozenset[str] = frozenset()

    def is_same(self, found: Entity) -> bool:
        """Say whether the file that defines something is the same in both states."""
        if found.module is None:
            return False
        path = found.module.path
        return self.now.state.files.blob(path) == self.then.state.files.blob(path)
