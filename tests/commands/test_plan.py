"""`plan`: steps that are true, and `rebase --onto plan:N`, which takes one."""

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from patchmgr.commands.plan import longest_stretch
from tests.commands.conftest import SCENE, Run, Scene
from tests.commands.index import Index
from tests.commands.scenes import unchanged
from tests.commands.test_rebase import fork, text
from tests.conftest import Repository, once
from tests.tables import table

STEPS = [(3, True, []), (1, False, []), (2, True, ["fork-change-1.patch"])]


@pytest.fixture
def planned(scene: Scene) -> Scene:
    """Return two patches, six upstream commits, of which the fourth breaks the first patch."""

    def make() -> None:
        fork(scene, {"a": text(l10="one\n")}, {"b": "two\n"}, on={"a": text()})
        for number, edits in enumerate(({"l40": "x\n"}, {}, {}, {"l10": "theirs\n"}, {}, {}), 1):
            files = {"a": text(**edits)} if edits else {f"c{number}": "x\n"}
            subject = f"upstream: {number}" + " (#7)" * (number == 4)
            scene.upstream.commit(files, subject)
        scene.call("upstream", "fetch")

    once("planned", scene.root.parent, SCENE, make)
    return scene


def plan(scene: Scene, *words: str, code: int = 3) -> Any:
    return scene.call("plan", "s", "--onto", "upstream/main", *words, "--json", code=code).json


@pytest.fixture
def found(planned: Scene) -> Any:
    """Return the plan for them, which the workspace has."""
    return planned.once("a plan", lambda: plan(planned))


def steps(document: Any) -> list[tuple[int, bool, list[str]]]:
    return [
        (step["commits"], step["breaking"] is None, [one["patch"] for one in step["assuming"]])
        for step in document["steps"]
    ]


def test_the_way_is_stretches_and_commits_that_break(found: Any) -> None:
    assert steps(found) == STEPS
    assert (found["commits"], found["series"], found["unit"]) == (6, ["s"], "commit")
    breaking = found["steps"][1]["breaking"]
    assert (breaking["subject"], breaking["pull"], breaking["files"]) == ("upstream: 4 (#7)", 7, 1)
    assert (breaking["added"], breaking["removed"]) == (2, 2)
    assert breaking["known_to"] == [breaking["author"]]
    (patch,) = found["steps"][1]["patches"]
    assert (patch["name"], patch["verdict"]) == ("fork-change-1.patch", "conflict")
    assert patch["places"] == [{"path": "a", "line": 11, "symbol": None}]


def test_what_was_tried_is_said(found: Any) -> None:
    tried = [(one["start"], one["end"], one["clean"]) for one in found["probes"]]
    assert tried[:2] == [(0, 6, False), (0, 3, True)]
    assert (3, 4, False) in tried
    assert tried[-1] == (4, 6, True)


def test_batches_have_at_most_so_many_commits(planned: Scene) -> None:
    found = steps(plan(planned, "--max", "2"))
    assert [(count, clean) for count, clean, _ in found] == [
        (2, True), (1, True), (1, False), (2, True),
    ]  # fmt: skip


def test_a_plan_without_conflicts_is_one_step(planned: Scene) -> None:
    states = planned.upstream.git("rev-list", "--reverse", "--first-parent", "main").split()
    found = planned.call("plan", "s", "--onto", states[-4], "--json").json
    assert steps(found) == [(3, True, [])]


def test_a_plan_to_the_pin_has_no_steps(planned: Scene) -> None:
    base = plan(planned)["base"]["commit"]
    kept = planned.call("plan", "s", "--onto", base, "--json").json
    assert (steps(kept), kept["commits"], kept["commits_back"]) == ([], 0, 0)
    answer = planned.call("plan", "s", "--onto", base)
    assert answer.out.endswith("(0 upstream commits, 0 steps)\n")
    assert answer.err.endswith("There is nothing to do.\n")
    markdown = planned.call("plan", "s", "--onto", base, "--format", "markdown").out
    assert markdown.count("\n") == 1


