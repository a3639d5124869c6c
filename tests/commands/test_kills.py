"""What commands find that others left when they were killed; all commands: test_faults.py."""

import shutil
from collections.abc import Callable
from contextlib import suppress

import pytest

from patchmgr.plumbing.checkout import Checkout
from patchmgr.plumbing.work_tree import WorkTree
from tests.commands.conftest import invoke
from tests.commands.every import restorer
from tests.commands.faults import Killed, killing
from tests.commands.scenes import Picture, Stage, picture, plant, text
from tests.conftest import Repository
from tests.long import LONG

# Every which operation a command is killed at: each where there is time.
STEP = 1 if LONG else 11


def old_or_new(
    run: Callable[[], object],
    *,
    look: Callable[[], object],
    reset: Callable[[], None],
    step: int = STEP,
) -> set[str]:
    """Kill a command at each of its operations, or at some and the last where time is short.

    What is seen afterwards is as before it or as after it, and where it is as before, the command
    can be run again; this is tried at every fourth. Returns which of both was seen.
    """
    old = look()
    run()
    new = look()
    assert new != old
    seen = set[str]()

    def kill(at: int) -> bool:
        with killing(at) as death, suppress(Killed):
            run()
        if death.count < at:
            return False
        found = look()
        assert found in (old, new), f"killed at {at}"
        seen.add("old" if found == old else "new")
        if found != old or at % 4 == 0 or step == 1:
            if found == old:
                run()
                assert look() == new, f"killed at {at}"
            reset()
        return True

    reset()
    at = 1
    while kill(at):
        at += step
    assert at > 10, "the operations are counted"
    if step > 1:
        reset()
        with killing(10**9) as whole:
            run()
        reset()
        kill(whole.count)
    return seen


@pytest.fixture
def small(stage: Stage) -> Repository:
    """Give the series one patch that edits, makes and deletes a file; return a checkout."""
    with stage.upstream.at("--detach", "main"):
        files: dict[str, bytes | str | None] = {"gone/only.txt": None, "new/file": "new\n"}
        plant(
            stage.upstream, {**files, "pkg/a.py": text(l30="ours\n")}, "small", runs=("plain.sh",)
        )
        stage.series(stage.upstream.patches("main..HEAD"))
    return stage.clone()


def workspace_look(stage: Stage) -> tuple[Picture, str]:
    store = next((stage.folder / "cache/patchmgr/stores").glob("*.git"))
    branch = next(store.glob("refs/patchmgr/*/heads/patchmgr/s"), store / "none")
    files = {path: file for path, file in picture(stage.root).items() if file[0] != "folder"}
    return files, branch.read_text() if branch.exists() else ""


@pytest.mark.usefixtures("small")
def test_a_killed_rebase_leaves_its_conflicts_whole_or_none(stage: Stage) -> None:
    onto = stage.upstream.git("rev-parse", "collides")
    line = ("-C", stage.root, "rebase", "s", "--onto", onto)
    before = workspace_look(stage)

    def look() -> object:
        found = invoke("-C", stage.root, "status", "--json").json["unfinished"]
        assert workspace_look(stage) == (before if found is None else after)
        return found and (found, picture(stage.root / ".patchmgr/rebase"), workspace_look(stage))

    reset = restorer(stage.root)
    assert invoke(*line).code == 3
    after = workspace_look(stage)
    assert {path.split("/")[0] for path in after[0].keys() - before[0].keys()} == {"conflicts"}
    reset()
    step = 1 if LONG else 3 * STEP
    assert "old" in old_or_new(lambda: invoke(*line), look=look, reset=reset, step=step)


def half_applied(stage: Stage, checkout: Repository, *mode: str) -> None:
    """Kill `apply` where two files are in place and the last is not."""
    move = WorkTree.move

    def last(tree: WorkTree, beside: str, path: str) -> None:
        if path == "plain.sh":
            raise Killed
        move(tree, beside, path)

    with pytest.MonkeyPatch.context() as patched, suppress(Killed):
        patched.setattr(WorkTree, "move", last)
        invoke("-C", stage.root, "apply", "s", "--to", checkout.root, *mode)
    assert (checkout.root / "new/file").exists()


