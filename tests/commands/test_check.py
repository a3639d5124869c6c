"""`check`: gates on every patch and on the head, and the series' own commands."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from patchmgr.model.merge import Clean, Merge
from patchmgr.plumbing.text_merge import GitTextMerge
from tests.commands.conftest import Scene
from tests.conftest import Repository

HEADER = "\n\nIt is needed.\n\nDrop-When: never\n"


def begin(scene: Scene) -> Repository:
    """Commit a package with two modules that need each other."""
    scene.upstream.commit(
        {
            "pyproject.toml": '[project]\nname = "pkg"\nrequires-python = ">=3.10"\n',
            "pkg/__init__.py": "",
            "pkg/a.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
            "pkg/b.py": "from pkg.a import one\n\n\ndef three():\n    return one()\n",
        },
        "package",
    )
    scene.upstream.git("checkout", "--quiet", "-b", "fork")
    return scene.upstream


def finish(scene: Scene) -> None:
    """Make the series `s` of what is on the branch."""
    base = scene.upstream.git("rev-parse", "main")
    scene.series("s", base, scene.upstream.patches("main..fork"))


def settings(scene: Scene, text: str) -> None:
    (scene.root / "series/s/series.toml").write_text(text)


def check(scene: Scene, *arguments: str | Path, code: int = 0) -> Any:
    answer = scene.call("check", "s", "--json", *arguments, code=code)
    return {gate["name"]: gate for gate in answer.json["series"][0]["gates"]}


def test_a_sound_series_passes_and_says_so(scene: Scene) -> None:
    begin(scene).commit({"pkg/a.py": "def one():\n    return 11\n"}, f"one: more{HEADER}")
    both = "def one():\n    return 11\n\n\ndef two():\n    return 2\n"
    scene.upstream.commit({"pkg/a.py": both}, f"two{HEADER}")
    finish(scene)
    gates = check(scene)
    assert {g["standing"] for n, g in gates.items() if n != "sign-off"} == {"passed"}
    assert gates["sign-off"]["standing"] == "skipped"
    assert gates["python"]["looked_at"] == 2
    assert gates["python"]["note"] == "for Python 3.10"


def test_each_gate_names_patch_path_and_line(scene: Scene) -> None:
    marked = "def one():\n    return 1 \n<<<<<<< x\n"
    begin(scene).commit({"pkg/a.py": marked, "pkg/c.py": "x = (\n"}, "broken")
    finish(scene)
    gates = check(scene, code=4)
    problems = {
        name: [(p["patch"], p["path"], p["line"]) for p in gate["problems"]]
        for name, gate in gates.items()
    }
    assert problems["whitespace"] == [("broken.patch", "pkg/a.py", 2)]
    assert problems["markers"] == [("broken.patch", "pkg/a.py", 3)]
    assert problems["header"] == [("broken.patch", None, None)] * 2
    _, last = problems["python"]
    assert last in (("broken.patch", "pkg/a.py", 2), ("broken.patch", "pkg/c.py", 1))


def test_imports_must_find_their_names(scene: Scene) -> None:
    begin(scene).commit({"pkg/a.py": "def two():\n    return 2\n"}, f"change{HEADER}")
    finish(scene)
    (problem,) = check(scene, code=4)["imports"]["problems"]
    assert problem["sentence"] == "`from pkg.a import one` no longer works"


def test_sign_off_is_asked_for_where_the_series_says_so(scene: Scene) -> None:
    signed = "\nSigned-off-by: A. Author <author@example.org>\n"
    other = "\nSigned-off-by: Somebody <else@example.org>\n"
    for number, trailer in enumerate(("", signed, other)):
        if not number:
            begin(scene)
        scene.upstream.commit({f"{number}.txt": "x\n"}, f"p{number}{HEADER}{trailer}")
    finish(scene)
    settings(scene, "[check]\nsign-off = true\n")
    gate = check(scene, code=4)["sign-off"]
    assert [p["patch"] for p in gate["problems"]] == ["p0.patch", "p2.patch"]


def test_gates_can_be_left_out(scene: Scene) -> None:
    begin(scene).commit({"pkg/a.py": "def one():\n    return 1 \n"}, "no header")
    finish(scene)
    settings(scene, '[check]\nwithout = ["header", "whitespace"]\n')
    gates = check(scene)
    assert gates["header"]["standing"] == gates["whitespace"]["standing"] == "skipped"


def test_junit_has_a_case_a_gate_and_patch(scene: Scene, tmp_path: Path) -> None:
    begin(scene).commit({"a.txt": "x \n"}, f"one{HEADER}")
    finish(scene)
    target = tmp_path / "junit.xml"
    check(scene, "--junit", target, code=4)
    (suite,) = ET.parse(target).getroot()
    cases = {(c.get("classname"), c.get("name")): c for c in suite}
    failed = [key for key, case in cases.items() if case.find("failure") is not None]
    assert failed == [("s.whitespace", "one.patch")]
    assert suite.get("failures") == "1"
    assert suite.get("tests") == str(len(cases))


def test_commands_run_when_asked_and_the_culprit_is_found(scene: Scene, tmp_path: Path) -> None:
    begin(scene)
    for number in range(5):
        scene.upstream.commit({f"{number}.txt": "x\n"}, f"p{number}{HEADER}")
    finish(scene)
    touched = tmp_path / "touched"
    settings(
        scene,
        f"[check.commands.test]\nrun = ['sh', '-c', 'echo ran; touch {touched}; test ! -e 3.txt']\n"
        "[check.commands.absent]\nrun = ['no-such-program']\nneeds = ['no-such-program']\n"
        "[check.commands.slow]\nrun = ['sh', '-c', 'test ! -e 4.txt || sleep 60']\ntimeout = 1\n",
    )
    gates = check(scene)
    assert not touched.exists()
    assert gates["test"]["standing"] == "skipped"
    gates = check(scene, "--run", "--dry-run")
    assert not touched.exists()
    gates = check(scene, "--run", code=4)
    (problem,) = gates["test"]["problems"]
    assert (problem["patch"], problem["sentence"]) == ("p3.patch", "exit 1")
    assert gates["absent"]["note"] == "this machine has no no-such-program"
    (problem,) = gates["slow"]["problems"]
    assert (problem["patch"], problem["sentence"]) == ("p4.patch", "took more than 1 s")
    log = (scene.root / gates["test"]["log"]).read_text()
    assert log.startswith("== p4.patch ")
    assert "ran" in log


def test_a_command_that_fails_without_the_series_accuses_no_patch(scene: Scene) -> None:
    begin(scene).commit({"a.txt": "x\n"}, f"one{HEADER}")
    finish(scene)
    settings(scene, "[check.commands.test]\nrun = ['false']\n")
    (problem,) = check(scene, "--command", "test", code=4)["test"]["problems"]
    assert problem["patch"] is None
    assert problem["sentence"] == "exit 1; the command also fails without the series"
    scene.call("check", "s", "--command", "other", code=2)


def test_the_workspace_alone_is_checked_without_an_upstream(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begin(scene).commit({"a.txt": "x\n"}, f"one{HEADER}")
    finish(scene)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "nothing"))
    arguments = ("-C", scene.root, "check", "--workspace", "--json")
    scene.run(*arguments)
    folder = scene.root / "series/s"
    for name in ("stray", "ne"):
        (folder / f"{name}.patch").write_text("x")
    settings(scene, '[groups]\ng = ["one", "two"]\n')
    answer = scene.run(*arguments, code=4).json
    sentences = [p["sentence"] for p in answer["series"][0]["gates"][0]["problems"]]
    assert sentences[:2] == ["the series file does not list it"] * 2
    assert sentences[2:] == ["the group g names two, which is not a patch"]
    (folder / "one.patch").write_text("broken\n@@ -1 +1 @@\n")
    scene.run(*arguments, code=4)
    assert not (tmp_path / "nothing").exists()


def test_settings_that_are_wrong_are_named(scene: Scene) -> None:
    begin(scene).commit({"a.txt": "x\n"}, f"one{HEADER}")
    finish(scene)
    for text, words in (("x", "is not valid TOML"), ("[check.commands.x]\n", "x.run is missing")):
        settings(scene, text)
        assert words in scene.call("check", "s", code=1).err


FILE = "".join(f"line {number}\n" for number in range(20))
PATCHED = FILE.replace("line 3\n", "line 3\nmore\n").replace("line 9\n", "")


def begin_rebase(scene: Scene) -> str:
    """Make the series `s` of a fork's one commit, and return its pin."""
    base = scene.upstream.commit({"f": FILE, "other": "x\n"}, "base")
    scene.upstream.git("checkout", "--quiet", "-b", "fork")
    scene.upstream.commit({"f": PATCHED}, "patched")
    scene.series("s", base, scene.upstream.patches("main..fork"))
    return base