@pytest.mark.usefixtures("found")
def test_steps_are_taken_in_order_and_what_was_resolved_needs_a_new_plan(planned: Scene) -> None:
    assert "the next step is: patchmgr rebase --onto plan:1" in refused(planned, 2)
    planned.call("rebase", "s", "--onto", "plan:1")
    assert "step 1 of the plan starts from a different pin" in refused(planned, 1)
    planned.call("rebase", "--onto", "plan:2", code=3)
    planned.call("rebase", "--abort")
    left = planned.rebase("s", "--onto", "plan:2", code=3)["series"][0]["patches"][0]
    planned.call("conflicts", "accept", left["conflicts"][0]["id"], "theirs")
    planned.call("rebase", "--continue")
    planned.call("rebase", "s", "--onto", "plan:3")
    lock = (planned.root / "upstream.lock").read_text()
    assert 'ref = "upstream/main"' in lock
    assert "make a new plan" in refused(planned, 3)


@pytest.mark.usefixtures("found")
def test_a_plan_whose_target_moved_is_refused(planned: Scene) -> None:
    planned.upstream.commit({"new": "x\n"})
    planned.call("upstream", "fetch")
    assert "upstream/main has changed since the plan" in refused(planned, 1)


def test_a_step_that_nobody_planned_is_refused(planned: Scene) -> None:
    assert "there is no plan for s" in refused(planned, 1, code=2)
    planned.once("a plan", lambda: plan(planned))
    for number in (0, 4):
        assert "has steps 1 to 3" in refused(planned, number, code=2)


def refused(scene: Scene, number: int, code: int = 1) -> str:
    return scene.call("rebase", "s", "--onto", f"plan:{number}", code=code).err


def test_a_pin_on_a_branch_goes_back_first(scene: Scene) -> None:
    scene.upstream.commit({"a": text()})
    start = scene.upstream.head()
    scene.upstream.git("checkout", "--quiet", "-b", "release")
    fork(scene, {"a": text(l10="one\n", l30="here\n")}, on={"a": text(l30="here\n")})
    scene.upstream.git("checkout", "--quiet", "-B", "main", start)
    scene.upstream.commit({"b": "x\n"})
    scene.call("upstream", "fetch")
    found = plan(scene, code=0)
    assert (found["commits"], found["commits_back"]) == (1, 1)
    assert [(s["commits"], s["breaking"], s["back"]) for s in found["steps"]] == [(1, None, True)]


def test_commits_are_counted_as_git_counts_them(planned: Scene) -> None:
    upstream = planned.upstream
    upstream.git("switch", "--quiet", "--create", "topic", "main~1")
    for name in ("d", "e"):
        upstream.commit({name: "x\n"})
    upstream.git("switch", "--quiet", "main")
    upstream.git("merge", "--quiet", "--no-edit", "--no-ff", "topic")
    planned.call("upstream", "fetch")
    found = plan(planned)
    assert [step["commits"] for step in found["steps"]] == [3, 1, 5]
    (status,) = planned.call("status", "--json").json["series"]
    wanted = int(upstream.git("rev-list", "--count", f"{found['base']['commit']}..main"))
    assert found["commits"] == status["behind"] == wanted == 9
    assert [probe["end"] for probe in found["probes"]][-1] == 7


def test_a_stack_is_planned_as_a_whole(planned: Scene) -> None:
    base = planned.call("series", "show", "s", "--json").json["series"]["base"]["commit"]
    planned.call("series", "new", "t", "--upstream", "up", "--base", base, "--on", "s")
    found = plan(planned)
    assert found["series"] == ["s", "t"]
    assert steps(found) == STEPS


def test_text_and_markdown(planned: Scene) -> None:
    out = planned.call("plan", "s", "--onto", "upstream/main", code=3).out
    tip = planned.upstream.git("rev-parse", "main~2").strip()[:12]
    assert f"  2  conflicts with #7 {tip} upstream: 4\n" in out
    assert "     conflict fork-change-1.patch\n       a:11\n" in out
    assert "assuming that 1 patch in conflict is resolved with theirs" in out
    text = planned.call("plan", "s", "--format", "markdown", code=3).out
    assert "| `fork-change-1.patch` | **conflict** | `a:11`<br>a: upstream changed" in text


