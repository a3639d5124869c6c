"""A recorded conflict and its resolution."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Region(Struct, frozen=True):
    """The three sides of one conflicting region, as whole lines with their line feeds."""

    base: bytes
    ours: bytes
    theirs: bytes


class Kind(str, Enum):
    """What conflicts: lines of a text, a whole file, or several regions of one file."""

    REGION = "region"
    FILE = "file"
    GROUP = "group"


class Origin(str, Enum):
    """How a resolution came about."""

    REBASE = "rebase"
    RESOLVE = "resolve"
    ACCEPT = "accept"
    LEARN = "learn"
    PROPOSE = "propose"


class Resolution(Struct, frozen=True):
    """The resolution of a conflict; without content the file is deleted.

    `origin` is the command that recorded it, and `source` says what that command worked on: a
    series and its patch, a merge commit, a side. For a proposed resolution, `proposed_by` and
    `accepted_by` name people, `rests_on` names the commits it was checked on, and `because` is the
    reason for taking one that fails its checks.
    """

    content: bytes | None
    origin: Origin
    source: str = ""
    proposed_by: str = ""
    accepted_by: str = ""
    because: str = ""
    rests_on: tuple[str, ...] = ()


class Recorded(Struct, frozen=True):
    """A conflict in `conflicts/`.

    A side is None where it has no such file (whole files only). A group has no sides, but the ids
    of its `parts`. `path` is the file where it was first seen, `seen` the series and patch, or the
    merge; neither is part of its identity.
    """

    id: str
    kind: Kind
    base: bytes | None = None
    ours: bytes | None = None
    theirs: bytes | None = None
    parts: tuple[str, ...] = ()
    path: str = ""
    seen: str = ""
    resolution: Resolution | None = None

    def is_about(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bool:
        """Return whether these are its sides, with ours and theirs in either order."""
        return self.base == base and (ours, theirs) in (
            (self.ours, self.theirs),
            (self.theirs, self.ours),
        )


class Source(Struct, frozen=True):
    """The source of pulled resolutions: its name, its URL, and the commit."""

    name: str
    place: str
    commit: str


class Recalled(Struct, frozen=True):
    """A resolution that a run replayed, and the patches (with their series) where it was used."""

    recorded: Recorded
    places: tuple[str, ...] = ()
