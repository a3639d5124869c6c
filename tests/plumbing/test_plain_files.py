"""Plain files: what leads elsewhere is not read."""

import os
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.plain_files import folder_names, read_plain


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "there/in").mkdir(parents=True)
    (tmp_path / "there/in/file").write_bytes(b"content")
    (tmp_path / "outside").write_bytes(b"secret")
    (tmp_path / "linked").symlink_to("there")
    (tmp_path / "there/link").symlink_to(tmp_path / "outside")
    (tmp_path / "there/dangling").symlink_to("nowhere")
    (tmp_path / "there/loop").symlink_to("loop")
    os.mkfifo(tmp_path / "there/pipe")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("there/in/file", b"content"),
        ("outside", b"secret"),
        ("there/none", None),
        ("none/in/file", None),
    ],
)
def test_a_plain_file_is_read(root: Path, path: str, content: bytes | None) -> None:
    assert read_plain(root, path, limit=7) == content


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("linked/in/file", "unsafe-path"),
        ("there/link", "unsafe-path"),
        ("there/dangling", "unsafe-path"),
        ("there/loop", "unsafe-path"),
        ("there/pipe", "broken-workspace"),
        ("there/in", "broken-workspace"),
        ("outside/file", "broken-workspace"),
    ],
)
def test_what_is_no_plain_file_is_refused(root: Path, path: str, kind: str) -> None:
    with pytest.raises(PatchmgrError) as caught:
        read_plain(root, path, limit=100)
    assert caught.value.kind == kind
    assert path.split("/")[0] in caught.value.message


def test_a_large_file_is_refused(root: Path) -> None:
    with pytest.raises(PatchmgrError, match="larger than 6 bytes"):
        read_plain(root, "there/in/file", limit=6)


def test_the_names_of_a_folder_are_listed(root: Path) -> None:
    assert folder_names(root, "there/in", limit=1) == ("file",)
    assert folder_names(root, "none", limit=1) == ()
    with pytest.raises(PatchmgrError, match="more than 1 entries"):
        folder_names(root, "there", limit=1)
    with pytest.raises(PatchmgrError, match="symbolic link"):
        folder_names(root, "linked", limit=100)
