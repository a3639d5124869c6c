"""A change that fails before anything of it was made is dropped, whatever happens meanwhile."""

import errno
import json
import shutil
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import REGULAR, Entry
from patchmgr.plumbing.applied import AppliedFile, Content, Record, record_document, state_of
from patchmgr.plumbing.target import Exchange, Replacement, Target
from patchmgr.plumbing.work_tree import WorkTree
from tests.plumbing.power_cut import Disk, after_cuts, needs_proc

FILES = {"a": b"old a", "b": b"old b", "gone": b"precious"}


@pytest.fixture
def target(tmp_path: Path) -> Target:
    """Return a folder with a few files."""
    root, private = tmp_path / "root", tmp_path / "private"
    root.mkdir()
    private.mkdir()
    for name, content in FILES.items():
        (root / name).write_bytes(content)
    return Target(root, private)


def change() -> Exchange:
    """Return one that writes two files anew and deletes one."""
    rows = [
        Replacement(name, state_of(REGULAR, FILES[name]), Content(Entry(REGULAR, "0" * 40), b"new"))
        for name in ("a", "b")
    ]
    gone = Replacement("gone", state_of(REGULAR, FILES["gone"]), None)
    return Exchange((*rows, gone), None, {})


def content(target: Target) -> dict[str, bytes]:
    """Return what is in the folder."""
    return {path.name: path.read_bytes() for path in target.root.iterdir()}


def failing(real: Callable[..., Any], at: int, fault: BaseException) -> Callable[..., Any]:
    """Return a function that does not do its work the n-th time."""
    times = iter(range(1, 100))

    def call(*arguments: Any, **options: Any) -> Any:
        if next(times) == at:
            raise fault
        return real(*arguments, **options)

    return call


@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        pytest.param(WorkTree, "remove", 1, id="the-first-file-beside"),
        pytest.param(WorkTree, "remove", 2, id="the-second-file-beside"),
        pytest.param(shutil, "rmtree", 2, id="the-staging-folder"),
    ],
)
@pytest.mark.parametrize(
    "fault", [KeyboardInterrupt(), OSError(errno.EROFS, "Read-only file system")], ids=type
)
def test_who_is_stopped_while_dropping_goes_on_dropping(
    target: Target,
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    at: int,
    fault: BaseException,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(WorkTree, "delete", failing(WorkTree.delete, 1, fault))
        patched.setattr(owner, name, failing(getattr(owner, name), at, fault))
        with pytest.raises((KeyboardInterrupt, PatchmgrError)):
            target.replace(change())
    assert content(target).items() >= FILES.items()
    assert str(target.recover()).startswith("Dropped")
    assert content(target) == FILES


@pytest.mark.parametrize("moment", ["write", "delete", "move"])
def test_a_signal_comes_after(target: Target, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    real = getattr(WorkTree, moment)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*arguments, **options)

    monkeypatch.setattr(WorkTree, moment, interrupted)
    with pytest.raises(KeyboardInterrupt):
        target.replace(change())
    assert content(target) == {"a": b"new", "b": b"new"}
    assert not target.is_interrupted


@pytest.mark.parametrize(
    ("name", "at", "said", "then", "left"),
    [
        pytest.param("delete", 1, "nothing was changed", None, FILES, id="before-it-began"),
        pytest.param(
            "move", 2, "the next run of this command finishes the change", "Finished",
            {"a": b"new", "b": b"new"}, id="once-it-has-begun",
        ),
    ],
)  # fmt: skip
def test_a_full_disk_leaves_nothing_or_what_the_next_run_finishes(
    target: Target,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    at: int,
    said: str,
    then: str | None,
    left: Mapping[str, bytes],
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patched:
        patched.setattr(WorkTree, name, failing(getattr(WorkTree, name), at, full))
        with pytest.raises(PatchmgrError, match=said):
            target.replace(change())
    recovered = target.recover()
    assert (recovered and recovered.split()[0]) == then
    assert content(target) == left


FILE = AppliedFile("a", state_of(REGULAR, FILES["a"]), None, "0", 0o644)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"format": 2}, "written by a newer patchmgr", id="newer"),
        pytest.param({"rejects": ["../x"]}, "names '../x'", id="outside"),
        pytest.param({"files": [{"path": "/x"}]}, "cannot be read", id="not-whole"),
    ],
)
def test_a_record_is_not_believed(target: Target, changes: dict[str, Any], words: str) -> None:
    document = {**record_document(Record("s", "", (), "", None, (FILE,))), **changes}
    (target.private / "applied.json").write_text(json.dumps(document))
    with pytest.raises(PatchmgrError, match=words):
        target.record()


