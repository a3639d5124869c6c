"""Structural merges in another process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from patchmgr.engines.structure.sides import Solution, Texts
from patchmgr.engines.structure.solvers import merge_structure
from patchmgr.plumbing import kept_apart
from patchmgr.plumbing.answers import Answers
from patchmgr.plumbing.kept_apart import MOST_FAILURES, StructureApart

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
TEXTS = Texts(BASE, UPSTREAM, FORK)


@pytest.fixture
def apart() -> Iterator[StructureApart]:
    made = StructureApart(patience=5.0)
    yield made
    made.close()


def test_it_answers_what_the_merge_answers(apart: StructureApart) -> None:
    expected = merge_structure(TEXTS, "a.py", MARKED)
    assert expected is not None
    assert apart(TEXTS, "a.py", MARKED) == expected
    same = Texts("x\n", "y\n", "z\n")
    marked = b"<<<<<<< ours\ny\n||||||| base\nx\n=======\nz\n>>>>>>> theirs\n"
    assert apart(same, "a.py", marked) is None
    assert apart(TEXTS, "a.py", MARKED) == expected


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("import os; os._exit(1)", id="dies-at-once"),
        pytest.param("import sys; sys.stdin.buffer.read(8); sys.exit(3)", id="dies-on-a-file"),
        pytest.param("import os; os.kill(os.getpid(), 11)", id="crashes"),
        pytest.param("import time; time.sleep(60)", id="hangs"),
        pytest.param("x = b'x' * (1 << 40)", id="runs-out-of-memory"),
    ],
)
def test_a_process_that_fails_costs_the_answer_only(
    apart: StructureApart, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    apart._patience = 0.5
    with monkeypatch.context() as patched:
        patched.setattr(kept_apart, "_PROGRAM", program)
        assert apart(TEXTS, "a.py", MARKED) is None
    apart._patience = 5.0
    assert isinstance(apart(TEXTS, "a.py", MARKED), Solution)


def test_after_a_few_failures_no_process_is_started(
    apart: StructureApart, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_apart, "_PROGRAM", "import os; os._exit(1)")
    for _ in range(MOST_FAILURES):
        assert apart(TEXTS, "a.py", MARKED) is None
    monkeypatch.undo()
    assert apart(TEXTS, "a.py", MARKED) is None


def test_what_a_run_before_was_told_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = Texts("x\n", "y\n", "z\n")
    marked = b"<<<<<<< ours\ny\n||||||| base\nx\n=======\nz\n>>>>>>> theirs\n"
    merged = BASE + "def f(): ...\ndef f(): ...\n"
    first = StructureApart(answers=Answers(tmp_path))
    found = [first(TEXTS, "a.py", MARKED), first(kinds, "a.py", marked)]
    told = first.suspect(TEXTS, merged, "a.py")
    first.close()
    monkeypatch.setattr(kept_apart, "_PROGRAM", "import os; os._exit(1)")
    second = StructureApart(answers=Answers(tmp_path))
    assert [second(TEXTS, "a.py", MARKED), second(kinds, "a.py", marked)] == found
    assert found[0] is not None
    assert found[1] is None
    assert second.suspect(TEXTS, merged, "a.py") == told
    assert second._process is None


def test_a_process_that_fails_leaves_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(kept_apart, "_PROGRAM", "import os; os._exit(1)")
        broken = StructureApart(answers=Answers(tmp_path))
        assert broken(TEXTS, "a.py", MARKED) is None
        assert broken.suspect(TEXTS, BASE, "a.py") == ()
    whole = StructureApart(answers=Answers(tmp_path))
    assert whole(TEXTS, "a.py", MARKED) == merge_structure(TEXTS, "a.py", MARKED)
    whole.close()