def test_an_edit_after_a_kill_is_not_written_over(stage: Stage, small: Repository) -> None:
    half_applied(stage, small)
    (small.root / "plain.sh").write_text("mine\n")
    before = picture(small.root)
    for command in ("apply", "verify", "unapply"):
        answer = stage.run(command, "s", "--to", small.root, code=1)
        assert "plain.sh in " in answer.err
        assert "was edited after a command was interrupted there" in answer.err
        assert picture(small.root) == before
    small.git("checkout", "--", "plain.sh")
    answer = stage.run("verify", "s", "--to", small.root)
    assert "Finished the change" in answer.err
    (listed,) = stage.run("status", "--json").json["applied"]
    assert listed["target"] == str(small.root)
    stage.run("unapply", "s", "--to", small.root)
    assert small.git("status", "--porcelain") == ""


def test_ignored_modes_do_not_stop_the_next_run(stage: Stage, small: Repository) -> None:
    small.git("config", "core.fileMode", "false")

    def killed(*_: object, **__: object) -> None:
        raise Killed

    for command in ("apply", "unapply"):
        with pytest.MonkeyPatch.context() as patched, suppress(Killed):
            patched.setattr(Checkout, "_finish_more", killed)
            invoke("-C", stage.root, command, "s", "--to", small.root)
        for place in (small.root / "plain.sh", small.root / "new/file"):
            if place.exists():
                place.chmod(0o644)
        answer = stage.run("verify", "s", "--to", small.root, code=4 * (command == "unapply"))
        assert "Finished the change" in answer.err
    assert small.git("status", "--porcelain") == ""


def test_files_put_back_after_a_kill_drop_what_was_begun(stage: Stage, small: Repository) -> None:
    half_applied(stage, small)
    shutil.rmtree(small.root / "new")
    small.git("reset", "--hard", "--quiet")
    answer = stage.run("verify", "s", "--to", small.root, code=4)
    assert "Dropped the change" in answer.err
    assert "because its files had already been put back" in answer.err
    assert small.git("status", "--porcelain") == ""


def test_some_files_put_back_after_a_kill_stop_the_rest(stage: Stage, small: Repository) -> None:
    half_applied(stage, small)
    before = picture(small.root)
    small.git("checkout", "--", "pkg/a.py")
    back = picture(small.root)
    assert back != before
    answer = stage.run("verify", "s", "--to", small.root, code=1)
    assert "pkg/a.py in " in answer.err
    assert "was restored after an interrupted command" in answer.err
    assert picture(small.root) == back


@pytest.mark.parametrize("mode", [(), ("--commit",)], ids=["files", "commit"])
def test_commits_drop_what_was_left(stage: Stage, small: Repository, mode: tuple[str, ...]) -> None:
    half_applied(stage, small, *mode)
    small.git("reset", "--quiet", "--hard", "origin/later")
    answer = stage.run("verify", "s", "--to", small.root, code=4)
    assert "Dropped the change" in answer.err
    assert not any(".patchmgr-" in path for path in picture(small.root))
    small.git("reset", "--quiet", "--hard", stage.base)
    small.git("clean", "-fdq")
    stage.run("apply", "s", "--to", small.root, *mode)
    stage.run("verify", "s", "--to", small.root)


def test_what_was_staged_after_a_kill_stays(stage: Stage, small: Repository) -> None:
    half_applied(stage, small, "--commit")
    (small.root / "pkg/b.py").write_text("mine\n")
    small.git("add", "pkg/b.py")
    stage.run("verify", "s", "--to", small.root)
    assert small.git("status", "--porcelain") == "M  pkg/b.py"
