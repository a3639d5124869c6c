"""Work beside this process."""

import os
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from patchmgr.plumbing.background import ForkedCall, in_processes
from patchmgr.plumbing.objects import ObjectReader

_FORKING = """
import os, sys, time
from patchmgr.plumbing.background import ForkedCall, in_processes
os.cpu_count = lambda: 2
def find():
    print("begun", flush=True)
    time.sleep(60)
kept = ForkedCall(find)
sys.exit(sys.stdin.readline() and 3)
"""


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def only_in(parent: int, value: int) -> int:
    if os.getpid() != parent:
        raise MemoryError
    return value


def test_a_value_is_found_in_a_fork() -> None:
    found = ForkedCall(os.getpid)()
    assert (found != os.getpid()) == (threading.active_count() == 1)


def test_what_fails_in_a_fork_or_another_process_is_found_here() -> None:
    here = partial(only_in, os.getpid())
    assert ForkedCall(partial(here, 7))() == 7
    assert in_processes([partial(here, number) for number in range(3)])() == [0, 1, 2]


def test_what_nobody_waits_for_is_ended() -> None:
    start = time.monotonic()
    with ForkedCall(partial(time.sleep, 60)):
        pass
    assert time.monotonic() - start < 50


@pytest.mark.parametrize("count", [1, 2])
def test_another_value_may_replace_a_lost_one(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: count)

    def fails() -> dict[str, str]:
        raise MemoryError

    assert ForkedCall[dict[str, str]](fails, dict)() == {}


def test_one_core_or_a_thread_under_way_takes_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert ForkedCall(os.getpid)() == os.getpid()
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    wait = threading.Event()
    thread = threading.Thread(target=wait.wait)
    thread.start()
    assert ForkedCall(os.getpid)() == os.getpid()
    wait.set()
    thread.join()


def test_a_fork_reads_objects_by_a_git_of_its_own(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path], check=True)
    with ObjectReader(tmp_path) as reader:
        assert reader.find("0" * 40) is None  # git runs

        def own() -> bool:
            before = dict(reader._processes)
            return reader.find("0" * 40) is None and reader._processes != before

        assert ForkedCall(own)() or threading.active_count() > 1
        assert reader.find("0" * 40) is None


def test_a_fork_ends_with_the_process_that_started_it() -> None:
    start, line = time.monotonic(), [sys.executable, "-c", _FORKING]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdin
        assert process.stdout.readline() == b"begun\n"
        process.stdin.write(b"now\n")
        process.stdin.close()
        assert process.stdout.read() == b""  # no process holds it any more
    assert time.monotonic() - start < 50


def test_two_processes_share_tasks_and_each_value_stands_at_its_place() -> None:
    tasks = [partial(_waited, number) for number in range(20)]
    values = in_processes(tasks)()
    assert [number for number, _ in values] == [*range(20)]
    assert len({process for _, process in values}) <= 2


def test_there_may_be_any_number_of_tasks() -> None:
    """A pipe has room for 16,384 numbers, and no process reads them before all are written."""
    tasks = [partial(int, number) for number in range(20_000)]
    assert in_processes(tasks)() == [*range(20_000)]


def _waited(number: int) -> tuple[int, int]:
    time.sleep(0.001)
    return number, os.getpid()
