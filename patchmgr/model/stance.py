"""The status of a patch upstream, and what upstream's commits say about it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Stance(str, Enum):
    """The states of Yocto's `Upstream-Status`; other tools' fields are mapped to them."""

    PENDING = "Pending"
    SUBMITTED = "Submitted"
    BACKPORT = "Backport"
    DENIED = "Denied"
    INACTIVE = "Inactive-Upstream"
    INAPPROPRIATE = "Inappropriate"


class Standing(Struct, frozen=True):
    """A status and its detail: where the patch was sent, its commit, or the reason.

    `field` is the header field that says so, or None if none does.
    """

    stance: Stance = Stance.PENDING
    detail: str = ""
    field: str | None = None


class FollowUp(Struct, frozen=True):
    """An upstream commit whose message "fixes" or "reverts" the upstream commit of a patch.

    Or "brings" it: a cherry-pick. `of` is what it names, a commit or a pull request.
    """

    patch: str
    kind: str
    of: str
    commit: str
    subject: str

    def sentence(self) -> str:
        """Return a sentence: what upstream did."""
        return f"upstream {self.kind} {self.of} in {self.commit[:12]} {self.subject}"

    def answers(self, series: str) -> str:
        """Return the possible commands: take the commit, or mark it as known."""
        short, where = self.commit[:12], f"--series {series}"
        taken = f"patchmgr import --commit {short} {where}, or " if self.kind != "brings" else ""
        return f"{taken}patchmgr decide {self.patch} needed --by {short} {where}"
