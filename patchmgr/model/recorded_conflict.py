"""Recorded conflicts and their resolutions."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class RegionSides(Struct, frozen=True):
    """The three sides of one conflicting region, each made of whole lines with their line feeds."""

    base: bytes
    ours: bytes
    theirs: bytes

    @property
    def sides(self) -> tuple[bytes, bytes, bytes]:
        """Return base, ours and theirs."""
        return self.base, self.ours, self.theirs


class RecordKind(str, Enum):
    """What is in conflict: lines of a text, a whole file, or several regions of one file."""

    REGION = "region"
    FILE = "file"
    GROUP = "group"


class Origin(str, Enum):
    """The command that recorded a resolution."""

    REBASE = "rebase"
    RESOLVE = "resolve"
    ACCEPT = "accept"
    LEARN = "learn"
    PROPOSE = "propose"


class Resolution(Struct, frozen=True):
    """The resolution of a conflict."""

    content: bytes | None  # None: the file is deleted
    origin: Origin
    # what `origin` worked on: a series and its patch, a merge commit, or the accepted side
    source: str = ""
    proposed_by: str = ""  # a person, like `accepted_by`
    accepted_by: str = ""
    because: str = ""  # why a resolution that fails its checks was accepted
    rests_on: tuple[str, ...] = ()  # commits that the checks used


class Recorded(Struct, frozen=True):
    """A conflict in the folder `conflicts/`."""

    id: str
    kind: RecordKind
    # None if a whole file is in conflict and the side lacks it; so are `ours` and `theirs`
    base: bytes | None = None
    ours: bytes | None = None
    theirs: bytes | None = None
    parts: tuple[str, ...] = ()  # of a group, which has no sides: the ids of its conflicts
    path: str = ""  # the file in which the conflict was first seen; the id does not depend on it
    seen: str = ""  # the patch of a series, or the merge, where the conflict was first seen
    resolution: Resolution | None = None

    @property
    def sides(self) -> tuple[bytes, ...]:
        """Return base, ours and theirs, without the sides that lack the file."""
        found = (self.base, self.ours, self.theirs)
        return tuple(side for side in found if side is not None)

    @property
    def made(self) -> bytes | None:
        """Return the resolved text, or None if there is none or the file was deleted."""
        return None if self.resolution is None else self.resolution.content

    def is_about(self, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bool:
        """Return whether the conflict has these sides, with ours and theirs in either order."""
        return self.base == base and (ours, theirs) in (
            (self.ours, self.theirs),
            (self.theirs, self.ours),
        )


class Source(Struct, frozen=True):
    """Where resolutions were pulled from: the source's name, its URL or path, and the commit."""

    name: str
    place: str
    commit: str


class ReplayedResolution(Struct, frozen=True):
    """A resolution that a run replayed; `places` lists the patches (SERIES/PATCH) that used it."""

    recorded: Recorded
    places: tuple[str, ...] = ()
