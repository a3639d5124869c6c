"""`branch`: the buildable branch, in the store and in a user's clone."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Answer, invoke
from tests.commands.scenes import Stage, one_line, own_ref, picture, plant, text, unchanged
from tests.conftest import Repository
from tests.tables import table

OURS = "refs/heads/patchmgr/s"


def branch(stage: Stage, *arguments: str | Path, code: int = 0) -> Answer:
    return stage.run("branch", "s", *arguments, code=code)


def store(stage: Stage) -> Repository:
    folder = next((stage.folder / "cache/patchmgr/stores").glob("upstream-*.git"))
    return Repository(folder, is_there=True)


def refs(repository: Repository) -> dict[str, str]:
    lines = repository.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in lines)


def refuses(stage: Stage, clone: Repository, *arguments: str, code: int = 2) -> str:
    """Check that nothing in the clone changes; return the one line that says why."""
    before = refs(clone), picture(clone.root, without=())
    message = one_line(branch(stage, "--repo", clone.root, *arguments, code=code))
    dry = one_line(branch(stage, "--repo", clone.root, *arguments, "--dry-run", code=code))
    assert dry == message
    assert (refs(clone), picture(clone.root, without=())) == before
    return message


def test_the_store_gets_one_commit_a_patch(stage: Stage) -> None:
    answer = branch(stage, "--json").json
    assert answer["commits"] == 2
    assert answer["base"] == stage.base
    ours = own_ref(stage.root, OURS)
    assert refs(store(stage))[ours] == answer["head"]
    assert store(stage).tree(ours) == stage.upstream.tree("fork")
    assert store(stage).git("rev-list", "--count", f"{stage.base}..{ours}") == "2"
    assert store(stage).git("rev-parse", f"{ours}~2") == stage.base
    assert Path(answer["repository"]) == store(stage).root


def test_a_clone_gets_it_and_keeps_work_tree_and_index(stage: Stage) -> None:
    clone = stage.clone()
    (clone.root / "pkg/a.py").write_text("an edit\n")
    clone.git("add", "pkg/a.py")
    (clone.root / "pkg/a.py").write_text("another edit\n")
    without = ("objects", "patchmgr")
    before = picture(clone.root, without=without)
    head = branch(stage, "--repo", clone.root, "--json").json["head"]
    after = picture(clone.root, without=without)
    assert {path for path in after if path not in before} <= {
        ".git/refs/heads/patchmgr", ".git/logs/refs/heads/patchmgr"
    }  # fmt: skip
    assert {path: after[path] for path in before} == before
    assert clone.git("rev-parse", OURS) == head == branch(stage, "--json").json["head"]
    assert clone.tree(OURS) == stage.upstream.tree("fork")
    clone.git("fsck", "--strict")
    clone.git("stash", "--quiet")
    clone.git("checkout", "--quiet", "patchmgr/s")
    assert clone.git("status", "--porcelain") == ""


def test_one_input_gives_the_same_commits(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    first = branch(stage, "--json").json["head"]
    assert branch(stage, "--json").json["head"] == first
    monkeypatch.setenv("XDG_CACHE_HOME", str(stage.folder / "another cache"))
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@1800000000 +0200")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Nobody")
    config = stage.folder / "gitconfig"
    config.write_text("[user]\nname=Me\n[core]\nautocrlf=true\n[diff]\nnoprefix=true\n"
                      "[commit]\ngpgsign=true\n[i18n]\ncommitEncoding=latin1\n")  # fmt: skip
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert branch(stage, "--json").json["head"] == first


def test_authors_and_dates_are_the_patches_and_the_committer_is_patchmgr(stage: Stage) -> None:
    stage.upstream.git("checkout", "--quiet", "--detach", "main")
    (stage.upstream.root / "pkg/a.py").write_text(text(l1="x\n"))
    stage.upstream.git(
        "commit", "--quiet", "-a", "-m", "one", "--author=J\u00f6rg <j@example.org>",
        "--date=@1234567890 +0530",
    )  # fmt: skip
    stage.series(stage.upstream.patches("main..HEAD"))
    plain = stage.folder / "plain.diff"
    plain.write_text("--- a/pkg/b.py\n+++ b/pkg/b.py\n@@ -1,2 +1,2 @@\n-line 0\n+zero\n line 1\n")
    stage.run("import", plain, "--series", "s")
    stage.upstream.git("checkout", "--quiet", "main")
    branch(stage)
    form = "--format=%an <%ae>|%ad|%cn <%ce>|%cd|%s"
    ours = own_ref(stage.root, OURS)
    lines = store(stage).git("log", "-2", form, "--date=raw", ours).splitlines()
    us = "patchmgr <patchmgr@localhost>"
    assert lines == [
        f"{us}|1700000000 +0000|{us}|1700000000 +0000|plain",
        f"J\u00f6rg <j@example.org>|1234567890 +0530|{us}|1234567890 +0530|one",
    ]


def test_a_changed_series_replaces_its_own_branch(stage: Stage) -> None:
    clone = stage.clone()
    branch(stage, "--repo", clone.root)
    branch(stage)
    stage.series(stage.upstream.patches("main..fork~1"))
    head = branch(stage, "--repo", clone.root, "--json").json["head"]
    assert clone.git("rev-parse", OURS) == head
    assert clone.git("rev-list", "--count", f"{stage.base}..{OURS}") == "1"
    assert branch(stage, "--json").json["head"] == head
    assert refs(store(stage))[own_ref(stage.root, OURS)] == head


def test_a_persons_branch_is_not_replaced_unless_forced(stage: Stage) -> None:
    clone = stage.clone()
    clone.git("branch", "mine", "origin/later")
    message = refuses(stage, clone, "--name", "mine")
    assert message.endswith("holds commits that patchmgr did not write")
    branch(stage, "--repo", clone.root)
    clone.git("checkout", "--quiet", "patchmgr/s")
    plant(clone, {"mine": "x\n"}, "on top")
    clone.git("checkout", "--quiet", "work")
    refuses(stage, clone)
    old = clone.git("rev-parse", "mine")
    built = branch(stage, "--repo", clone.root, "--name", "mine", "--force", "--json").json
    assert clone.git("rev-parse", "mine") == built["head"]
    assert clone.git("rev-parse", f"mine-fallback-{old[:12]}") == old
    again = branch(stage, "--repo", clone.root, "--name", "mine", "--force", "--json").json
    assert (built["fallback"], again["fallback"]) == (f"mine-fallback-{old[:12]}", None)
    assert "HEAD is not a valid branch" in refuses(stage, clone, "--name", "HEAD")


def test_a_branch_that_is_checked_out_is_not_moved(stage: Stage) -> None:
    clone = stage.clone()
    assert "is checked out in" in refuses(stage, clone, "--name", "work")
    assert "is checked out in" in refuses(stage, clone, "--name", "work", "--force")
    clone.git("worktree", "add", "--quiet", "-b", "second", "../second")
    refused = refuses(stage, clone, "--name", "second", "--force")
    assert refused == f"second is checked out in {stage.folder / 'second'}"
    second = Repository(stage.folder / "second", is_there=True)
    branch(stage, "--repo", second.root, "--name", "third")
    assert "third" in clone.git("branch", "--list", "third")


def test_a_tag_is_made_once(stage: Stage) -> None:
    clone = stage.clone()
    first = branch(stage, "--repo", clone.root, "--tag", "v1-ours", "--json").json
    assert first["tag"] == "v1-ours"
    assert clone.git("rev-parse", "v1-ours^{commit}") == first["head"]
    assert clone.git("cat-file", "-t", "v1-ours") == "tag"
    branch(stage, "--repo", clone.root, "--tag", "v1-ours")
    clone.git("tag", "-a", "-m", "a person's", "theirs", first["head"])
    stage.series(stage.upstream.patches("main..fork~1"))
    for name in ("v1-ours", "theirs"):
        assert "already exists" in refuses(stage, clone, "--tag", name)
    second = branch(stage, "--repo", clone.root, "--tag", "theirs", "--force", "--json").json
    assert clone.git("rev-parse", "theirs^{commit}") == second["head"] != first["head"]
    branch(stage, "--tag", "v1-ours")
    stage.series(stage.upstream.patches("main..fork"))
    branch(stage, "--tag", "v1-ours", code=2)


def test_a_dry_run_writes_nothing_and_says_the_same(stage: Stage) -> None:
    clone = stage.clone()
    with unchanged(stage.folder, without=("tmp",)):
        dry = branch(stage, "--repo", clone.root, "--tag", "t", "--dry-run", "--json").json
        branch(stage, "--dry-run")
    wet = branch(stage, "--repo", clone.root, "--tag", "t", "--json").json
    assert {**dry, "dry_run": False} == wet


@pytest.fixture
def clone(stage: Stage) -> Repository:
    return stage.clone()


@table("name", ["", "-x", "a b", "a..b", "x.lock", "a~1", "@{x", "/x", "x\nupdate refs/heads/x",
                "a\x1b[0m"])  # fmt: skip
def test_what_is_no_name_is_refused(stage: Stage, clone: Repository, name: str) -> None:
    for option in ("--name", "--tag") if name else ("--tag",):
        assert "is not a valid branch or tag name" in refuses(stage, clone, f"{option}={name}")


def test_a_clone_without_the_pin_is_told_what_to_fetch(stage: Stage) -> None:
    other = Repository(stage.folder / "other")
    other.commit({"x": "x\n"})
    stage.run("series", "new", "t", "--upstream", "up", "--base",
              stage.upstream.git("rev-parse", "later"))  # fmt: skip
    answer = stage.run("branch", "t", "--repo", other.root, code=1)
    assert "does not contain commit" in one_line(answer)
    assert "fetch" in answer.err


def test_a_pin_without_parents_goes_along(stage: Stage) -> None:
    other = Repository(stage.folder / "other")
    other.commit({"x": "x\n"})
    head = branch(stage, "--repo", other.root, "--json").json["head"]
    assert other.git("rev-parse", OURS) == head
    other.git("fsck", "--strict", "--no-dangling")
    assert other.tree(OURS) == stage.upstream.tree("fork")


def _bare(stage: Stage) -> Path:
    place = stage.folder / "bare.git"
    stage.upstream.git("clone", "--quiet", "--bare", ".", str(place))
    return place


def _shallow(stage: Stage) -> Path:
    place = stage.folder / "shallow"
    url = f"file://{stage.upstream.root}"
    stage.upstream.git("clone", "--quiet", "--depth=1", url, str(place))
    return place


def _blobless(stage: Stage) -> Path:
    place = stage.folder / "blobless"
    stage.upstream.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{stage.upstream.root}"
    stage.upstream.git("clone", "--quiet", "--filter=blob:none", "--no-checkout", url, str(place))
    subprocess.run(["git", "remote", "set-url", "origin", "/nonexistent"], cwd=place, check=True)
    return place


@pytest.mark.parametrize("make", [_bare, _shallow, _blobless])
def test_every_kind_of_clone_takes_it(stage: Stage, make: Callable[[Stage], Path]) -> None:
    place = make(stage)
    head = branch(stage, "--repo", place, "--json").json["head"]
    clone = Repository(place, is_there=True)
    assert clone.git("rev-parse", OURS) == head
    assert clone.tree(OURS) == stage.upstream.tree("fork")
    assert clone.git("show", f"{OURS}:pkg/a.py") == text(l30="ours\n").strip()


def test_an_empty_repository_gets_a_pin_without_history(stage: Stage) -> None:
    upstream, root = stage.folder / "copy", stage.folder / "other"
    stage.upstream.git("clone", "--quiet", "--bare", ".", str(upstream))
    for line in (
        ("init",),
        ("upstream", "add", "up", "--git", upstream),  # its store lacks most contents
        ("series", "new", "s", "--upstream", "up", "--base", stage.base),
        ("import", stage.root / "series/s/fork-one.patch", "--series", "s"),
    ):
        assert invoke("-C", root, *line).code == 0
    empty, late = Repository(stage.folder / "empty"), Repository(stage.folder / "late")
    folder = upstream.rename(stage.folder / "gone")
    refused = one_line(invoke("-C", root, "branch", "s", "--repo", late.root))
    assert "does not contain commit" in refused
    assert refs(late) == {}
    folder.rename(upstream)
    assert invoke("-C", root, "branch", "s", "--repo", empty.root).code == 0
    empty.git("fsck", "--full", "--strict")
    assert empty.tree(OURS) == stage.upstream.tree("fork~1")


@table(
    ("place", "words"), [("none", "there is no folder"), ("workspace", "is not a git repository")]
)
def test_what_is_no_clone_is_refused(stage: Stage, place: str, words: str) -> None:
    assert words in one_line(branch(stage, "--repo", stage.folder / place, code=2))


def test_a_series_without_patches_is_its_pin(stage: Stage) -> None:
    stage.run("series", "new", "t", "--upstream", "up", "--base", stage.base)
    answer = stage.run("branch", "t", "--json").json
    assert (answer["head"], answer["commits"]) == (stage.base, 0)
    stage.take(stage.upstream.patches("main..fork"), "t")
    assert stage.run("branch", "t", "--json").json["head"] == branch(stage, "--json").json["head"]


def test_unknown_series_and_patches_that_do_not_fit_are_one_line(stage: Stage) -> None:
    assert "no series x" in one_line(stage.run("branch", "x", code=2))
    patch = stage.root / "series/s/fork-one.patch"
    patch.write_bytes(patch.read_bytes().replace(b"-line 30", b"-line xx"))
    message = one_line(branch(stage, code=1))
    assert message.startswith("fork-one.patch does not apply: pkg/a.py: hunk 1 at line 28")
    patch.unlink()
    said = one_line(branch(stage, code=1))
    assert "series/s/fork-one.patch, which the series lists, is missing" in said


def heads(root: Path, *names: str) -> list[str | None]:
    """Return the commit that a workspace finds under each name of a state."""
    answers = [invoke("-C", root, "status", "--of", name, "--json") for name in names]
    return [answer.json["of"]["commit"] if answer.code == 0 else None for answer in answers]


@pytest.mark.parametrize("is_copy", [True, False], ids=["copy", "clone"])
def test_workspaces_with_series_of_one_name_keep_apart(stage: Stage, is_copy: bool) -> None:
    if is_copy:
        branch(stage)
    other = stage.folder / "other"
    ignored = shutil.ignore_patterns("none" if is_copy else ".patchmgr")
    shutil.copytree(stage.root, other, ignore=ignored)
    (other / "series/s/series").write_text("fork-one.patch\n")
    first = branch(stage, "--tag", "one", "--json").json["head"]
    assert heads(other, "one", "patchmgr/s") == [None, None]
    second = stage.run("-C", other, "branch", "s", "--tag", "one", "--json").json["head"]
    assert first != second
    assert heads(stage.root, "one", "patchmgr/s") == [first, first]
    assert heads(other, "one", "patchmgr/s") == [second, second]


def test_a_workspace_that_is_moved_keeps_its_refs(stage: Stage) -> None:
    head = branch(stage, "--tag", "one", "--json").json["head"]
    moved = stage.folder / "moved"
    stage.root.rename(moved)
    before = refs(store(stage))
    assert heads(moved, "one", "patchmgr/s") == [head, head]
    stage.run("-C", moved, "branch", "s")
    assert refs(store(stage)) == before
    shutil.copytree(moved, stage.root)  # where it was, there is a copy now
    assert heads(stage.root, "one") == [None]
    assert heads(moved, "one") == [head]
