"""Run functions in other processes while this process continues."""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
FEW = 8
"""Up to this many values are not worth a process."""


@contextmanager
def in_parallel(function: Callable[[T], R], values: Sequence[T]) -> Iterator[Callable[[], list[R]]]:
    """Start calling the function on each value, in several processes.

    Yields a function that waits for the results and returns them in the order of the values. Values
    and results must be picklable. An error in the function is raised when the results are
    requested.
    """
    cores = os.cpu_count() or 1
    if len(values) < FEW or cores < 2:
        yield lambda: [function(value) for value in values]
        return
    context = multiprocessing.get_context("fork")
    # A worker lives for seconds: what it would free there takes longer than it is worth.
    with ProcessPoolExecutor(min(cores, 4), mp_context=context, initializer=gc.disable) as pool:
        started: list[Future[R]] = [pool.submit(function, value) for value in values]
        try:
            yield lambda: [future.result() for future in started]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def beside(find: Callable[[], T]) -> Callable[[], T]:
    """Start computing a value in a forked process, and return a function that waits for the value.

    The value must be picklable. If another thread is running, or there is only one core, the value
    is computed in this process when it is requested, and also if the forked process fails.
    """
    if (os.cpu_count() or 1) < 2 or threading.active_count() > 1:
        return find
    context = multiprocessing.get_context("fork")
    source, sink = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(find, sink), daemon=True)
    process.start()
    sink.close()

    def found() -> T:
        try:
            value: T = source.recv()
        except EOFError:
            return find()  # an error is raised here
        finally:
            process.join()
            source.close()
        return value

    return found


def _send(find: Callable[[], object], sink: Connection) -> None:
    gc.disable()
    try:
        sink.send(find())
    except BaseException:  # the process that waits will meet it, too
        os._exit(1)
