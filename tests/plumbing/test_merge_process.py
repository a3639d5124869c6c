"""Structural merges in another process."""

import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from patchmgr.engines.merge.candidate import Resolved
from patchmgr.engines.merge.resolve import resolve
from patchmgr.engines.structure.sides import Texts
from patchmgr.errors import PatchmgrError
from patchmgr.model.edits import Edit
from patchmgr.model.patch import FilePatch, Hunk
from patchmgr.plumbing import merge_process
from patchmgr.plumbing.answer_cache import Answers
from patchmgr.plumbing.merge_process import MergeProcess

BASE = "import a\nimport z\n"
UPSTREAM = "import a\nimport b\nimport z\n"
FORK = "import a\nimport c\nimport z\n"
MARKED = b"""import a
<<<<<<< ours
import b
||||||| base
=======
import c
>>>>>>> theirs
import z
"""
TORN = b"<<<<<<< ours\ny\n"
TEXTS = Texts(BASE, UPSTREAM, FORK)


class NoAnswers(Answers):
    """A cache that keeps nothing."""

    def get(self, question: Iterable[str | bytes]) -> None:
        return None

    def put(self, question: Iterable[str | bytes], answer: object) -> None:
        pass


@pytest.fixture
def apart() -> Iterator[MergeProcess]:
    made = MergeProcess(NoAnswers())
    yield made
    made.close()


def test_it_answers_what_the_merge_answers(apart: MergeProcess) -> None:
    expected = resolve(TEXTS, "a.py", MARKED)
    assert expected is not None
    assert apart(TEXTS, "a.py", MARKED) == expected
    assert apart(TEXTS, "a.py", TORN) is None
    assert apart(TEXTS, "a.py", MARKED) == expected


def test_it_says_what_the_hunks_of_a_patch_do(apart: MergeProcess) -> None:
    lines = (b" def f():\n", b"-    g(1)\n", b"+    g(1, 2)\n")
    change = FilePatch("a.py", "a.py", hunks=(Hunk(1, 2, 1, 2, b"", lines),))
    (edit,) = apart.edits_of_hunks(change)
    assert str(edit) == "add the argument `2` of the call of g in f"
    assert apart.edits_of_hunks(replace(change, old_path=None)) == ()


