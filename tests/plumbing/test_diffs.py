"""Diffs of several commits from one process: each is whole, whatever stands before it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from patchmgr.plumbing.diffs import changed_paths, commit_diffs
from tests.conftest import Repository

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
    make_repository: Callable[[str], Repository],
    kinds: tuple[dict[str, bytes | str | None], ...],
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
