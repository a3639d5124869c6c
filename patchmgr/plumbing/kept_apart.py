"""Work on syntax trees in a process of its own: a crash, a hang or a gigabyte costs the answer."""

from __future__ import annotations

import importlib
import pickle
import resource
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO

from patchmgr.engines.structure.sides import Solution, Texts
from patchmgr.plumbing.answers import Answers

PATIENCE = 10.0  # seconds for one file
MOST_MEMORY = 2 << 30  # bytes
MOST_FAILURES = 3
_SIZE = 8  # bytes of the length before each message


class StructureApart:
    """A structural merge (`engines.solving.Structure`) that another process makes.

    The process starts with the first file. One that dies or hangs is replaced; a file that it
    dies on has no solution, and after a few of them no file has any. What `answers` know of a
    file from a run before is not asked again.
    """

    def __init__(self, patience: float = PATIENCE, answers: Answers | None = None) -> None:
        self._patience = patience
        self._answers = answers
        self._process: subprocess.Popen[bytes] | None = None
        self._failures = 0

    def __call__(self, texts: Texts, path: str, marked: bytes) -> Solution | None:
        """Merge a file by its structure, None where that is not sure or the process failed."""
        question = ("merge", *texts.sides(), path, marked)
        known = None if self._answers is None else self._answers.get(question)
        if known is not None:
            return None if known[0] is None else Solution(known[0][0], tuple(known[0][1]))
        found = self._ask("merge", texts, path, marked)
        if found is None:
            return None
        solution = found[0] if isinstance(found[0], Solution) else None
        if self._answers is not None:
            kept = None if solution is None else [solution.text, solution.rules]
            self._answers.put(question, kept)
        return solution

    def suspect(self, texts: Texts, merged: str, path: str) -> tuple[str, ...]:
        """Return what is suspicious in a merge, nothing where the process failed."""
        question = ("suspect", *texts.sides(), merged, path)
        known = None if self._answers is None else self._answers.get(question)
        if known is not None:
            return tuple(known[0])
        found = self._ask("suspect", texts, merged, path)
        if found is None or not isinstance(found[0], tuple):
            return ()
        if self._answers is not None:
            self._answers.put(question, found[0])
        return found[0]

    def suspect_all(
        self, questions: Sequence[tuple[Texts, str, str]]
    ) -> Callable[[], Sequence[tuple[str, ...]]]:
        """Begin to look at merges while the caller goes on; what is returned waits for answers.

        Nothing else may be asked until then.
        """
        if not questions:
            return lambda: ()
        found: list[tuple[str, ...]] = []
        thread = Thread(target=lambda: found.extend(self.suspect(*each) for each in questions))
        thread.start()

        def answers() -> Sequence[tuple[str, ...]]:
            thread.join()
            return found

        return answers

    def _ask(self, *question: object) -> tuple[object] | None:
        """Return the answer of the process, None where it failed."""
        if self._failures >= MOST_FAILURES:
            return None
        process = self._process or self._start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            _write(process.stdin, pickle.dumps(question))
            answer = _read(process.stdout, time.monotonic() + self._patience)
        except (OSError, EOFError):
            self._failures += 1
            self.close()
            return None
        return (pickle.loads(answer),)

    def begin(self) -> None:
        """Start the process before it is asked: it takes a while until it can answer."""
        if self._process is None:
            self._start(is_early=True)

    def _start(self, *, is_early: bool = False) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-I", "-c", _PROGRAM.format(is_early), *_search_path()]
        self._process = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        return self._process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


# The parent's own search path: a program that runs from a checkout finds itself there.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from patchmgr.plumbing.kept_apart import answer_all; answer_all({})"
)


def _search_path() -> list[str]:
    return [entry for entry in sys.path if entry]


def answer_all(is_early: bool) -> None:
    """Answer files from standard input until there are no more: the other process' whole life.

    One that `is_early` has time to get ready before it is asked.
    """
    from patchmgr.engines.structure.solvers import merge_structure, suspect

    if is_early:
        importlib.import_module("libcst")  # most questions need it
    asked: dict[str, Callable[..., object]] = {"merge": merge_structure, "suspect": suspect}
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            what, *question = pickle.loads(_read(source, None))
        except EOFError:
            return
        _write(sink, pickle.dumps(asked[what](*question)))


def _write(sink: IO[bytes], message: bytes) -> None:
    sink.write(len(message).to_bytes(_SIZE, "big") + message)
    sink.flush()


def _read(source: IO[bytes], end: float | None) -> bytes:
    size = int.from_bytes(_read_bytes(source, _SIZE, end), "big")
    return _read_bytes(source, size, end)


def _read_bytes(source: IO[bytes], size: int, end: float | None) -> bytes:
    """Read so many bytes; raise EOFError where they end, TimeoutError where time is up."""
    if end is None:
        found = source.read(size)
        if len(found) < size:
            raise EOFError
        return found
    parts: list[bytes] = []
    while size:
        if not select.select([source], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError
        part = source.raw.read(size) if hasattr(source, "raw") else source.read(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
