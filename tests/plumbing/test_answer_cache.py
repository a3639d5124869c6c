"""Answers that are kept for the next run."""

import os
import time
from pathlib import Path

import pytest

from patchmgr.plumbing import answer_cache
from patchmgr.plumbing.answer_cache import Answers

ASKED = ("merge", "a\n", b"\xff\0")


@pytest.mark.parametrize(
    "answer", [None, "text\udc80", ["a", ["b"]], [], 1.5], ids=["none", "str", "list", "[]", "n"]
)
def test_an_answer_is_known_to_the_next_run(tmp_path: Path, answer: object) -> None:
    assert Answers(tmp_path).get(ASKED) is None
    Answers(tmp_path).put(ASKED, answer)
    assert Answers(tmp_path).get(ASKED) == [answer]


@pytest.mark.parametrize(
    "other",
    [("merge", "a\n"), ("merge", "a\n\udcff", b"\0"), ("mergea", "\n", b"\xff\0"), ()],
    ids=["shorter", "cut-elsewhere", "joined", "nothing"],
)
def test_another_question_has_another_answer(tmp_path: Path, other: tuple[str, ...]) -> None:
    Answers(tmp_path).put(ASKED, "it")
    assert Answers(tmp_path).get(other) is None


def test_another_program_has_other_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Answers(tmp_path).put(ASKED, "it")
    monkeypatch.setattr(answer_cache, "__version__", "99")
    assert Answers(tmp_path).get(ASKED) is None


def test_a_program_is_its_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shop"
    (package / "below").mkdir(parents=True)
    for name in ("__init__.py", "below/cart.py", "below/read.me"):
        (package / name).write_text("1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(answer_cache, "_PARTS", ("shop",))
    before = list(answer_cache._program())
    (package / "below/read.me").write_text("22\n")
    assert list(answer_cache._program()) == before
    (package / "below/gone.py").symlink_to("nowhere")
    assert list(answer_cache._program()) == before
    (package / "below/cart.py").write_text("22\n")
    assert list(answer_cache._program()) != before


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    Answers(tmp_path).put(ASKED, "it")
    (path,) = tmp_path.glob("??/*")
    return path


@pytest.mark.parametrize("content", [b"", b"[", b"{}", b"[1, 2]", b"\xff", b"[" * 99999])
def test_what_cannot_be_read_is_not_known(kept: Path, content: bytes) -> None:
    kept.write_bytes(content)
    found = Answers(kept.parents[1])
    assert found.get(ASKED) is None
    found.put(ASKED, "again")
    assert found.get(ASKED) == ["again"]


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = Answers(tmp_path / "file")
    found.put(ASKED, "it")
    assert found.get(ASKED) is None


def test_what_nobody_asked_for_in_a_month_is_deleted(kept: Path) -> None:
    folder = kept.parents[1]
    old, used = ("old", "x"), ("used", "x")
    for question in (old, used):
        Answers(folder).put(question, 1)
    month = time.time() - 31 * 24 * 60 * 60
    for path in (folder / "swept", *folder.glob("??/*")):
        os.utime(path, (month, month))
    Answers(folder).get(used)
    Answers(folder).put(ASKED, "it")
    assert Answers(folder).get(used) == [1]
    assert Answers(folder).get(old) is None


def test_the_oldest_goes_if_it_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for age in (3, 1, 2):
        Answers(tmp_path).put((str(age),), "x" * 100)
        path = next(p for p in tmp_path.glob("??/*") if p.stat().st_mtime > now - 500)
        os.utime(path, (now - age * 1000, now - age * 1000))
    (tmp_path / "swept").unlink()
    monkeypatch.setattr(answer_cache, "_MOST_BYTES", 350)
    Answers(tmp_path).put(("new",), "x" * 100)
    assert [Answers(tmp_path).get((n,)) is not None for n in ("new", "1", "2", "3")] == [
        True, True, True, False,
    ]  # fmt: skip
