"""Run a function in a second thread while git works, or in a separate process."""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import signal
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, NoReturn, TypeVar

from patchmgr.plumbing.closing import Closing

T = TypeVar("T")
FEW = 8
"""If there are fewer values than this, starting processes saves no time."""
_NUMBER = 4  # bytes


class ThreadCall(Closing, Generic[T]):
    """A call of a function in a thread; `result` and the end of the `with` block wait for it.

    The function must share no data with the thread that starts it, and should mostly wait for git,
    because Python code runs in only one thread at a time.
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
        except BaseException as fault:  # `result` raises it again
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


class ForkedCall(Closing, Generic[T]):
    """A call of a function in a forked process; call this object, once only, for the result.

    The result must be picklable. If the process fails or cannot be forked, the call runs
    `otherwise` (by default, the same function) in this process.
    """

    def __init__(self, find: Callable[[], T], otherwise: Callable[[], T] | None = None) -> None:
        self._otherwise = otherwise or find
        self._process = 0
        if (os.cpu_count() or 1) < 2 or threading.active_count() > 1 or not hasattr(os, "fork"):
            return
        self._source, sink = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(self._source)
            _send(find, sink)
        os.close(sink)
        atexit.register(self.close)

    def __call__(self) -> T:
        """Wait for the result and return it."""
        if self._process:
            with open(self._source, "rb", closefd=False) as file:
                answer = file.read()
            if self._wait() == 0:
                value: T = pickle.loads(answer)
                return value
        return self._otherwise()

    def close(self) -> None:
        """Kill the process, unless its result was fetched before."""
        if self._process:
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGTERM)
            self._wait()

    def _wait(self) -> int:
        atexit.unregister(self.close)
        os.close(self._source)
        process, self._process = self._process, 0
        return os.waitpid(process, 0)[1]


def in_processes(tasks: Sequence[Callable[[], T]], *, helpers: int = 1) -> Callable[[], list[T]]:
    """Start running tasks in forked processes, and return a function that returns all results.

    `helpers` is the number of processes to fork. The calling process also runs tasks once it asks
    for the results. The results must be picklable.
    """
    # The processes share its position, so that each number is read once.
    source = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `values` closes it
    source.write(b"".join(number.to_bytes(_NUMBER, "big") for number in range(len(tasks))))
    source.seek(0)

    def take() -> dict[int, T]:
        taken = (int.from_bytes(raw, "big") for raw in iter(lambda: source.read(_NUMBER), b""))
        return {number: tasks[number]() for number in taken}

    others = [ForkedCall(take) for _ in range(helpers)]

    def values() -> list[T]:
        done = take()
        for other in others:
            done |= other()
        source.close()
        return [done[n] if n in done else task() for n, task in enumerate(tasks)]

    return values


def _send(find: Callable[[], object], sink: int) -> NoReturn:
    """Write the result of `find` to the pipe, and end this process, with exit code 1 on failure."""
    gc.freeze()  # what is shared with the other process is left alone
    code = 1
    with suppress(BaseException), open(sink, "wb") as file:
        file.write(pickle.dumps(find()))
        code = 0
    os._exit(code)
