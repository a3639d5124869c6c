"""What a merge by structure says of itself, and what a region that is left could become."""

from typing import Any

from tests.commands.conftest import Scene
from tests.commands.test_rebase import fork

BASE = "import a\nimport m\n\nx = a, m\n"
PATCHED = "import a\nimport c\nimport m\n\nx = a, m\ny = c\n"
UPSTREAM = "import a\nimport b\nimport m\n\nx = a, m, b\n"
UNITED = "import b\nimport c\n"


def collide(scene: Scene) -> None:
    fork(scene, {"a.py": PATCHED}, on={"a.py": BASE}, then={"a.py": UPSTREAM})


def hunks(scene: Scene, *arguments: str, code: int = 0) -> list[Any]:
    """Return the hunks of the patch in a dry run, and its conflicts behind them."""
    told = scene.rebase("s", "--onto", "upstream/main", "--dry-run", *arguments, code=code)
    (patch,) = told["series"][0]["patches"]
    return [*patch["hunks"], *patch["conflicts"]]


def test_a_merge_by_structure_says_how_often_its_rule_was_right(scene: Scene) -> None:
    collide(scene)
    (hunk, *_) = hunks(scene)
    assert (hunk["how"], hunk["rule"]) == ("structural", "replay")
    assert 0 < hunk["reliability"]["right"] <= hunk["reliability"]["of"]
    told = scene.call("rebase", "--onto", "upstream/main", "--dry-run").out
    assert "merged by structure: replay, right in " in told


def test_a_merge_that_is_not_sure_enough_is_left_with_what_it_could_become(scene: Scene) -> None:
    collide(scene)
    *_, conflict = hunks(scene, "--confidence", "100", code=3)
    (region, *_) = conflict["candidates"]
    assert UNITED in "".join(one["text"] for one in region[:3])
    told = scene.call("rebase", "--onto", "upstream/main", "--dry-run", "--show-conflicts",
        "--confidence", "100", code=3,
    ).out  # fmt: skip
    assert "region 1, candidate 1: " in told
    assert "right in " in told


def test_the_settings_of_a_series_draw_the_line_and_a_rebase_in_progress_keeps_it(
    scene: Scene,
) -> None:
    collide(scene)
    settings = scene.root / "series/s/series.toml"
    settings.write_text("confidence = 100\n")
    assert hunks(scene, code=3)[-1]["candidates"]
    assert [hunk["how"] for hunk in hunks(scene, "--confidence", "50")] == ["structural"]
    settings.unlink()
    scene.rebase("s", "--onto", "upstream/main", "--confidence", "100", code=3)
    scene.rebase("--continue", "--dry-run", code=3)
    scene.call("rebase", "--abort")
    scene.rebase("s", "--onto", "upstream/main")


def test_the_edits_of_a_patch_are_listed_in_words(scene: Scene) -> None:
    collide(scene)
    shown = scene.call("show", "--edits", "--series", "s", "1").out
    assert shown.splitlines()[2:] == ["a.py", "  add `import c`", "  add the assignment to y"]
    document = scene.call("show", "--edits", "--series", "s", "1", "--json").json
    assert document["edits"] == [
        {"path": "a.py", "symbol": None, "text": "add `import c`"},
        {"path": "a.py", "symbol": None, "text": "add the assignment to y"},
    ]