def test_releases_one_by_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(tmp_path / "index")
    monkeypatch.setenv("PIP_INDEX_URL", index.root.as_uri())
    for version, line in {"1.0": "x", "1.1": "x", "1.2": "theirs", "2.0": "theirs"}.items():
        index.release("p", version, {"a": text(l10=f"{line}\n", l50=f"{version}\n")})
    upstream = Repository(tmp_path / "upstream")
    base = upstream.commit({"a": text(l10="x\n", l50="1.0\n")})
    upstream.commit({"a": text(l10="ours\n", l50="1.0\n")}, "ours")
    scene = Scene(upstream, tmp_path / "packages", run)
    run("init", scene.root)
    scene.call("upstream", "add", "up", "--package", "p")
    scene.series("s", "1.0", upstream.patches(f"{base}..HEAD"))
    found = scene.call("plan", "s", "--onto", "2.0", "--json", code=3).json
    assert found["unit"] == "release"
    assert steps(found) == [(1, True, []), (1, False, []), (1, True, ["ours.patch"])]
    assert [step["onto"]["ref"] for step in found["steps"]] == ["v1.1", "v1.2", "v2.0"]
    assert "sha256" in found["steps"][0]["onto"]
    assert "the upstream up has no git" in scene.call("forecast", "s", code=2).err
    scene.call("rebase", "s", "--onto", "plan:1")
    scene.call("rebase", "s", "--onto", "plan:2", code=3)


def test_a_branch_that_merges_upstream_needs_no_series(planned: Scene) -> None:
    upstream = planned.upstream
    upstream.git("switch", "--quiet", "--create", "fork", "main~6")
    upstream.commit({"a": text(l10="one\n")}, "fork: one")
    upstream.git("merge", "--quiet", "--no-edit", "main~4")
    upstream.commit({"b": "two\n"}, "fork: two")
    line = ("plan", "--git", upstream.root, "--branch", "fork", "--onto", "main")
    with unchanged(planned.root):
        found = planned.call(*line, "--json", code=3).json
        assert [step[0] for step in steps(found)] == [1, 1, 2]
        assert (found["merge"], found["commits"], found["onto"]["ref"]) == (True, 4, "main")
        told = planned.call(*line, code=3).err
        assert f"Take the first step with: git merge {upstream.tip('main~3')[:12]}" in told
    for words in (("s", *line[1:]), line[1:3], line[1:3] + line[5:]):
        planned.call("plan", *words, code=2)


END = 40
ROWS = {
    # clean states, suspects by the state that names them, the states tried, what is found
    "the target": (range(1, 41), {}, [40], 40),
    "before the one that is named": (range(1, 12), {40: {12}}, [40, 11, 26], 11),
    "the rung behind the first that breaks": (range(1, 12), {40: {12, 30}}, [40, 11, 29], 11),
    "clean again behind a conflict": (
        {*range(1, 12), *range(20, 30)}, {40: {12, 30}}, [40, 11, 29, 35], 29,
    ),
    "the first commit breaks": ((), {40: {1}}, [40, 1], 0),
    "a suspect that is none": (range(1, 30), {40: {1, 30}}, [40, 1, 29, 35], 29),
    "a conflict names an earlier one": (
        range(1, 5), {40: {20}, 19: {5}}, [40, 19, 4, 12], 4,
    ),
    "nobody is named": (range(1, 12), {}, [40, 20, 10, 15, 12, 11], 11),
    "nobody is named, and the first breaks": ((), {}, [40, 20, 10, 5, 2, 1], 0),
}  # fmt: skip


@table(("clean", "named", "tried", "found"), ROWS)
def test_what_is_tried(
    clean: set[int], named: dict[int, set[int]], tried: list[int], found: int
) -> None:
    suspects, asked = set[int](), list[int]()

    def is_clean(state: int) -> bool:
        asked.append(state)
        if state not in clean:
            suspects.update(named.get(state, ()))
        return state in clean

    assert (longest_stretch(0, END, is_clean, lambda: suspects), asked) == (found, tried)


def test_what_is_found_was_tried_whatever_breaks() -> None:
    every = range(1, 9)
    for broken, again, suspect in product(every, every, every):
        asked = dict[int, bool]()

        def is_clean(n: int, broken: range = range(broken, again + 1), to: Any = asked) -> bool:
            to[n] = n not in broken
            return n not in broken

        found = longest_stretch(0, 8, is_clean, partial(set, {suspect}))
        assert asked[found] if found else not asked[1]
