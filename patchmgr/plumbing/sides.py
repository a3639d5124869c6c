"""The services that commands need from an upstream, however it is followed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from patchmgr.model.upstream import Pin
from patchmgr.plumbing.diffs import Changes
from patchmgr.plumbing.history import GitHistory, ReleaseHistory
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.stores import Resolved


class Side(Protocol):
    """One way to follow an upstream: its git repository, or the releases of its package.

    `step` is the word for one step between states; `has_history` says that the steps are the
    project's own commits. `reader` reads the store.
    """

    step: str
    has_history: bool
    reader: ObjectReader
    store: Path

    def fetch(self, wanted: Sequence[str] = ()) -> str:
        """Fetch the tracked state and the wanted states; return the tracked state's commit."""
        ...

    def resolve(self, ref: str) -> Resolved:
        """Return the state of a ref; raise PatchmgrError "unknown-ref" with the nearest names."""
        ...

    def try_fetch_objects(self, ids: Collection[str], seen: ObjectReader | None = None) -> None:
        """Fetch the objects that the upstream has and that are in neither the store nor `seen`."""
        ...

    def tip(self) -> str | None:
        """Return the commit of the tracked branch as the store knows it."""
        ...

    def version_of(self, pin: Pin) -> str | None:
        """Return the version of a pinned release that the store has."""
        ...

    def bring_pin(self, pin: Pin) -> str | None:
        """Fetch a pinned state; return its version if it is a release."""
        ...

    def distance(self, pin: Pin) -> tuple[str | None, int | None]:
        """Return the tracked state as of the last fetch, and how many steps the pin is behind."""
        ...

    def history(self, base: Resolved, target: Resolved) -> GitHistory | ReleaseHistory:
        """Return what upstream did between two states."""
        ...

    def recent(
        self, commit: str, paths: Sequence[str], *, scratch: Path
    ) -> tuple[int, Changes] | None:
        """Return how many of the last steps were examined, and their changes to the paths."""
        ...

    def between(
        self, start: Resolved, end: Resolved, every: int | None, say: Callable[[str], None]
    ) -> tuple[Resolved, ...]:
        """Return the releases after one state up to another, or every Nth commit."""
        ...