def test_what_nests_too_deep_for_a_process_is_said_to_be_so(apart: MergeProcess) -> None:
    old, new = (f"{'(' * 400}{name}{')' * 400}\n" for name in "ab")
    (edit,) = apart.edits([(old, new)], "a.py")
    assert str(edit) == "change lines that are nested too deeply to describe"
    assert apart.edits([("x\n", "y\n")], "a.py") == (Edit("", "replace `x` with `y`"),)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("import os; os.kill(os.getpid(), 11)", id="crashes"),
        pytest.param("import sys, os; sys.stdin.buffer.read(8); os.abort()", id="aborts"),
        pytest.param("import os; os._exit(3)", id="has-no-memory-left"),
    ],
)
def test_a_file_that_a_process_fails_on_has_no_solution(
    apart: MergeProcess, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(merge_process, "_PROGRAM", program)
        assert apart(TEXTS, "a.py", MARKED) is None
        assert apart.suspect(TEXTS, "x\n", "a.py") == ()
        (edit,) = apart.edits([("x\n", "y\n")], "a.py")
        assert edit.words.startswith("change lines that are nested")
    assert isinstance(apart(TEXTS, "a.py", MARKED), Resolved)


def test_a_file_that_a_process_fails_on_is_asked_again_of_a_fresh_one(
    apart: MergeProcess,
) -> None:
    assert isinstance(apart(TEXTS, "a.py", MARKED), Resolved)
    assert apart._process is not None
    apart._process.send_signal(signal.SIGSEGV)
    apart._process.wait()
    assert isinstance(apart(TEXTS, "a.py", MARKED), Resolved)


@pytest.mark.parametrize("begun", [MARKED, TORN])
def test_a_begun_merge_is_the_same_or_is_dropped(apart: MergeProcess, begun: bytes) -> None:
    expected = resolve(TEXTS, "a.py", MARKED)
    for _ in range(2):
        apart.ahead(TEXTS, "a.py", begun)
        assert apart(TEXTS, "a.py", MARKED) == expected
    apart.ahead(TEXTS, "a.py", begun)
    assert len(apart.edits([("x\n", "y\n")], "a.py")) == 1


@pytest.mark.parametrize(
    "program",
    ["import os; os._exit(3)", "import os; os.kill(os.getpid(), 9)", "import time; time.sleep(99)"],
)
def test_a_merge_that_nobody_needs_holds_up_no_other(
    apart: MergeProcess, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(merge_process, "_UNNEEDED", 0.1)
    with monkeypatch.context() as patched:
        patched.setattr(merge_process, "_PROGRAM", program)
        apart.ahead(TEXTS, "a.py", TORN)
    assert isinstance(apart(TEXTS, "a.py", MARKED), Resolved)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        pytest.param("import time; time.sleep(60)", "did not finish within 0 sec", id="hangs"),
        pytest.param("import os; os.close(1); os.kill(os.getpid(), 9)", "exited with status -9",
                     id="is-killed"),
        pytest.param("import os; os._exit(1)", "exited with status 1", id="does-not-start"),
    ],
)  # fmt: skip
def test_a_process_that_does_not_answer_is_an_error_that_names_the_file(
    apart: MergeProcess, monkeypatch: pytest.MonkeyPatch, program: str, what: str
) -> None:
    monkeypatch.setattr(merge_process, "_PROGRAM", program)
    apart._patience = 0.1 if "sleep" in program else 60.0
    for ask in (
        lambda: apart(TEXTS, "a.py", MARKED),
        lambda: apart.suspect(TEXTS, "x\n", "a.py"),
        lambda: apart.edits([("x\n", "y\n")], "a.py"),
        lambda: apart.suspect_all([(TEXTS, "x\n", "a.py")])(),
    ):
        with pytest.raises(PatchmgrError, match=rf"the structural merge of a\.py {what}") as told:
            ask()
        assert told.value.kind == "helper"


def test_slow_answers_are_the_same(apart: MergeProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = apart(TEXTS, "a.py", MARKED)
    apart.close()
    waits = "; import time; time.sleep(0.2); answer_all"
    slow = merge_process._PROGRAM.replace("; answer_all", waits)
    monkeypatch.setattr(merge_process, "_PROGRAM", slow)
    assert apart(TEXTS, "a.py", MARKED) == expected


def test_what_was_told_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    merged = BASE + "def f(): ...\ndef f(): ...\n"
    first = MergeProcess(answers=Answers(tmp_path))
    found = [first(TEXTS, "a.py", MARKED), first(TEXTS, "a.py", TORN)]
    told = first.suspect(TEXTS, merged, "a.py")
    first.close()
    monkeypatch.setattr(merge_process, "_PROGRAM", "import os; os._exit(1)")  # would be an error
    second = MergeProcess(answers=Answers(tmp_path))
    assert [second(TEXTS, "a.py", MARKED), second(TEXTS, "a.py", TORN)] == found
    assert found[0] is not None
    assert found[1] is None
    assert second.suspect(TEXTS, merged, "a.py") == told
    assert second._process is None


def test_a_failed_process_leaves_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(merge_process, "_PROGRAM", "import os; os._exit(3)")
        failing = MergeProcess(answers=Answers(tmp_path))
        assert failing(TEXTS, "a.py", MARKED) is None
        assert failing.suspect(TEXTS, BASE, "a.py") == ()
    whole = MergeProcess(answers=Answers(tmp_path))
    assert whole(TEXTS, "a.py", MARKED) == resolve(TEXTS, "a.py", MARKED)
    whole.close()
