"""Work in other processes."""

from __future__ import annotations

import os

import pytest

from patchmgr.plumbing.background import FEW
from patchmgr.plumbing.in_parallel import in_parallel


def place(value: int) -> tuple[int, int]:
    """Return the value and the process that was asked."""
    if value < 0:
        raise ValueError(value)
    return value, os.getpid()


def test_a_few_values_and_one_core_take_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with in_parallel(place, range(FEW - 1)) as results:
        assert results() == [(n, os.getpid()) for n in range(FEW - 1)]
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with in_parallel(place, range(FEW)) as results:
        assert results() == [(n, os.getpid()) for n in range(FEW)]


def test_results_come_in_order_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with in_parallel(place, range(FEW)) as results:
        found = results()
    assert [value for value, _ in found] == list(range(FEW))
    assert os.getpid() not in {process for _, process in found}


def test_an_error_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with in_parallel(place, range(-1, FEW)) as results, pytest.raises(ValueError, match="-1"):
        results()
