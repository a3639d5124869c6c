"""Where a patch stands towards upstream, as its own header says it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Stance(str, Enum):
    """The states of Yocto's `Upstream-Status`, which the fields of others are read as, too."""

    PENDING = "Pending"
    SUBMITTED = "Submitted"
    BACKPORT = "Backport"
    DENIED = "Denied"
    INACTIVE = "Inactive-Upstream"
    INAPPROPRIATE = "Inappropriate"


class Standing(Struct, frozen=True):
    """A stance, and what stands beside it: where it was sent, which commit it is, or why.

    `field` is the name of the field that says so, None where no field does.
    """

    stance: Stance = Stance.PENDING
    detail: str = ""
    field: str | None = None
