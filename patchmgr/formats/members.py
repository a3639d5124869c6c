"""What the members of an archive have in common, and how many are too many."""

from __future__ import annotations

import enum

from msgspec import Struct

from patchmgr.errors import PatchmgrError


class Kind(enum.Enum):
    """What a member is; every other kind is refused while reading."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    HARDLINK = "hardlink"


class Member(Struct, frozen=True):
    """One member as the archive has it: nothing is checked yet but size and kind.

    `content` is the target of a symbolic link; `target` names the earlier member that a hard
    link shares its content with.
    """

    name: str
    kind: Kind
    is_executable: bool
    mtime: int
    content: bytes = b""
    target: str = ""


class Limits(Struct, frozen=True):
    """How much an archive may hold; `free_bytes` may be had at any compression ratio."""

    members: int = 500_000
    file_bytes: int = 1 << 30
    total_bytes: int = 4 << 30
    free_bytes: int = 256 << 20
    ratio: int = 200


class Budget:
    """Counts what is read of one archive and stops at its limits."""

    def __init__(self, limits: Limits, archive_size: int) -> None:
        self._limits = limits
        self._members = 0
        self._left = min(limits.total_bytes, max(limits.free_bytes, archive_size * limits.ratio))

    def member(self) -> None:
        """Count one member."""
        self._members += 1
        if self._members > self._limits.members:
            raise bad(f"has more than {self._limits.members} members")

    def take(self, size: int) -> None:
        """Count bytes before they are read."""
        if size < 0 or size > self._limits.file_bytes or size > self._left:
            raise bad("unpacks to more than it may (is it a bomb?)")
        self._left -= size


def bad(reason: str) -> PatchmgrError:
    """Return the error for an archive that is refused; the message goes on after its name."""
    return PatchmgrError("bad-archive", reason)


def refused(name: str, reason: str) -> PatchmgrError:
    """Return the error for a member that makes its archive refused."""
    shown = name if len(name) < 200 else name[:200] + "..."
    return bad(f"is refused: its member {shown!a} {reason}")
