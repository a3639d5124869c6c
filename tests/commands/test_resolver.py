"""`rebase --resolver`: what a program is given, what of its answers is taken, and what never is."""

import json
from typing import Any

from tests.commands.conftest import Scene
from tests.commands.scenes import picture
from tests.commands.test_propose import BASE, BOTH, OURS, THEIRS, collide
from tests.commands.test_rebase import fork

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
