"""Structural merges in a separate process, so that a crash ends only that process."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import msgspec

from patchmgr.engines.merge.candidate import Resolved
from patchmgr.engines.structure.sides import Texts
from patchmgr.errors import PatchmgrError
from patchmgr.model.edits import Edit
from patchmgr.model.patch import FilePatch
from patchmgr.plumbing.answer_cache import Answers
from patchmgr.plumbing.background import ThreadCall

T = TypeVar("T")
_Asked = tuple["tuple[str | bytes, ...]", "type[T]", str, "tuple[object, ...]"]
"""A request to the process: its cache key, the type of its answer, the path, and the question."""

PATIENCE = 600.0  # seconds for one file; files within the limits need less than a tenth of that
_UNNEEDED = 1.0  # seconds for an answer that is no longer needed; a new process starts in less
MOST_MEMORY = 2 << 30  # bytes
NO_MEMORY = 3  # an exit code
_FAILURES = (NO_MEMORY, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)
"""The exit codes that mean that a text was too large or too deeply nested for the process.

The same text always causes the same exit code.
"""


class MergeProcess:
    """The process that does structural merges; a file that crashes it is not merged.

    Raises PatchmgrError "helper" if the process is killed, cannot start or does not answer in time,
    so that a busy machine does not change a result.
    """

    def __init__(
        self,
        answers: Answers,
        *,
        patience: float = PATIENCE,
        confidence: int | None = None,
    ) -> None:
        self._patience = patience
        self._least = None if confidence is None else confidence / 100
        self._answers = answers
        self._process: subprocess.Popen[bytes] | None = None
        self._has_answered = False
        self._sent: tuple[object, ...] | None = None  # the question that is not answered yet

    def __call__(self, texts: Texts, path: str, marked: bytes) -> Resolved | None:
        """Return the structural merge of a file, or None if it is not reliable enough."""
        return self._known(*self._merge(texts, path, marked))

    def ahead(self, texts: Texts, path: str, marked: bytes) -> None:
        """Have the process start a structural merge that will likely be requested later."""
        key, _, _, question = self._merge(texts, path, marked)
        if self._sent is None and self._answers.get(key) is None:
            with suppress(OSError):  # noticed when the answer is read
                self._send(question)

    def _merge(self, texts: Texts, path: str, marked: bytes) -> _Asked[Resolved]:
        key = ("merge", *texts.sides(), path, marked, str(self._least))
        return key, Resolved, path, ("merge", texts, path, marked, self._least)

    def suspect(self, texts: Texts, merged: str, path: str, names: bool = True) -> tuple[str, ...]:
        """Return a sentence for each suspicious place in a merge; `names` adds undefined names."""
        key = ("names" if names else "suspect", *texts.sides(), merged, path)
        question = ("suspect", texts, merged, path, names)
        return self._known(key, tuple[str, ...], path, question) or ()

    def edits(self, pairs: Sequence[tuple[str, str]], path: str) -> tuple[Edit, ...]:
        """Return, in order, the edits that turn the first text of each pair into the second."""
        key = ("edits", path, *(text for pair in pairs for text in pair))
        found = self._known(key, tuple[Edit, ...], path, ("edits", tuple(pairs), path))
        is_too_deep = Edit("", "change lines that are nested too deeply to describe")
        return (is_too_deep,) if found is None else found

    def edits_of_hunks(self, change: FilePatch) -> tuple[Edit, ...]:
        """Return the edits that a patch makes to a file, or () for a new or deleted file."""
        if None in (change.old_path, change.new_path) or not change.hunks:
            return ()
        sides = ((hunk.old(), hunk.new()) for hunk in change.hunks)
        pairs = [(_text(before), _text(after)) for before, after in sides]
        return self.edits(pairs, change.path)

    def _known(
        self, key: tuple[str | bytes, ...], kind: type[T], path: str, question: tuple[object, ...]
    ) -> T | None:
        """Return an answer from the cache or, if it has none, from the process.

        Returns None if the process has no answer, either.
        """
        known = self._answers.get(key)
        found = known or self._ask(path, *question)
        if found is None:
            return None
        answer = msgspec.convert(found[0], kind | None)
        if known is None:
            self._answers.put(key, msgspec.to_builtins(answer))
        return answer

    def suspect_all(
        self, questions: Sequence[tuple[Texts, str, str]]
    ) -> Callable[[], Sequence[tuple[str, ...]]]:
        """Start examining merges; return a function that returns each merge's suspicious places.

        No other request may be made until that function has returned.
        """
        if not questions:
            return lambda: ()
        # The audit finds undefined names.
        return ThreadCall(lambda: [self.suspect(*each, names=False) for each in questions]).result

    def _ask(self, path: str, *question: object) -> tuple[object] | None:
        """Return the answer of the process, or None if it fails on the question."""
        # A failure counts only in a fresh process: earlier questions may have used up memory.
        is_fresh = not self._has_answered and self._sent in (None, question)
        found = self._answer(path, question)
        return found if found is not None or is_fresh else self._answer(path, question)

    def _answer(self, path: str, question: tuple[object, ...]) -> tuple[object] | None:
        if self._process is not None and self._sent not in (None, question):
            try:
                self._received(self._process, _UNNEEDED)
            except (OSError, EOFError, pickle.UnpicklingError):  # the answer is not needed
                self.close()
        process = self._process or self._start()
        try:
            if self._sent is None:
                self._send(question)
            answer = self._received(process, self._patience)
        except TimeoutError as fault:
            self.close()
            said = f"did not finish within {self._patience:.0f} seconds"
            raise _broken(path, said) from fault
        except (OSError, EOFError, pickle.UnpicklingError) as fault:
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._patience)
            code = process.poll()
            self.close()
            if code in _FAILURES:
                return None
            raise _broken(path, f"exited with status {code}") from fault
        return (answer,)

    def _send(self, question: tuple[object, ...]) -> None:
        process, self._sent = self._process or self._start(), question
        assert process.stdin is not None
        pickle.dump(question, process.stdin)
        process.stdin.flush()

    def _received(self, process: subprocess.Popen[bytes], patience: float) -> object:
        assert process.stdout is not None
        if not select.select([process.stdout], [], [], patience)[0]:
            raise TimeoutError
        answer = pickle.load(process.stdout)
        self._has_answered, self._sent = True, None
        return answer

    def begin(self) -> None:
        """Start the process before the first request, because starting takes a while."""
        if self._process is None:
            self._start(is_early=True)

    def _start(self, *, is_early: bool = False) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-s", "-c", _PROGRAM.format(is_early), *filter(None, sys.path)]
        # The hash seed fixes the order of sets of strings; with -I, Python would ignore the seed.
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self._has_answered, self._sent = False, None
        self._process = subprocess.Popen(
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**env, "PYTHONHASHSEED": "0"},
        )
        return self._process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        self._has_answered, self._sent = False, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _text(lines: Sequence[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "surrogateescape")


def _broken(path: str, what: str) -> PatchmgrError:
    message = f"the structural merge of {path} {what}"
    return PatchmgrError("helper", message, "nothing was changed; run the command again")


# The process gets this process's search path, so that it finds a patchmgr that is not installed.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from patchmgr.plumbing.merge_process_main import answer_all; answer_all({})"
)
