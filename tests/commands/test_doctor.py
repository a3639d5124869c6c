"""`doctor`: what it finds, what it mends, and what it leaves alone."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Scene, invoke
from tests.commands.scenes import Stage, text, unchanged
from tests.conftest import Repository


def store_of(stage: Stage) -> Path:
    return next((stage.folder / "cache/patchmgr/stores").glob("upstream-*.git"))


def doctor(stage: Stage, *options: str, code: int = 0) -> list[tuple[str, str, str]]:
    """Return what is not well: what it is, how it is, and what is said of it."""
    found: list[dict[str, Any]] = stage.run("doctor", *options, "--json", code=code).json["found"]
    rows = [one for one in found if one["health"] != "well"]
    told = [one for one in rows if (one["area"], one["health"]) != ("program", "note")]
    return [(one["what"], one["health"], one["text"]) for one in told]  # extras may be missing


def old(path: Path, days: float = 2) -> Path:
    then = time.time() - days * 24 * 60 * 60
    os.utime(path, (then, then))
    return path


def test_all_is_well(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.run("branch", "s")
    with unchanged(stage.folder, without=()):
        assert doctor(stage, "--repair", "--prune") == []
    shown = stage.run("doctor").out
    assert "\n  ok      git version 2." in shown
    assert f"\nstores\n  ok      {store_of(stage).name}\n" in shown
    monkeypatch.chdir(stage.folder)
    answer = invoke("doctor")
    assert answer.code == 0
    assert "  note    none: no workspace here\n            run the command in" in answer.out


def _no_lender(stage: Stage, store: Path) -> str:
    gone = stage.folder / "lender/.git/objects"
    with open(store / "objects/info/alternates", "a") as file:
        file.write(f"{gone}\n")
    return f"missing alternate {gone}"


def _garbled(stage: Stage, store: Path) -> str:
    (store / "refs/upstream/tags").mkdir(parents=True, exist_ok=True)
    (store / "refs/upstream/tags/v1").write_bytes(b"")
    return "broken ref refs/upstream/tags/v1"


def _nowhere(stage: Stage, store: Path) -> str:
    (store / "refs/upstream/tags").mkdir(parents=True, exist_ok=True)
    (store / "refs/upstream/tags/v2").write_text("1" * 40 + "\n")
    return "broken ref refs/upstream/tags/v2"


def _locked(stage: Stage, store: Path) -> str:
    (store / "packed-refs.lock").touch()
    old(store / "packed-refs.lock")
    return "stale lock packed-refs.lock"


def _scratch(stage: Stage, store: Path) -> str:
    (store / "tmp/scratch-x").mkdir(parents=True)
    old(store / "tmp/scratch-x")
    (store / "tmp/scratch-new").mkdir()  # of a run that may go on
    return "temporary files tmp/scratch-x"


def _pack(stage: Stage, store: Path) -> str:
    (store / "objects/pack").mkdir(exist_ok=True)
    (store / "objects/pack/tmp_pack_x").touch()
    old(store / "objects/pack/tmp_pack_x")
    return "temporary files objects/pack/tmp_pack_x"


def _old_ref(stage: Stage, store: Path) -> str:
    for name in ("patchmgr/s", "patchmgr-rebase/s"):  # the other is of `rebase --checkout`
        Repository(store, is_there=True).git("update-ref", f"refs/heads/{name}", stage.base)
    return "ref left by an older patchmgr refs/heads/patchmgr/s"


def _gone(stage: Stage, store: Path) -> str:
    other = stage.folder / "other"
    shutil.copytree(stage.root, other)
    stage.run("-C", other, "branch", "s")
    name = (other / ".patchmgr/id").read_text()
    shutil.rmtree(other)
    assert doctor(stage, "--prune") == []  # its disk may come back
    old(stage.folder / "cache/patchmgr/workspaces" / name, days=100)
    for ref in (f"refs/patchmgr/{name}/tags/s-fallback-1", "refs/tags/s-fallback-2"):
        Repository(store, is_there=True).git("update-ref", ref, stage.base)  # these stay
    return f"ref of a workspace that is gone refs/patchmgr/{name}/heads/patchmgr/s"


@pytest.mark.parametrize(
    ("spoil", "option"),
    [
        pytest.param(_no_lender, "--repair", id="alternate"),
        pytest.param(_garbled, "--repair", id="empty-ref"),
        pytest.param(_nowhere, "--repair", id="ref-to-nothing"),
        pytest.param(_locked, "--repair", id="lock"),
        pytest.param(_scratch, "--prune", id="scratch"),
        pytest.param(_pack, "--prune", id="pack"),
        pytest.param(_old_ref, "--prune", id="old-ref"),
        pytest.param(_gone, "--prune", id="gone-workspace"),
    ],
)
def test_a_store_is_mended(stage: Stage, spoil: Callable[[Stage, Path], str], option: str) -> None:
    head = stage.run("branch", "s", "--json").json["head"]
    store = store_of(stage)
    what = spoil(stage, store)
    code, health = (4, "broken") if option == "--repair" else (0, "note")
    with unchanged(store, without=()):
        other = "--prune" if option == "--repair" else "--repair"
        for options in ((), (other,)):
            assert doctor(stage, *options, code=code) == [(store.name, health, what)]
        assert f"            patchmgr doctor {option}\n" in stage.run("doctor", code=code).out
        dry = doctor(stage, option, "--dry-run", code=code)
        assert dry == [(store.name, health, f"would be repaired: {what}")]
    assert doctor(stage, option) == [(store.name, "mended", what)]
    assert doctor(stage) == []
    assert stage.run("branch", "s", "--json").json["head"] == head


@pytest.mark.parametrize(("lost", "what"), [("objects", ""), ("HEAD", " HEAD")])
def test_a_store_that_is_none_is_made_again(stage: Stage, lost: str, what: str) -> None:
    store = store_of(stage)
    (store / lost).rename(stage.folder / "lost")
    assert doctor(stage, "--repair") == [(store.name, "mended", f"broken store{what}")]
    assert (store / "objects").exists() == (lost == "HEAD")
    stage.run("upstream", "fetch")
    stage.run("branch", "s")


def test_refs_go_with_the_lender_that_is_gone(stage: Stage) -> None:
    store = store_of(stage)
    no_lender, _ = _no_lender(stage, store), _nowhere(stage, store)
    assert doctor(stage, "--repair") == [(store.name, "mended", no_lender)]
    assert doctor(stage) == []


@pytest.mark.parametrize(
    ("file", "content"), [("packed-refs", "nonsense\n"), ("config", "[core\n")]
)
def test_a_store_that_git_cannot_read(stage: Stage, file: str, content: str) -> None:
    store = store_of(stage)
    (store / file).write_text(content)
    ((what, health, text),) = doctor(stage, "--repair", code=4)
    assert (what, health) == (store.name, "broken")
    assert text.startswith("git for-each-ref")


def _no_patch(stage: Stage) -> None:
    (stage.root / "series/s/fork-one.patch").unlink()


def _no_lock(stage: Stage) -> None:
    (stage.root / "upstream.lock").write_text("format = 1\nx =\n")


def _state(stage: Stage) -> None:
    (stage.root / ".patchmgr/rebase").mkdir(parents=True)
    (stage.root / ".patchmgr/rebase/state.json").write_text('{"format": 7}')


def _conflict(stage: Stage) -> None:
    (stage.root / "conflicts/123456789abc").mkdir(parents=True)


@pytest.mark.parametrize("spoil", [_no_patch, _no_lock, _state, _conflict])
def test_a_workspace_that_is_broken(stage: Stage, spoil: Callable[[Stage], None]) -> None:
    spoil(stage)
    with unchanged(stage.root, without=()):
        ((_, health, text),) = doctor(stage, "--repair", "--prune", code=4)
        assert health == "broken"
        assert text


def test_what_is_on_the_way_is_said(stage: Stage) -> None:
    clone, gone = stage.clone(), stage.clone("gone")
    for checkout in (clone, gone):
        stage.run("push", "--to", checkout.root)
    shutil.rmtree(gone.root)
    (clone.root / ".git/patchmgr/journal.json").write_text("{}")
    found = {what: text for what, health, text in doctor(stage) if health == "note"}
    assert set(found) == {str(clone.root), str(gone.root)}
    assert "was interrupted there" in found[str(clone.root)]
    assert "the folder no longer exists" in found[str(gone.root)]


def test_without_git(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    from patchmgr.plumbing import git_process

    git_process.git_words.cache_clear()
    monkeypatch.setenv("PATH", str(stage.folder))
    ((what, health, text), *_) = doctor(stage, code=4)
    git_process.git_words.cache_clear()
    assert (what, health) == ("none", "broken")
    assert "git is not on PATH" in text


@pytest.mark.parametrize("is_empty", [False, True], ids=["gone", "another-one"])
def test_a_store_whose_clone_went_is_refilled(scene: Scene, tmp_path: Path, is_empty: bool) -> None:
    base = scene.upstream.commit({"a": text()}, "base")
    other, lender = Repository(tmp_path / "other", is_there=True), tmp_path / "lender"
    for place in (other.root, lender):
        scene.upstream.git("clone", "--quiet", ".", str(place))
    scene.call("upstream", "add", "two", "--git", other.root, "--reference", lender)
    scene.call("series", "new", "s", "--upstream", "two", "--base", base)
    other.commit({"b": "1\n"}, "more")
    scene.call("upstream", "fetch", "two")
    shutil.rmtree(lender)
    if is_empty:
        lender.joinpath(".git/objects").mkdir(parents=True)
    else:
        answer = scene.call("rebase", "s", "--onto", "upstream/main", code=1)
        assert "borrows objects from" in answer.err and "patchmgr doctor --repair" in answer.err
    scene.call("doctor", code=4)
    scene.call("doctor", "--repair")
    scene.call("rebase", "s", "--onto", "upstream/main")
    scene.call("doctor")
