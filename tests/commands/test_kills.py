"""Commands that are killed at every single file operation: the next run finds old or new."""

from __future__ import annotations

import builtins
import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from patchmgr.plumbing.checkout import Checkout
from patchmgr.plumbing.work_tree import WorkTree
from tests.commands.conftest import invoke
from tests.commands.scenes import Picture, Stage, picture, plant, text
from tests.conftest import Repository
from tests.long import LONG

_MOVING = ("replace", "rename", "unlink", "remove", "rmdir", "mkdir", "symlink", "link", "fchmod")

# Every which operation a command is killed at: each where there is time.
STEP = 1 if LONG else 7


class Killed(BaseException):
    """The process is gone."""


class Killer:
    """Kills at the n-th file operation or git command: from then on, none works any more."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0

    def step(self) -> bool:
        """Count an operation; say whether the process dies in it."""
        self.count += 1
        if self.count > self.at:
            raise Killed
        return self.count == self.at

    def wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return the operation, done or not done at all."""

        def call(*arguments: Any, **options: Any) -> Any:
            if self.step():
                raise Killed
            return real(*arguments, **options)

        return call

    def opening(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return `open`; a file that is being written when the process dies is torn."""

        def call(path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if mode[0] in "wxa" and self.step():
                with real(path, "wb") as file:
                    file.write(b"to")
                raise Killed
            return real(path, mode, *arguments, **options)

        return call

    def creating(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return `os.open`; a file that is being made when the process dies is there, empty."""

        def call(path: Any, flags: int, *arguments: Any, **options: Any) -> Any:
            if flags & os.O_CREAT and self.step():
                os.close(real(path, flags, *arguments, **options))
                raise Killed
            return real(path, flags, *arguments, **options)

        return call


NEVER = 10**9


@contextmanager
def killing(at: int) -> Iterator[Killer]:
    """Let this process die, as far as files are concerned, at its n-th operation."""
    killer = Killer(at)
    with pytest.MonkeyPatch.context() as patched:
        # Python 3.10 took the functions of os when it imported pathlib.
        early = getattr(pathlib, "_NormalAccessor", None)
        for name in _MOVING:
            wrapped = killer.wrapped(getattr(os, name))
            patched.setattr(os, name, wrapped)
            if hasattr(early, name):
                patched.setattr(early, name, staticmethod(wrapped))
        patched.setattr(os, "fsync", lambda descriptor: None)
        patched.setattr(os, "open", killer.creating(os.open))
        patched.setattr(builtins, "open", killer.opening(open))
        patched.setattr(subprocess, "run", killer.wrapped(subprocess.run))
        yield killer


def killed_everywhere(
    run: Callable[[], object],
    *,
    reset: Callable[[], None],
    check: Callable[[int], bool],
    step: int = STEP,
) -> None:
    """Kill a command at each of its operations; `check` says whether all is old afterwards.

    Every seventh operation and the last will do where there is little time.
    """
    at = 1 - step
    is_old = False
    while True:
        at += step
        if not is_old:
            reset()
        with killing(at) as killer, suppress(Killed):
            run()
        if killer.count < at:
            assert at > 10, "the operations are counted"
            break
        is_old = check(at)
    if step > 1:
        reset()
        with killing(NEVER) as whole:
            run()
        reset()
        with killing(whole.count), suppress(Killed):
            run()
        check(whole.count)


def restorer(place: Path) -> Callable[[], None]:
    """Return a function that makes a folder again what it is now."""
    kept = place.with_name(f"{place.name}-kept")
    shutil.copytree(place, kept, symlinks=True)

    def restore() -> None:
        shutil.rmtree(place)
        shutil.copytree(kept, place, symlinks=True)

    return restore


@pytest.fixture
def small(stage: Stage) -> Repository:
    """Give the series one patch that edits, makes and deletes a file; return a checkout."""
    stage.upstream.git("checkout", "--quiet", "--detach", "main")
    files: dict[str, bytes | str | None] = {"gone/only.txt": None, "new/file": "new\n"}
    plant(stage.upstream, {**files, "pkg/a.py": text(l30="ours\n")}, "small", runs=("plain.sh",))
    stage.series(stage.upstream.patches("main..HEAD"))
    stage.upstream.git("checkout", "--quiet", "main")
    return stage.clone()


@dataclass(frozen=True)
class Look:
    """All that a person can see of a checkout."""

    files: Picture
    head: bytes
    status: str


def look(checkout: Repository) -> Look:
    refs = (checkout.root / ".git/HEAD", checkout.root / ".git/refs/heads/work")
    head = b"".join(ref.read_bytes() for ref in refs)
    return Look(picture(checkout.root), head, checkout.git("status", "-s"))


def _change_series(stage: Stage, _: Repository) -> None:
    patch = stage.root / "series/s/small.patch"
    patch.write_bytes(patch.read_bytes().replace(b"+ours", b"+other"))


@pytest.mark.parametrize(
    ("before", "command"),
    [
        pytest.param((), ("apply",), id="apply"),
        pytest.param((), ("apply", "--commit"), id="apply-commit"),
        pytest.param(("apply",), ("unapply",), id="unapply"),
        pytest.param(("apply", "--commit"), ("unapply",), id="unapply-commit"),
        pytest.param(("apply", "--commit"), ("change", "apply"), id="exchange"),
    ],
)
def test_a_killed_command_leaves_a_checkout_old_or_new(
    stage: Stage, small: Repository, before: tuple[str, ...], command: tuple[str, ...]
) -> None:
    to = ("s", "--to", small.root)
    if before:
        stage.run(before[0], *to, *before[1:])
    if command[0] == "change":
        _change_series(stage, small)
        command = command[1:]
    reset = restorer(small.root)
    old, codes = look(small), [invoke("-C", stage.root, "verify", *to).code]
    stage.run(command[0], *to, *command[1:])
    new = look(small)
    codes.append(invoke("-C", stage.root, "verify", *to).code)
    seen = set()

    def check(at: int) -> bool:
        code = invoke("-C", stage.root, "verify", *to).code
        found = look(small)
        assert found in (old, new), f"killed at {at}"
        assert code == (codes[0] if found == old else codes[1]), f"killed at {at}"
        seen.add("old" if found == old else "new")
        if found == old and at % 4 == 0:
            stage.run(command[0], *to, *command[1:])
            assert look(small) == new, f"killed at {at}"
            return False
        return found == old

    killed_everywhere(
        lambda: invoke("-C", stage.root, command[0], *to, *command[1:]), reset=reset, check=check
    )
    assert seen == {"old", "new"}


def workspace_look(stage: Stage) -> tuple[Picture, str]:
    store = next((stage.folder / "cache/patchmgr/stores").glob("*.git"))
    branch = next(store.glob("refs/patchmgr/*/heads/patchmgr/s"), store / "none")
    files = {path: file for path, file in picture(stage.root).items() if file[0] != "folder"}
    return files, branch.read_text() if branch.exists() else ""


@pytest.mark.parametrize("command", ["import", "rebase", "series new", "init"])
def test_a_killed_command_leaves_a_workspace_old_or_new(stage: Stage, command: str) -> None:
    if command == "import":
        stage.upstream.git("checkout", "--quiet", "--detach", "fork")
        plant(stage.upstream, {"more": "x\n"}, "more")
        box = stage.folder / "more.mbox"
        box.write_bytes(stage.upstream.patches("fork..HEAD"))
        stage.upstream.git("checkout", "--quiet", "main")
        line: tuple[str | Path, ...] = ("-C", stage.root, "import", box, "--series", "s")
    elif command == "rebase":
        landed = stage.upstream.git("rev-parse", "later")
        line = ("-C", stage.root, "rebase", "s", "--onto", landed)
    elif command == "init":
        shutil.rmtree(stage.root)
        stage.root.mkdir()
        (stage.root / ".gitignore").write_text("mine")
        line = ("init", stage.root)
    else:
        series_new = ("series", "new", "t", "--upstream", "up", "--base", stage.base)
        line = ("-C", stage.root, *series_new)
    restore = [restorer(stage.root), restorer(stage.folder / "cache")]
    old = workspace_look(stage)
    assert invoke(*line).code == 0
    new = workspace_look(stage)
    seen = set()

    def reset() -> None:
        for again in restore:
            again()

    def check(at: int) -> bool:
        code = invoke("-C", stage.root, "status").code
        found = workspace_look(stage)
        if command == "init" and code:  # it is no workspace yet
            found = old
        assert found in (old, new), f"killed at {at}"
        seen.add("old" if found == old else "new")
        if found == old and (at % 4 == 0 or command == "init"):
            assert invoke(*line).code == 0
            assert workspace_look(stage) == new, f"killed at {at}"
            return False
        return found == old

    step = 1 if command == "init" else STEP
    killed_everywhere(lambda: invoke(*line), reset=reset, check=check, step=step)
    assert seen == {"old", "new"}


@pytest.mark.usefixtures("small")
def test_a_killed_rebase_leaves_its_conflicts_whole_or_none(stage: Stage) -> None:
    onto = stage.upstream.git("rev-parse", "collides")
    line = ("-C", stage.root, "rebase", "s", "--onto", onto)
    work = stage.root / ".patchmgr/rebase"
    before = workspace_look(stage)

    def waiting() -> object:
        found = invoke("-C", stage.root, "status", "--json").json["unfinished"]
        return found and (found, picture(work))

    def reset() -> None:
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(stage.root / "conflicts")
        (stage.root / "conflicts").mkdir()

    assert invoke(*line).code == 3
    left, after = waiting(), workspace_look(stage)
    assert left is not None
    assert {path.split("/")[0] for path in after[0].keys() - before[0].keys()} == {"conflicts"}
    reset()
    assert workspace_look(stage) == before
    seen = set()

    def check(at: int) -> bool:
        found = waiting()
        assert found in (None, left), f"killed at {at}"
        assert workspace_look(stage) == (before if found is None else after)
        seen.add(found is None)
        if found is None and at % 4 == 0:
            assert invoke(*line).code == 3
            assert waiting() == left, f"killed at {at}"
            return False
        return found is None

    killed_everywhere(lambda: invoke(*line), reset=reset, check=check)
    assert True in seen


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
    stage.run("unapply", "s", "--to", small.root)
    assert small.git("status", "--porcelain") == ""


def test_files_put_back_after_a_kill_drop_what_was_begun(stage: Stage, small: Repository) -> None:
    half_applied(stage, small)
    shutil.rmtree(small.root / "new")
    small.git("reset", "--hard", "--quiet")
    answer = stage.run("verify", "s", "--to", small.root, code=4)
    assert "Dropped the change" in answer.err
    assert "its files were put back since" in answer.err
    assert small.git("status", "--porcelain") == ""


def test_some_files_put_back_after_a_kill_stop_what_would_take_that_in(
    stage: Stage, small: Repository
) -> None:
    half_applied(stage, small)
    before = picture(small.root)
    small.git("checkout", "--", "pkg/a.py")
    back = picture(small.root)
    assert back != before
    answer = stage.run("verify", "s", "--to", small.root, code=1)
    assert "pkg/a.py in " in answer.err
    assert "was put back after a command was interrupted there" in answer.err
    assert picture(small.root) == back


@pytest.mark.parametrize(
    ("owner", "moment"),
    [
        pytest.param(Checkout, "_refuse_saved", id="staged"),
        pytest.param(WorkTree, "move", id="moving"),
    ],
)
def test_a_file_saved_while_apply_runs_stays_as_saved(
    stage: Stage, small: Repository, owner: type, moment: str
) -> None:
    file = small.root / "plain.sh"
    real: Callable[..., Any] = getattr(owner, moment)

    def saving(*arguments: Any) -> Any:
        file.write_text("mine\n")
        return real(*arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, moment, saving)
        answer = stage.run("apply", "s", "--to", small.root, code=1)
    assert "plain.sh" in answer.err
    assert "saved while the command ran" in answer.err
    assert file.read_text() == "mine\n"
    assert (small.root / "new/file").exists() is (owner is WorkTree)
    assert not (small.root / ".git/patchmgr/journal.json").exists()


@pytest.mark.parametrize("mode", [(), ("--commit",)], ids=["files", "commit"])
def test_commits_after_a_kill_drop_what_was_begun(
    stage: Stage, small: Repository, mode: tuple[str, ...]
) -> None:
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
