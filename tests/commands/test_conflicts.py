"""`conflicts`: what a rebase puts on record, and what persons do with it."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Answer, Scene
from tests.commands.scenes import text
from tests.commands.test_rebase import MORE, OURS, START, clash, fork, same_files, verdicts
from tests.conftest import Repository
from tests.tables import table

WORK = ".patchmgr/rebase/s/fork-change-1.patch"


def conflicts(scene: Scene, *arguments: str | Path, code: int = 0) -> Answer:
    return scene.call("conflicts", *arguments, code=code)


def listed(scene: Scene) -> dict[str, str]:
    """Return the state of each conflict on record."""
    found = conflicts(scene, "list", "--json").json["conflicts"]
    return {one["id"]: one["state"] for one in found}


def on_record(scene: Scene) -> set[str]:
    """Return the files below conflicts/."""
    root = scene.root / "conflicts"
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def merged(scene: Scene, base: str, ours: str, theirs: str, code: int = 0) -> str:
    """Merge a file with what the workspace remembers."""
    folder = scene.root.parent / "sides"
    folder.mkdir(exist_ok=True)
    names = [folder / name for name in ("base", "ours", "theirs")]
    for name, content in zip(names, (base, ours, theirs), strict=True):
        name.write_text(content)
    out = folder / "out"
    scene.call("merge-file", *names, "--path", "a", "-o", out, code=code)
    return out.read_text()


@pytest.fixture
def collided(scene: Scene) -> Scene:
    """Return a scene with one region in conflict, left by a rebase."""

    def make() -> None:
        scene.upstream.commit({"a": text()})
        fork(scene, {"a": text(l10="ours\n")})
        scene.upstream.commit({"a": text(l10="theirs\n")}, "upstream: collides")
        scene.rebase("s", "--onto", "upstream/main", code=3)

    scene.once("collided", make)
    return scene


@pytest.fixture
def twice(scene: Scene) -> Scene:
    """Return a scene with two regions in conflict in one file."""

    def make() -> None:
        scene.upstream.commit({"a": text()})
        fork(scene, {"a": text(l10="ours\n", l40="mine\n")})
        scene.upstream.commit({"a": text(l10="theirs\n", l40="yours\n")}, "upstream: collides")
        scene.rebase("s", "--onto", "upstream/main", code=3)

    scene.once("twice", make)
    return scene


def only_id(scene: Scene) -> str:
    ((name, _),) = listed(scene).items()
    return name


def file_id(scene: Scene) -> str:
    """Return the id that the rebase shows for the file."""
    document = scene.rebase("--continue", "--dry-run", code=3)
    found: Any = document["series"][0]["patches"][0]["conflicts"][0]["id"]
    return str(found)


def test_a_conflict_is_put_on_record_and_can_be_looked_at(collided: Scene) -> None:
    name = only_id(collided)
    assert name == file_id(collided)
    assert on_record(collided) == {f"{name}/{f}" for f in ("meta.toml", "base", "ours", "theirs")}
    assert (collided.root / "conflicts" / name / "ours").read_text() == "theirs\n"
    shown = conflicts(collided, "show", name).out
    assert f"{name}  open  a  seen in s/fork-change-1.patch\n" in shown
    assert "<<<<<<< ours\ntheirs\n||||||| base\nline 10\n=======\nours\n>>>>>>> theirs\n" in shown
    assert "  theirs: remove `line 10`\n  theirs: add `ours`\n<<<<<<< ours\n" in shown
    document = conflicts(collided, "show", name[:6], "--json").json
    assert document["conflict"]["edits"]["ours"] == ["remove `line 10`", "add `theirs`"]
    assert document["conflict"]["theirs"] == "ours\n"
    assert document["conflict"]["resolution"] is None
    assert f"{name}  open     a" in conflicts(collided, "list").out


def test_what_a_person_made_of_a_file_is_learned_when_the_rebase_is_finished(
    collided: Scene,
) -> None:
    name = only_id(collided)
    (collided.root / WORK / "a").write_text(text(l10="both\n"))
    dry = collided.rebase("--continue", "--dry-run")
    assert [one["id"] for one in dry["learned"]] == [name]
    assert listed(collided) == {name: "open"}
    answer = collided.rebase("--continue")
    assert [one["id"] for one in answer["learned"]] == [name]
    assert listed(collided) == {name: "solved"}
    shown = conflicts(collided, "show", name).out
    assert "by rebase s/fork-change-1.patch" in shown
    assert "--- ours\n+++ resolution\n@@ -1 +1 @@\n-theirs\n+both\n" in shown


def test_a_resolution_is_replayed_anywhere_and_whichever_side_comes_first(collided: Scene) -> None:
    (collided.root / WORK / "a").write_text(text(l10="both\n"))
    collided.rebase("--continue")
    sides = "x\nline 10\ny\n", "x\nours\ny\n", "x\ntheirs\ny\n"
    assert merged(collided, *sides) == "x\nboth\ny\n"
    assert merged(collided, sides[0], sides[2], sides[1]) == "x\nboth\ny\n"
    conflicts(collided, "forget", only_id(collided))
    assert on_record(collided) == set()
    assert "<<<<<<< ours\n" in merged(collided, *sides, code=3)


def test_an_aborted_rebase_takes_its_open_conflicts_along(collided: Scene) -> None:
    collided.call("rebase", "--abort")
    assert on_record(collided) == set()
    assert conflicts(collided, "list").out == "No conflict is recorded.\n"


@pytest.mark.parametrize("way", ["--abort", "--continue"])
def test_a_repository_in_the_work_area_is_no_hindrance(collided: Scene, way: str) -> None:
    work = collided.root / WORK
    Repository(work).commit({"a~": "x\n"}, "to see what I change")
    (work / "a").write_text(text(l10="both\n"))
    collided.call("rebase", way)
    assert not (collided.root / ".patchmgr/rebase").exists()


def test_an_aborted_rebase_leaves_what_was_solved_or_there_before(twice: Scene) -> None:
    parts = [name for name, state in listed(twice).items() if state == "open"]
    before = {path[:12] for path in on_record(twice)} - set(parts)
    conflicts(twice, "accept", parts[0], "ours")
    twice.call("rebase", "--abort")
    assert {path[:12] for path in on_record(twice)} == {parts[0], *before}


def test_parts_of_a_conflict_count_singly(twice: Scene) -> None:
    states = listed(twice)
    name = file_id(twice)
    assert states.pop(name) == "parts"
    assert list(states.values()) == ["open", "open"]
    document = conflicts(twice, "show", name, "--json").json
    assert sorted(document["conflict"]["parts"]) == sorted(states)
    assert [part["ours"] for part in document["parts"]] == ["theirs\n", "yours\n"]
    first = document["conflict"]["parts"][0]
    solved = twice.root.parent / "solved"
    solved.write_text("both\n")
    conflicts(twice, "resolve", first, solved)
    sides = text(l10="theirs\n", l40="yours\n"), text(l10="ours\n", l40="mine\n")
    out = merged(twice, text(), *sides, code=3)
    assert "line 9\nboth\nline 11\n" in out
    assert out.count("<<<<<<< ") == 1


def test_a_file_of_several_regions_is_solved_as_a_whole(twice: Scene) -> None:
    solved = twice.root.parent / "solved"
    solved.write_text(text(l10="both\n", l40=None))
    answer = conflicts(twice, "resolve", file_id(twice), solved, "--json").json
    assert [one["resolution"] for one in answer["recorded"]] == ["both\n", ""]
    assert sorted(listed(twice).values()) == ["parts", "solved", "solved"]


def test_a_whole_file_is_told_from_the_text_of_its_region(collided: Scene) -> None:
    solved = collided.root.parent / "solved"
    name = only_id(collided)
    solved.write_text(text(l10="both\n"))
    answer = conflicts(collided, "resolve", name, solved, "--dry-run", "--json").json
    assert [one["resolution"] for one in answer["recorded"]] == ["both\n"]
    solved.write_text("one\ntwo")
    answer = conflicts(collided, "resolve", name, solved, "--dry-run", "--json").json
    assert [one["resolution"] for one in answer["recorded"]] == ["one\ntwo\n"]
    assert listed(collided) == {name: "open"}
    solved.write_text(text(l9="elsewhere\n", l10="both\n"))
    error = conflicts(collided, "resolve", name, solved, code=1).err
    assert "does not resolve" in error
    solved.write_text("<<<<<<< ours\n")
    assert "conflict markers" in conflicts(collided, "resolve", name, solved, code=1).err
    assert listed(collided) == {name: "open"}


@pytest.mark.parametrize(("side", "expected"), [("ours", "theirs\n"), ("theirs", "ours\n")])
def test_a_side_can_be_accepted(collided: Scene, side: str, expected: str) -> None:
    name = only_id(collided)
    shown = conflicts(collided, "accept", name, side).out
    assert f"Recorded: {name}" in shown
    assert f"resolution: same as {side}" in shown
    document = conflicts(collided, "show", name, "--json").json
    assert document["conflict"]["resolution"] == expected
    assert document["conflict"]["source"] == side
    conflicts(collided, "accept", name, "both", code=2)


def test_another_resolution_does_not_replace_the_first(collided: Scene) -> None:
    name = only_id(collided)
    conflicts(collided, "accept", name, "ours")
    conflicts(collided, "accept", name, "ours")
    error = conflicts(collided, "accept", name, "theirs", code=1).err
    assert "was resolved differently before" in error
    assert f"hint: patchmgr conflicts forget {name}" in error
    conflicts(collided, "forget", name)
    assert listed(collided) == {name: "open"}  # the rebase still waits for it
    conflicts(collided, "accept", name, "theirs")


def test_a_person_who_solves_it_otherwise_is_told_and_nothing_is_replaced(collided: Scene) -> None:
    name = only_id(collided)
    conflicts(collided, "accept", name, "ours")
    (collided.root / WORK / "a").write_text(text(l10="both\n"))
    answer = collided.call("rebase", "--continue")
    assert f"not recorded: {name}: it was resolved differently before" in answer.err
    document = conflicts(collided, "show", name, "--json").json
    assert document["conflict"]["resolution"] == "theirs\n"


@pytest.mark.parametrize("line", ["theirs\n", "both\n"])
def test_a_file_changed_elsewhere_too_is_good_for_the_same_file(collided: Scene, line: str) -> None:
    """A person puts lines elsewhere, and takes upstream's or others for the lines in conflict."""
    names = ("upstream.lock", "series/s/fork-change-1.patch")
    before = {name: (collided.root / name).read_bytes() for name in names}
    region = only_id(collided)

    def again(code: int) -> bytes:
        for name, content in before.items():
            (collided.root / name).write_bytes(content)
        collided.rebase("s", "--onto", "upstream/main", code=code)
        return (collided.root / names[1]).read_bytes()

    (collided.root / WORK / "a").write_text(text(l10=line, l30="mine\n"))
    said = collided.call("rebase", "--continue").err
    assert ("recorded for this file only" in said) is (line == "theirs\n")
    after = (collided.root / names[1]).read_bytes()
    assert b"+mine" in after
    assert again(code=0) == after
    if line == "both\n":
        assert len(conflicts(collided, "forget", region, "--json").json["forgotten"]) == 2
        again(code=3)
        return
    collided.upstream.commit({"a": text(l10="theirs\n", l40="later\n")}, "upstream: more")
    collided.call("upstream", "fetch")
    again(code=3)


