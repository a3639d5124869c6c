"""Objects of a repository."""

import random
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import EMPTY_BLOB
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.plumbing.scratch_repository import Scratch
from tests.conftest import Repository


def test_no_part_of_a_damaged_large_file_counts_as_its_content(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    commit = repository.commit({"large": random.Random(0).randbytes(1 << 20), "small": "s\n"})
    large, small = (repository.git("rev-parse", f"{commit}:{name}") for name in ("large", "small"))
    loose = repository.root / f".git/objects/{large[:2]}/{large[2:]}"
    loose.chmod(0o644)
    loose.write_bytes(loose.read_bytes()[: 1 << 19])
    repository.git("config", "core.bigFileThreshold", "1k")  # git prints such a file in parts
    with ObjectReader(repository.root / ".git") as reader:
        with pytest.raises(PatchmgrError, match=f"git cannot read object {large}"):
            reader.blob(large)
        assert reader.blob(small) == b"s\n"


def test_a_tree_may_be_deep(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit({"a/b": "1\n", "a/c/d": "1\n", "a.b": "1\n", "z": "1\n"})
    tree, names = repository.tree(), repository.git("ls-tree", "-r", "--name-only", "HEAD")
    with ObjectReader(repository.root / ".git") as reader:
        assert [*StoredTree(reader, tree).files()] == names.split("\n")
        assert [*StoredTree(reader, tree).files_below("a")] == ["a/b", "a/c/d"]
    with Scratch((), folder=tmp_path) as scratch:
        tree = scratch.write_loose("tree", b"100644 f\0" + bytes.fromhex(EMPTY_BLOB))
        for _ in range(2000):
            tree = scratch.write_loose("tree", b"40000 d\0" + bytes.fromhex(tree))
        assert [*StoredTree(scratch.reader, tree).files()] == ["d/" * 2000 + "f"]
