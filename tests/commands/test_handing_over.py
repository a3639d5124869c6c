"""A rebase in progress: of an older and a newer patchmgr, and handed over as a folder."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands.conftest import Scene, invoke
from tests.commands.scenes import one_line, text
from tests.commands.test_rebase import clash, verdicts
from tests.conftest import Repository
from tests.tables import table

STATE = ".patchmgr/rebase/state.json"


@pytest.fixture
def stopped(scene: Scene) -> Scene:
    """Return a scene with a rebase that one conflict holds up."""
    clash(scene, {"a": text(l10="ours\n")}, on={"a": text()}, then={"a": text(l10="theirs\n")})
    return scene


def solve(root: Path) -> None:
    (root / ".patchmgr/rebase/s/fork-change-1.patch/a").write_text(text(l10="both\n"))


def edit(scene: Scene, **changes: object) -> None:
    state = scene.root / STATE
    document = {**json.loads(state.read_bytes()), **changes}
    state.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))


def test_a_rebase_of_an_older_patchmgr_goes_on(stopped: Scene) -> None:
    (row,) = json.loads((stopped.root / STATE).read_bytes())["waiting"]
    edit(stopped, format=None, patchmgr=None, opened=None, skipped=None, waiting=[row[:4]])
    assert "s/fork-change-1.patch: a" in stopped.call("status").out
    solve(stopped.root)
    assert verdicts(stopped.rebase("--continue")) == ["modified"]


@table("line", ["rebase --continue", "rebase --skip", "status", "rebase s --onto upstream/main"])
def test_a_rebase_of_a_newer_patchmgr_is_left_alone(stopped: Scene, line: str) -> None:
    edit(stopped, format=2, patchmgr="99.1", waiting={"of": "another form"})
    before = (stopped.root / STATE).read_bytes()
    answer = invoke("-C", stopped.root, *line.split())
    assert answer.code == 1
    assert "was started by patchmgr 99.1, but this is patchmgr " in one_line(answer)
    assert "delete .patchmgr/rebase" in answer.err
    assert (stopped.root / STATE).read_bytes() == before


def test_a_folder_is_given(stopped: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solve(stopped.root)
    for file in (stopped.root / ".patchmgr/rebase").rglob("*"):
        assert file.is_dir() or str(tmp_path).encode() not in file.read_bytes()
    theirs = shutil.copytree(stopped.root, tmp_path / "theirs")
    shutil.rmtree(stopped.root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "their cache"))
    moved = stopped.upstream.root.rename(tmp_path / "elsewhere")
    answer = invoke("-C", theirs, "rebase", "--continue")
    assert answer.code == 1
    (hint,) = (line for line in answer.err.splitlines() if "--reference" in line)
    words = hint.partition(": patchmgr ")[2].replace("CLONE", str(moved)).split()
    assert invoke("-C", theirs, *words).code == 0
    done = invoke("-C", theirs, "rebase", "--continue", "--json")
    assert verdicts(done.json) == ["modified"]


def test_each_upstream_stays_where_the_rebase_found_it(stopped: Scene, tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    base = other.commit({"b": text()}, "other: base")
    with other.at("-b", "own"):
        other.commit({"b": text(l10="ours\n")}, "own")
    box = tmp_path / "own.mbox"
    box.write_bytes(other.patches(f"{base}..own"))
    stopped.call("rebase", "--abort")
    stopped.call("upstream", "add", "other", "--git", other.root)
    stopped.call("series", "new", "t", "--upstream", "other", "--base", base)
    stopped.call("import", box, "--series", "t")
    there = [r["onto"] for r in stopped.rebase("--onto", "upstream/main", code=3)["series"]]
    for upstream in (stopped.upstream, other):
        upstream.commit({"later": "x\n"}, "later")
    stopped.call("upstream", "fetch")
    solve(stopped.root)
    done = [row["onto"]["commit"] for row in stopped.rebase("--continue")["series"]]
    assert done == [state["commit"] for state in there]