@pytest.mark.parametrize("deletes", [True, False])
def test_a_whole_file_in_conflict_is_known_by_its_contents(scene: Scene, deletes: bool) -> None:
    clash(scene, {"a": text(l10="ours\n")}, on={"a": text(), "b": "b\n"}, then={"a": None})
    name = only_id(scene)
    assert on_record(scene) == {f"{name}/{f}" for f in ("meta.toml", "base", "theirs")}
    assert "(there is no such file)" in conflicts(scene, "show", name).out
    marked = scene.root.parent / "marked"
    marked.write_text("one\n<<<<<<< ours\n=======\ntwo\n>>>>>>> theirs\n")
    refused = conflicts(scene, "resolve", name, marked, code=1)
    assert f"{marked}:2: a conflict marker is left\n" in refused.err
    if deletes:
        (scene.root / WORK / "a").unlink()
        refused = scene.call("rebase", "--continue", code=1)
        told = "s/fork-change-1.patch/a: the file is missing, so the patch would delete it"
        assert told in refused.err
    else:
        (scene.root / WORK / "a").write_text("kept\n")
    scene.rebase("--continue", *(["--accept", "fork-change-1.patch/a"] if deletes else []))
    assert listed(scene) == {name: "deleted" if deletes else "solved"}
    shown = conflicts(scene, "show", name).out
    assert ("resolution: the file is deleted" in shown) is deletes


