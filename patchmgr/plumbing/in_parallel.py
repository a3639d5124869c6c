"""Run a pure function on many values in other processes, while this one goes on."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
FEW = 8
"""So many values are not worth a process."""


@contextmanager
def in_parallel(function: Callable[[T], R], values: Sequence[T]) -> Iterator[Callable[[], list[R]]]:
    """Start the function on all values; what is given returns the results, in their order.

    Values and results must be such that they can be pickled. An error is raised in this process.
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
