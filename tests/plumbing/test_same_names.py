"""Paths that a file system takes for one are refused by name, and nothing else is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.checkout_changes import refuse_same_names
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from tests.conftest import Make

ALIKE = [
    (("a/File.py",), "a/file.py"), (("A/file.py",), "a/file.py"), (("stra\u00dfe",), "STRASSE"),
    (("u\u0308.txt",), "\u00fc.txt"), (("a/b", "A/B"), ""),
]  # fmt: skip
APART = [(("a/file.pyi",), "a/file.py"), (("a/new",), "a/file.py"), (("a",), "A/file.py")]


@pytest.fixture
def folding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every name be there, as where names are folded."""
    monkeypatch.setattr(os.path, "lexists", lambda path: True)


@pytest.fixture
def tree(make_repository: Make, below: str) -> Iterator[StoredTree]:
    """Return a tree that has the file `below`."""
    repository = make_repository("r")
    repository.commit({below or "other": "x\n", "unrelated": "x\n"})
    with ObjectReader(repository.root / ".git") as reader:
        yield StoredTree(reader, repository.tree())


@pytest.mark.usefixtures("folding")
@pytest.mark.parametrize(("there", "below"), ALIKE)
def test_equal_names(tree: StoredTree, tmp_path: Path, there: tuple[str], below: str) -> None:
    with pytest.raises(PatchmgrError, match="would be one file in") as refused:
        refuse_same_names(tmp_path, there, (), tree)
    assert refused.value.kind == "same-name"
    if below:
        refuse_same_names(tmp_path, there, (below,), tree)


@pytest.mark.usefixtures("folding")
@pytest.mark.parametrize(("there", "below"), APART)
def test_other_names(tree: StoredTree, tmp_path: Path, there: tuple[str], below: str) -> None:
    refuse_same_names(tmp_path, there, (), tree)


@pytest.mark.parametrize(("there", "below"), ALIKE)
def test_the_folder_stays(tree: StoredTree, tmp_path: Path, there: tuple[str], below: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    refuse_same_names(place, there, (), tree)  # this file system holds them apart
    assert not os.listdir(place)