def test_a_file_that_the_patch_deletes_may_be_deleted_in_the_work_area(scene: Scene) -> None:
    clash(scene, {"a": None}, on={"a": text(), "b": "b\n"}, then={"a": text(l10="up\n")})
    assert (scene.root / WORK / "a").exists()
    (scene.root / WORK / "a").unlink()
    scene.rebase("--continue")
    assert list(listed(scene).values()) == ["deleted"]


@pytest.mark.parametrize(
    ("file", "is_backup"),
    [
        pytest.param("a~", True, id="backup"),
        pytest.param(".a.swp", True, id="swap-file"),
        pytest.param("b", False, id="other-file"),
        pytest.param("c/a", False, id="other-folder"),
    ],
)
def test_edits_in_the_work_area_that_are_not_read_back_are_not_lost(
    collided: Scene, file: str, is_backup: bool
) -> None:
    (collided.root / WORK / "a").write_text(text(l10="both\n"))
    (collided.root / WORK / file).parent.mkdir(exist_ok=True)
    (collided.root / WORK / file).write_text("lines that upstream moved to b\n")
    answer = collided.call("rebase", "--continue", code=0 if is_backup else 1)
    if not is_backup:
        assert f"which also has: {WORK}/{file}\n" in answer.err
        collided.call("rebase", "--skip")


