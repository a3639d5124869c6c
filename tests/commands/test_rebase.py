"""`rebase` on real repositories, with git as the oracle."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Run, Scene
from tests.commands.scenes import Stage
from tests.commands.scenes import text as text
from tests.conftest import Make, Repository


def verdicts(document: Any) -> list[str]:
    return [patch["verdict"] for patch in document["series"][0]["patches"]]


def hunks(document: Any, patch: int = 0) -> list[tuple[str, str | None]]:
    found = document["series"][0]["patches"][patch]["hunks"]
    return [(hunk["verdict"], hunk["how"]) for hunk in found]


Files = dict[str, bytes | str | None]


def fork(
    scene: Scene,
    *changes: Files,
    name: str = "s",
    on: Files | None = None,
    then: Files | None = None,
) -> str:
    """Make a series of changes on upstream's head, or on `on`; let upstream go on to `then`."""
    if on is not None:
        scene.upstream.commit(on)
    base = scene.upstream.head()
    with scene.upstream.at("-b", f"fork-{name}"):
        for number, files in enumerate(changes, 1):
            scene.upstream.commit(files, f"fork: change {number}")
        scene.series(name, base, scene.upstream.patches(f"{base}..fork-{name}"))
    if then is not None:
        scene.upstream.commit(then, "upstream: goes on")
    return base


def clash(scene: Scene, *changes: Files, on: Files | None = None, then: Files | None = None) -> Any:
    """Make a series as `fork` does, and return the rebase of it that ends in a conflict."""
    fork(scene, *changes, on=on, then=then)
    return scene.rebase("s", "--onto", "upstream/main", code=3)


def git_rebase(scene: Scene, base: str, onto: str, name: str = "s") -> str:
    """Return the tree that `git rebase` gives."""
    with scene.upstream.at("--detach", f"fork-{name}"):
        scene.upstream.git("rebase", "--quiet", "--onto", onto, base)
        return scene.upstream.tree()


