"""Upstreams, pins and the lock file that lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from patchmgr.model.operation import Commit, Sha256

LOCK_FORMAT = 1
Word = Annotated[str, Meta(pattern=r"^[^-]")]
"""A string that is safe as an argument of git, because it does not begin with a dash."""


class Upstream(Struct, frozen=True):
    """A project to which series apply: a git remote, a package on an index, or an archive.

    A project may be both a git remote and a package.
    """

    name: str
    track: str  # "git", "package" or "archive": where the name of a state is looked up
    git: str | None = None
    package: str | None = None
    branch: str | None = None
    archive: str | None = None  # a URL, or the path of an archive or folder


class CommitSummary(Struct, frozen=True):
    """An upstream commit (or release), and the pull request that its subject names, if any."""

    commit: str
    subject: str
    pull: int | None

    @property
    def title(self) -> str:
        """Return the subject, without the number of a pull request at its end."""
        return self.subject.rstrip().removesuffix(f"(#{self.pull})").rstrip()


class Pin(Struct, frozen=True, forbid_unknown_fields=True):
    """The exact upstream state that a series is based on. Ids have 40 hex digits."""

    ref: Word
    commit: Commit
    tree: Commit
    # the file name of a release's or snapshot's archive; None for a commit
    archive: str | None = None
    sha256: Sha256 | None = None


class UpstreamState(Struct, frozen=True, omit_defaults=True):
    """An upstream state in a document; for a release, also the name and sha256 of its archive."""

    ref: str
    commit: str
    archive: str | None = None
    sha256: str | None = None


class Resolved(UpstreamState, frozen=True):
    """An upstream state and, for a release or a snapshot, its version."""

    version: str | None = None


class SeriesRecord(Struct, frozen=True):
    """The entry of a series in the lock file; `result` summarizes the last rebase of the series."""

    name: str
    upstream: str
    pin: Pin
    on: str | None = None
    result: Mapping[str, Any] = field(default_factory=dict)


class Lock(Struct, frozen=True):
    """The content of the lock file, `upstream.lock`."""

    upstreams: Mapping[str, Upstream] = field(default_factory=dict)
    series: Mapping[str, SeriesRecord] = field(default_factory=dict)

    def below(self, name: str) -> tuple[str, ...]:
        """Return the names of the series that a series is based on, the nearest first."""
        on = self.series[name].on
        return () if on is None else (on, *self.below(on))

    def above(self, name: str) -> list[str]:
        """Return the names of the series that are based directly on a series, sorted."""
        return sorted(upper for upper, record in self.series.items() if record.on == name)
