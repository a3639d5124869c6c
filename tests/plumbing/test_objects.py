"""Objects of a repository."""

import random
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.objects import ObjectReader
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
