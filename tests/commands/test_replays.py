"""Replays: what was solved once is solved for everybody, and named."""

import shutil
from pathlib import Path

import pytest

from tests.commands.conftest import Scene
from tests.commands.test_conflicts import WORK, conflicts, file_id, listed, only_id
from tests.commands.test_rebase import clash, fork, hunks, text, verdicts


@pytest.fixture
def two_series(scene: Scene) -> Scene:
    """Return a scene with two series that collide with upstream in the same way."""

    def make() -> None:
        fork(scene, {"a": text(l10="ours\n")}, on={"a": text()})
        fork(scene, {"a": text(l10="ours\n", l50="more\n")}, name="other")
        scene.upstream.commit({"a": text(l10="theirs\n")}, "upstream: collides")

    scene.once("two series", make)
    return scene


def test_a_conflict_that_was_solved_once_is_solved_in_another_series(two_series: Scene) -> None:
    scene = two_series
    scene.rebase("s", "--onto", "upstream/main", code=3)
    (scene.root / WORK / "a").write_text(text(l10="both\n"))
    scene.rebase("--continue")
    name = only_id(scene)
    answer = scene.rebase("other", "--onto", "upstream/main", "--dry-run")
    assert verdicts(answer) == ["modified"]
    assert ("modified", "recorded") in hunks(answer)
    (replayed,) = answer["replayed"]
    assert (replayed["id"], replayed["patches"]) == (name, ["other/fork-change-1.patch"])
    shown = scene.call("rebase", "other", "--onto", "upstream/main", "--dry-run")
    assert f"recorded  {name}  a  seen in s/fork-change-1.patch" in shown.out
    assert "\n    in other/fork-change-1.patch\n    --- ours\n" in shown.out
    assert "-theirs\n    +both\n" in shown.out
    answer = scene.rebase("other", "--onto", "upstream/main")
    patch = (scene.root / "series/other/fork-change-1.patch").read_text()
    assert "-theirs\n+both\n" in patch
    assert answer["series"][0]["head"] is not None


def test_memory_travels_with_the_workspace(two_series: Scene, tmp_path: Path) -> None:
    scene = two_series
    shutil.copytree(scene.root, tmp_path / "theirs")
    scene.rebase("s", "--onto", "upstream/main", code=3)
    conflicts(scene, "accept", only_id(scene), "theirs")
    theirs = Scene(scene.upstream, tmp_path / "theirs", scene.run)
    theirs.rebase("s", "--onto", "upstream/main", "--dry-run", code=3)
    shutil.copytree(scene.root / "conflicts", theirs.root / "conflicts", dirs_exist_ok=True)
    assert verdicts(theirs.rebase("s", "--onto", "upstream/main")) == ["modified"]


@pytest.mark.parametrize(("side", "verdict"), [("theirs", "modified"), ("ours", "absorbed")])
def test_an_accepted_side_finishes_the_rebase(two_series: Scene, side: str, verdict: str) -> None:
    """Where that is upstream's, nothing is left of the patch."""
    scene = two_series
    scene.rebase("s", "--onto", "upstream/main", code=3)
    conflicts(scene, "accept", only_id(scene), side)
    assert verdicts(scene.rebase("--continue")) == [verdict]


def test_a_part_that_is_known_is_not_left_to_the_person(scene: Scene) -> None:
    ours, theirs = text(l10="ours\n", l40="mine\n"), text(l10="theirs\n", l40="yours\n")
    clash(scene, {"a": ours}, on={"a": text()}, then={"a": theirs})
    group = conflicts(scene, "show", file_id(scene), "--json").json
    conflicts(scene, "accept", group["conflict"]["parts"][0], "theirs")
    scene.call("rebase", "--abort")
    answer = scene.rebase("s", "--onto", "upstream/main", code=3)
    left = answer["series"][0]["patches"][0]["conflicts"][0]["id"]
    assert left == group["conflict"]["parts"][1]
    marked = (scene.root / WORK / "a").read_text()
    assert marked.count("<<<<<<< ") == 1
    assert "line 9\nours\nline 11\n" in marked
    (scene.root / WORK / "a").write_text(text(l10="ours\n", l40="both\n"))
    scene.rebase("--continue")
    states = listed(scene)
    assert states[left] == "solved"


@pytest.mark.parametrize("deletes", [True, False])
def test_a_file_in_conflict_as_a_whole_is_replayed(scene: Scene, deletes: bool) -> None:
    fork(scene, {"a": text(l10="ours\n")}, on={"a": text(), "b": "b\n"})
    fork(scene, {"a": text(l10="ours\n"), "b": "c\n"}, name="other")
    scene.upstream.commit({"a": None}, "upstream: deletes it")
    scene.rebase("s", "--onto", "upstream/main", code=3)
    if deletes:
        (scene.root / WORK / "a").unlink()
    else:
        (scene.root / WORK / "a").write_text("kept\n")
    scene.rebase("--continue", *(["--accept", "a"] if deletes else []))
    answer = scene.rebase("other", "--onto", "upstream/main")
    assert verdicts(answer) == ["partial" if deletes else "modified"]


def test_a_broken_memory_stops_the_run_before_anything_is_written(two_series: Scene) -> None:
    scene = two_series
    scene.rebase("s", "--onto", "upstream/main", code=3)
    name = only_id(scene)
    conflicts(scene, "accept", name, "theirs")
    scene.call("rebase", "--abort")
    (scene.root / "conflicts" / name / "resolution").write_text("<<<<<<< evil\n")
    error = scene.rebase("s", "--onto", "upstream/main", code=1)["error"]
    assert error["kind"] == "bad-conflict"
    assert name in error["message"]
