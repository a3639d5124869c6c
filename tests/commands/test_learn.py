"""`conflicts learn`: what finished merges and rebases of a clone teach."""

from typing import Any

import pytest

from tests.commands.conftest import Scene
from tests.commands.test_conflicts import conflicts, listed, merged
from tests.commands.test_rebase import text
from tests.conftest import Make, Repository
from tests.tables import table

Files = dict[str, bytes | str | None]


@pytest.fixture
def clone(make_repository: Make) -> Repository:
    return make_repository("clone")


def merge(clone: Repository, base: Files, ours: Files, theirs: Files, made: Files) -> str:
    """Make a merge of two branches, as a person finished it."""
    start = clone.commit(base, "base")
    with clone.at("-b", "theirs", start):
        clone.commit(theirs, "theirs")
    clone.commit(ours, "ours")
    clone.git("merge", "--quiet", "--no-commit", "theirs", good=(0, 1, 2))
    for path in clone.git("ls-files", "--unmerged").splitlines():
        clone.git("rm", "--quiet", "--cached", "--ignore-unmatch", "-f", path.split("\t")[1])
    return clone.commit(made, "merge")


def learn(scene: Scene, clone: Repository, *arguments: str, code: int = 0) -> Any:
    answer = conflicts(scene, "learn", "--git", clone.root, *arguments, "--json", code=code)
    return answer.json


BASE, OURS, THEIRS = text(), text(l10="ours\n"), text(l10="theirs\n")


def test_a_merge_teaches_each_region_of_it(scene: Scene, clone: Repository) -> None:
    made = merge(
        clone,
        {"a": text(), "b": text()},
        {"a": text(l10="ours\n", l40="mine\n"), "b": text(l5="ours\n")},
        {"a": text(l10="theirs\n", l40="yours\n"), "b": text(l50="theirs\n")},
        {"a": text(l10="both\n", l40=None)},
    )
    dry = learn(scene, clone, "HEAD", "--dry-run")
    assert dry["merges"] == 1
    (file,) = dry["files"]
    assert (file["path"], len(file["learned"]), file["missed"]) == ("a", 2, [])
    assert listed(scene) == {}
    assert learn(scene, clone, made[:12])["files"] == dry["files"]
    assert set(listed(scene).values()) == {"solved"}
    assert merged(scene, BASE, THEIRS, OURS) == text(l10="both\n")
    again = conflicts(scene, "learn", "--git", clone.root, "HEAD").out
    assert "Learned 0 resolutions (1 merge, 1 file in conflict)." in again


def test_the_clone_is_left_as_it_was(scene: Scene, clone: Repository) -> None:
    merge(clone, {"a": BASE}, {"a": OURS}, {"a": THEIRS}, {"a": text(l10="both\n")})
    before = clone.git("count-objects", "-v"), clone.git("for-each-ref")
    learn(scene, clone, "HEAD")
    assert (clone.git("count-objects", "-v"), clone.git("for-each-ref")) == before


@pytest.mark.parametrize(
    ("sides", "made", "reason"),
    [
        pytest.param((BASE, OURS, THEIRS), text(l9="more\n", l10="both\n"),
            "text around it was changed", id="changed-around"),
        pytest.param((BASE, OURS, THEIRS), None, "no file at this path", id="deleted"),
        pytest.param((b"\0b", b"\0o", b"\0t"), b"\0x", "binary", id="binary"),
        pytest.param((BASE, OURS, THEIRS), "<<<<<<< HEAD\n" + OURS, "markers are left",
            id="committed-with-markers"),
    ],
)  # fmt: skip
def test_what_teaches_nothing_says_why(
    scene: Scene,
    clone: Repository,
    sides: tuple[bytes | str, bytes | str, bytes | str],
    made: bytes | str | None,
    reason: str,
) -> None:
    base, ours, theirs = sides
    solved: Files = {} if made is None else {"a": made}
    merge(clone, {"a": base}, {"a": ours}, {"a": theirs}, solved)
    if made is None:
        (clone.root / "a").unlink(missing_ok=True)
        clone.git("add", "--all")
        clone.git("commit", "--quiet", "--amend", "--allow-empty", "--no-edit")
    (file,) = learn(scene, clone, "HEAD")["files"]
    assert file["learned"] == []
    assert reason in file["missed"][0]
    assert listed(scene) == {}


