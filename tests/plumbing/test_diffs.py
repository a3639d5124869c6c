"""What git says of several trees at once: diffs, changed files, and files that import a name."""

import time
from pathlib import Path

import pytest

from patchmgr.engines.moved.files import is_of
from patchmgr.model.snapshot import Entry, blob_id
from patchmgr.plumbing import git_process
from patchmgr.plumbing.diffs import (
    changed_files,
    changed_lines,
    changed_paths,
    commit_diffs,
    importing_files,
    known_words,
    readable_files,
)
from patchmgr.plumbing.scratch_repository import Scratch
from tests.conftest import Make, Repository

TEXT: dict[str, bytes | str | None] = {"a": "text\n"}
BINARY: dict[str, bytes | str | None] = {"b": bytes(range(256))}
NO_END: dict[str, bytes | str | None] = {"c": "no line feed"}
NOTHING: dict[str, bytes | str | None] = {}


@pytest.mark.parametrize(
    "kinds",
    [
        (TEXT, BINARY, NO_END, NOTHING),
        (NOTHING, NOTHING, TEXT, NOTHING),
        (BINARY, NOTHING, NO_END, TEXT),
        (NOTHING,),
    ],
    ids=["ends-with-nothing", "begins-with-nothing", "nothing-in-between", "nothing"],
)
def test_a_commit_has_the_same_diff_alone_and_among_others(
    make_repository: Make, kinds: tuple[dict[str, bytes | str | None], ...]
) -> None:
    repository = make_repository("r")
    repository.commit({"start": "start\n"})
    commits = [repository.commit(kind, f"commit {n}") for n, kind in enumerate(kinds)]
    git_dir = repository.root / ".git"
    paths = [changed_paths(git_dir, f"{commit}~", commit) for commit in commits]
    assert paths == [tuple(kind) for kind in kinds]
    together = commit_diffs(git_dir, commits)
    alone = {commit: commit_diffs(git_dir, [commit])[commit] for commit in commits}
    assert together == alone
    assert [bool(together[commit]) for commit in commits] == [bool(kind) for kind in kinds]
    for commit, diff in together.items():
        repository.git("apply", "--check", "-R", data=diff, good=(0,) if diff else (0, 128))
        assert commit.encode() not in diff


def test_many_commits_take_no_time_but_that_of_their_diffs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of git's output was copied for each commit: 12 s for 3,000 small patches."""
    diffs = {f"{n:040x}": b"diff\n" * 1000 for n in range(3000)}
    printed = b"".join(b"%s\n\n%s" % (commit.encode(), diff) for commit, diff in diffs.items())
    monkeypatch.setattr(git_process, "output", lambda *_, **__: printed)
    start = time.process_time()
    assert commit_diffs(Path(), list(diffs)) == diffs
    assert time.process_time() - start < 3


def _states(make_repository: Make) -> tuple[Repository, str, str]:
    repository = make_repository("upstream")
    old = repository.commit(dict.fromkeys(("same.py", "new name.py", "gone.py", "x.c"), "1\n"))
    (repository.root / "link.py").symlink_to("same.py")
    (repository.root / "x.c").chmod(0o755)
    changes = {"new name.py": "2\n", "gone.py": None, "ö/added.py": "3\n", "a.txt": "4\n"}
    return repository, old, repository.commit(changes)


def test_new_and_other_files_are_listed_with_both_versions(make_repository: Make) -> None:
    repository, old, new = _states(make_repository)
    found = changed_files(repository.root / ".git", old, new)
    one = Entry("100644", blob_id(b"1\n"))
    assert found == {
        "new name.py": (one, Entry("100644", blob_id(b"2\n"))),
        "ö/added.py": (None, Entry("100644", blob_id(b"3\n"))),
        "a.txt": (None, Entry("100644", blob_id(b"4\n"))),
        "x.c": (one, Entry("100755", blob_id(b"1\n"))),
    }
    assert changed_files(repository.root / ".git", new, new) == {}


@pytest.mark.parametrize("name", ["a", "a b", 'a"b', "a\\b", 'b/"a b"\\', "ä", "b"])
def test_the_lines_of_any_path_are_known(make_repository: Make, name: str) -> None:
    repository = make_repository("r")
    old = repository.commit({name: "1\n2\n3\n"})
    new = repository.commit({name: "1\n++ b/x\n3\n", "gone": "1\n"})
    last = repository.commit({"gone": None})
    git_dir = repository.root / ".git"
    assert changed_lines(git_dir, old, new) == {name: ((2, 1, 2, 1),), "gone": ((0, 0, 1, 1),)}
    assert changed_lines(git_dir, new, last) == {}


def test_what_cannot_be_read_is_left_out(make_repository: Make, tmp_path: Path) -> None:
    repository, old, new = _states(make_repository)
    missing = blob_id(b"3\n")
    git_dir = repository.root / ".git"
    (git_dir / "objects" / missing[:2] / missing[2:]).unlink()
    asked: set[str] = set()
    with Scratch([git_dir], folder=tmp_path) as scratch:
        found = readable_files(scratch, old, new, is_wanted=is_of("Python"), bring=asked.update)
        others, is_whole = readable_files(scratch, old, new, is_wanted=is_of("C"))
    assert (set(found[0]), found[1]) == ({"new name.py"}, False)
    assert (set(others), is_whole) == ({"x.c"}, True)
    assert asked == {missing, blob_id(b"1\n"), blob_id(b"2\n")}


FILES = {
    "pkg/a.py": "from pkg.b import g\n",
    "pkg/c.py": "from . import g\n",
    "pkg/d.py": "import pkg.b\n",
    "pkg/e.txt": "from pkg.b import g\n",
    "data": "APP_ONE and APP_TWO_MORE\n",
}


@pytest.fixture
def repository(make_repository: Make) -> Repository:
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
