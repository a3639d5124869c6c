"""Let git work in another thread while this one computes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from patchmgr.plumbing.closing import Closing

T = TypeVar("T")


class Ahead(Closing, Generic[T]):
    """A function that runs in a thread; `result` waits for it, and so does leaving the context.

    The function should mostly wait for git: two threads cannot compute at the same time. It shares
    nothing with the thread that starts it.
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
        """Return what the function returns; raise what it raises."""
        self._thread.join()
        if self._fault is not None:
            raise self._fault
        return self._done[0]

    def close(self) -> None:
        """Wait for the function and ignore its errors."""
        self._thread.join()