@pytest.fixture
def module(scene: Scene) -> Scene:
    """Return a scene with a line of Python in conflict, left by a rebase."""

    def make() -> None:
        clash(scene, {"m.py": "x = 1\n"}, on={"m.py": "x = 0\n"}, then={"m.py": "x = 2\n"})

    scene.once("module", make)
    return scene


@table(
    ("left", "problem"),
    {
        "middle": ("x = 1\n=======\n", ":2: =======: a conflict marker is left"),
        "base": ("||||||| base\n", ":1: ||||||| base: a conflict marker"),
        "indented": ("    >>>>>>> b\n", ":1: >>>>>>> b: a conflict marker"),
        "with a carriage return": ("=======\r\n", ":1: =======: a conflict marker"),
        "no Python any more": ("x = (1\n", ":1: the file does not compile"),
        "an editor's line endings": ("x = 1\r\n", ":1: the line ends with CR LF"),
        "nothing": ("\n", ": the file is empty, so the patch would delete all its lines"),
    },
)
def test_continue_refuses_what_looks_unfinished(module: Scene, left: str, problem: str) -> None:
    file = module.root / WORK / "m.py"
    file.write_text(left, newline="")
    with same_files(module.root):
        refused = module.call("rebase", "--continue", code=1)
        assert f"s/fork-change-1.patch/m.py{problem}" in refused.err


