"""A workspace on disk: one command writes at a time, and what is read is one state of it."""

import os
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.operation_log import LOG
from patchmgr.plumbing.stores import cache_folder
from patchmgr.workspace import Change, RefPlan, Workspace
from tests.conftest import Repository


@pytest.fixture
def workspace(tmp_path: Path, hermetic: Path) -> Workspace:
    """Return a workspace whose log is empty."""
    root = tmp_path / "workspace"
    (root / LOG).mkdir(parents=True)
    (root / "upstream.lock").write_text("")
    return Workspace(root)


def files(workspace: Workspace) -> list[str]:
    """Return the names of what lies in the workspace."""
    return sorted(path.name for path in workspace.root.iterdir())


def test_one_command_writes_at_a_time(workspace: Workspace) -> None:
    with (
        workspace.writing(),
        pytest.raises(PatchmgrError, match="another patchmgr"),
        workspace.writing(),
    ):
        raise AssertionError


def test_a_dry_run_writes_nothing(workspace: Workspace) -> None:
    before = files(workspace)
    Workspace(workspace.root, is_dry_run=True).make(Change({"series/s/x": b"x"}))
    assert files(workspace) == before
    workspace.make(Change({"series/s/x": b"x"}))
    assert files(workspace) == [*before[:1], "series", *before[1:]]


@pytest.mark.parametrize(
    ("name", "content", "is_free"),
    [
        pytest.param("new.patch", None, True, id="nothing"),
        pytest.param("old.patch", None, False, id="file"),
        pytest.param("old.patch", b"old", True, id="same-content"),
        pytest.param("old.patch", b"new", False, id="another-content"),
        pytest.param("link.patch", b"old", False, id="link"),
        pytest.param("dangling.patch", None, False, id="dangling-link"),
    ],
)
def test_a_free_name(workspace: Workspace, name: str, content: bytes | None, is_free: bool) -> None:
    folder = workspace.root / "series/s"
    folder.mkdir(parents=True)
    (folder / "old.patch").write_bytes(b"old")
    (folder / "link.patch").symlink_to("old.patch")
    (folder / "dangling.patch").symlink_to("none")
    assert workspace.is_free("s", name, content) is is_free


@pytest.mark.parametrize("fails", [False, True], ids=["read", "failed"])
def test_what_is_read_amid_a_write_is_read_again(workspace: Workspace, fails: bool) -> None:
    times: list[int] = []

    def read() -> int:
        times.append(len(times))
        if len(times) == 1:
            os.utime(workspace.root / LOG, ns=(1, 1))
            if fails:
                raise PatchmgrError("broken-workspace", "half of it is there")
        return times[-1]

    assert workspace.read_whole(read) == 1


def test_a_fault_that_nobody_else_caused_is_told(workspace: Workspace) -> None:
    with pytest.raises(PatchmgrError, match="series/s/series cannot be read"):
        workspace.read_whole(lambda: workspace.read("series/s/series"))


def test_a_ref_moves_in_a_store_alone_and_once(workspace: Workspace) -> None:
    store = cache_folder() / "stores/x.git"
    made = Repository(store.with_name("made"))
    one, two = made.commit({}, "one"), made.commit({}, "two")
    elsewhere = RefPlan(str(made.root / ".git"), "refs/heads/patchmgr/s", one, None)
    with pytest.raises(PatchmgrError, match="there is no store"):
        workspace.make(Change({"series/s/x": b"x"}, refs=[elsewhere]))
    assert files(workspace) == [".patchmgr", "upstream.lock"]
    (made.root / ".git").rename(store)
    workspace.make(Change(refs=[RefPlan(str(store), "refs/heads/patchmgr/s", one, "0" * 40)]))
    workspace.make(Change(refs=[RefPlan(str(store), "refs/heads/patchmgr/s", one, "0" * 40)]))
    with pytest.raises(PatchmgrError, match="update-ref"):
        workspace.make(Change(refs=[RefPlan(str(store), "refs/heads/patchmgr/s", two, "0" * 40)]))
