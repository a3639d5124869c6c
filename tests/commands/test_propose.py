"""`conflicts propose`, and what a program of `rebase --resolver` is given and may propose."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.classes import WITHOUT_TEXT, leave
from tests.commands.conftest import Scene
from tests.commands.scenes import picture
from tests.commands.test_rebase import clash, fork, verdicts

BASE = (
    "import os\n\n\ndef used(x):\n    y = first(x)\n    return y\n\n\ndef first(x):\n    return x\n"
)
OURS = BASE.replace("y = first(x)", "y = first(x.upstream)")
THEIRS = BASE.replace("y = first(x)", "y = first(x, mine=True)").replace(
    "first(x):", "first(x, mine=0):"
)
BOTH = THEIRS.replace("first(x, mine=T", "first(x.upstream, mine=T")


def collide(scene: Scene) -> str:
    """Leave a conflict that a solution can unite; return its id."""

    def make() -> str:
        document = clash(scene, {"a.py": THEIRS}, on={"a.py": BASE}, then={"a.py": OURS})
        return str(document["series"][0]["patches"][0]["conflicts"][0]["id"])

    return scene.once("a conflict", make)


def propose(scene: Scene, name: str, content: str | bytes, *more: str, code: int = 0) -> Any:
    file = scene.root.parent / "solution"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    line = ("conflicts", "propose", name, "--file", str(file), "--by", "agent", *more, "--json")
    return scene.call(*line, code=code).json


def test_what_passes_is_kept_and_accepted_by_a_person(scene: Scene) -> None:
    name = collide(scene)
    made = propose(scene, name, BOTH)
    assert (made["passed"], made["failures"]) == (True, [])
    order = scene.call("conflicts", "show", name, "--json").json["work_order"]
    assert order["offered"] == "agent"
    scene.call("conflicts", "accept", name, "proposed")
    meta = (scene.root / "conflicts" / name / "meta.toml").read_text()
    assert 'origin = "propose"\n' in meta
    assert 'proposed_by = "agent"\n' in meta
    assert 'accepted_by = "C. Committer"\n' in meta
    assert all(order[end]["commit"] in meta for end in ("base", "onto"))
    document = scene.rebase("--continue")
    assert verdicts(document) == ["modified"]
    head = document["series"][0]["head"]
    scene.call("branch", "s", "--repo", scene.upstream.root, "--name", "made")
    assert scene.upstream.git("show", "made:a.py") + "\n" == BOTH, head


def test_what_is_made_of_two_files_at_one_path_is_remembered(scene: Scene) -> None:
    name = leave(scene, "add/add")
    assert propose(scene, name, "ours\ntheirs\n")["passed"]
    scene.call("conflicts", "accept", name, "proposed")
    assert verdicts(scene.rebase("--continue")) == ["modified"]
    scene.call("branch", "s", "--repo", scene.upstream.root, "--name", "made")
    assert scene.upstream.git("show", "made:new") == "ours\ntheirs"


@pytest.mark.parametrize("name", WITHOUT_TEXT)
def test_what_has_no_text_is_for_a_person(scene: Scene, name: str) -> None:
    answer = scene.call("conflicts", "propose", leave(scene, name), "--delete", "--json", code=2)
    has_hint = "accept it: patchmgr conflicts accept" in str(answer.json["error"]["hints"])
    assert has_hint is (name != "not ensured")


FAULTS = {
    "markers": (BOTH.replace("    return y", "<<<<<<< ours\n    return y"), "markers"),
    "syntax": (BOTH.replace("mine=True", "mine=("), "syntax"),
    "whitespace": (BOTH.replace("mine=True)", "mine=True)  "), "whitespace"),
    "outside": (BOTH.replace("import os", "import os, sys"), "place"),
    "a side": (THEIRS, "ledger"),
    "names": (BOTH.replace("mine=True", "mine=unheard_of"), "audit"),
}


def test_a_solution_is_refused_by_the_check_that_it_fails(scene: Scene) -> None:
    name = collide(scene)
    for label, (content, check) in FAULTS.items():
        made = propose(scene, name, content, code=4)
        assert check in [one["check"] for one in made["failures"]], (label, made["failures"])
    assert scene.rebase("--continue", code=3)["series"][0]["head"] is None


def test_a_person_takes_one_that_fails_with_a_reason(scene: Scene) -> None:
    name, file = collide(scene), scene.root.parent / "mine"
    file.write_text(THEIRS)
    line = ("conflicts", "propose", name, "--accept", file, "--json")
    assert "--because" in scene.call(*line, code=2).json["error"]["message"]
    made = scene.call(*line, "--because", "upstream will go back").json
    assert [one["check"] for one in made["failures"]] == ["ledger"]
    meta = (scene.root / "conflicts" / name / "meta.toml").read_text()
    assert 'because = "upstream will go back"\n' in meta
    scene.rebase("--continue")


def test_a_command_that_was_asked_for_is_run_on_the_solution(scene: Scene) -> None:
    name = collide(scene)
    settings: Path = scene.root / "series/s/series.toml"
    settings.write_text('[check.commands.grep]\nrun = ["grep", "-q", "upstream, mine", "a.py"]\n')
    assert propose(scene, name, BOTH, "--run", "--dry-run")["passed"]
    settings.write_text('[check.commands.grep]\nrun = ["grep", "-q", "nowhere", "a.py"]\n')
    assert propose(scene, name, BOTH)["passed"]
    made = propose(scene, name, BOTH, "--run", code=4)
    assert [one["check"] for one in made["failures"]] == ["run"]


ANSWERS = {
    "never": ("sleep 600", "resolver-timeout"),
    "endless": ("yes", "resolver-too-large"),
    "a failure": ("echo '{\"candidate\": 1}'; exit 3", "resolver-failed"),
    "no JSON": ("echo done", "resolver-answer"),
    "nothing": ("true", "resolver-answer"),
    "two answers": ('echo \'{"candidate": 1, "delete": true}\'', "resolver-answer"),
    "other files": ('echo \'{"content": "x", "files": {"b.py": "x"}}\'', "resolver-answer"),
    "no such candidate": ("echo '{\"candidate\": 99}'", "resolver-answer"),
    "a side": ('echo \'{"content": "    y = first(x, mine=True)\\\\n"}\'', None),
    "to delete": ("echo '{\"delete\": true}'", None),
}


def rebase(scene: Scene, command: str, *options: str, code: int = 0) -> Any:
    patience = "1" if command.startswith("sleep") else "60"
    return scene.rebase(*options, "--resolver", command, "--resolver-timeout", patience, code=code)


def test_a_program_gets_the_work_order_alone_and_what_passes_is_taken(scene: Scene) -> None:
    fork(scene, {"a.py": THEIRS}, on={"a.py": BASE}, then={"a.py": OURS})
    seen = scene.root.parent / "seen"
    command = f"cat > {seen}; env > {seen}.env; pwd > {seen}.pwd; echo '{{\"candidate\": 1}}'"
    document = rebase(scene, command, "s", "--onto", "upstream/main")
    (asked,) = document["resolver"]
    assert (asked["taken"], asked["failures"], asked["error"]) == (True, [], None)
    given = json.loads(seen.read_text())["work_order"]
    assert (given["id"], given["path"], given["cut"]) == (asked["id"], "a.py", [])
    names = {line.partition("=")[0] for line in (seen.parent / "seen.env").read_text().split("\n")}
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "PWD", "OLDPWD", "SHLVL", "_", ""}
    assert not (seen.parent / "seen.pwd").read_text().startswith(str(scene.root))
    meta = (scene.root / "conflicts" / asked["id"] / "meta.toml").read_text()
    assert 'proposed_by = "cat"\n' in meta
    scene.call("branch", "s", "--repo", scene.upstream.root, "--name", "made")
    assert scene.upstream.git("show", "made:a.py") + "\n" == BOTH


def test_nothing_else_is_taken_and_what_went_wrong_has_a_name(scene: Scene) -> None:
    name = collide(scene)
    before = picture(scene.root)
    for label, (command, error) in ANSWERS.items():
        document = rebase(scene, command, "--continue", code=3)
        (asked,) = document["resolver"]
        assert (asked["id"], asked["taken"], asked["error"]) == (name, False, error), label
        assert bool(asked["failures"]) is (error is None), label
        assert document["series"][0]["patches"][0]["verdict"] == "conflict"
        assert picture(scene.root) == before
