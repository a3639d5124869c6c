"""`decide`, and what asks for it: superset, likely, and the texts that a person sees."""

from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import SCENE, Answer, Run, Scene
from tests.commands.constructed import Say, Story, put
from tests.commands.test_rebase import fork, verdicts
from tests.conftest import once
from tests.engines.absorption.test_proposal import ALIKE, MINE, OTHER, STEPS
from tests.engines.absorption.test_proposal import written as source
from tests.long import crossed
from tests.tables import table

DECISIONS = "conflicts/decisions.toml"
PATCH = "fork-change-1.patch"


@pytest.fixture
def likely(scene: Scene) -> Scene:
    """Return a rebase in conflict: upstream has our patch in other words, and it would merge."""

    def make() -> None:
        scene.upstream.commit({"f.py": source(), "b": "b\n"})
        fork(scene, {"f.py": source(l4=MINE)})
        scene.upstream.commit({"b": "c\n"}, "upstream: before (#6)")
        scene.upstream.commit({"f.py": source(l8=ALIKE)}, "upstream: the same (#7)")
        scene.upstream.commit({"b": "d\n"}, "upstream: after (#8)")
        onto(scene, code=3)

    once("likely", scene.root.parent, SCENE, make)
    return scene


def onto(scene: Scene, code: int = 0, commit: str = "upstream/main") -> Any:
    """Try the rebase and return what became of the patch."""
    document = scene.rebase("s", "--onto", commit, "--dry-run", code=code)
    return document["series"][0]["patches"][0]


def decide(scene: Scene, *arguments: str, code: int = 0) -> Answer:
    return scene.call("decide", *arguments, code=code)


def test_what_is_likely_there_is_a_conflict_with_both_texts(likely: Scene) -> None:
    patch = onto(likely, code=3)
    assert patch["verdict"] == "conflict"
    assert [(one["pull"], one["paths"]) for one in patch["likely"]] == [(7, ["f.py"])]
    assert 0.8 <= patch["likely"][0]["confidence"] < 1
    assert [conflict["proposal"] for conflict in patch["conflicts"]] == ["absorbed"]
    shown = likely.call("rebase", "--onto", "upstream/main", "--dry-run", code=3)
    assert f"patchmgr decide {PATCH} absorbed" in shown.out
    for text in (MINE, ALIKE):
        assert all(f"| {line.strip()}" in shown.out for line in text.splitlines())


def test_an_absorbed_patch_is_dropped_from_then_on(likely: Scene) -> None:
    assert decide(likely, PATCH, "absorbed", "--dry-run").out.startswith("Would record: ")
    assert not (likely.root / DECISIONS).exists()
    said = decide(likely, PATCH, "absorbed", "--by", "7").out
    assert f"Recorded: s/{PATCH}  absorbed  by 7" in said
    patch = onto(likely)
    assert patch["verdict"] == "absorbed"
    (evidence,) = patch["evidence"]
    assert (evidence["pull"], evidence["how"]) == (7, "decided")
    assert evidence["commit"] == likely.upstream.git("rev-parse", "main~1")
    assert patch["hunks"][0]["evidence"] == evidence["commit"]
    answer = likely.rebase("s", "--onto", "upstream/main")
    assert verdicts(answer) == ["absorbed"]
    assert answer["series"][0]["tree"] == likely.upstream.tree()
    assert not (likely.root / "series/s" / PATCH).exists()


def test_a_needed_patch_is_carried_from_then_on(likely: Scene) -> None:
    decide(likely, PATCH, "needed", "--by", "ours does more")
    patch = onto(likely)
    assert patch["verdict"] == "unchanged"
    assert patch["reason"] == "a person decided: needed by ours does more"
    assert patch["likely"] == []


def test_a_decision_about_another_text_resolves_nothing(scene: Scene) -> None:
    texts = [source(l4=f"    {name}(plant)\n") for name in ("start", "ours", "theirs", "later")]
    fork(scene, {"f.py": texts[1]}, on={"f.py": texts[0]}, then={"f.py": texts[2]})
    onto(scene, code=3)
    decide(scene, PATCH, "absorbed")
    scene.upstream.commit({"f.py": texts[3]})
    scene.call("upstream", "fetch")
    scene.call("rebase", "s", "--onto", "upstream/main", code=3)
    assert f"files to resolve:\n  s/{PATCH}: f.py\n" in scene.call("status").out
    decide(scene, PATCH, "absorbed")
    assert f"resolved: s/{PATCH}: f.py\n" in scene.call("status").out
    scene.call("rebase", "--continue")