def test_what_does_not_compile_is_taken_when_it_is_named(module: Scene) -> None:
    (module.root / WORK / "m.py").write_text("print 3\n")
    module.call("rebase", "--continue", "--accept", "other", code=2)
    module.call("rebase", "--onto", "upstream/main", "--accept", "m.py", code=2)
    module.rebase("--continue", "--accept", str(module.root / WORK / "m.py"))


def test_what_was_named_once_is_taken_by_each_later_continue(scene: Scene) -> None:
    base, upstream = {"m.py": "x = 0\n"}, {"m.py": "x = 2\n"}
    clash(scene, {"m.py": "x = 1\n"}, {"m.py": "x = 3\n"}, on={**base}, then={**upstream})
    (scene.root / WORK / "m.py").write_text("print 3\n")
    scene.rebase("--continue", "--accept", "m.py", code=3)
    (scene.root / WORK).with_name("fork-change-2.patch").joinpath("m.py").write_text("x = 3\n")
    scene.rebase("--continue")


def test_a_side_that_has_no_file_can_be_accepted(scene: Scene) -> None:
    clash(scene, {"a": text(l10="ours\n")}, on={"a": text(), "b": "b\n"}, then={"a": None})
    named = f"patchmgr conflicts accept {only_id(scene)} ours"
    assert named in conflicts(scene, "accept", only_id(scene), code=2).err
    said = conflicts(scene, "accept", only_id(scene), "ours").err
    assert "To continue it: patchmgr rebase --continue" in said
    assert list(listed(scene).values()) == ["deleted"]


def clash_with(scene: Scene, start: dict[str, str], ours: dict[str, str]) -> None:
    """Leave a conflict in a file that has more lines of its own, and more that are ours."""
    theirs = {"a": text(l10="theirs\n", **start)}
    clash(scene, {"a": text(l10="ours\n", **ours)}, on={"a": text(**start)}, then={**theirs})


def test_text_with_lines_like_markers_is_solved_by_hand_only(scene: Scene) -> None:
    title = {"l20": "Title\n=======\n"}
    clash_with(scene, title, title)
    assert listed(scene) == {}
    error = conflicts(scene, "show", file_id(scene), code=2).err
    assert "lines outside it look like conflict markers" in error
    (scene.root / WORK / "a").write_text(text(l10="both\n", **title))
    answer = scene.call("rebase", "--continue")
    assert "the text itself has lines like git's markers" in answer.err
    assert listed(scene) == {}


@pytest.mark.parametrize("is_patched", [False, True], ids=["upstreams", "the-patchs"])
def test_a_line_like_a_marker_is_not_left_to_resolve(scene: Scene, is_patched: bool) -> None:
    sample = "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n"
    start, both = ({}, {"l11": sample}) if is_patched else ({"l20": sample}, {"l20": sample})
    clash_with(scene, start, both)
    scene.call("rebase", "--continue", code=3)
    (scene.root / WORK / "a").write_text(text(l10="both\n", **both))
    scene.call("rebase", "--continue")
    head = scene.call("branch", "s", "--repo", scene.upstream.root, "--json").json["head"]
    assert scene.upstream.git("show", f"{head}:a") == text(l10="both\n", **both).rstrip("\n")


def test_a_marker_is_left_to_resolve_where_a_side_has_one_such_line(scene: Scene) -> None:
    start = {"l20": "<<<<<<< ours\n"}
    clash_with(scene, start, start)
    (scene.root / WORK / "a").write_text(text(l10="<<<<<<< ours\nboth\n", **start))
    scene.call("rebase", "--continue", code=3)
    (scene.root / WORK / "a").write_text(text(l10="both\n", **start))
    scene.call("rebase", "--continue")