@pytest.mark.parametrize("made", ["kept\n", None])
def test_a_deleted_file_is_learned_whole(scene: Scene, clone: Repository, made: str | None) -> None:
    solved: Files = {"b": "b\n"} if made is None else {"a": made}
    base: Files = {"a": BASE, "x": "x\n"}
    merge(clone, base, {"a": None, "y": "y\n"}, {"a": THEIRS}, solved)
    if made is None and (clone.root / "a").exists():
        (clone.root / "a").unlink()
        clone.git("add", "--all")
        clone.git("commit", "--quiet", "--amend", "--no-edit")
    (file,) = learn(scene, clone, "HEAD")["files"]
    assert len(file["learned"]) == 1
    assert list(listed(scene).values()) == ["deleted" if made is None else "solved"]


def test_what_was_solved_in_two_ways_is_not_learned(scene: Scene, clone: Repository) -> None:
    both: Files = {"a": BASE, "b": BASE}
    merge(
        clone,
        both,
        {"a": OURS, "b": OURS},
        {"a": THEIRS, "b": THEIRS},
        {"a": text(l10="both\n"), "b": text(l10="other\n")},
    )
    document = learn(scene, clone, "HEAD")
    assert [one["learned"] for one in document["files"]] == [[], []]
    assert "resolved in different ways" in document["files"][1]["missed"][0]
    assert listed(scene) == {}


def test_what_was_learned_first_stays(scene: Scene, clone: Repository) -> None:
    merge(clone, {"a": BASE}, {"a": OURS}, {"a": THEIRS}, {"a": text(l10="both\n")})
    learn(scene, clone, "HEAD")
    clone.commit({"a": text(l10="other\n")}, "x")
    parents = ["-p", "HEAD~1^1", "-p", "HEAD~1^2"]
    other = clone.git("commit-tree", clone.tree(), *parents, "-m", "again")
    (file,) = learn(scene, clone, other)["files"]
    assert "resolved differently before" in file["missed"][0]
    assert merged(scene, BASE, OURS, THEIRS) == text(l10="both\n")


def test_all_merges_of_a_range_are_learned(scene: Scene, clone: Repository) -> None:
    merge(clone, {"a": BASE}, {"a": OURS}, {"a": THEIRS}, {"a": text(l10="both\n")})
    root = clone.git("rev-list", "--max-parents=0", "HEAD")
    clone.commit({"c": "c\n"}, "more")
    assert learn(scene, clone, f"{root}..HEAD")["merges"] == 1
    assert len(listed(scene)) == 1


def test_a_rebase_is_learned_with_the_branch_that_was(
    scene: Scene, clone: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_EDITOR", "true")
    start = clone.commit({"a": BASE, "b": "b\n"}, "base")
    with clone.at("-b", "fork", start):
        clone.commit({"a": OURS}, "fork: one", author="A <a@x>")
        clone.commit({"b": "c\n"}, "fork: two", author="A <a@x>")
        clone.git("branch", "was")
    clone.commit({"a": THEIRS}, "upstream")
    clone.git("checkout", "--quiet", "fork")
    clone.git("rebase", "--quiet", "main", good=(1,))
    (clone.root / "a").write_text(text(l10="both\n"))
    clone.git("add", "a")
    clone.git("rebase", "--continue")
    document = learn(scene, clone, "main..fork", "--was", "was")
    assert document["merges"] == 2
    (file,) = document["files"]
    assert (file["path"], len(file["learned"])) == ("a", 1)
    assert file["commit"] == clone.git("rev-parse", "fork~1")
    assert merged(scene, BASE, OURS, THEIRS) == text(l10="both\n")


@table(
    ("arguments", "kind"),
    [
        (["HEAD"], "usage"),
        (["nothing"], "unknown-ref"),
        (["a..b"], "unknown-ref"),
        (["--", "-x"], "usage"),
        ([""], "usage"),
        (["HEAD", "--was", "main"], "usage"),
        (["HEAD..main", "--was", "nothing"], "unknown-ref"),
        (["HEAD..main", "--was", "-x"], "usage"),
    ],
)
def test_what_is_no_merge(scene: Scene, clone: Repository, arguments: list[str], kind: str) -> None:
    clone.commit({"a": "a\n"})
    git = ("learn", "--json", "--git", clone.root)
    answer = conflicts(scene, *git, *arguments, code=2)
    assert answer.json["error"]["kind"] == kind
