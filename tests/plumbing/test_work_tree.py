"""Files of a work tree, read and written without following a link."""

import os
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.work_tree import TemporaryPlace, WorkFile, WorkTree, permissions_for
from tests.tables import table


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    root = tmp_path / "root"
    (root / "a/b").mkdir(parents=True)
    (root / "a/file").write_text("x\n")
    (root / "a/run").write_text("x\n")
    (root / "a/run").chmod(0o751)
    (root / "a/link").symlink_to("file")
    (root / "out").symlink_to(tmp_path)
    (tmp_path / "mine").write_text("mine\n")
    return WorkTree(root)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a/file", WorkFile("100644", b"x\n", 0o644)),
        ("a/run", WorkFile("100755", b"x\n", 0o751)),
        ("a/link", WorkFile("120000", b"file", 0o777)),
        ("a/none", None),
        ("none/none", None),
    ],
)
def test_files_are_read_as_git_sees_them(tree: WorkTree, path: str, found: WorkFile | None) -> None:
    assert tree.read(path) == found


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("out/mine", "out/mine in .* leads through out, which is not a folder"),
        ("a/link/x", "a/link/x in .* leads through link"),
        ("a/file/x", "a/file/x in .* leads through file"),
        ("a/b", "a/b in .* is a folder, not a file"),
        ("fifo", "fifo in .* is neither a file nor a symbolic link"),
    ],
)
def test_what_is_no_file_is_refused(tree: WorkTree, path: str, words: str) -> None:
    os.mkfifo(tree.root / "fifo")
    with pytest.raises(PatchmgrError, match=words) as caught:
        tree.read(path)
    assert caught.value.kind == "unsafe-path"


@pytest.mark.parametrize("path", ["out/mine", "a/file/x", "out/new"])
def test_nothing_is_written_or_deleted_through_a_link(tree: WorkTree, path: str) -> None:
    tree.write("beside", "100644", b"new\n", permissions=None)
    with pytest.raises(PatchmgrError, match="leads through"):
        tree.write(path, "100644", b"new\n", permissions=None)
    with pytest.raises(PatchmgrError, match="leads through"):
        tree.move("beside", path)
    with pytest.raises(PatchmgrError, match="leads through"):
        tree.delete(path)
    assert (tree.root.parent / "mine").read_text() == "mine\n"
    assert not (tree.root.parent / "new").exists()


def test_a_link_is_replaced_and_not_followed(tree: WorkTree) -> None:
    tree.write("beside", "100644", b"new\n", permissions=0o600)
    tree.move("beside", "a/link")
    assert (tree.root / "a/file").read_text() == "x\n"
    assert tree.read("a/link") == WorkFile("100644", b"new\n", 0o600)
    tree.write("beside", "120000", b"/nowhere", permissions=None)
    tree.move("beside", "a/file")
    assert tree.read("a/file") == WorkFile("120000", b"/nowhere", 0o777)


def test_a_file_is_only_written_where_there_is_none(tree: WorkTree) -> None:
    for path in ("a/file", "a/link"):
        with pytest.raises(FileExistsError):
            tree.write(path, "100644", b"new\n", permissions=None)


def test_folders_go_with_their_last_file(tree: WorkTree) -> None:
    tree.write("beside", "100755", b"new\n", permissions=None)
    tree.move("beside", "new/deep/file")
    assert tree.is_folder("new/deep")
    tree.delete("new/deep/file")
    assert not (tree.root / "new").exists()
    tree.delete("new/deep/file")
    tree.sync(["new/deep/file", "a/file/x", "a/run"])  # a folder that went, or is a file now
    tree.delete("a/run")
    assert tree.is_folder("a") and not tree.is_folder("out")


@pytest.mark.parametrize(
    ("path", "leaving", "place"),
    [
        ("x", [], TemporaryPlace("", ())),
        ("a/x", [], TemporaryPlace("a", ())),
        ("a/b/c/d/x", [], TemporaryPlace("a/b/c/d", ("a/b/c", "a/b/c/d"))),
        ("a/file/x", ["a/file"], TemporaryPlace("a", ())),
        ("a/file/c/x", ["a/file"], TemporaryPlace("a", ())),
        ("out/x", ["out"], TemporaryPlace("", ())),
    ],
)
def test_a_new_file_is_written_near_its_place(
    tree: WorkTree, path: str, leaving: list[str], place: TemporaryPlace
) -> None:
    assert tree.place(path, leaving) == place


@table(
    ("mode", "old_mode", "old", "wanted"),
    [
        ("100644", "100644", 0o600, 0o600),
        ("100755", "100755", 0o711, 0o711),
        ("100755", "100644", 0o640, 0o750),
        ("100644", "100755", 0o755, 0o644),
        ("100644", "120000", 0o777, None),
        ("120000", "100644", 0o644, None),
    ],
)
def test_permissions_are_kept(mode: str, old_mode: str, old: int, wanted: int | None) -> None:
    assert permissions_for(mode, WorkFile(old_mode, b"", old)) == wanted
    assert permissions_for(mode, None) is None
