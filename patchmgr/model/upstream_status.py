"""The upstream status of a patch, and later upstream commits that concern the patch."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Stance(str, Enum):
    """The values of Yocto's `Upstream-Status`, to which the fields of other tools are mapped."""

    PENDING = "Pending"
    SUBMITTED = "Submitted"
    BACKPORT = "Backport"
    DENIED = "Denied"
    INACTIVE = "Inactive-Upstream"
    INAPPROPRIATE = "Inappropriate"


class UpstreamStanding(Struct, frozen=True):
    """The upstream status of a patch."""

    stance: Stance = Stance.PENDING
    detail: str = ""  # where it was sent, which commit contains it, or why it has this status
    field: str | None = None  # the header field that states the status, if any


class FollowUp(Struct, frozen=True):
    """An upstream commit whose message refers to the commit that contains a patch."""

    patch: str
    kind: str  # "fixes", "reverts", or "brings" as a cherry-pick
    of: str  # the commit or pull request that the message names
    commit: str
    subject: str

    def sentence(self) -> str:
        """Return a sentence that says what upstream did."""
        verb = "cherry-picks" if self.kind == "brings" else self.kind
        return f"upstream {verb} {self.of} in {self.commit[:12]} {self.subject}"

    def answers(self, series: str) -> str:
        """Return the commands that a user can choose: import the commit, or mark it as known."""
        short, where = self.commit[:12], f"--series {series}"
        taken = f"patchmgr import --commit {short} {where}, or " if self.kind != "brings" else ""
        return f"{taken}patchmgr decide {self.patch} needed --by {short} {where}"
