"""What guards a changed statement, and whether others notice the change."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Reach(str, Enum):
    """Whom a change reaches; the order is the order of review."""

    SHARED = "shared"
    GATED = "gated"
    ADDED = "added"
    INERT = "inert"


class Gate(Struct, frozen=True):
    """A condition that guards a change; `kind` says what it tests."""

    kind: str
    text: str


class ChangedSite(Struct, frozen=True, rename={"is_removal": "removal"}):
    """Changed lines of existing code: those of one statement, or of a few in a row.

    `line` and `last` count from 1 in the new file, or in the old one where `is_removal`. `text` is
    the first changed line. `why` gives the reason for the reach.
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
