"""Run functions in other processes while this process continues."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from patchmgr.plumbing.background import FEW

T = TypeVar("T")
R = TypeVar("R")


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
    # A worker lives only for seconds, in which garbage collection takes more time than it saves.
    with ProcessPoolExecutor(min(cores, 4), mp_context=context, initializer=gc.disable) as pool:
        started: list[Future[R]] = [pool.submit(function, value) for value in values]
        try:
            yield lambda: [future.result() for future in started]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