@table("name", ["000000000000", "zz", "../x", "", "abc", "-x"])
def test_an_unknown_id_is_an_error_with_a_hint(collided: Scene, name: str) -> None:
    error = conflicts(collided, "show", "--", name, code=2).err
    assert "hint: patchmgr conflicts list" in error


GIT = b"<<<<<<< x\n"


@table(
    ("file", "content", "problem"),
    {
        "markers": ("resolution", GIT, "conflict markers"),
        "binary": ("resolution", b"\0\n", "binary"),
        "no-utf-8": ("resolution", b"\xff\n", "not UTF-8"),
        "half-a-line": ("resolution", b"x", "without a line feed"),
        "another-side": ("theirs", b"evil\n", "does not match its sides"),
        "no-side": ("theirs", None, "lacks one of base, ours and theirs"),
        "no-toml": ("meta.toml", b"x", "not valid TOML"),
        "nested": ("meta.toml", b"a = " + b"[" * 999, "not valid TOML"),
    },
)
def test_a_broken_folder_is_named_and_can_be_forgotten(
    collided: Scene, file: str, content: bytes | None, problem: str
) -> None:
    collided.call("rebase", "--abort")
    collided.rebase("s", "--onto", "upstream/main", code=3)
    name = only_id(collided)
    conflicts(collided, "accept", name, "ours")
    place = collided.root / "conflicts" / name / file
    place.unlink()
    if content is not None:
        place.write_bytes(content)
    assert f"{name}  broken   " in conflicts(collided, "list").out
    error = conflicts(collided, "show", name, code=1).err
    assert problem in error
    assert f"hint: patchmgr conflicts forget {name}" in error
    merged = "resolve the merge conflict in the file"
    assert (merged in error) is (merged in collided.call("doctor", code=4).out) is (content == GIT)
    conflicts(collided, "forget", name)
    assert listed(collided) == {}


def test_links_in_conflicts_are_refused(collided: Scene, tmp_path: Path) -> None:
    name = only_id(collided)
    folder = collided.root / "conflicts" / name
    secret = tmp_path / "secret"
    secret.write_text("theirs\n")
    (folder / "ours").unlink()
    (folder / "ours").symlink_to(secret)
    assert "symbolic link" in conflicts(collided, "show", name, code=1).err
    shutil.rmtree(folder)
    away = tmp_path / "away"
    away.mkdir()
    folder.symlink_to(away)
    assert "symbolic link" in conflicts(collided, "show", name, code=1).err
    folder.unlink()
    os.mkfifo(folder)
    assert "broken" in conflicts(collided, "list").out


def test_other_names_in_conflicts_are_left_alone(collided: Scene) -> None:
    (collided.root / "conflicts/notes.md").write_text("notes\n")
    (collided.root / "conflicts" / only_id(collided) / ".DS_Store").write_text("x")
    assert len(listed(collided)) == 1
    conflicts(collided, "accept", only_id(collided), "ours")


def test_a_group_lives_as_long_as_a_part_of_it(twice: Scene) -> None:
    name = file_id(twice)
    parts = [one for one in listed(twice) if one != name]
    dry = conflicts(twice, "forget", name, "--dry-run", "--json").json
    assert sorted(dry["forgotten"]) == sorted([name, *parts])
    shutil.rmtree(twice.root / "conflicts" / parts[0])
    assert "is not recorded" in conflicts(twice, "show", name, code=1).err
    twice.call("rebase", "--abort")
    assert listed(twice) == {}


