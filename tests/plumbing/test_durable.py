"""Locks: one process holds a folder, nothing is left behind, and no link leads elsewhere."""

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.durable import held, held_briefly, synced
from patchmgr.plumbing.work_tree import WorkTree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "top").mkdir()
    return tmp_path / "top/private"


def refusal(folder: Path, hold: Callable[..., Any] = held) -> str:
    """Return the kind of the error with which a lock is refused."""
    with pytest.raises(PatchmgrError) as caught, hold(folder, what="here"):
        raise AssertionError
    return caught.value.kind


def test_a_file_system_without_locks_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", fail)
    assert refusal(folder) == "unwritable"


def test_one_holds_a_folder_and_leaves_nothing(folder: Path) -> None:
    with held(folder, what="here"):
        assert (folder / "lock").read_text() == str(os.getpid())
        assert refusal(folder) == "busy"
    assert not folder.exists()
    with held_briefly(folder / "below", what="here"):
        assert refusal(folder / "below") == "busy"
    assert not folder.exists()


@pytest.mark.parametrize(
    ("link", "hold", "kind"),
    [
        pytest.param("private", held, "unsafe-path", id="folder"),
        pytest.param("private/lock", held, "unwritable", id="lock"),
        pytest.param(".", held_briefly, "unsafe-path", id="parent"),
    ],
)
def test_a_link_leads_to_no_lock(
    folder: Path, tmp_path: Path, link: str, hold: Callable[..., Any], kind: str
) -> None:
    outside, place = tmp_path / "outside", folder.parent / link
    outside.mkdir()
    place.parent.mkdir(exist_ok=True)
    if link == ".":
        folder.parent.rmdir()
    place.symlink_to(outside / "lock" if link.endswith("lock") else outside)
    assert refusal(folder, hold) == kind
    assert list(outside.iterdir()) == []


def test_a_lock_that_others_removed_is_free(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        (folder / "lock").unlink()
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    assert refusal(folder) == "busy"


@pytest.mark.parametrize(("parent", "kind"), [("top", "busy"), ("none", "unwritable")])
def test_a_folder_that_another_process_removed_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, parent: str, kind: str
) -> None:
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: None)
    assert refusal(folder.parent.parent / parent / "private") == kind


@pytest.mark.parametrize("sync", [synced, lambda folder: WorkTree(folder).sync(["x"])])
def test_a_file_system_that_cannot_sync_folders_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: Callable[[Path], None]
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(said, os.strerror(said))

    monkeypatch.setattr(os, "fsync", fail)
    said = errno.EINVAL
    sync(tmp_path)
    said = errno.EIO
    with pytest.raises(OSError, match="Input/output error"):
        sync(tmp_path)