def test_a_checkout_that_is_not_the_series_is_told(scene: Scene) -> None:
    begin_rebase(scene)
    place = scene.upstream.root
    scene.call("check", "s", "--ledger", "--to", place)
    (place / "f").write_text(PATCHED.replace("more\n", ""))
    answer = scene.call("check", "s", "--ledger", "--to", place, "--json", code=4)
    (gate,) = answer.json["series"][0]["gates"]
    assert (gate["name"], gate["standing"], gate["looked_at"]) == ("ledger", "failed", 2)
    assert gate["problems"][0]["path"] == "f"


def test_a_branch_is_held_to_the_series_and_what_else_it_has_is_free(scene: Scene) -> None:
    begin_rebase(scene)
    scene.upstream.commit({"other": "y\n"}, "another file")
    place = scene.upstream.root
    scene.call("check", "--ledger", "--to", place, "--branch", "fork")
    scene.call("check", "--ledger", "--to", place, "--branch", "main", code=4)
    scene.call("check", "--ledger", "--to", place, "--branch", "none", code=2)
    scene.call("check", "--to", place, code=2)


def test_a_rebase_prints_its_sums(scene: Scene) -> None:
    begin_rebase(scene)
    scene.upstream.git("checkout", "--quiet", "main")
    onto = scene.upstream.commit({"f": FILE.replace("line 17\n", "line 17 too\n")}, "upstream")
    arguments = ("-C", scene.root, "rebase", "s", "--onto", onto, "--dry-run")
    sums = {"carried": 1, "upstream": 0, "conflict": 0, "given_up": 0}
    assert scene.run(*arguments, "--json").json["series"][0]["ledger"] == {
        "added": sums, "removed": sums, "balanced": True,
    }  # fmt: skip
    assert "lines 1 added: 1 carried; 1 removed: 1 carried" in scene.run(*arguments).out


def test_what_does_not_add_up_is_a_conflict(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_rebase(scene)
    scene.upstream.git("checkout", "--quiet", "main")
    onto = scene.upstream.commit({"f": FILE.replace("line 17\n", "line 17 too\n")}, "upstream")
    merge = GitTextMerge.merge

    def lossy(self: GitTextMerge, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        found = merge(self, base, ours, theirs)
        assert isinstance(found, Clean)
        return replace(found, content=found.content.replace(b"line 5\n", b""))

    monkeypatch.setattr(GitTextMerge, "merge", lossy)
    answer = scene.call("rebase", "s", "--onto", onto, "--json", code=3)
    (series,) = answer.json["series"]
    assert series["ledger"]["balanced"] is False
    assert series["head"] is None
    (patch,) = series["patches"]
    assert patch["verdict"] == "conflict"
    assert "lacks 1 line from upstream that no patch removes: `line 5`" in patch["reason"]
