"""Work in other processes."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from patchmgr.plumbing.in_parallel import FEW, beside, in_parallel
from patchmgr.plumbing.objects import ObjectReader


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


def test_a_value_is_found_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    found = beside(os.getpid)()
    assert (found != os.getpid()) == (threading.active_count() == 1)


def test_what_fails_in_a_fork_is_found_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    parent = os.getpid()

    def only_here() -> str:
        if os.getpid() != parent:
            raise MemoryError
        return "here"

    assert beside(only_here)() == "here"


def test_one_core_or_a_thread_under_way_takes_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert beside(os.getpid)() == os.getpid()
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    wait = threading.Event()
    thread = threading.Thread(target=wait.wait)
    thread.start()
    assert beside(os.getpid)() == os.getpid()
    wait.set()
    thread.join()


def test_a_fork_reads_objects_by_a_git_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    subprocess.run(["git", "init", "-q", "--bare", tmp_path], check=True)
    with ObjectReader(tmp_path) as reader:
        assert reader.find("0" * 40) is None  # git runs

        def own() -> bool:
            before = dict(reader._processes)
            return reader.find("0" * 40) is None and reader._processes != before

        assert beside(own)() or threading.active_count() > 1
        assert reader.find("0" * 40) is None