def test_a_kept_original_is_not_believed(target: Target) -> None:
    (target.private / "originals").mkdir()
    (target.private / "originals/0").write_bytes(b"another")
    with pytest.raises(PatchmgrError, match=r"the saved original of a in .* was changed"):
        target.original_file(FILE)
    for name, words in (("../a", "is not a number"), ("1", "cannot be read")):
        with pytest.raises(PatchmgrError, match=words):
            target.original(name)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param("{", "cannot be read", id="not-whole"),
        pytest.param('{"phase": "moving"}', "cannot be read", id="not-complete"),
        pytest.param(
            '{"phase": "moving", "files": [["../x", null, null, null]], "made": [], "record": null,'
            ' "head": ["", ""], "index": {}, "hidden": []}', "'../x'", id="outside",
        ),
    ],
)  # fmt: skip
def test_a_journal_is_not_believed(target: Target, content: str, words: str) -> None:
    (target.private / "journal.json").write_text(content)
    with pytest.raises(PatchmgrError, match=words):
        target.recover()


def decided(target: Target, token: str) -> None:
    """Write the journal of the workspace, which says that the change is made."""
    journal = target.root.parent / ".patchmgr/journal.json"
    journal.parent.mkdir()
    journal.write_text(json.dumps({"steps": [[str(target.root), token]]}))


NEW = {"a": b"new", "b": b"new"}


@pytest.mark.parametrize(
    ("is_decided", "edits", "said", "left"),
    [
        pytest.param(True, {}, "Finished", NEW, id="decided"),
        pytest.param(False, {}, "Dropped", FILES, id="not-decided"),
        pytest.param(
            True, {"a": b"mine", "gone": b"mine"}, "Finished",
            {**NEW, "a": b"mine", "gone": b"mine"}, id="edited-since",
        ),
    ],
)  # fmt: skip
def test_a_prepared_change_waits_for_the_workspace(
    target: Target, is_decided: bool, edits: Mapping[str, bytes], said: str, left: object
) -> None:
    token = target.prepare(change(), decider=target.root.parent)
    for name, edited in edits.items():
        (target.root / name).write_bytes(edited)
    decided(target, token if is_decided else "another")
    assert str(target.recover()).startswith(said)
    assert content(target) == left


def test_a_prepared_change_is_made_or_given_up(target: Target) -> None:
    target.prepare(change(), decider=target.root.parent)
    target.abandon()
    assert (content(target), target.is_interrupted) == (FILES, False)
    token = target.prepare(change(), decider=target.root.parent)
    target.finish("another")
    assert target.is_interrupted
    target.finish(token)
    assert (content(target), target.is_interrupted) == (NEW, False)


@pytest.mark.parametrize(
    ("owner", "moment", "name", "left"),
    [
        pytest.param(Target, "_stage_more", "a", FILES, id="staged"),
        pytest.param(WorkTree, "delete", "a", {**NEW, "a": b"mine"}, id="about-to-be-written"),
        pytest.param(Target, "_finish_now", "gone", NEW, id="about-to-be-deleted"),
    ],
)
def test_a_file_that_is_saved_meanwhile_stays_as_saved(
    target: Target,
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    moment: str,
    name: str,
    left: Mapping[str, bytes],
) -> None:
    real = getattr(owner, moment)

    def saving(*arguments: Any) -> Any:
        (target.root / name).write_bytes(b"mine")
        return real(*arguments)

    monkeypatch.setattr(owner, moment, saving)
    with pytest.raises(PatchmgrError, match=name) as caught:
        target.replace(change())
    assert (caught.value.kind, target.is_interrupted) == ("edited", False)
    assert content(target) == {**left, name: b"mine"}


def test_an_edit_drops_a_prepared_change(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def saving(*_: object) -> None:
        (target.root / "a").write_bytes(b"mine")

    monkeypatch.setattr(Target, "_stage_more", saving)
    with pytest.raises(PatchmgrError, match="nothing was written"):
        target.prepare(change(), decider=target.root.parent)
    assert content(target) == {**FILES, "a": b"mine"}


Seen = tuple[dict[str, bytes], Record | None, list[bytes]]


def recovered(folder: Path) -> Seen:
    """Return files, record and kept originals after the next command found the folder."""
    target = Target(folder / "root", folder / "private")
    target.recover()
    kept = [path.read_bytes() for path in folder.glob("private/originals/*")]
    return content(target), target.record(), kept


@needs_proc
def test_a_power_cut_leaves_the_old_state_or_the_new_one(target: Target) -> None:
    record = Record("s", "", (), "", None, ())
    exchange = replace(change(), record=record, originals={"0": FILES["gone"]})
    disk = Disk(target.root.parent)
    during = disk.left_during(lambda: target.replace(exchange))
    new = NEW, record, [FILES["gone"]]
    assert after_cuts(during, recovered) == [(FILES, None, []), new]


@needs_proc
def test_a_power_cut_brings_nothing_back(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(target.root.parent)

    def full(*_: object) -> None:
        disk.flush()
        raise OSError(errno.ENOSPC, "No space left on device")

    def fails() -> None:
        with pytest.raises(PatchmgrError, match="nothing was changed"):
            target.replace(change())

    with monkeypatch.context() as patched:
        patched.setattr(WorkTree, "delete", full)
        states = disk.left_during(fails)
    seen = [files for files, *_ in after_cuts(states, recovered)]
    assert seen == [FILES, NEW]
    assert after_cuts(disk.left(), recovered) == [(FILES, None, [])]