def workspace_files(root: Path) -> dict[str, bytes]:
    """Return every file that is committed in a workspace, by path."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".patchmgr" not in path.parts
    }


@contextmanager
def same_files(root: Path) -> Iterator[None]:
    """Hold that the files of a workspace are afterwards as they were."""
    before = workspace_files(root)
    yield
    assert workspace_files(root) == before


START: Files = {"a": text(), "b": text()}
OURS: Files = {"a": text(l10="ours\n")}
MORE: Files = {"a": text(l10="ours\n", l50="more\n")}
THEIRS: Files = {"a": text(l10="theirs\n")}
THEIRS_TOO: Files = {"a": text(l10="theirs\n", l50="too\n")}


def in_work(scene: Scene, number: int) -> Path:
    """Return the file `a` as a patch in conflict left it to be resolved."""
    return scene.root / f".patchmgr/rebase/s/fork-change-{number}.patch/a"


def test_the_tree_is_that_of_git_rebase_and_branch_and_patch_files_follow(scene: Scene) -> None:
    two: Files = {"b": text(l5="ours\n"), "new": "file\n"}
    ours: list[Files] = [{"a": text(l30="ours\n")}, two, {"old/c": text(l30="ours\n")}]
    base = fork(scene, *ours, on={**START, "old/c": text()})
    scene.upstream.git("mv", "old/c", "c-new")
    before = workspace_files(scene.root)
    theirs: Files = {"a": text(l2="theirs\n\n"), "d": "x\n", "c-new": text(l3="theirs\n")}
    onto = scene.upstream.commit(theirs, "upstream: more")
    dry = scene.rebase("s", "--onto", "upstream/main", "--dry-run")
    assert workspace_files(scene.root) == before
    wet = scene.rebase("s", "--onto", "upstream/main")
    assert wet == {**dry, "dry_run": False}
    assert verdicts(wet) == ["unchanged", "unchanged", "modified"]
    assert hunks(wet) == [("unchanged", "text")]
    assert hunks(wet, 1) == [("unchanged", "identical"), ("unchanged", "identical")]
    (series,) = wet["series"]
    (moved,) = series["patches"][2]["hunks"]
    assert (moved["path"], moved["new_path"], moved["how"]) == ("old/c", "c-new", "moved")
    assert b"+++ b/c-new" in (scene.root / "series/s/fork-change-3.patch").read_bytes()
    assert series["tree"] == git_rebase(scene, base, onto)
    assert (series["upstream_commits"], series["onto"]["commit"]) == (1, onto)
    head = series["head"]
    after = workspace_files(scene.root)
    assert before["series/s/fork-change-2.patch"] == after["series/s/fork-change-2.patch"]
    assert b"@@ -28,7 +28,7 @@" in before["series/s/fork-change-1.patch"]
    assert b"@@ -29,7 +29,7 @@" in after["series/s/fork-change-1.patch"]
    built = scene.call("branch", "s", "--json").json
    assert built["head"] == head
    again = scene.rebase("s", "--onto", onto, "--dry-run")
    assert again["series"][0]["head"] == head


def test_a_revert_that_landed_after_its_patch_is_named(scene: Scene) -> None:
    fork(scene, {"a": text(l10="fix\n")}, {"a": text()}, on={"a": text()})
    scene.upstream.commit({"a": text(l10="fix\n")}, "The fix (#1)")
    scene.upstream.commit({"a": text()}, 'Revert "The fix" (#2)')
    scene.upstream.commit({"a": text(l8="x\n")}, "Beside it (#3)")
    answer = scene.rebase("s", "--onto", "upstream/main")
    assert verdicts(answer) == ["absorbed", "absorbed"]
    patches = answer["series"][0]["patches"]
    assert [[e["pull"] for e in patch["evidence"]] for patch in patches] == [[1], [2]]


def test_an_upstreamed_patch_is_dropped_with_evidence(scene: Scene) -> None:
    fix: list[Files] = [{"a": text(l10="fix\n")}, {"a": text(l10="fix\n", l40="ours\n")}]
    part: Files = {"b": text(l10="one\n", l40="two\n")}
    fork(scene, *fix, part, on=START, then={"a": text(l2="x\n"), "b": text(l10="one\n")})
    landed = scene.upstream.commit({"a": text(l2="x\n", l10="fix\n")}, "upstream: the fix (#77)")
    scene.upstream.commit({"a": text(l2="x\n", l10="fix\n", l55="y\n")}, "upstream: after")
    answer = scene.rebase("s", "--onto", "upstream/main")
    assert verdicts(answer) == ["absorbed", "unchanged", "partial"]
    assert hunks(answer, 2) == [("absorbed", "exact"), ("unchanged", "identical")]
    left = (scene.root / "series/s/fork-change-3.patch").read_bytes()
    assert b"+two" in left
    assert b"+one" not in left
    patch = answer["series"][0]["patches"][0]
    (evidence,) = patch["evidence"]
    assert (evidence["commit"], evidence["pull"], evidence["how"]) == (landed, 77, "exact")
    assert patch["hunks"][0]["evidence"] == landed
    assert not (scene.root / "series/s/fork-change-1.patch").exists()
    names = (scene.root / "series/s/series").read_text().split()
    assert names == ["fork-change-2.patch", "fork-change-3.patch"]
    assert landed in (scene.root / "upstream.lock").read_text()


def test_a_conflict_changes_nothing_and_later_patches_go_on(scene: Scene) -> None:
    last: Files = {"a": text(l10="ours\n", l11="more\n", l50="more\n")}
    fork(scene, OURS, {"b": text(l1="ours\n")}, MORE, last, on=START)
    culprit = scene.upstream.commit(THEIRS, "upstream: collides (#9)")
    before = workspace_files(scene.root)
    answer = scene.rebase("s", "--onto", "upstream/main", code=3)
    assert verdicts(answer) == ["conflict", "unchanged", "unchanged", "blocked"]
    series = answer["series"][0]
    assert series["head"] is None
    assert series["patches"][0]["cause"][0]["commit"] == culprit
    assert series["patches"][3]["cause"] == series["patches"][0]["cause"]
    assert series["patches"][0]["conflicts"][0]["path"] == "a"
    after = workspace_files(scene.root)
    assert {path.split("/")[0] for path in after.keys() - before.keys()} == {"conflicts"}
    assert {path: after[path] for path in before} == before
    marked = in_work(scene, 1).read_text()
    assert f"<<<<<<< upstream/main ({culprit[:12]} upstream: collides, #9)\n" in marked
    assert ">>>>>>> s/fork-change-1.patch: fork: change 1\n" in marked
    base = series["base"]["commit"]
    assert f"\n||||||| {base} ({base[:12]})\n" in marked


def test_a_solved_conflict_is_finished_by_continue(scene: Scene) -> None:
    clash(scene, OURS, MORE, on=START, then=THEIRS)
    waiting = in_work(scene, 1)
    assert scene.rebase("--continue", code=3)["series"][0]["head"] is None
    waiting.write_text(text(l10="both\n"))
    answer = scene.rebase("--continue")
    assert verdicts(answer) == ["modified", "unchanged"]
    assert hunks(answer) == [("modified", "recorded")]
    assert not waiting.exists()
    patch = (scene.root / "series/s/fork-change-1.patch").read_text()
    assert "-theirs\n+both\n" in patch


def test_two_conflicts_in_one_file_are_solved_apart(scene: Scene) -> None:
    answer = clash(scene, OURS, MORE, on=START, then=THEIRS_TOO)
    assert verdicts(answer) == ["conflict", "conflict"]
    first, second = in_work(scene, 1), in_work(scene, 2)
    assert second.read_text().count("<<<<<<<") == 1
    second.write_text(text(l10="theirs\n", l50="second\n"))
    first.write_text(text(l10="first\n", l50="too\n"))
    answer = scene.rebase("--continue")
    assert verdicts(answer) == ["modified", "modified"]
    patch = (scene.root / "series/s/fork-change-2.patch").read_text()
    assert "-too\n+second\n" in patch
    assert "theirs" not in patch


def test_a_solution_on_lines_that_another_one_changes_is_asked_again(scene: Scene) -> None:
    clash(scene, OURS, MORE, on=START, then=THEIRS_TOO)
    first, second = in_work(scene, 1), in_work(scene, 2)
    first.write_text(text(l10="first\n", l50="all\n"))
    second.write_text(text(l10="theirs\n", l50="second\n"))
    assert verdicts(scene.rebase("--continue", code=3)) == ["modified", "conflict"]
    marked = second.read_text()
    assert "first\n" in marked and "second\n" in marked and "all\n" in marked
    second.write_text(text(l10="first\n", l50="third\n"))
    assert verdicts(scene.rebase("--continue")) == ["modified", "modified"]
    assert "-all\n+third\n" in (scene.root / "series/s/fork-change-2.patch").read_text()


@pytest.mark.parametrize("resolution", ["both\n", None], ids=["text", "deleted"])
def test_what_is_refreshed_after_its_conflict_is_kept(scene: Scene, resolution: str | None) -> None:
    base = fork(scene, OURS, on=START, then=THEIRS)
    scene.rebase("s", "--onto", "upstream/main", code=3)
    work = in_work(scene, 1)
    if resolution is None:
        work.unlink()
    else:
        work.write_text(text(l10=resolution))
    checkout = Repository(scene.root.parent / "checkout", is_there=True)
    scene.upstream.git("clone", "--quiet", str(scene.upstream.root), str(checkout.root))
    checkout.git("checkout", "--quiet", "--detach", base)
    scene.call("push", "--series", "s", "--to", checkout.root)
    (checkout.root / "a").write_text(text(l10="ours\n", l50="precious\n"))
    scene.call("refresh", "--to", checkout.root)
    if resolution is None:
        scene.call("rebase", "--continue", "--accept", "a", code=3)
        assert "precious" in work.read_text()
        return
    scene.call("rebase", "--continue")
    patch = (scene.root / "series/s/fork-change-1.patch").read_text()
    assert "+both\n" in patch and "+precious\n" in patch


def test_a_file_in_conflict_and_one_below_it_are_two_files_to_resolve(scene: Scene) -> None:
    folder: Files = {"a": None, "a/b": "new\n", "c": text(l3="ours\n")}
    clash(scene, folder, on={"a": text(), "c": text()}, then={"a": text(l5="upstream\n")})
    work = scene.root / ".patchmgr/rebase/s/fork-change-1.patch"
    assert text(l5="upstream\n") in (work / "a").read_text()
    (work / "a").unlink()
    (work / "a~/b").write_text("new\n")
    result = scene.rebase("--continue", "--accept", "fork-change-1.patch/a")
    assert verdicts(result) == ["modified"]
    patch = (scene.root / "series/s/fork-change-1.patch").read_text()
    assert "-upstream\n" in patch and "+++ b/a/b\n" in patch and "+ours\n" in patch


def test_an_unfinished_rebase_refuses_another_until_aborted(scene: Scene) -> None:
    clash(scene, OURS, on=START, then=THEIRS)
    error = scene.rebase("s", "--onto", "upstream/main", code=1)["error"]
    assert error["kind"] == "unfinished"
    assert "rebase of s onto" in scene.call("status").out
    dry = scene.call("rebase", "--abort", "--dry-run", "--json")
    assert (dry.json["dry_run"], dry.json["series"]) == (True, [])
    assert dry.err == "Would abandon the rebase.\n"
    scene.call("rebase", "--abort")
    assert not (scene.root / ".patchmgr/rebase").exists()
    scene.call("rebase", "--abort", code=2)


def test_stop_at_conflict_tries_nothing_after_it(scene: Scene) -> None:
    fork(scene, OURS, {"b": text(l1="ours\n")}, on=START, then=THEIRS)
    answer = scene.rebase("s", "--onto", "upstream/main", "--stop-at-conflict", "--dry-run", code=3)
    assert verdicts(answer) == ["conflict", "blocked"]


def test_guards_leave_a_patch_out_until_it_is_selected(scene: Scene) -> None:
    fork(scene, OURS, MORE, on=START)
    series = scene.root / "series/s/series"
    series.write_text("fork-change-1.patch\nfork-change-2.patch #+extra\n")
    scene.upstream.commit({"a": text(l2="theirs\n")}, "upstream: more")
    dry = ("s", "--onto", "upstream/main", "--dry-run")
    assert verdicts(scene.rebase(*dry)) == ["unchanged", "skipped"]
    assert verdicts(scene.rebase(*dry, "--select", "extra")) == ["unchanged", "unchanged"]


def test_without_a_reference_it_is_brought(tmp_path: Path, run: Run, make_repository: Make) -> None:
    upstream = make_repository("upstream")
    base = upstream.commit({"a": text(), "large": "x" * 100_000})
    with upstream.at("-b", "fork"):
        upstream.commit({"a": text(l30="ours\n")}, "ours")
        box = tmp_path / "box.mbox"
        box.write_bytes(upstream.patches("main..fork"))
    upstream.commit({"a": text(l2="theirs\n")}, "theirs")
    root = tmp_path / "workspace"
    run("init", root)
    run("-C", root, "upstream", "add", "up", "--git", upstream.root)
    run("-C", root, "series", "new", "s", "--upstream", "up", "--base", base)
    run("-C", root, "import", box, "--series", "s")
    answer = run("-C", root, "rebase", "s", "--onto", "upstream/main", "--json").json
    assert verdicts(answer) == ["unchanged"]


def test_a_shallow_clone_is_no_upstream(stage: Stage) -> None:
    upstream = stage.clone()
    upstream.commit({"f": "later\n"})
    place = stage.folder / "shallow"
    url = upstream.root.as_uri()
    upstream.git("clone", "--quiet", "--depth=1", url, str(place))
    refused = "is a shallow clone, which lacks older commits"
    borrowing = "upstream", "add", "two", "--git", url, "--reference", place
    assert refused in stage.run(*borrowing, code=1).err
    stage.run("upstream", "add", "two", "--git", place)
    answer = stage.run("upstream", "fetch", "two", code=1)
    assert refused in answer.err
    assert f"git --git-dir={place}/.git fetch --unshallow" in answer.err
    Repository(place, is_there=True).git("fetch", "--quiet", "--unshallow")
    stage.run("upstream", "fetch", "two")


def test_a_move_of_a_file_that_upstream_only_copied_is_carried(scene: Scene) -> None:
    moved: Files = {"a": None, "b": text(l10="moved\n", l20="moved\n", l30="moved\n")}
    base = fork(scene, moved, on={"a": text()}, then={"b": moved["b"]})
    onto = scene.upstream.commit({"x": "more\n"}, "upstream: more")
    result = scene.rebase("s", "--onto", "upstream/main")
    assert verdicts(result) == ["modified"]
    assert result["series"][0]["tree"] == git_rebase(scene, base, onto)


def test_a_mode_beside_many_lines_that_upstream_has_is_carried(scene: Scene) -> None:
    lines = "".join(f"ours {number}\n" for number in range(60))
    base = fork(scene, {"a": text(l10=lines)}, on={"a": text()}, then={"a": text(l10=lines)})
    scene.upstream.git("checkout", "--quiet", "fork-s")
    scene.upstream.git("update-index", "--chmod=+x", "a")
    scene.upstream.git("commit", "--quiet", "--amend", "--no-edit")
    scene.series("t", base, scene.upstream.patches(f"{base}..fork-s"))
    scene.upstream.git("checkout", "--quiet", "--force", "main")
    result = scene.rebase("t", "--onto", "upstream/main")
    assert verdicts(result) == ["partial"]
    assert result["series"][0]["tree"] == git_rebase(scene, base, "main")


def test_what_changes_because_upstream_was_rewritten_has_no_new_commit_as_its_cause(
    scene: Scene,
) -> None:
    """The new commit changes other lines of both files, and did neither."""
    scene.upstream.commit({"a": text(), "b": text(l10="ours\n")}, "upstream: b has it")
    both = scene.upstream.head()
    reverted: Files = {"a": text(l10="theirs\n"), "b": text()}
    changes: tuple[Files, ...] = ({"a": text(l10="ours\n")}, {"b": text(l10="ours\n")})
    fork(scene, *changes, on=reverted)
    scene.upstream.git("reset", "--quiet", "--hard", both)
    new = text(l10="ours\n", l50="new\n")
    scene.upstream.commit({"a": text(l50="new\n"), "b": new}, "upstream: new")
    scene.call("upstream", "fetch")
    result = scene.rebase("s", "--onto", "upstream/main", "--dry-run", code=3)
    assert verdicts(result) == ["conflict", "absorbed"]
    first, second = result["series"][0]["patches"]
    expected = (both, "the last commit that both states have")
    assert [(one["commit"], one["subject"]) for one in first["cause"]] == [expected]
    assert [(one["commit"], one["subject"]) for one in second["evidence"]] == [expected]
