"""Files that differ between two states, by the real git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from patchmgr.engines.moved.files import is_of
from patchmgr.model.ids import blob_id
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.diffs import changed_files, readable_files
from patchmgr.plumbing.scratch_repository import Scratch
from tests.conftest import Repository

Make = Callable[[str], Repository]


def _states(make_repository: Make) -> tuple[Repository, str, str]:
    repository = make_repository("upstream")
    old = repository.commit(
        {"same.py": "1\n", "new name.py": "1\n", "gone.py": "1\n", "x.c": "1\n"}
    )
    (repository.root / "link.py").symlink_to("same.py")
    (repository.root / "x.c").chmod(0o755)
    changes = {"new name.py": "2\n", "gone.py": None, "ö/added.py": "3\n", "a.txt": "4\n"}
    return repository, old, repository.commit(changes)


def test_new_and_other_files_are_listed_with_both_versions(make_repository: Make) -> None:
    repository, old, new = _states(make_repository)
    found = changed_files(repository.root / ".git", old, new)
    one = Entry("100644", blob_id(b"1\n"))
    assert found == {
        "new name.py": (one, Entry("100644", blob_id(b"2\n"))),
        "ö/added.py": (None, Entry("100644", blob_id(b"3\n"))),
        "a.txt": (None, Entry("100644", blob_id(b"4\n"))),
        "x.c": (one, Entry("100755", blob_id(b"1\n"))),
    }
    assert changed_files(repository.root / ".git", new, new) == {}


def test_what_cannot_be_read_is_left_out(make_repository: Make, tmp_path: Path) -> None:
    repository, old, new = _states(make_repository)
    missing = blob_id(b"3\n")
    git_dir = repository.root / ".git"
    (git_dir / "objects" / missing[:2] / missing[2:]).unlink()
    asked: set[str] = set()
    with Scratch([git_dir], folder=tmp_path) as scratch:
        found = readable_files(scratch, old, new, is_wanted=is_of("Python"), bring=asked.update)
    assert set(found) == {"new name.py"}
    assert asked == {missing, blob_id(b"1\n"), blob_id(b"2\n")}
