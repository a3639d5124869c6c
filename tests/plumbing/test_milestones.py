"""States on the way: releases by tags, and every so manieth commit."""

from pathlib import Path

import pytest

from patchmgr.plumbing.git_upstream import every_commit, tagged_releases, tags_of
from tests.conftest import Repository


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return a store with six commits in a row and one beside them, and these commits."""
    origin = Repository(tmp_path_factory.mktemp("milestones") / "origin")
    commits = [origin.commit({"f": str(number)}, str(number)) for number in range(6)]
    beside = origin.git("commit-tree", "-m", "beside", "-p", commits[2], origin.tree())
    commits.append(beside)
    for name, number in {
        "none": 0, "v1.0": 1, "1.0": 1, "v1.1rc1": 2, "v1.1": 3, "junk": 4, "v1.3": 5, "v1.2": 6,
    }.items():  # fmt: skip
        origin.git("update-ref", f"refs/upstream/tags/{name}", commits[number])
    return origin.root / ".git", commits


@pytest.mark.parametrize(
    ("start", "end", "names"),
    [
        pytest.param(1, 5, ["v1.1", "v1.2", "v1.3"], id="by-version-wherever-it-is"),
        pytest.param(1, 3, ["v1.1"], id="up-to-a-tag"),
        pytest.param(1, 4, ["v1.1"], id="up-to-what-a-commit-contains"),
        pytest.param(2, 4, ["v1.1"], id="after-a-release-candidate"),
        pytest.param(4, 5, ["v1.2", "v1.3"], id="after-what-a-commit-contains"),
        pytest.param(3, 6, ["v1.2"], id="to-a-branch"),
        pytest.param(5, 5, [], id="nothing"),
    ],
)
def test_releases_are_tags_with_a_final_version(
    store: tuple[Path, list[str]], start: int, end: int, names: list[str]
) -> None:
    git_dir, commits = store
    found = tagged_releases(git_dir, commits[start], commits[end])
    assert [name for name, _ in found] == names
    assert all(commit in commits for _, commit in found)


def test_one_version_is_one_release(store: tuple[Path, list[str]]) -> None:
    git_dir, commits = store
    orphan = Repository(git_dir.parent).git("commit-tree", "-m", "x", f"{commits[0]}^{{tree}}")
    assert tagged_releases(git_dir, orphan, orphan) == ()
    found = tagged_releases(git_dir, orphan, commits[3])
    assert [name for name, _ in found] == ["1.0", "v1.1"]


def test_every_so_manieth_commit(store: tuple[Path, list[str]]) -> None:
    git_dir, commits = store
    assert every_commit(git_dir, commits[0], commits[5], 1) == tuple(commits[1:6])
    assert every_commit(git_dir, commits[0], commits[5], 2) == (commits[2], commits[4])
    assert every_commit(git_dir, commits[0], commits[5], 9) == ()


def test_the_tags_of_a_commit(store: tuple[Path, list[str]]) -> None:
    git_dir, commits = store
    assert tags_of(git_dir, "refs/upstream/tags/", commits[1]) == ["1.0", "v1.0"]
    assert tags_of(git_dir, "refs/tags/", commits[1]) == []
    Repository(git_dir.parent).git("tag", "-a", "-m", "x", "annotated", commits[1])
    assert tags_of(git_dir, "refs/tags/", commits[1]) == ["annotated"]