def test_a_decision_finishes_a_rebase(likely: Scene) -> None:
    likely.rebase("s", "--onto", "upstream/main", code=3)
    marked = (likely.root / ".patchmgr/rebase/s" / PATCH / "f.py").read_text()
    between = "".join(STEPS[4:8])
    assert f"\n{between}{ALIKE}||||||| " in marked
    assert f"=======\n{MINE}{between}>>>>>>> s/{PATCH}" in marked
    decide(likely, PATCH, "absorbed")
    assert verdicts(likely.rebase("--continue")) == ["absorbed"]


def test_a_mind_can_be_changed(likely: Scene) -> None:
    decide(likely, PATCH, "absorbed")
    onto(likely)
    answer = decide(likely, PATCH, "needed")
    assert "Recorded: s/fork-change-1.patch  needed" in answer.out
    assert "Forgot: s/fork-change-1.patch  absorbed" in answer.out
    assert onto(likely)["verdict"] == "unchanged"
    again = decide(likely, PATCH, "needed", "--json").json
    assert [one["verdict"] for one in again["decisions"]] == ["needed"]
    assert again["forgotten"] == []


def test_decisions_are_listed_and_forgotten(likely: Scene) -> None:
    assert decide(likely, "--list").out == "No decisions are recorded.\n"
    decide(likely, PATCH, "absorbed", "--by", "#7")
    commit = likely.upstream.git("rev-parse", "main~1")
    line = f"s/{PATCH}  absorbed  by #7  in {commit[:12]} upstream: the same (#7)\n"
    assert decide(likely, "--list").out == line
    (value,) = decide(likely, "--list", "--json").json["decisions"]
    assert (value["pull"], value["commit"], value["paths"]) == (7, commit, ["f.py"])
    assert decide(likely, PATCH, "--forget", "--dry-run").out == f"Would forget: {line}"
    assert decide(likely, PATCH, "--forget").out == f"Forgot: {line}"
    assert not (likely.root / DECISIONS).exists()
    refused = decide(likely, PATCH, "--forget", code=1).err
    assert refused.startswith("patchmgr: there is no decision")
    assert onto(likely, code=3)["verdict"] == "conflict"


def test_the_same_decision_gives_the_same_bytes(likely: Scene) -> None:
    decide(likely, PATCH, "absorbed", "--by", "7")
    first = (likely.root / DECISIONS).read_bytes()
    onto(likely)
    decide(likely, PATCH, "absorbed", "--by", "7")
    assert (likely.root / DECISIONS).read_bytes() == first


@pytest.mark.parametrize(
    ("named", "pull"),
    [
        pytest.param("8", 8, id="number"),
        pytest.param("#8", 8, id="hash"),
        pytest.param("https://example.org/u/r/pull/8", 8, id="url"),
        pytest.param("HEAD", 8, id="commit"),
        pytest.param("https://example.org/u/r/commit/HEAD", 8, id="commit-url"),
        pytest.param("a rewrite", 7, id="text"),
        pytest.param("", 7, id="nothing"),
    ],
)
def test_a_person_may_name_what_did_it(likely: Scene, named: str, pull: int) -> None:
    by = named.replace("HEAD", likely.upstream.head()[:12])
    decide(likely, PATCH, "absorbed", *(["--by", by] if by else []))
    (evidence,) = onto(likely)["evidence"]
    commit = likely.upstream.git("rev-parse", "main" if pull == 8 else "main~1")
    assert (evidence["commit"], evidence["pull"]) == (commit, pull)


@pytest.fixture
def undecided(scene: Scene) -> Scene:
    """Return a rebase in conflict about the first of two patches."""
    fork(scene, {"f.py": source(l4=MINE)}, {"b": "ours\n"}, on={"f.py": source(), "b": "b\n"})
    scene.upstream.commit({"f.py": source(l8=ALIKE)}, "upstream: the same (#7)")
    onto(scene, code=3)
    return scene


@table(
    ("arguments", "code", "words"),
    {
        "nothing": ((), 2, "name a patch"),
        "no-verdict": ((PATCH,), 2, "'absorbed' or 'needed'"),
        "another-verdict": ((PATCH, "maybe"), 2, "'absorbed' or 'needed'"),
        "both": ((PATCH, "needed", "--forget"), 2, "name a patch"),
        "list-and-a-patch": ((PATCH, "--list"), 2, "use --list on its own"),
        "unknown": (("x.patch", "needed"), 2, "there is no patch x.patch"),
        "not-in-s": (("x.patch", "needed", "--series", "s"), 2, "there is no patch x.patch"),
        "series": ((PATCH, "needed", "--series", "t"), 2, "there is no series t"),
        "no-finding": (("fork-change-2.patch", "needed"), 1, "nothing to decide"),
        "pull": ((PATCH, "needed", "--by", "99"), 2, "mentions pull request 99"),
        "commit": ((PATCH, "needed", "--by", "f" * 9), 2, "no commit fffffffff"),
        "by": ((PATCH, "needed", "--by", "\x1b"), 2, "one line of plain text"),
    },
)
def test_what_cannot_be_decided_says_what_to_type(
    undecided: Scene, arguments: tuple[str, ...], code: int, words: str
) -> None:
    answer = decide(undecided, *arguments, code=code)
    assert words in answer.err
    assert not (undecided.root / DECISIONS).exists()


