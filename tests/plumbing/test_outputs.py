"""One file that a person named: whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.outputs import write_output


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_output(tmp_path / "new", b"x")
    assert (tmp_path / "new").read_bytes() == b"x"
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "usual")}
    assert len(modes) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["new", "usual"]


def test_other_names_of_a_file_get_the_content_too(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"old")
    os.link(tmp_path / "one", tmp_path / "two")
    write_output(tmp_path / "one", b"new")
    assert (tmp_path / "two").read_bytes() == b"new"


def test_a_failure_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").write_bytes(b"old")
    before = sorted(tmp_path.iterdir())

    def fail(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(PatchmgrError, match="No space left") as caught:
        write_output(tmp_path / "out", b"new")
    assert caught.value.kind == "no-space"
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "out").read_bytes() == b"old"
