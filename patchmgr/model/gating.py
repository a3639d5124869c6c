"""What guards a changed statement, and whether others notice the change."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Reach(str, Enum):
    """Whom a change reaches; for a reviewer the first is the one to look at first."""

    SHARED = "shared"
    GATED = "gated"
    ADDED = "added"
    INERT = "inert"


class Gate(Struct, frozen=True):
    """A condition that a change stands behind; `kind` is what it asks about."""

    kind: str
    text: str


class ChangedSite(Struct, frozen=True, rename={"is_removal": "removal"}):
    """Changed lines of existing code that one statement, or a few in a row, make up.

    `line` and `last` count from 1 in the new file, or in the old one where `is_removal`.
    `text` is the first changed line. `why` says on what the reach rests.
    """

    path: str
    symbol: str | None
    line: int
    last: int
    is_removal: bool
    text: str
    reach: Reach
    gates: tuple[Gate, ...]
    why: str
    patches: tuple[str, ...] = ()
