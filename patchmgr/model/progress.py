"""How long tasks report their progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Listens to one task at a time."""

    def start(self, label: str, total: int | None) -> None:
        """Begin a piece of work of `total` bytes, or None if that is not known."""

    def advance(self, amount: int) -> None:
        """Count bytes that are done; a negative amount takes some back."""

    def done(self) -> None:
        """End the piece of work, whether it succeeded or not."""


class Quiet:
    """A listener that says nothing."""

    def start(self, label: str, total: int | None) -> None:
        """Ignore the start."""

    def advance(self, amount: int) -> None:
        """Ignore the advance."""

    def done(self) -> None:
        """Ignore the end."""
