"""The same input gives the same bytes, idle or busy; see also `benchmarks/determinism.py`."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import patchmgr
from patchmgr.plumbing.merge_process import MergeProcess
from tests.commands.conftest import Scene, invoke
from tests.commands.test_rebase import fork, verdicts

HEAD = "import alpha\nimport omega\n\n\n"
TAIL = "def f(a, b):\n    alpha.go(a)\n    return omega.x(b)\n"
OLD = "run(first)\nrun(first, 2)\nrun(first, 2)\n"


def module(imported: str, more: str = "", old: str = OLD) -> str:
    return HEAD.replace("import omega", f"{imported}import omega") + TAIL + more + old


@pytest.fixture
def torn(scene: Scene) -> Scene:
    """Return a series of three patches: one merged by structure, one with warnings, one stuck."""
    texts = {name: module("") for name in ("a.py", "b.py", "c.py")}
    scene.upstream.commit(texts)
    ours = module("import mine\n", "mine.x()\n"), module("", old="run(mine)\n")
    second = "run(first)\nrun(first, 2)\n" + module("")
    fork(scene, {"a.py": ours[0]}, {"b.py": second}, {"c.py": ours[1]})
    theirs = {
        "a.py": module("import other\n") + "other.x()\n",
        "b.py": module("", old="go(first)\n"),
        "c.py": module("", old="run(other)\n"),
    }
    scene.upstream.commit(theirs, "upstream: all")
    return scene


LINE = ("rebase", "s", "--onto", "upstream/main", "--dry-run", "--json")


def test_no_hash_seed_changes_a_byte(torn: Scene, tmp_path: Path) -> None:
    answers = set()
    for seed in ("1", "2"):  # cold, then warm
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": str(Path(patchmgr.__file__).parents[1]),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }
        line = [sys.executable, "-m", "patchmgr", "-C", str(torn.root), *LINE]
        done = subprocess.run(line, env=environment, capture_output=True, check=False)
        answers.add((done.returncode, done.stdout))
    ((code, printed),) = answers
    assert code == 3
    assert b'"structural"' in printed
    assert b"replaced every copy of it" in printed


def test_a_slow_helper_changes_no_byte(torn: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = invoke("-C", torn.root, *LINE)
    answer = MergeProcess._answer

    def slow(self: MergeProcess, path: str, question: tuple[object, ...]) -> tuple[object] | None:
        time.sleep(0.05)
        return answer(self, path, question)

    monkeypatch.setattr(MergeProcess, "_answer", slow)
    monkeypatch.setenv("XDG_CACHE_HOME", str(torn.root.parent / "cold"))
    assert invoke("-C", torn.root, *LINE) == quick
    assert verdicts(quick.json) == ["modified", "unchanged", "conflict"]


def test_a_silent_helper_is_no_verdict(torn: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def idle(self: MergeProcess, *, is_early: bool = False) -> subprocess.Popen[bytes]:
        line, pipe = ("sleep", "600"), subprocess.PIPE
        self._process, self._patience = subprocess.Popen(line, stdin=pipe, stdout=pipe), 0.1
        return self._process

    monkeypatch.setattr(MergeProcess, "_start", idle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(torn.root.parent / "cold"))
    answer = invoke("-C", torn.root, *LINE)
    assert answer.code == 1
    assert answer.json["error"]["kind"] == "helper"
    assert "a.py" in answer.json["error"]["message"]
