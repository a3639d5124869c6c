"""What upstream did, asked for few paths and for more than git is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchmgr.model.ports import Step
from patchmgr.plumbing.history import GitHistory
from tests.conftest import Repository


@pytest.fixture
def upstream(tmp_path: Path) -> tuple[Repository, str, str]:
    """Return a repository with commits of all kinds between two of them."""
    made = Repository(tmp_path / "upstream")
    base = made.commit({"a": b"a\n", "sub/b": b"b\n", "file": b"f\n"}, "base")
    made.commit({"a": b"a2\n", "other": b"o\n"}, "both")
    made.commit({"other": b"o2\n"}, "other alone")
    made.git("commit", "--quiet", "--allow-empty", "-m", "empty")
    made.commit({"file": None}, "delete")
    made.commit({"file/inside": b"i\n"}, "a folder in its place")
    made.git("checkout", "--quiet", "-b", "side", base)
    made.commit({"sub/b": b"b2\n"}, "side")
    made.git("checkout", "--quiet", "main")
    made.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    return made, base, made.git("rev-parse", "main")


MANY = tuple(f"absent/{n}" for n in range(200))


@pytest.mark.parametrize(
    ("paths", "subjects"),
    [
        pytest.param(("a",), ["both"], id="file"),
        pytest.param(("sub/b",), ["merge"], id="by-a-merge"),
        pytest.param(("file",), ["delete", "a folder in its place"], id="file-to-folder"),
        pytest.param(("a", "sub/b"), ["both", "merge"], id="two"),
        pytest.param(("nothing",), [], id="none"),
    ],
)
def test_many_paths_have_the_steps_that_few_have(
    upstream: tuple[Repository, str, str], paths: tuple[str, ...], subjects: list[str]
) -> None:
    repository, base, target = upstream
    history = GitHistory(repository.root / ".git", base, target)
    few: tuple[Step, ...] = history.steps(paths)
    assert [step.subject for step in few] == subjects
    assert history.steps((*paths, *MANY)) == few
