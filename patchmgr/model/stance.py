"""Where a patch stands towards upstream, and what upstream says of what it is."""

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


class FollowUp(Struct, frozen=True):
    """An upstream commit whose message says that it "fixes" or "reverts" what a patch is.

    Or that it "brings" it: a cherry-pick. `of` is what it names, a commit or a pull request.
    """

    patch: str
    kind: str
    of: str
    commit: str
    subject: str

    def sentence(self) -> str:
        """Return what upstream did."""
        return f"upstream {self.kind} {self.of} in {self.commit[:12]} {self.subject}"

    def answers(self, series: str) -> str:
        """Return what a person can type: take it, or say that it is known."""
        short, where = self.commit[:12], f"--series {series}"
        taken = f"patchmgr import --commit {short} {where}, or " if self.kind != "brings" else ""
        return f"{taken}patchmgr decide {self.patch} needed --by {short} {where}"
