"""`notes`, `diff`, `why`, tags and what recognises them: what a maintainer publishes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.commands.conftest import Scene
from tests.commands.scenes import Stage, own_ref, text
from tests.conftest import Repository

A = "".join(f"line {n}\n" for n in range(40))
HEADER = "\n\nWhy.\n\nDrop-When: never\n"


def build(scene: Scene) -> tuple[str, str]:
    """Make a series of three patches: one lands upstream, one collides, one stays as it is."""
    scene.once("publishing", lambda: _build(scene))
    return scene.upstream.git("rev-parse", "main~3"), scene.upstream.head()


def _build(scene: Scene) -> None:
    base = scene.upstream.commit({"pkg/a.py": A, "pkg/b.py": A, "csrc/k.cu": A}, "start")
    scene.upstream.git("checkout", "--quiet", "-b", "fork")
    landed = A.replace("line 5\n", "five\n")
    scene.upstream.commit({"pkg/a.py": landed}, f"fix five{HEADER}")
    scene.upstream.commit({"pkg/b.py": A.replace("line 9\n", "nine\n")}, f"edit nine{HEADER}")
    scene.upstream.commit({"csrc/k.cu": A.replace("line 3\n", "three\n")}, f"kernel{HEADER}")
    scene.upstream.git("checkout", "--quiet", "main")
    scene.series("s", base, scene.upstream.patches("main..fork"))
    scene.upstream.commit({"pkg/a.py": landed}, "fix five (#12)")
    scene.upstream.commit({"pkg/b.py": A.replace("line 30\n", "thirty\n")}, "thirty (#13)")
    scene.upstream.commit({"other.txt": "x\n"}, "elsewhere (#14)")


def notes(scene: Scene, *arguments: str) -> Any:
    return scene.call("notes", "s", "--json", *arguments).json["series"]


def test_a_note_says_what_came_what_went_and_what_stayed(scene: Scene) -> None:
    base, onto = build(scene)
    scene.rebase("s", "--onto", onto)
    note = notes(scene)
    assert (note["base"]["commit"], note["onto"]["commit"]) == (base, onto)
    assert note["upstream_commits"] == 3
    assert [p["verdict"] for p in note["patches"]] == ["absorbed", "unchanged", "unchanged"]
    (dropped,) = note["dropped"]
    assert (dropped["patch"], dropped["by"][0]["pull"]) == ("fix-five.patch", 12)
    brought = [c["pull"] for group in note["brought"] for c in group["commits"]]
    assert brought == [13]
    assert note["identical"] == [{"language": "CUDA", "path": "csrc/k.cu"}]
    assert [f["path"] for f in note["changed"]] == ["pkg/b.py"]
    text = scene.call("notes", "s").out
    assert "3 upstream commits came in" in text
    assert "#12 fix five" in text


def test_a_note_on_a_sync_that_is_not_made_writes_nothing(scene: Scene) -> None:
    base, onto = build(scene)
    before = (scene.root / "upstream.lock").read_bytes()
    note = notes(scene, "--from", base, "--to", onto)
    assert note["dry_run"]
    assert (scene.root / "upstream.lock").read_bytes() == before
    assert [p["verdict"] for p in note["patches"]] == ["absorbed", "unchanged", "unchanged"]


def test_a_clone_without_facts_says_what_the_lock_knows(scene: Scene) -> None:
    base, onto = build(scene)
    scene.rebase("s", "--onto", onto)
    (scene.root / ".patchmgr/syncs/s.json").unlink()
    note = notes(scene)
    assert not note["complete"]
    assert [d["by"][0]["pull"] for d in note["dropped"]] == [12]
    scene.call("notes", "s", "--from", onto, "--to", base, code=0)
    scene.call("notes", "s", "--from", "nothing", code=2)


def test_a_solved_conflict_is_told_with_how_it_was_solved(scene: Scene) -> None:
    base = scene.upstream.commit({"a.txt": A}, "start")
    scene.upstream.git("checkout", "--quiet", "-b", "fork")
    scene.upstream.commit({"a.txt": A.replace("line 5\n", "ours\n")}, f"five{HEADER}")
    scene.upstream.git("checkout", "--quiet", "main")
    scene.series("s", base, scene.upstream.patches("main..fork"))
    onto = scene.upstream.commit({"a.txt": A.replace("line 5\n", "theirs\n")}, "other (#7)")
    scene.rebase("s", "--onto", onto, code=3)
    (conflict,) = notes(scene, "--from", base, "--to", onto)["conflicts"]
    assert conflict["open"]
    assert [c["pull"] for c in conflict["collided"]] == [7]
    folder = scene.root / ".patchmgr/rebase"
    answer = scene.call("status", "--json").json
    (waiting,) = answer["unfinished"]["waiting"]
    work = folder / "s/five.patch/a.txt"
    assert waiting == "s/five.patch: a.txt"
    work.write_text(A.replace("line 5\n", "theirs\nours\n"))
    scene.rebase("--continue")
    (conflict,) = notes(scene)["conflicts"]
    assert not conflict["open"]
    assert conflict["path"] == "a.txt"
    assert conflict["solution"] == "both changes were kept"


def store(stage: Stage) -> Repository:
    folder = next((stage.folder / "cache/patchmgr/stores").glob("upstream-*.git"))
    return Repository(folder, is_there=True)


def test_a_tag_says_what_it_is_and_is_recognised(stage: Stage) -> None:
    first = stage.run("branch", "s", "--tag", "one", "--json").json
    message = store(stage).git("cat-file", "tag", own_ref(stage.root, "refs/tags/one"))
    assert "Patchmgr-Series: s" in message
    assert f"Patchmgr-Base: {stage.base}" in message
    assert "Gates: not run on this state" in message
    found = stage.run("status", "--of", "one", "--json").json["of"]
    assert (found["series"], found["current"], found["tags"]) == ("s", True, ["one"])
    assert found["commit"] == first["head"]
    part = stage.run("status", "--of", f"{first['head']}", "--json").json["of"]
    assert part["position"] == 2
    stage.run("status", "--of", "nothing", code=2)
    other = stage.run("status", "--of", stage.base, "--json").json["of"]
    assert other["series"] is None
    stage.series(stage.upstream.patches("main..fork~1"))
    found = stage.run("status", "--of", "one", "--json").json["of"]
    assert (found["series"], found["current"], found["position"]) == ("s", False, None)


def test_the_head_that_is_replaced_keeps_a_tag(stage: Stage) -> None:
    clone = stage.clone()
    first = stage.run("branch", "s", "--repo", clone.root, "--tag", "one", "--json").json
    stage.series(stage.upstream.patches("main..fork~1"))
    second = stage.run("branch", "s", "--repo", clone.root, "--tag", "two", "--json").json
    assert clone.git("rev-parse", second["fallback"]) == first["head"]
    again = stage.run("branch", "s", "--repo", clone.root, "--tag", "two", "--json").json
    assert again["fallback"] is None
    arguments = ("diff", "s", "--from", second["fallback"], "--to", "two", "--repo", clone.root)
    found = stage.run(*arguments, "--json").json
    assert [p["sameness"] for p in found["patches"]] == ["byte-identical", "dropped"]
    assert "bytes" in found["different"]
    assert "pkg/a.py" in found["identical"]
    assert "1 byte-identical, 1 dropped" in stage.run(*arguments).out


def test_a_moved_patch_is_told_from_a_changed_one(scene: Scene) -> None:
    _, onto = build(scene)
    scene.call("branch", "s", "--tag", "before")
    scene.rebase("s", "--onto", onto)
    found = scene.call("diff", "s", "--from", "before", "--json").json
    assert {p["subject"]: p["sameness"] for p in found["patches"]} == {
        "fix five": "dropped",
        "edit nine": "byte-identical",
        "kernel": "byte-identical",
    }


def test_a_claim_is_written_among_the_claims_alone(stage: Stage) -> None:
    stage.run("branch", "s", "--tag", "one")
    settings = stage.root / "series/s/series.toml"
    before = '[paths]\n"pkg/a.py" = "a.py"\n[claims]\n[subsystems]\n"pkg/a.py" = ["pkg"]\n'
    settings.write_text(before)
    stage.run("diff", "s", "--from", "one", "--hold", "pkg/a.py")
    claim, rest = settings.read_text().split("[claims]\n")[1].split("\n", 1)
    assert claim.startswith('"pkg/a.py" = "sha256:')
    assert settings.read_text() == before.replace("[claims]\n", f"[claims]\n{claim}\n")
    assert rest.startswith("[subsystems]")


def test_held_bytes_are_checked_from_then_on(stage: Stage) -> None:
    stage.run("branch", "s", "--tag", "one")
    held = ("diff", "s", "--from", "one", "--hold", "pkg/a.py")
    stage.run(*held, "--dry-run")
    assert not (stage.root / "series/s/series.toml").exists()
    stage.run(*held)
    stage.run(*held)
    assert (stage.root / "series/s/series.toml").read_text().count("pkg/a.py") == 1
    gates = json.loads(stage.run("check", "s", "--json", code=4).out)["series"][0]["gates"]
    claims = next(gate for gate in gates if gate["name"] == "claims")
    assert (claims["standing"], claims["looked_at"]) == ("passed", 1)
    stage.series(stage.upstream.patches("main..fork~1").replace(b"+ours", b"+mine"))
    (stage.root / "series/s/series.toml").write_text(
        '[claims]\n"pkg/a.py" = "sha256:' + "0" * 64 + '"\n"pkg/b.py" = "upstream"\n'
    )
    gates = json.loads(stage.run("check", "s", "--json", code=4).out)["series"][0]["gates"]
    claims = next(gate for gate in gates if gate["name"] == "claims")
    assert [p["path"] for p in claims["problems"]] == ["pkg/a.py"]


def test_why_names_the_patch_of_a_line(stage: Stage) -> None:
    found = stage.run("why", "pkg/a.py:31", "--json").json
    assert (found["patch"], found["text"]) == ("fork-one.patch", "ours")
    assert stage.run("why", "pkg/a.py:30", "--json").json["patch"] is None
    assert "fork: one" in stage.run("why", "new/deep/file.txt:1").out
    assert stage.run("why", "pkg/b.py:1", "--json").json["patch"] is None
    end = len(text().splitlines()) + 1
    for place in ("pkg/a.py", "pkg/a.py:x", f"pkg/a.py:{end}", "gone/only.txt:1"):
        stage.run("why", place, code=2)


def test_variants_are_one_command_each(stage: Stage) -> None:
    whole = stage.run("branch", "s", "--json").json
    arm = stage.run("branch", "s", "--without", "fork-two", "--name", "arm", "--json").json
    assert arm["commits"] == whole["commits"] - 1
    only = stage.run("branch", "s", "--only", "fork-two.patch", "--name", "b", "--json").json
    assert only["commits"] == 1
    (stage.root / "series/s/series.toml").write_text('[groups]\nfirst = ["fork-one"]\n')
    group = stage.run("branch", "s", "--only", "first", "--name", "c", "--json").json
    assert group["head"] == arm["head"]
    answer = stage.run("branch", "s", "--without", "fork-tow", "--name", "d", code=2)
    assert "fork-two" in answer.err


def test_a_report_has_its_page(stage: Stage, tmp_path: Path) -> None:
    page = stage.run("report", "s", "--format", "html").out
    assert page.startswith("<!DOCTYPE html>")
    found = stage.run("report", "s", "--json").json["series"][0]
    assert sum(part["files"] for part in found["subsystems"]) == found["total"]["files"]
    assert [r["path"] for r in found["risks"] if r["kind"] == "binary"] == ["bytes"]


def test_a_tag_tells_the_verdicts_and_the_gates(scene: Scene) -> None:
    _, onto = build(scene)
    scene.rebase("s", "--onto", onto)
    (scene.root / "series/s/series.toml").write_text("[check]\nsign-off = true\n")
    scene.call("check", "s", code=4)
    scene.call("branch", "s", "--tag", "one")
    (store,) = Path(os.environ["XDG_CACHE_HOME"]).glob("patchmgr/stores/upstream-*.git")
    message = Repository(store, is_there=True).git(
        "cat-file", "tag", own_ref(scene.root, "refs/tags/one")
    )
    assert "1 absorbed, 2 unchanged\n  absorbed: fix-five.patch\n" in message
    assert "failed: sign-off (2 problems)" in message


def test_a_variable_that_nobody_reads_upstream_is_a_risk(scene: Scene) -> None:
    base = scene.upstream.commit({"a.py": "import os\nos.environ['OLD']\n"}, "start")
    scene.upstream.git("checkout", "--quiet", "-b", "fork")
    scene.upstream.commit({"b.py": "import os\nos.environ['OLD'], os.environ['NEW']\n"}, "read")
    scene.series("s", base, scene.upstream.patches("main..fork"))
    for _ in range(2):  # the second time the answer is known
        report = scene.call("report", "s", "--json").json["series"][0]
        found = [risk for risk in report["risks"] if "variable" in risk["kind"]]
        assert [(risk["path"], risk["what"]) for risk in found] == [("b.py", "NEW")]
