"""Blobs are read ahead by git, and what has not come is read in another way."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from patchmgr.model.patch import own_author
from patchmgr.plumbing import scratch_repository
from patchmgr.plumbing.background import ForkedCall
from patchmgr.plumbing.scratch_repository import (
    FEW,
    MOST,
    Draft,
    MadeBlobs,
    ReadAhead,
    Scratch,
    write_commits,
)
from tests.conftest import Make, Repository

MISSING = "1" * 40
FILES = {"a": b"one\n", "b": b"", "c": b"\0two\nmissing\n", "d": b"x" * 100_000}


@pytest.fixture
def repository(make_repository: Make) -> Repository:
    """Return a repository with a few files."""
    made = make_repository("repository")
    made.commit(FILES)
    return made


def blobs(repository: Repository) -> dict[str, str]:
    """Return path to blob."""
    return {path: repository.git("rev-parse", f"HEAD:{path}") for path in FILES}


def read(ahead: ReadAhead, blob: str) -> bytes | None:
    """Wait until git has written all of it, and get a blob."""
    assert ahead._process is not None
    ahead._process.wait()
    return ahead.get(blob)


@pytest.mark.parametrize("order", ["abcd", "dcba", "dad"])
def test_blobs_come_in_any_order(repository: Repository, tmp_path: Path, order: str) -> None:
    names = blobs(repository)
    wanted = [names["a"], MISSING, names["b"], names["c"], names["d"]]
    with ReadAhead(repository.root / ".git", wanted, tmp_path) as ahead:
        for path in order:
            assert read(ahead, names[path]) == FILES[path]
        assert read(ahead, MISSING) is None
        assert read(ahead, "2" * 40) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "repository"]


def test_what_has_not_come_yet_is_not_there(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = blobs(repository)

    def late(file: int, size: int, at: int) -> bytes:
        return b""

    with ReadAhead(repository.root / ".git", [names["a"]], tmp_path) as ahead:
        with monkeypatch.context() as patched:
            patched.setattr(os, "pread", late)
            assert read(ahead, names["a"]) is None
        assert read(ahead, names["a"]) == FILES["a"]


def test_too_much_is_not_read_to_its_end(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = blobs(repository)
    monkeypatch.setattr(scratch_repository, "_MOST_BYTES", 1000)
    with ReadAhead(repository.root / ".git", [names["d"], names["a"]], tmp_path) as ahead:
        assert read(ahead, names["d"]) == FILES["d"]
        assert read(ahead, names["a"]) is None


def test_a_scratch_reads_ahead_several_times_but_neither_little_nor_very_much(
    repository: Repository,
) -> None:
    names = blobs(repository)
    some = [*names.values()] * (FEW // len(names))
    with Scratch([repository.root / ".git"]) as scratch:
        started: list[int] = []
        for wanted in (some, [MISSING] * MOST + some, [*some, MISSING], [*some, MISSING]):
            scratch.read_ahead(wanted)
            started.append(len(scratch._aheads))
        assert started == [0, 1, 2, 3]
        assert {path: scratch.read(blob) for path, blob in names.items()} == FILES
        assert scratch._aheads[0].get(names["a"]) is None


def test_a_scratch_that_reads_ahead_often_keeps_few_files_open(repository: Repository) -> None:
    """`plan` does so for each step that it tries: there were too many open files."""
    names = [*blobs(repository).values()] * FEW
    with Scratch([repository.root / ".git"]) as scratch:
        for _ in range(40):
            scratch.read_ahead(names)
        assert len(scratch._aheads) < 20
        assert scratch.read(names[0]) == FILES["a"]


def test_one_of_the_next_blobs_is_waited_for(repository: Repository, tmp_path: Path) -> None:
    names = blobs(repository)
    for _ in range(5):
        with ReadAhead(repository.root / ".git", [*names.values()], tmp_path) as ahead:
            assert {path: ahead.get(blob) for path, blob in names.items()} == FILES


def test_a_blob_of_the_run_exists_like_one_of_the_store(repository: Repository) -> None:
    stored = blobs(repository)["a"]
    with Scratch([repository.root / ".git"]) as scratch:
        made = scratch.add(b"made\n")
        assert scratch.kinds({made, stored, MISSING}) == {made: "blob", stored: "blob"}


@pytest.mark.parametrize("zone", ["+0000", "+1400", "+1500", "-2359"])
def test_a_commit_has_the_zone_of_its_mail(repository: Repository, zone: str) -> None:
    """`git am` takes any zone of less than a day; by default, git fast-import does not."""
    with Scratch([repository.root / ".git"]) as scratch:
        draft = Draft(replace(own_author(), date=f"5 {zone}"), b"m\n", {})
        (commit,) = write_commits(scratch, None, [draft])
        found = scratch.reader.find(commit)
        assert found is not None
        assert f"> 5 {zone}\n".encode() in found.content


def test_contents_come_back_as_they_were(tmp_path: Path) -> None:
    contents = {str(n): os.urandom(n * 7) for n in range(30)}
    folder = tmp_path / "scratch"
    folder.mkdir()
    with MadeBlobs(folder) as made:
        for name, content in contents.items():
            made.add(name, content)
            made.add(name, b"another one")
        assert {name: made.get(name) for name in contents} == contents
        assert "7" in made
        assert "30" not in made and made.get("30") is None
        assert os.listdir(folder) == []
    assert "7" not in made


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> int:
        raise OSError(28, "No space left on device")

    with MadeBlobs(tmp_path) as made:
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match="No space left"):
            made.add("a", b"x" * 100)
        assert "a" not in made


def test_a_forked_process_adds_no_blob_to_the_shared_file(tmp_path: Path) -> None:
    with MadeBlobs(tmp_path) as made:
        added = ForkedCall(
            lambda: made.add("1" * 40, b"forked"), lambda: made.add("2" * 40, b"own")
        )
        added()
        assert made.get("2" * 40) == b"own"
        assert "1" * 40 not in made


def test_objects_of_git_and_of_a_run_are_in_one_folder(
    repository: Repository, tmp_path: Path
) -> None:
    with Scratch([repository.root / ".git"], folder=tmp_path / "scratch") as scratch:
        own = {number: scratch.write_loose("blob", b"%d" % number) for number in range(40)}
        made = repository.git("--git-dir", str(scratch.git_dir), "mktree", data=b"")
        objects = scratch.git_dir / "objects"
        folders = {path.name for path in objects.iterdir() if not path.is_symlink()}
        assert folders == {"info", "loose", "pack"}
        assert scratch.reader.kinds([made, *own.values()]) == {
            made: "tree", **dict.fromkeys(own.values(), "blob"),
        }  # fmt: skip
