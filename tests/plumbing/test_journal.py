"""Changes to a workspace: all of one, or none."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.journal import Change, Journal, RefPlan
from tests.plumbing.power_cut import Disk, after_cuts, needs_proc

REF = RefPlan("/store", "refs/heads/patchmgr/s", "1" * 40, None)


def no_refs(plans: Sequence[RefPlan]) -> None:
    raise AssertionError(plans)


def failing(plans: Sequence[RefPlan]) -> None:
    raise PatchmgrError("git", "no such ref")


def no_steps(place: Path, token: str) -> None:
    raise AssertionError(place, token)


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".patchmgr/rebase").mkdir(parents=True)
    (tmp_path / ".patchmgr/rebase/state.json").write_text("{}")
    (tmp_path / "series/s").mkdir(parents=True)
    (tmp_path / "series/s/old.patch").write_text("old\n")
    return tmp_path


CHANGE = {"upstream.lock": b"new\n", "series/t/x": b"x\n", "series/s/old.patch": None}


def test_files_come_and_go_with_what_is_spent(root: Path) -> None:
    spent = [".patchmgr/rebase/state.json"]
    Journal(root).make(Change(dict(CHANGE), spent=spent), no_refs)
    assert files(root) == {"upstream.lock": b"new\n", "series/t/x": b"x\n"}
    assert not (root / "series/s").exists()
    assert not Journal(root).recover(no_refs, no_steps)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change({"series/t": b"a\n", "series/t/x": b"b\n"}), "cannot be written"),
        (Change(dict(CHANGE), refs=[REF]), "no such ref"),
        (Change({**CHANGE, "series/s": b"x\n"}), "nothing was changed"),
        (Change({**CHANGE, "series/s/old.patch/x": b"x\n"}), "nothing was changed"),
        (Change({"series/link/x": b"x\n"}), "leads through a symbolic link"),
    ],
    ids=["a-file-and-one-below-it", "refs", "a-folder-in-the-way", "a-file-in-the-way", "a-link"],
)
def test_what_fails_in_part_leaves_all_as_it_was(root: Path, change: Change, said: str) -> None:
    (root / "series/link").symlink_to(root)
    before = files(root)
    with pytest.raises(PatchmgrError, match=said) as caught:
        Journal(root).make(change, failing if change.refs else no_refs)
    assert caught.value.kind == "unwritable" or said != "nothing was changed"
    assert files(root) == before
    assert not (root / "series/t").exists()


def test_a_recovered_change_goes_on_without_a_branch_that_is_gone(root: Path) -> None:
    def dies(plans: Sequence[RefPlan]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Journal(root).make(Change(dict(CHANGE), refs=[REF]), dies)
    assert Journal(root).is_there
    assert Journal(root).recover(failing, no_steps)
    assert (root / "upstream.lock").read_bytes() == b"new\n"


def test_a_folder_that_may_not_be_written_is_named_before_any_change(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, folder = files(root), root / "series/s"
    access = os.access
    monkeypatch.setattr(os, "access", lambda at, how: at != folder and access(at, how))
    with pytest.raises(PatchmgrError, match=f"{folder} cannot be written: .*; nothing was changed"):
        Journal(root).make(Change(dict(CHANGE)), failing)
    assert files(root) == before


def test_a_signal_comes_after_the_whole_change(root: Path) -> None:
    def interrupted(plans: Sequence[RefPlan]) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Journal(root).make(Change(dict(CHANGE), refs=[REF]), interrupted)
    assert (root / "upstream.lock").read_bytes() == b"new\n"
    assert not Journal(root).is_there


def test_after_a_late_disk_fault_a_run_goes_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    replace = os.replace
    with monkeypatch.context() as patched:
        patched.setattr(
            Path,
            "replace",
            lambda self, to: replace(self, to) if self.name == "journal.json" else broken(),
        )
        with pytest.raises(
            PatchmgrError, match="the next patchmgr command here finishes the change"
        ):
            Journal(root).make(Change(dict(CHANGE)), no_refs)
    assert Journal(root).recover(no_refs, no_steps)
    assert (root / "upstream.lock").read_bytes() == b"new\n"
    assert not (root / "series/s/old.patch").exists()


def test_what_waits_for_a_person_is_left_with_all_else(root: Path) -> None:
    work = {".patchmgr/rebase/state.json": b"[]", ".patchmgr/rebase/s/p/.marked": b"x\n"}
    Journal(root).make(Change({**CHANGE, **work}), no_refs)
    assert {name: files(root)[name] for name in work} == work


@pytest.mark.parametrize(
    "path",
    [
        ".patchmgr/lock", ".patchmgr/journal.json", ".patchmgr/rebase", ".patchmgr/rebase/",
        ".patchmgr/rebase/../lock", ".patchmgr/rebase/.git/x", ".patchmgr/rebase/.patchmgr/x",
        ".patchmgr/rebase//x",
    ],
)  # fmt: skip
def test_nothing_else_that_is_private_is_written(root: Path, path: str) -> None:
    before = files(root)
    with pytest.raises(PatchmgrError):
        Journal(root).make(Change({path: b"x"}), no_refs)
    assert {name: raw for name, raw in files(root).items() if "staging" not in name} == before


def recovered(root: Path) -> dict[str, bytes]:
    Journal(root).recover(no_refs, no_steps)
    return {path: raw for path, raw in files(root).items() if not path.startswith(".patchmgr/log")}


@needs_proc
@pytest.mark.parametrize("more", [{}, {"series/s/new.patch": b"new\n"}], ids=["gone", "kept"])
def test_a_power_cut_leaves_the_old_or_the_new(root: Path, more: dict[str, bytes | None]) -> None:
    before, disk = files(root), Disk(root)
    change = Change({**CHANGE, **more}, spent=[".patchmgr/rebase/state.json"])
    during = disk.left_during(lambda: Journal(root).make(change, no_refs))
    after = files(root)
    assert after_cuts(during, recovered) == [before, after]
    assert after_cuts(disk.left(), recovered) == [after]
