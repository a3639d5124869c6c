"""Run a function in a second thread while git works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from patchmgr.plumbing.closing import Closing

T = TypeVar("T")


class Ahead(Closing, Generic[T]):
    """A function that runs in its own thread.

    `result` and the end of the `with` block wait for the function. The function should mostly wait
    for git, as two threads cannot compute at the same time. It must share no data with the thread
    that starts it.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._done: list[T] = []
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._done.append(self._work())
        except BaseException as fault:  # told to who asks for the result
            self._fault = fault

    def result(self) -> T:
        """Wait for the function and return its result, or raise the error that it raised."""
        self._thread.join()
        if self._fault is not None:
            raise self._fault
        return self._done[0]

    def close(self) -> None:
        """Wait for the function to end, and ignore any error that it raised."""
        self._thread.join()
