"""Where upstream moved files and folders to, by the real git."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from patchmgr.plumbing.history import GitHistory
from patchmgr.plumbing.renames import find_renames, moved_folders
from patchmgr.plumbing.scratch_repository import Scratch
from tests.conftest import Make

Files = Mapping[str, str | None]


def _lines(word: str, start: int, end: int) -> str:
    return "".join(f"{word} line {number}\n" for number in range(start, end))


OLD, MIDDLE, NEW = (_lines("a", n, n + 20) for n in (0, 8, 16))
SUB = {f"pkg/sub/{name}.py": _lines(name, 0, 9) for name in "abc"}
TOP = {"pkg/top.py": _lines("top", 0, 9)}
GONE = dict.fromkeys(SUB)


def _below(folder: str, names: str = "abc") -> dict[str, str]:
    return {f"{folder}/{name}.py": _lines(name, 0, 9) for name in names}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([{"x/f.c": None, "y/f.c": MIDDLE}, {"y/f.c": NEW}], "y/f.c", id="and-changed"),
        pytest.param([{"x/f.c": None, "y/f.c": OLD}, {"y/f.c": None, "z/g.c": MIDDLE},
                      {"z/g.c": NEW}], "z/g.c", id="twice"),
        pytest.param([{"x/f.c": None, "y/f.c": MIDDLE}, {"y/f.c": None}], None, id="then-deleted"),
        pytest.param([{"x/f.c": None, "y/f.c": NEW}], None, id="deleted-beside-another"),
        pytest.param([{"x/f.c": NEW}], None, id="there"),
        pytest.param([{"x/f.c": None}, {"x/f.c": NEW}], None, id="back"),
    ],
)  # fmt: skip
def test_a_file_is_followed_move_by_move(
    make_repository: Make, tmp_path: Path, steps: list[Files], expected: str | None
) -> None:
    repository = make_repository("upstream")
    base = repository.commit({"x/f.c": OLD, "other": "1\n"})
    target = [repository.commit(step) for step in steps][-1]
    git_dir = repository.root / ".git"
    with Scratch([git_dir], folder=tmp_path) as scratch:
        ends = scratch.tree(base), scratch.tree(target)
        way = GitHistory(git_dir, base, target)
        found = find_renames(scratch, *ends, ["x/f.c", "other"], way)
        assert found == ({} if expected is None else {"x/f.c": expected})
        assert find_renames(scratch, *ends, ["x/f.c", "other"]) == {}


@pytest.mark.parametrize(
    ("upstream", "path", "expected"),
    [
        pytest.param({**GONE, **_below("pkg/ops/sub")}, "pkg/sub/new.py", "pkg/ops/sub/new.py",
                     id="moved"),
        pytest.param({**GONE, **_below("pkg/ops/sub")}, "pkg/sub/deep/new.py", None,
                     id="in-a-new-folder-of-it"),
        pytest.param({**GONE, **_below("lib")}, "pkg/sub/new.py", "lib/new.py", id="renamed"),
        pytest.param({**GONE, **_below("lib", "ab"), **_below("old", "c")}, "pkg/sub/new.py",
                     "lib/new.py", id="most-of-it"),
        pytest.param({**GONE, **_below("lib", "ab"), "pkg/sub/d.py": "1\n"}, "pkg/sub/new.py", None,
                     id="something-is-there"),
        pytest.param({**GONE, "pkg/top.py": None, "lib/top.py": _lines("top", 0, 9)},
                     "pkg/sub/new.py", None, id="deleted"),
        pytest.param({"pkg/sub/a.py": "2\n"}, "pkg/sub/new.py", None, id="there"),
        pytest.param({**GONE, **_below("lib")}, "pkg/new.py", None, id="beside-it"),
        pytest.param({**GONE, **_below("lib")}, "elsewhere/new.py", None, id="nowhere"),
    ],
)  # fmt: skip
def test_a_new_file_goes_where_its_folder_went(
    make_repository: Make, tmp_path: Path, upstream: Files, path: str, expected: str | None
) -> None:
    repository = make_repository("upstream")
    base = repository.commit({**SUB, **TOP})
    target = repository.commit(upstream)
    git_dir = repository.root / ".git"
    with Scratch([git_dir], folder=tmp_path) as scratch:
        ends = scratch.tree(base), scratch.tree(target)
        found = moved_folders(scratch, *ends, [path], GitHistory(git_dir, base, target))
    assert found == ({} if expected is None else {path: expected})
    repository.git("checkout", "--quiet", "-b", "ours", base)
    repository.commit({path: "new\n"})
    repository.git("-c", "merge.directoryRenames=true", "merge", "--quiet", "-m", "m", target)
    assert (expected or path) in repository.git("ls-files").split()


def test_a_folder_is_followed_step_by_step(make_repository: Make, tmp_path: Path) -> None:
    repository = make_repository("upstream")
    base = repository.commit({**SUB, **TOP})
    repository.commit({**GONE, **_below("lib")})
    target = repository.commit({path: _lines("new", 0, 9) for path in _below("lib")})
    git_dir = repository.root / ".git"
    with Scratch([git_dir], folder=tmp_path) as scratch:
        ends, path = (scratch.tree(base), scratch.tree(target)), "pkg/sub/new.py"
        way = GitHistory(git_dir, base, target)
        assert moved_folders(scratch, *ends, [path], way) == {path: "lib/new.py"}
        assert moved_folders(scratch, *ends, [path]) == {}


@pytest.mark.parametrize(
    ("upstream", "expected"),
    [
        pytest.param(
            {**GONE, **_below("lib"), "lib/__init__.py": ""}, "lib/__init__.py", id="moved"
        ),
        pytest.param({**GONE, **_below("lib")}, None, id="deleted"),
        pytest.param({"lib/__init__.py": ""}, None, id="another-empty-file"),
        pytest.param({**GONE, "lib/__init__.py": ""}, None, id="another-of-a-folder-that-goes"),
    ],
)
def test_an_empty_file_moves_with_its_folder_only(
    make_repository: Make, tmp_path: Path, upstream: Files, expected: str | None
) -> None:
    repository, empty = make_repository("upstream"), "pkg/sub/__init__.py"
    base = repository.commit({**SUB, **TOP, empty: ""})
    target = repository.commit({empty: None, **upstream})
    with Scratch([repository.root / ".git"], folder=tmp_path) as scratch:
        found = find_renames(scratch, scratch.tree(base), scratch.tree(target), [empty])
    assert found == ({} if expected is None else {empty: expected})


@pytest.mark.parametrize(("others", "found"), [(3, {"f.c": "g.c"}), (80, {})])
def test_blobs_of_any_name_are_fetched_where_few_files_are_new(
    make_repository: Make, tmp_path: Path, others: int, found: Mapping[str, str]
) -> None:
    repository = make_repository("upstream")
    base = repository.commit({"f.c": OLD})
    more = {f"{number}.c": f"{number}\n" for number in range(others)}
    target = repository.commit({"f.c": None, "g.c": MIDDLE, **more})
    blob = repository.git("rev-parse", f"{target}:g.c")
    git_dir, away = repository.root / ".git", tmp_path / "away"
    place = git_dir / "objects" / blob[:2] / blob[2:]
    place.rename(away)

    def bring(blobs: set[str]) -> None:
        if blob in blobs:
            away.rename(place)

    with Scratch([git_dir], folder=tmp_path) as scratch:
        ends = scratch.tree(base), scratch.tree(target)
        assert find_renames(scratch, *ends, ["f.c"], bring=bring) == found
