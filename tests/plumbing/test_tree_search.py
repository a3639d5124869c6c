"""Words in the files of a commit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from patchmgr.plumbing.diffs import importing_files, known_words
from tests.conftest import Repository

FILES = {
    "pkg/a.py": "from pkg.b import g\n",
    "pkg/c.py": "from . import g\n",
    "pkg/d.py": "import pkg.b\n",
    "pkg/e.txt": "from pkg.b import g\n",
    "data": "APP_ONE and APP_TWO_MORE\n",
}


@pytest.fixture
def repository(make_repository: Callable[[str], Repository]) -> Repository:
    made = make_repository("upstream")
    made.commit(FILES)
    return made


def test_files_that_may_import_a_name_are_found(repository: Repository) -> None:
    git_dir, commit = repository.root / ".git", repository.head()
    assert importing_files(git_dir, commit, ["b"], ["g"]) == ("pkg/a.py", "pkg/c.py")
    assert importing_files(git_dir, commit, ["b"], ["h"]) == ()
    assert importing_files(git_dir, commit, ["no-name"], ["g"]) == ()
    assert importing_files(git_dir, "0" * 40, ["b"], ["g"]) is None


def test_words_that_a_commit_has_are_known(repository: Repository) -> None:
    git_dir, commit = repository.root / ".git", repository.head()
    assert known_words(git_dir, commit, ["APP_ONE", "APP_TWO", "-e"]) == {"APP_ONE"}
    assert known_words(git_dir, commit, ["APP_THREE"]) == frozenset()
    assert known_words(git_dir, commit, []) == frozenset()
    assert known_words(git_dir, "0" * 40, ["APP_ONE"]) == frozenset()