def test_skip_leaves_out_the_first_patch_in_conflict_and_keeps_its_file(scene: Scene) -> None:
    fork(scene, OURS, {"b": text(l10="ours\n")}, MORE, on=START)
    series = scene.root / "series/s/series"
    series.write_bytes(b"# why\n" + series.read_bytes().replace(b"1.patch", b"1.patch -p1 #-x"))
    onto = scene.upstream.commit({"a": text(l10="theirs\n"), "b": text(l10="theirs\n")})
    before = series.read_bytes()
    scene.rebase("s", "--onto", "upstream/main", code=3)
    first = (scene.root / "series/s/fork-change-1.patch").read_bytes()
    dry = scene.call("rebase", "--skip", "--dry-run", code=3)
    assert "Will be left out: s/fork-change-1.patch" in dry.err
    answer = scene.rebase("--skip", code=3)
    assert verdicts(answer) == ["skipped", "conflict", "unchanged"]
    assert series.read_bytes() == before
    (scene.root / ".patchmgr/rebase/s/fork-change-2.patch/b").write_text(text(l10="both\n"))
    assert verdicts(scene.rebase("--skip")) == ["skipped", "skipped", "unchanged"]
    scene.call("undo")
    answer = scene.rebase("--continue")
    assert verdicts(answer) == ["skipped", "modified", "unchanged"]
    assert answer["series"][0]["patches"][0]["reason"] == "left out by rebase --skip"
    assert (scene.root / "series/s/fork-change-1.patch").read_bytes() == first
    skipped = f"# why\n# skipped on {onto}: fork-change-1.patch -p1 #-x\n"
    assert series.read_text() == f"{skipped}fork-change-2.patch\nfork-change-3.patch\n"
    assert set(listed(scene).values()) == {"solved"}
    assert "apply" not in scene.call("branch", "s").err


def test_a_patch_can_be_skipped_if_continue_refuses_its_resolution(scene: Scene) -> None:
    scene.upstream.commit({"b": text()})
    fork(scene, {"a/new": "a\n"}, {"b": text(l10="ours\n")})
    scene.upstream.commit({"a": text(), "b": text(l10="theirs\n")})
    scene.rebase("s", "--onto", "upstream/main", code=3)
    work = scene.root / ".patchmgr/rebase/s"
    (work / "fork-change-2.patch/b").write_text(text(l10="both\n"))
    (work / "fork-change-1.patch/a/new").write_text("a\n=======\n")
    assert "a conflict marker is left" in scene.call("rebase", "--continue", code=1).err
    (work / "fork-change-1.patch/a/new").write_text("a\n")
    said = "fork-change-1.patch: a/new cannot be created: upstream has a, which is in the way"
    err = scene.call("rebase", "--continue", code=1).err
    assert said in err
    assert "--skip" not in err  # it leaves out the first resolved patch, which may be another one
    assert verdicts(scene.rebase("--skip")) == ["skipped", "modified"]
    scene.call("undo")
    (work / "fork-change-1.patch/a/new").unlink()
    assert verdicts(scene.rebase("--continue", "--accept", "a/new")) == ["absorbed", "modified"]


def test_skip_takes_no_resolution_that_continue_refuses(scene: Scene) -> None:
    scene.upstream.commit({"a": text(), "b": text()})
    fork(scene, {"a": text(l10="ours\n")}, {"b": text(l10="ours\n")})
    scene.upstream.commit({"a": text(l10="theirs\n"), "b": text(l10="theirs\n")})
    scene.rebase("s", "--onto", "upstream/main", code=3)
    left = scene.root / ".patchmgr/rebase/s/fork-change-2.patch/b"
    left.write_text(text(l10="ours\n=======\ntheirs\n"))
    assert "a conflict marker is left" in scene.call("rebase", "--skip", code=1).err
    left.write_text(text(l10="both\n"))
    assert verdicts(scene.rebase("--skip")) == ["skipped", "modified"]


def test_skip_finishes_where_nothing_else_waits(collided: Scene) -> None:
    answer = collided.call("rebase", "--skip")
    assert "Left out: s/fork-change-1.patch" in answer.err
    assert not (collided.root / ".patchmgr/rebase").exists()
    assert on_record(collided) == set()
    collided.call("rebase", "--skip", code=2)
