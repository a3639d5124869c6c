"""What upstream did, asked for few paths and for more than git is asked about."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from patchmgr.model.ports import Named, Step
from patchmgr.plumbing.history import GitHistory, KnownHistory, ReleaseHistory, changes_between
from tests.conftest import Repository
from tests.tables import table


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str, str]:
    """Return a repository with commits of all kinds between two of them."""
    made = Repository(tmp_path_factory.mktemp("history") / "upstream")
    base = made.commit({"a": b"a\n", "sub/b": b"b\n", "file": b"f\n"}, "base")
    made.commit({"a": b"a2\n", "other": b"o\n"}, "both")
    made.commit({"other": b"o2\n"}, "other alone")
    made.git("commit", "--quiet", "--allow-empty", "-m", "empty")
    made.commit({"file": None}, "delete")
    made.commit({"file/inside": b"i\n"}, "a folder in its place")
    with made.at("-b", "side", base):
        made.commit({"sub/b": b"b2\n"}, "side")
    made.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    return made, base, made.git("rev-parse", "main")


MANY = tuple(f"absent/{n}" for n in range(200))


@pytest.mark.parametrize(
    ("paths", "subjects"),
    [
        pytest.param(("a",), ["both"], id="file"),
        pytest.param(("sub/b",), ["merge"], id="by-a-merge"),
        pytest.param(("file",), ["delete", "a folder in its place"], id="file-to-folder"),
        pytest.param(("a", "sub/b"), ["both", "merge"], id="two"),
        pytest.param(("nothing",), [], id="none"),
    ],
)
def test_many_paths_have_the_steps_that_few_have(
    upstream: tuple[Repository, str, str], paths: tuple[str, ...], subjects: list[str]
) -> None:
    repository, base, target = upstream
    history = GitHistory(repository.root / ".git", base, target)
    few: tuple[Step, ...] = history.steps(paths)
    assert [step.subject for step in few] == subjects
    assert history.steps((*paths, *MANY)) == few


@table("paths", [("a",), ("sub",), ("sub/b", "file"), ("nothing",)])
def test_releases_have_the_changes_of_any_number_of_paths(
    upstream: tuple[Repository, str, str], paths: tuple[str, ...]
) -> None:
    """A command line has no room for many paths."""
    repository, base, target = upstream
    git_dir, more = repository.root / ".git", [f"absent/{'x' * 100}/{n}" for n in range(20_000)]
    few = changes_between(git_dir, base, target, *paths)
    assert changes_between(git_dir, base, target, *paths, *more) == few
    assert bool(few) == (paths != ("nothing",))


@pytest.mark.parametrize("more", [pytest.param((), id="few"), pytest.param(MANY, id="many")])
def test_a_merge_is_opened_into_its_commits(tmp_path: Path, more: tuple[str, ...]) -> None:
    made = Repository(tmp_path / "upstream")
    base = made.commit({"a": b"1\n", "b": b"1\n", "c": b"1\n"}, "base")
    with made.at("-b", "side"):
        one = made.commit({"a": b"2\n", "new": b"1\n"}, "one")
        made.commit({"c": b"2\n"}, "another file")
        two = made.commit({"a": b"3\n", "b": None, "new": b"2\n"}, "two")
    made.commit({"a": b"1\n", "d": b"1\n"}, "main")
    made.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    history = GitHistory(made.root / ".git", base, made.git("rev-parse", "main"))
    paths = ("a", "b", "new", *more)
    (merge,) = history.steps(paths)
    assert merge.is_merge
    start, *steps = history.inside(merge.commit, paths)
    assert (start.commit, [*start.changes]) == ("", ["a", "b"])
    assert [(step.commit, step.subject, [*step.changes]) for step in steps] == [
        (one, "one", ["a", "new"]),
        (two, "two", ["a", "b", "new"]),
    ]
    assert history.inside(merge.commit, ("other", *more)) == ()
    known = KnownHistory(history, paths)
    assert known.inside([merge]) == {merge.commit: (start, *steps)}
    lacks = KnownHistory(history, paths, lambda found: [replace(s, changes={}) for s in found])
    assert lacks.inside([merge]) == {}


def test_a_step_has_what_its_message_says_it_reverts(tmp_path: Path) -> None:
    made = Repository(tmp_path / "upstream")
    base = made.commit({"a": b"a\n"}, "base")
    one = made.commit({"a": b"b\n"}, "one\n\nIt does more.")
    two = made.commit({"a": b"a\n"}, f'Revert "more (#7)" (#8)\n\nThis reverts commit {one}.')
    steps = GitHistory(made.root / ".git", base, two).steps(("a",))
    assert [(step.subject, step.reverts) for step in steps] == [
        ("one", ()),
        ('Revert "more (#7)" (#8)', ("#7", one)),
    ]


def test_a_merge_reverts_what_its_commits_revert(tmp_path: Path) -> None:
    made = Repository(tmp_path / "upstream")
    base = made.commit({"a": b"a\n", "b": b"a\n"}, "base")
    tips = list[str]()
    for branch in ("work", "back"):
        with made.at("-b", branch):
            said = f'Revert "it"\n\nThis reverts commit {tips[0]}.' if tips else "it"
            tips.append(made.commit({"a": branch.encode()}, said))
            made.commit({"b": branch.encode()}, f"more {branch}")
        made.git("merge", "--quiet", "--no-ff", "-m", f"merge {branch}", branch)
    first, last = made.git("rev-list", "--first-parent", "--reverse", f"{base}..main").split()
    steps = GitHistory(made.root / ".git", base, last).steps(("a",))
    assert [(step.commit, step.reverts) for step in steps] == [
        (first, ()),
        (last, (tips[0], first)),
    ]


@pytest.mark.parametrize(
    ("swapped", "expected"),
    [pytest.param(False, (7, 0), id="on"), pytest.param(True, (0, 7), id="back")],
)
def test_the_way_back_is_counted_apart(
    upstream: tuple[Repository, str, str], swapped: bool, expected: tuple[int, int]
) -> None:
    repository, base, target = upstream
    ends = (target, base) if swapped else (base, target)
    assert GitHistory(repository.root / ".git", *ends).distance() == expected


@pytest.mark.parametrize(
    ("ends", "paths", "expected"),
    [
        pytest.param(("gone", "new"), ("a", "b"), ["back", "new"], id="rewritten"),
        pytest.param(("gone", "new"), ("b",), ["new"], id="rewritten-elsewhere"),
        pytest.param(("gone", "both"), ("a",), ["back"], id="older"),
        pytest.param(("both", "new"), ("a", "b"), ["new"], id="ahead"),
        pytest.param(("side", "merge"), ("a", "s"), ["merge"], id="merged"),
    ],
)
def test_the_commits_that_the_target_lacks_are_one_step_back(
    tmp_path: Path, ends: tuple[str, str], paths: tuple[str, ...], expected: list[str]
) -> None:
    made = Repository(tmp_path / "upstream")
    made.commit({"a": b"1\n", "b": b"1\n"}, "first")
    at = {"both": made.commit({"a": b"2\n"}, "both")}
    with made.at("-b", "rewritten"):
        made.commit({"a": b"3\n"}, "gone")
        at["gone"] = made.commit({"a": b"4\n"}, "gone, too")
    with made.at("-b", "side"):
        at["side"] = made.commit({"s": b"1\n"}, "side")
    at["new"] = made.commit({"b": b"2\n"}, "new")
    made.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    at["merge"] = made.git("rev-parse", "main")
    history = GitHistory(made.root / ".git", *(at[end] for end in ends))
    steps = history.steps(paths)
    assert ["back" if step.is_back else step.subject for step in steps] == expected
    back = [step for step in steps if step.is_back]
    assert [step.commit for step in back] == [at["both"]] * len(back)
    assert all(history.before(step.commit) == at["gone"] for step in back)


def test_what_a_header_names_is_found_only_on_the_way(tmp_path: Path) -> None:
    made = Repository(tmp_path / "upstream")
    first = made.commit({"a": b"1\n"}, "Before (#1)")
    base = made.commit({"a": b"2\n"}, "Base (#2)")
    fix = made.commit({"a": b"3\n"}, "Fix it (#3)")
    target = made.commit({"a": b"4\n"}, "Mention #4")
    history = GitHistory(made.root / ".git", base, target)
    assert history.find(Named("Drop-When", pull=3)) == (fix, "Fix it (#3)")
    assert history.find(Named("Applied-Upstream", commit=fix[:12])) == (fix, "Fix it (#3)")
    others = (Named("f", pull=1), Named("f", pull=4), Named("f", commit=first))
    absent = (Named("f", commit="0" * 40), Named("f", release="1.0"))
    assert [history.find(named) for named in (*others, *absent)] == [None] * 5
    assert made.git("rev-parse", history.before(fix)) == base


@table(
    ("newer", "release", "found", "distance"),
    {
        "on-the-way": (0, "2.0", ("c2", "plant 2.0"), (2, 0)),
        "later": (0, "4.0", None, (2, 0)),
        "on-the-way-back": (3, "2.0", None, (0, 3)),
    },
)
def test_a_release_that_a_header_names_is_found_on_the_way(
    newer: int, release: str, found: tuple[str, str] | None, distance: tuple[int, int]
) -> None:
    known = {"2.0": ("c2", "plant 2.0"), "3.0": ("c3", "plant 3.0")}
    history = ReleaseHistory(Path(), "c1", ("2.0", "3.0"), known.__getitem__, newer)
    assert history.find(Named("Drop-When", release=release)) == found
    assert history.distance() == distance
    assert [history.before(commit) for commit in ("c2", "c3")] == ["c1", "c2"]
