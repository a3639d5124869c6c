"""Processes that a command leaves to the next one: for syntax trees, and for what a store has."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from patchmgr.plumbing import answers
from patchmgr.plumbing.kept_apart import StructureApart
from patchmgr.plumbing.objects import ObjectReader


@contextmanager
def shared_process() -> Iterator[None]:
    """Let each command leave its process to the next one, unless it failed or was interrupted.

    Such a process keeps nothing of what it was asked, and takes longer to start than most tests.
    What becomes of one that dies or hangs is tested in `tests/plumbing/test_kept_apart.py`.
    """
    idle: list[subprocess.Popen[bytes]] = []
    asking = set[int]()
    start, ask, close = StructureApart._start, StructureApart._ask, StructureApart.close
    program = list(answers._program())  # nobody edits it meanwhile

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
        patched.setattr(answers, "_program", lambda: program)
        patched.setattr(StructureApart, "_ask", ask_noted)
        patched.setattr(StructureApart, "close", leave)
        try:
            yield
        finally:
            for process in idle:
                with process:
                    process.kill()


@contextmanager
def shared_readers() -> Iterator[None]:
    """Let each command leave the reader of a repository to the next one of the same test.

    A reader with a question open and the one of a bench, which is deleted, end as they always do,
    and so does one whose repository is another by now, or borrows from another.
    """
    idle: dict[_Where, subprocess.Popen[bytes]] = {}
    started: dict[int, _Where] = {}
    asking = set[int]()
    ask, replies, close = ObjectReader._ask, ObjectReader._answers, ObjectReader.close

    def ask_or_take(self: ObjectReader, verb: str, names: Sequence[str]) -> subprocess.Popen[bytes]:
        if self._asker == os.getpid() and not self._processes:
            place = started[id(self)] = _where(self)
            if place in idle:
                self._processes["--batch-command"] = idle.pop(place)
        return ask(self, verb, names)

    def replies_noted(self: ObjectReader, verb: str, names: Sequence[str]) -> Any:
        asking.add(id(self))
        yield from replies(self, verb, names)
        asking.discard(id(self))

    def leave(self: ObjectReader) -> None:
        place = started.pop(id(self), None)
        is_kept = id(self) not in asking and not self._is_split and place == _where(self)
        if is_kept and place not in idle and not self.git_dir.name.startswith("bench-"):
            process = self._processes.pop("--batch-command", None)
            if process is not None and place is not None:
                idle[place] = process
        asking.discard(id(self))
        close(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ObjectReader, "_ask", ask_or_take)
        patched.setattr(ObjectReader, "_answers", replies_noted)
        patched.setattr(ObjectReader, "close", leave)
        try:
            yield
        finally:
            for place, process in idle.items():
                last = ObjectReader(place[1])
                last._processes["--batch-command"] = process
                close(last)


_Where = tuple[int, Path, int, bytes]


def _where(reader: ObjectReader) -> _Where:
    folder = reader.git_dir
    lenders = folder / "objects/info/alternates"
    number = folder.stat().st_ino if folder.exists() else 0
    return os.getpid(), folder, number, lenders.read_bytes() if lenders.exists() else b""
