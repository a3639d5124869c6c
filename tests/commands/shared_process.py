"""One process for the work on syntax trees of all commands that a test run makes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from patchmgr.plumbing.kept_apart import StructureApart


@contextmanager
def shared_process() -> Iterator[None]:
    """Let each command leave its process to the next one, unless it failed or was interrupted.

    Such a process keeps nothing of what it was asked, and takes longer to start than most tests.
    What becomes of one that dies or hangs is tested in `tests/plumbing/test_kept_apart.py`.
    """
    idle: list[subprocess.Popen[bytes]] = []
    asking = set[int]()
    start, ask, close = StructureApart._start, StructureApart._ask, StructureApart.close

    def start_or_take(self: StructureApart, *, is_early: bool = False) -> subprocess.Popen[bytes]:
        if not idle:
            return start(self, is_early=is_early)
        self._process = idle.pop()
        return self._process

    def ask_noted(self: StructureApart, path: str, *question: object) -> tuple[object] | None:
        asking.add(id(self))
        answer = ask(self, path, *question)
        asking.discard(id(self))
        return answer

    def leave(self: StructureApart) -> None:
        if id(self) in asking or self._process is None:
            asking.discard(id(self))
            close(self)
        else:
            idle.append(self._process)
            self._process = None

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(StructureApart, "_start", start_or_take)
        patched.setattr(StructureApart, "_ask", ask_noted)
        patched.setattr(StructureApart, "close", leave)
        try:
            yield
        finally:
            for process in idle:
                with process:
                    process.kill()
