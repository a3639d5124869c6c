"""The interface by which long tasks report their progress."""

from __future__ import annotations


class Progress:
    """A receiver of progress reports; this base class ignores them."""

    def start(self, label: str, total: int | None) -> None:
        """Begin a task of `total` units, or of unknown size if `total` is None."""

    def advance(self, amount: int) -> None:
        """Count `amount` more units as done; a negative amount takes units back."""

    def done(self) -> None:
        """End the task, whether it succeeded or not."""

    def tell(self, line: str) -> None:
        """Tell the user something that is not part of the result."""
