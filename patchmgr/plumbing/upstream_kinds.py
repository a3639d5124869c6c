"""The base class through which commands use an upstream, whatever its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from pathlib import Path

from patchmgr.model.progress import Progress
from patchmgr.model.upstream import Pin, Resolved, Upstream
from patchmgr.plumbing.diffs import Changes
from patchmgr.plumbing.history import GitHistory, ReleaseHistory
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.scratch_repository import Scratch


class OpenUpstream(ABC):
    """An opened upstream: a git repository, the releases of a package, or an archive."""

    step: str = "release"  # the word for a step from one state to the next
    has_history: bool = False  # the steps are the project's own commits

    def __init__(self, upstream: Upstream, reader: ObjectReader, progress: Progress) -> None:
        self.reader, self.store = reader, reader.git_dir
        self._name, self._progress = upstream.name, progress

    @abstractmethod
    def fetch(self, wanted: Sequence[str] = ()) -> str:
        """Fetch the tracked state and those in `wanted`, and return the tracked state's commit."""

    @abstractmethod
    def resolve(self, ref: str) -> Resolved:
        """Return the state that a ref names; raise PatchmgrError "unknown-ref" if there is none."""

    def try_fetch_objects(self, ids: Collection[str], seen: Scratch | None = None) -> None:
        """Try to fetch the objects that the store lacks and `seen` cannot read."""
        return  # the store of a package or an archive is complete

    def tip(self) -> str | None:
        """Return the tracked branch's commit as of the last fetch, or None if there is none."""
        return None

    def version_of(self, pin: Pin) -> str | None:
        """Return the version of the pinned release, or None if a commit is pinned."""
        return None

    @abstractmethod
    def bring_pin(self, pin: Pin) -> str | None:
        """Fetch the pinned state; return its version, or None if a commit is pinned."""

    @abstractmethod
    def distance(self, pin: Pin) -> tuple[str | None, int | None]:
        """Return the tracked state as of the last fetch, and how many steps it is from the pin.

        Each is None if it is unknown.
        """

    @abstractmethod
    def history(self, base: Resolved, target: Resolved) -> GitHistory | ReleaseHistory:
        """Return upstream's history from one state to another."""

    def recent(
        self, commit: str, paths: Sequence[str], *, scratch: Path
    ) -> tuple[int, Changes] | None:
        """Return how many recent steps were examined, and the hunks of the steps in the paths.

        Returns None if the steps are unknown.
        """
        return None

    @abstractmethod
    def between(
        self, start: Resolved, end: Resolved, every: int | None, say: Callable[[str], None]
    ) -> tuple[Resolved, ...]:
        """Return the releases between two states, or every Nth commit if `every` is N."""


def nearest(wanted: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return a hint that lists the known names most similar to `wanted`, or else the first ones."""
    close = get_close_matches(wanted, known, n=5, cutoff=0.5) or known[:5]
    return (f"nearest names: {', '.join(close)}",) if close else ()