def test_before_any_rebase_there_is_nothing_to_decide(likely: Scene) -> None:
    (likely.root / ".patchmgr/findings.json").unlink()
    answer = decide(likely, PATCH, "absorbed", code=1)
    assert "hint: patchmgr rebase s --onto REF --dry-run" in answer.err
    (likely.root / ".patchmgr/findings.json").write_text("{")
    decide(likely, PATCH, "absorbed", code=1)


def test_a_rebase_without_conflicts_leaves_nothing_to_decide(likely: Scene) -> None:
    onto(likely, commit=likely.upstream.git("rev-parse", "main~2"))
    decide(likely, PATCH, "absorbed", code=1)


def test_a_dry_run_elsewhere_does_not_touch_what_a_rebase_in_progress_asks(likely: Scene) -> None:
    likely.rebase("s", "--onto", "upstream/main", code=3)
    decide(likely, PATCH, "absorbed")
    onto(likely, commit=likely.upstream.git("rev-parse", "main~2"))
    assert likely.call("status", "--json").json["unfinished"]["waiting"] == []
    decide(likely, PATCH, "needed")


def test_a_patch_of_two_series_needs_the_series(likely: Scene) -> None:
    base = likely.upstream.git("rev-parse", "main~3")
    likely.series("t", base, likely.upstream.patches(f"{base}..fork-s"))
    likely.rebase("--onto", "upstream/main", "--dry-run", code=3)
    told = "more than one series has a patch fork-change-1.patch: s, t"
    assert told in decide(likely, PATCH, "absorbed", code=2).err
    decide(likely, PATCH, "absorbed", "--series", "t")
    answer = likely.rebase("--onto", "upstream/main", "--dry-run", code=3)
    found = [series["patches"][0]["verdict"] for series in answer["series"]]
    assert found == ["conflict", "absorbed"]


def test_a_collision_without_likeness_can_be_decided_too(scene: Scene) -> None:
    fork(scene, {"f.py": source(l4=MINE)}, on={"f.py": source()})
    scene.upstream.commit({"f.py": source(l4=OTHER)}, "upstream: another way (#7)")
    patch = onto(scene, code=3)
    assert (patch["likely"], patch["conflicts"][0]["proposal"]) == ([], None)
    decide(scene, PATCH, "absorbed")
    assert [evidence["pull"] for evidence in onto(scene)["evidence"]] == [7]
    edits = scene.upstream.commit({"f.py": source(l4=OTHER.replace("7", "8"))}, "upstream: edits")
    assert onto(scene, commit=edits, code=3)["verdict"] == "conflict"


