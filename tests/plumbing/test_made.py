"""Contents that a run makes, in memory and in a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from patchmgr.plumbing.scratch_repository import MadeBlobs


def test_contents_come_back_as_they_were_from_memory_and_from_the_file(tmp_path: Path) -> None:
    contents = {str(n): os.urandom(n * 7) for n in range(30)}
    folder = tmp_path / "scratch"
    folder.mkdir()
    with MadeBlobs(folder, most_held=300) as made:
        for name, content in contents.items():
            made.add(name, content)
            made.add(name, b"another one")
        assert {name: made.get(name) for name in contents} == contents
        assert "7" in made
        assert "30" not in made and made.get("30") is None
        assert os.listdir(folder) == []
    assert "7" not in made


def test_a_content_that_is_larger_than_all_that_is_held_is_held(tmp_path: Path) -> None:
    with MadeBlobs(tmp_path, most_held=10) as made:
        made.add("a", b"x" * 100)
        made.add("b", b"")
        assert (made.get("a"), made.get("b")) == (b"x" * 100, b"")


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> int:
        raise OSError(28, "No space left on device")

    with MadeBlobs(tmp_path, most_held=10) as made:
        made.add("a", b"x" * 100)
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match="No space left"):
            made.add("b", b"y" * 100)
