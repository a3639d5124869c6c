"""`conflicts show` of what a rebase waits with: the work order."""

from typing import Any

import pytest

from tests.commands.classes import CLASSES, PATCH, WITHOUT_TEXT, leave
from tests.commands.conftest import Scene
from tests.commands.scenes import one_line
from tests.commands.test_rebase import clash


def order_of(scene: Scene, name: str, *options: str) -> Any:
    return scene.call("conflicts", "show", name, "--json", *options).json["work_order"]


@pytest.mark.parametrize("name", CLASSES)
def test_a_conflict_of_each_class_has_a_work_order(scene: Scene, name: str) -> None:
    found = leave(scene, name)
    order = order_of(scene, found[:8])
    assert (order["id"], order["kind"]) == (found, CLASSES[name].kind)
    assert (order["series"], order["patch"]) == ("s", PATCH)
    assert order["reason"]
    assert order["requirements"]
    has_text = name not in WITHOUT_TEXT
    assert bool(order["regions"]) is has_text
    assert bool(order["finding"]) is not has_text
    assert [one["pull"] for one in order["causes"]] == ([] if order["kind"] == "condition" else [7])
    assert all(one["message"] == "Because it must." and one["diff"] for one in order["causes"])
    told = scene.call("conflicts", "show", found).out
    assert "A resolution must satisfy:\n" in told
    markdown = scene.call("conflicts", "show", found, "--format", "markdown").out
    assert markdown.startswith(f"## Conflict {found}\n\n- {order['kind']} ")


def test_without_a_rebase_there_is_no_order_to_write(scene: Scene) -> None:
    found = leave(scene, "text")
    scene.call("conflicts", "accept", found, "theirs")
    scene.rebase("--continue")
    line = ("conflicts", "show", found, "--format", "markdown")
    assert one_line(scene.call(*line, code=2)) == "--format markdown needs a rebase in progress"


def test_nobody_accepts_that_a_patch_is_not_what_its_header_says(scene: Scene) -> None:
    found = leave(scene, "not ensured")
    order = order_of(scene, found)
    assert order["reason"].startswith("does not satisfy Ensures: there is no old in up ")
    assert order["requirements"] == [
        {
            "check": "person",
            "text": "a person must correct the patch or its Ensures field, or skip the patch",
        },
        {"check": "condition", "text": 'Ensures: path old and pattern "^x$" in a'},
    ]
    accept = ("conflicts", "accept", found, "--because", "it is gone")
    refused = scene.call(*accept, "--json", code=1).json["error"]
    assert (refused["kind"], refused["hints"]) == (
        "not-accepted",
        ["correct the patch or its Ensures field, then run patchmgr rebase --continue"],
    )  # fmt: skip
    assert "conflicts accept" not in scene.call("rebase", "--continue", code=3).out
    (step,) = scene.call("plan", "s", "--onto", "upstream/main", "--json", code=3).json["steps"]
    assert step["breaking"] is not None


def test_an_order_has_the_symbol_on_all_sides_and_who_names_it(scene: Scene) -> None:
    order = order_of(scene, leave(scene, "text"))
    (region,), (symbol,) = order["regions"], order["symbols"]
    assert (region["line"], region["symbol"]) == (9, "used")
    assert region["theirs"] == {"mode": None, "size": 11, "text": "    x += 2\n"}
    assert symbol["name"] == "used"
    assert symbol["base"] == "def used(x):\n    x += 1\n    return x\n"
    assert symbol["ours"] == symbol["base"].replace("1", "3")
    assert symbol["theirs"] == symbol["base"].replace("1", "2")
    assert [(one["path"], one["line"]) for one in order["uses"]] == [("b.py", 1), ("b.py", 3)]


def test_an_order_tells_later_commits_and_what_was_decided_about_the_like(scene: Scene) -> None:
    found = leave(scene, "text")
    scene.call("conflicts", "accept", found, "theirs")
    scene.call("rebase", "--abort")
    same = scene.upstream.root / "a.py"
    later = scene.upstream.commit({"a.py": same.read_text() + "# more\n"}, "upstream: later (#8)")
    scene.upstream.commit({"a.py": same.read_text().replace("+= 3", "+= 4")}, "upstream: again")
    scene.call("upstream", "fetch")
    document = scene.rebase("s", "--onto", "upstream/main", code=3)
    order = order_of(scene, document["series"][0]["patches"][0]["conflicts"][0]["id"])
    assert later in [one["commit"] for one in order["later"]]
    (earlier,) = order["earlier"]
    assert (earlier["id"], earlier["words"]) == (found, "the patch's text was taken")


def test_a_long_order_is_cut_at_whole_statements_and_says_so(scene: Scene) -> None:
    base = "".join(f"def f{n}(x):\n    x += {n}\n    return x\n\n\n" for n in range(900))
    document = clash(scene, {"a.py": f"{base}f1(2)\n"}, on={"a.py": base}, then={"a.py": None})
    found = document["series"][0]["patches"][0]["conflicts"][0]["id"]
    answer = scene.call("conflicts", "show", found, "--json")
    assert 8_000 < len(answer.out.encode()) <= 32_000
    order = answer.json["work_order"]
    told = [one.split(":")[0] for one in order["cut"]]
    assert {"conflict, parts", "regions.base.text", "causes.diff"} <= {*told}
    assert order["regions"][0]["base"]["text"].endswith("    return x\n")
    assert (order["regions"][0]["base"]["size"], order["regions"][0]["ours"]) == (len(base), None)
    whole = scene.call("conflicts", "show", found, "--json", "--full").json
    assert (whole["conflict"]["base"], whole["work_order"]["cut"]) == (base, [])


def test_the_page_of_a_report_shows_what_a_rebase_waits_with(scene: Scene) -> None:
    found = leave(scene, "text")
    page = scene.call("report", "--format", "html").out
    assert f"<h4>Conflict {found}</h4>" in page and "upstream: goes on (#7)" in page
    assert "<mark>    x += 3</mark>" in page
    state = scene.root / ".patchmgr/rebase/state.json"
    kept = state.read_text()
    state.write_text("{")
    answer = scene.call("report", "--format", "html")
    assert "Conflict " not in answer.out and "The conflicts of s are left out: " in answer.err
    state.write_text(kept)
    scene.call("rebase", "--abort")
    assert "Conflict " not in scene.call("report", "--format", "html").out
