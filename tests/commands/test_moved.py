"""Hunks that follow code which upstream moved, through the whole program."""

from pathlib import Path

import pytest

from tests.commands.conftest import Run, Scene
from tests.commands.test_rebase import fork, verdicts
from tests.conftest import Repository


def function(name: str, third: str = "") -> str:
    """Return a function; the third line can be another one."""
    lines = [f"    plant.turn_{name}_{n}(floor)\n" for n in range(12)]
    if third:
        lines[3] = f"    plant.{third}(floor)\n"
    return f"def {name}(plant, floor):\n" + "".join(lines) + "\n\n"


F, G, H, K = (function(name) for name in "fghk")
F_OURS, G_OURS, G_THEIRS = function("f", "ours"), function("g", "ours"), function("g", "theirs")


def _fork(scene: Scene, *states: dict[str, str]) -> None:
    """Make a series of one patch a state, and let upstream move f and g."""
    up = scene.upstream
    base = up.commit({"a.py": F + G + H, "b.py": K})
    with up.at("-b", "fork"):
        for number, files in enumerate(states, 1):
            up.commit(files, f"p{number}")
        scene.series("s", base, up.patches(f"{base}..fork"))
    up.commit({"a.py": H, "b.py": K + F, "c.py": G_THEIRS}, "move (#7)")


def test_patches_follow_one_another_and_a_conflict_is_at_its_new_home(scene: Scene) -> None:
    more = F_OURS.replace("turn_f_9", "more")
    states = (F_OURS + G + H, more + G + H, more + G_OURS + H)
    _fork(scene, *({"a.py": state} for state in states))
    patches = scene.rebase("s", "--onto", "upstream/main", code=3)["series"][0]["patches"]
    assert [patch["verdict"] for patch in patches] == ["modified", "modified", "conflict"]
    assert [patch["hunks"][0]["new_path"] for patch in patches] == ["b.py", "b.py", "c.py"]
    assert [patch["cause"][0]["pull"] for patch in patches] == [7] * 3
    conflict = patches[2]["conflicts"][0]
    assert (conflict["path"], conflict["new_path"]) == ("a.py", "c.py")
    waiting = scene.root / ".patchmgr/rebase/s/p3.patch/c.py"
    assert " move, #7)\n    plant.theirs(floor)\n" in waiting.read_text()
    waiting.write_text(function("g", "solved"))
    scene.call("rebase", "--continue")
    again = scene.rebase("s", "--onto", "upstream/main")["series"][0]
    assert again["summary"]["unchanged"] == 3


@pytest.mark.parametrize(
    ("content", "verdict", "how"),
    [
        pytest.param(function("g", "solved"), "modified", "recorded", id="recorded"),
        pytest.param(G_THEIRS, "partial", "decided", id="decided"),
    ],
)
def test_a_solved_home_goes_with_others(scene: Scene, content: str, verdict: str, how: str) -> None:
    _fork(scene, {"a.py": F_OURS + G_OURS + H}, {"c.py": function("x")})
    patches = scene.rebase("s", "--onto", "upstream/main", code=3)["series"][0]["patches"]
    assert [patch["verdict"] for patch in patches] == ["conflict", "blocked"]
    assert [[cause["pull"] for cause in patch["cause"]] for patch in patches] == [[7]] * 2
    (scene.root / ".patchmgr/rebase/s/p1.patch/c.py").write_text(content)
    again = scene.call("rebase", "--continue", "--dry-run", "--json", code=3)
    first, second = again.json["series"][0]["patches"]
    assert (first["verdict"], second["verdict"]) == (verdict, "conflict")
    assert [hunk["how"] for hunk in first["hunks"]] == ["moved", how]
    assert [hunk["new_path"] for hunk in first["hunks"]] == ["b.py", "c.py"]


def test_a_file_that_two_of_a_patch_would_go_to_is_left_to_a_person(scene: Scene) -> None:
    _fork(scene, {"a.py": F_OURS + G + H, "b.py": function("k", "ours")})
    patch = scene.rebase("s", "--onto", "upstream/main", code=3)["series"][0]["patches"][0]
    told = "upstream moved these lines to b.py, which the patch changes as well"
    assert patch["conflicts"][0]["reason"] == told


OTHER = "def other(plant):\n    stop(plant)\n"
HELPERS = "".join(f"    helper_{n}(plant)\n" for n in range(3))
PIECES = "".join(f"    piece_{n:02}(plant)\n" for n in range(20))


def steps(*more: tuple[int, str]) -> str:
    """Return a function of sixty lines, with other lines behind some of them."""
    lines = [f"    step_{n:02}(plant)\n" for n in range(60)]
    for at, text in more:
        lines[at] += text
    return "".join(["def main(plant):\n", *lines])


def pieces(words: str) -> tuple[int, str]:
    return 6, PIECES + "".join(f"    {words}_{n}(plant)\n" for n in range(3))


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        pytest.param(OTHER + HELPERS, "absorbed", id="moved-to-a-file-of-its-own"),
        pytest.param(OTHER, "absorbed", id="taken-away-later"),
    ],
)
def test_what_landed_is_in_whatever_came_later(scene: Scene, other: str, verdict: str) -> None:
    """Found by a reader: moved lines were carried, and stood in the result twice."""
    helpers = (21, HELPERS)
    fork(scene, {"a.py": steps(pieces("ours"), helpers)}, on={"a.py": steps(), "b.py": OTHER})
    scene.upstream.commit({"a.py": steps(pieces("theirs"), helpers)}, "Land (#7)")
    scene.upstream.commit({"a.py": steps(pieces("theirs")), "b.py": other}, "Move (#8)")
    assert verdicts(scene.rebase("--onto", "upstream/main")) == [verdict]


def test_a_file_that_upstream_moved_and_made_a_link_is_a_conflict(run: Run, tmp_path: Path) -> None:
    scene = Scene(Repository(tmp_path / "up"), tmp_path / "workspace", run)
    run("init", scene.root)
    scene.call("upstream", "add", "up", "--git", scene.upstream.root)  # its store lacks contents
    lines = "".join(f"line {n}\n" for n in range(9))
    fork(scene, {"d/a": lines.replace("line 4", "ours")}, on={"d/a": lines})
    scene.upstream.commit({"d/a": None, "d/b": lines}, "move")
    (scene.upstream.root / "d/b").unlink()
    (scene.upstream.root / "d/b").symlink_to("nowhere")
    scene.upstream.commit({}, "link")
    (patch,) = scene.rebase("s", "--onto", "upstream/main", code=3)["series"][0]["patches"]
    assert [conflict["path"] for conflict in patch["conflicts"]] == ["d/a"]
