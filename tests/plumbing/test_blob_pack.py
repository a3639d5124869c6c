from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from patchmgr.model.ids import blob_id
from patchmgr.plumbing import blob_pack
from patchmgr.plumbing.blob_pack import BlobPack


@pytest.fixture
def store(tmp_path: Path) -> Path:
    made = tmp_path / "store.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--template=", str(made)], check=True)
    return made


def git(store: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        ["git", f"--git-dir={store}", *arguments], capture_output=True, check=True
    )
    return done.stdout


def packs(store: Path) -> list[str]:
    return sorted(path.name for path in (store / "objects/pack").iterdir())


SIZES = [0, 1, 15, 16, 127, 128, 2047, 2048, 2049, 1 << 18, (1 << 20) + 7, 3 << 20]


def test_git_reads_back_what_was_added(store: Path) -> None:
    chance = random.Random(1)
    contents = [chance.randbytes(size // 2) + bytes(size - size // 2) for size in SIZES]
    contents += [b"%d\n" % number for number in range(1000)]
    with BlobPack(store) as pack:
        ids = [pack.add(content) for content in contents]
        pack.finish()
    assert ids == [blob_id(content) for content in contents]
    for blob, content in zip(ids[:30], contents[:30], strict=True):
        assert git(store, "cat-file", "blob", blob) == content
    name = next(pack for pack in packs(store) if pack.endswith(".idx"))
    git(store, "verify-pack", str(store / "objects/pack" / name))
    git(store, "fsck", "--full", "--strict")


def test_the_same_blobs_give_the_same_pack(store: Path, tmp_path: Path) -> None:
    contents = [os.urandom(100_000) for _ in range(50)]
    for _ in range(2):
        with BlobPack(store) as pack:
            for content in contents:
                pack.add(content)
            pack.finish()
        assert [name.rpartition(".")[2] for name in packs(store)] == ["idx", "pack"]


def test_known_and_doubled_blobs_are_written_once(store: Path) -> None:
    with BlobPack(store, known={blob_id(b"known")}) as pack:
        for content in (b"known", b"new", b"new"):
            pack.add(content)
        pack.finish()
    listed = git(store, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    assert listed.decode().split() == [blob_id(b"new")]


def test_without_new_blobs_there_is_no_pack(store: Path) -> None:
    with BlobPack(store, known={blob_id(b"known")}) as pack:
        pack.add(b"known")
        pack.finish()
    assert packs(store) == []


def test_a_run_that_fails_leaves_nothing(store: Path) -> None:
    def fail() -> None:
        with BlobPack(store) as pack:
            for number in range(40):
                pack.add(os.urandom(1 << 19) + b"%d" % number)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert packs(store) == []


def test_offsets_beyond_two_gigabytes_have_their_table(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is lowered: git reads the table whenever the highest bit is set."""
    monkeypatch.setattr(blob_pack, "_SMALL_OFFSET_END", 1000)
    contents = [os.urandom(500) for _ in range(10)]
    with BlobPack(store) as pack:
        ids = [pack.add(content) for content in contents]
        pack.finish()
    assert [git(store, "cat-file", "blob", blob) for blob in ids] == contents
