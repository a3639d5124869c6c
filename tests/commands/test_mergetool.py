"""`mergetool`: the user's own tool on what a rebase waits for."""

from pathlib import Path

import pytest

from tests.commands.conftest import Answer, Scene
from tests.commands.test_conflicts import WORK, listed
from tests.commands.test_rebase import clash, text, verdicts


def tool(scene: Scene, *arguments: str, code: int = 0) -> Answer:
    return scene.call("mergetool", *arguments, code=code)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(path))
    return path


def configure(config: Path, command: str) -> None:
    config.write_text(
        "[merge]\n\ttool = mine\n"
        f'[mergetool "mine"]\n\ttrustExitCode = true\n\tcmd = "{command}"\n'
        "[core]\n\tautocrlf = true\n[init]\n\tdefaultBranch = odd\n"
    )


@pytest.fixture
def waiting(scene: Scene) -> Scene:
    def make() -> None:
        start, ours, theirs = text(), text(l10="ours\n"), text(l10="theirs\n")
        on, then = ({"a": content, "d/b": content} for content in (start, theirs))
        clash(scene, {"a": ours}, {"d/b": ours}, on={**on}, then={**then})

    scene.once("waiting", make)
    return scene


def test_the_tool_gets_three_sides_and_its_result_is_kept(waiting: Scene, config: Path) -> None:
    seen = config.parent / "seen"
    noted = f"cat $BASE $LOCAL $REMOTE >> {seen}; echo $MERGED >> {seen}"
    configure(config, f"{noted}; cat $REMOTE > $MERGED")
    assert "Now run: patchmgr rebase --continue" in tool(waiting).err
    each = text() + text(l10="theirs\n") + text(l10="ours\n")
    assert seen.read_bytes() == f"{each}a\n{each}d/b\n".encode()  # in spite of `core.autocrlf`
    assert (waiting.root / WORK / "a").read_bytes() == text(l10="ours\n").encode()
    assert verdicts(waiting.rebase("--continue")) == ["modified", "modified"]


def test_one_file_can_be_named(waiting: Scene, config: Path) -> None:
    configure(config, "cat $LOCAL > $MERGED")
    before = (waiting.root / WORK / "a").read_text()
    assert tool(waiting, "d/b").err.startswith("Resolved: s/fork-change-2.patch/d/b\n")
    assert (waiting.root / WORK / "a").read_text() == before
    assert "is not a file to resolve" in tool(waiting, "nothing", code=2).err


@pytest.mark.parametrize("command", ["cat $LOCAL > $MERGED; exit 1", "true"])
def test_what_the_tool_does_not_finish_stays(waiting: Scene, config: Path, command: str) -> None:
    configure(config, command)
    before = (waiting.root / WORK / "a").read_text()
    assert "Not resolved: s/fork-change-1.patch/a" in tool(waiting, "a", code=3).err
    assert (waiting.root / WORK / "a").read_text() == before


def test_a_dry_run_opens_nothing(waiting: Scene, config: Path) -> None:
    configure(config, f"touch {config.parent}/opened")
    assert "Would open s/fork-change-1.patch/a" in tool(waiting, "--dry-run").err
    assert not (config.parent / "opened").exists()


def test_without_a_tool_it_says_how_to_name_one(waiting: Scene) -> None:
    assert "hint: git config --global merge.tool" in tool(waiting, code=2).err
    tool(waiting, "--tool", "-x", code=2)


def test_without_a_rebase_there_is_nothing_to_solve(scene: Scene) -> None:
    assert "no rebase is in progress" in tool(scene, code=2).err


def test_a_deleted_file_can_be_kept_deleted(scene: Scene, config: Path) -> None:
    clash(scene, {"a": text(l10="ours\n")}, on={"a": text(), "b": "b\n"}, then={"a": None})
    configure(config, "true")
    tool(scene, code=3)  # git asks a person, and there is none
    assert (scene.root / WORK / "a").exists()
    assert list(listed(scene).values()) == ["open"]