@pytest.mark.parametrize(
    ("files", "verdict"),
    crossed(
        [
            ({"f.py": None, "g.py": source(l4=OTHER)},),
            ({"f.py": None, "g/f.py": source(l4=OTHER)},),
            ({"f.py": "x = 1\n", "g.py": f"y = 1\n\n\n{source(l4=OTHER)}"},),
            ({"f.py": None},),
        ],
        ["absorbed", "needed"],
    ),
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_decision_follows_moves(scene: Scene, files: dict[str, str | None], verdict: str) -> None:
    fork(scene, {"f.py": source(l4=MINE)}, on={"f.py": source(), "b": "b\n"})
    scene.upstream.commit(files, "upstream: moves it (#7)")
    onto(scene, code=3)
    decide(scene, PATCH, verdict)
    patch = onto(scene, code=3 if verdict == "needed" else 0)
    assert patch["reason"] == f"a person decided: {verdict}"


@pytest.mark.parametrize("word", ["fork-change-1", "fork-change", "1", f"s/{PATCH}"])
def test_a_patch_is_decided_about_by_any_name(likely: Scene, word: str) -> None:
    decide(likely, word, "absorbed")
    likely.rebase("s", "--onto", "upstream/main")
    if word == "1":  # there is no patch left
        return
    assert decide(likely, word, "--forget").out.startswith(f"Forgot: s/{PATCH}  absorbed")


def test_several_targets_are_decided_at_once(likely: Scene) -> None:
    first = likely.upstream.head()
    last = likely.upstream.commit({"f.py": source(l8=ALIKE.replace("40", "41"))}, "upstream: edits")
    arguments = ("s", "--onto", first, "--onto", last, "--dry-run")
    likely.rebase(*arguments, code=3)
    assert len(decide(likely, PATCH, "absorbed", "--json").json["decisions"]) == 2
    targets = likely.rebase(*arguments)["targets"]
    assert [t["series"][0]["patches"][0]["verdict"] for t in targets] == ["absorbed"] * 2


def test_a_broken_file_of_decisions_is_named(likely: Scene) -> None:
    (likely.root / DECISIONS).parent.mkdir(exist_ok=True)
    (likely.root / DECISIONS).write_text("format = 9\n")
    error = likely.rebase("s", "--onto", "upstream/main", "--dry-run", code=1)["error"]
    assert error["kind"] == "bad-decisions"


def test_a_findings_file_that_cannot_be_written_is_an_error(likely: Scene) -> None:
    (likely.root / ".patchmgr/findings.json").unlink()
    (likely.root / ".patchmgr/findings.json").mkdir()
    error = likely.rebase("s", "--onto", "upstream/main", "--dry-run", code=1)["error"]
    assert error["kind"] == "unwritable"


def test_apply_asks_nothing(likely: Scene, tmp_path: Path, run: Run) -> None:
    likely.upstream.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    run("-C", likely.root, "apply", "s", "--to", tmp_path / "clone")
    assert (tmp_path / "clone/f.py").read_text() == source(l4=MINE, l8=ALIKE)


def pair(name: str) -> tuple[Say, Say]:
    """Return two statements about one thing."""
    return Say(name, "weigh", "valve", 10101), Say(name, "drain", "gauge", 10121)


def test_h_landed_with_a_renamed_variable(story: Story, scene: Scene) -> None:
    """H: landed with a renamed local variable in place of a line; test_constructed inserts it."""
    story.patch(put(10, 4, *pair("basin"), over=1))
    story.upstream(7, put(10, 4, *pair("trough"), over=1))
    told = story.rebase(code=3)
    assert told.verdicts() == ["conflict"]
    (patch,) = told.series["patches"]
    assert [likely["pull"] for likely in patch["likely"]] == [7]
    assert [conflict["proposal"] for conflict in patch["conflicts"]] == ["absorbed"]
    assert told.tree == story.tree()
    decide(scene, patch["name"], "absorbed")
    assert onto(scene)["verdict"] == "absorbed"


def test_what_is_there_word_for_word_among_more_words_is_asked(scene: Scene) -> None:
    fork(scene, {"f.py": source(l4=MINE)}, on={"f.py": source(), "b": "b\n"})
    scene.upstream.commit({"b": "c\n"}, "upstream: before (#6)")
    later = (
        "    basin = plant.drain(\n        plant.here('sieve', 9)\n    )\n"
        "    if basin > 40 and plant.is_loud: plant.ring(basin, 'bell')\n"
    )
    more = "".join(f"    plant.stir('pot{n}', {n})\n" for n in range(9))
    scene.upstream.commit({"f.py": source(l4=later, l11=more)}, "upstream: much more (#7)")
    scene.upstream.commit({"b": "d\n"}, "upstream: after (#8)")
    patch = onto(scene, code=3)
    assert patch["verdict"] == "conflict"
    assert [one["pull"] for one in patch["likely"]] == [7]
    assert [conflict["proposal"] for conflict in patch["conflicts"]] == ["absorbed"]


def test_imports_that_upstream_writes_in_another_way_are_there(scene: Scene) -> None:
    old = "from core import clear, load  # noqa: F401\nfrom env import *\n"
    names = ["build", "clear", "flags"]
    apart = "".join(f"from core import {name} as {name}\n" for name in names)
    fork(
        scene,
        {"f.py": old.replace("load", "load, flags") + "\nrun()\n", "b": "c\n"},
        on={"f.py": old + "\nrun()\n", "b": "b\n"},
    )
    scene.upstream.commit({"f.py": old + "\nrun(1)\n"}, "upstream: before (#6)")
    scene.upstream.commit({"f.py": f"{apart}\nrun(1)\n"}, "upstream: apart (#7)")
    patch = onto(scene)
    assert patch["verdict"] == "partial"
    (imports,) = (hunk for hunk in patch["hunks"] if hunk["path"] == "f.py")
    assert (imports["verdict"], imports["how"]) == ("absorbed", "syntax")
    assert [(one["pull"], one["how"]) for one in patch["evidence"]] == [(7, "syntax")]
