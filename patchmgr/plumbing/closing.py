"""Objects that are closed, and tasks that are reported as done, at the end of a `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from patchmgr.model.progress import Progress

_Closing = TypeVar("_Closing", bound="Closing")


class Closing:
    """An object that holds files or processes until it is closed."""

    def __enter__(self: _Closing) -> _Closing:
        return self

    def __exit__(self, *fault: object) -> None:
        """Close the object, whether or not an error was raised."""
        self.close()

    def close(self) -> None:
        """Release the files and processes that the object holds."""
        raise NotImplementedError


@contextmanager
def task(progress: Progress, label: str, total: int | None) -> Iterator[None]:
    """Report the beginning of a task, and its end at the end of the `with` block."""
    progress.start(label, total)
    try:
        yield
    finally:
        progress.done()
