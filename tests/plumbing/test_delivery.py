"""Exported files: all or none, over nothing of a person's, and their own found again."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from patchmgr.commands.export import ExportResult, ExportTarget
from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import target
from tests.commands.scenes import picture

FILES = {"series": b"a\nsub/b\n", "a": b"A\n", "sub/b": b"B\n"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "far" / "out"


def deliver(
    place: Path,
    files: dict[str, bytes],
    *,
    is_file: bool = False,
    force: bool = False,
    dry: bool = False,
) -> ExportResult:
    private = place.parents[1] / "private" / "exports"
    delivery = ExportTarget(place, private, "s", is_file=is_file)
    return delivery.deliver(files, is_forced=force, is_dry_run=dry)


def test_files_are_written_where_nothing_was(place: Path) -> None:
    assert deliver(place, FILES) == ExportResult(("a", "series", "sub/b"), (), ())
    assert {path: row[2] for path, row in picture(place).items() if row[0] == "file"} == FILES
    assert deliver(place, FILES) == ExportResult((), (), ())


def test_a_dry_run_writes_nothing(place: Path) -> None:
    assert deliver(place, FILES, dry=True) == ExportResult(("a", "series", "sub/b"), (), ())
    assert not place.parent.exists()
    deliver(place, FILES)
    before = picture(place.parents[1])
    assert deliver(place, {"a": b"new"}, dry=True) == ExportResult(("a",), ("series", "sub/b"), ())
    assert picture(place.parents[1]) == before


def test_the_next_export_replaces_and_deletes_what_is_ours(place: Path) -> None:
    deliver(place, FILES)
    place.joinpath("a").chmod(0o600)
    place.joinpath("README").write_text("mine\n")
    fresh = {"series": b"a\nc\n", "a": b"A\n", "c": b"C\n"}
    assert deliver(place, fresh) == ExportResult(("c", "series"), ("sub/b",), ())
    assert sorted(os.listdir(place)) == ["README", "a", "c", "series"]
    assert place.joinpath("a").stat().st_mode & 0o777 == 0o600


def test_a_file_of_somebody_else_is_refused_unless_forced(place: Path) -> None:
    place.mkdir(parents=True)
    place.joinpath("a").write_text("mine\n")
    before = picture(place)
    with pytest.raises(PatchmgrError, match=r"a in .* was not written by an export of s") as caught:
        deliver(place, FILES)
    assert caught.value.kind == "in-the-way"
    assert picture(place) == before
    with pytest.raises(PatchmgrError, match=r"a in .* was not written by an export of s"):
        deliver(place, FILES, dry=True)
    deliver(place, FILES, force=True)
    assert place.joinpath("a").read_bytes() == b"A\n"


def test_the_same_content_is_in_nobodys_way(place: Path) -> None:
    place.mkdir(parents=True)
    place.joinpath("a").write_bytes(b"A\n")
    assert deliver(place, FILES).written == ("series", "sub/b")
    assert deliver(place, {**FILES, "a": b"new"}).written == ("a",)


def test_an_exported_file_that_was_edited_is_a_persons(place: Path) -> None:
    deliver(place, FILES)
    place.joinpath("a").write_text("edited\n")
    with pytest.raises(PatchmgrError, match=r"a in .* was not written by an export of s"):
        deliver(place, {**FILES, "a": b"new"})
    assert deliver(place, {"series": b""}) == ExportResult(("series",), ("sub/b",), ("a",))
    assert place.joinpath("a").read_text() == "edited\n"


def test_one_file(place: Path) -> None:
    assert deliver(place, {"": b"one"}, is_file=True).written == ("out",)
    assert place.read_bytes() == b"one"
    assert deliver(place, {"": b"two"}, is_file=True).written == ("out",)
    place.write_bytes(b"mine")
    with pytest.raises(PatchmgrError, match=r"out in .* was not written by an export of s"):
        deliver(place, {"": b"three"}, is_file=True)
    assert os.listdir(place.parent) == ["out"]


def link_file(place: Path) -> None:
    place.joinpath("a").symlink_to("elsewhere")


def link_folder(place: Path) -> None:
    place.joinpath("sub").symlink_to(place.parent)


def folder(place: Path) -> None:
    place.joinpath("a").mkdir()


def file(place: Path) -> None:
    place.joinpath("sub").write_text("a file\n")


@pytest.mark.parametrize("make", [link_file, link_folder, folder, file])
@pytest.mark.parametrize("force", [False, True])
def test_links_and_folders_are_left(place: Path, make: Callable[[Path], None], force: bool) -> None:
    place.mkdir(parents=True)
    make(place)
    before = picture(place.parent)
    if make is link_file and force:
        deliver(place, FILES, force=True)
        assert not place.joinpath("a").is_symlink()
        return
    with pytest.raises(PatchmgrError):
        deliver(place, FILES, force=force)
    assert picture(place.parent) == before


def test_a_file_where_the_folder_should_be(place: Path) -> None:
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    with pytest.raises(PatchmgrError, match="is not a folder"):
        deliver(place, FILES)
    assert place.read_text() == "mine\n"


def test_what_fails_leaves_no_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(target, "write_synced", fail)
    with pytest.raises(PatchmgrError, match="No space"):
        deliver(place, FILES)
    assert not place.parent.exists()


class Killed(BaseException):
    """The process ends here."""


def test_after_any_kill_there_is_old_or_new(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = FILES, {"series": b"a\nc\n", "a": b"NEW\n", "d/c": b"C\n"}
    deliver(place, old)
    seen: set[str] = set()
    for number in range(200):
        with monkeypatch.context() as patched:
            left = [number]
            for name in ("replace", "unlink", "rmdir", "mkdir", "rename"):
                patched.setattr(os, name, dying(getattr(os, name), left))
            try:
                deliver(place, new)
            except Killed:
                seen.add("killed")
            else:
                break
        assert deliver(place, new, dry=True) is not None
        deliver(place, old)
        found = {path: row[2] for path, row in picture(place).items() if row[0] == "file"}
        assert found == old
    else:
        pytest.fail("it never comes to an end")
    assert seen == {"killed"}
    found = {path: row[2] for path, row in picture(place).items() if row[0] == "file"}
    assert found == new


def dying(call: Callable[..., object], left: list[int]) -> Callable[..., object]:
    def instead(*arguments: object, **options: object) -> object:
        left[0] -= 1
        if left[0] == -1:
            raise Killed
        return call(*arguments, **options)

    return instead
