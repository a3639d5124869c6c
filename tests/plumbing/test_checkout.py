"""What a killed command had begun in a checkout is finished with its workspace."""

import json
import shutil
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import REGULAR, Entry
from patchmgr.plumbing import clones
from patchmgr.plumbing.applied import Content, state_of
from patchmgr.plumbing.checkout import Checkout, finish_step
from patchmgr.plumbing.clones import open_clone
from patchmgr.plumbing.target import Exchange, Replacement
from tests.conftest import Make


def test_a_step_is_finished_once_in_its_checkout(make_repository: Make, tmp_path: Path) -> None:
    clone = make_repository("clone")
    head = clone.commit({"a": "old\n"})
    checkout = Checkout(open_clone(clone.root))
    new = Content(Entry(REGULAR, "0" * 40), b"new\n")
    row = Replacement("a", state_of(REGULAR, b"old\n"), new)
    with checkout.held():
        token = checkout.prepare(Exchange((row,), None, {}, head=(head, head)), decider=tmp_path)
    (tmp_path / ".patchmgr").mkdir()
    steps = {"steps": [[str(clone.root), token]]}
    (tmp_path / ".patchmgr/journal.json").write_text(json.dumps(steps))
    with checkout.held(), pytest.raises(PatchmgrError, match="another patchmgr"):
        finish_step(clone.root, token)
    finish_step(clone.root, token)
    assert (clone.root / "a").read_text() == "new\n"
    assert not checkout.is_interrupted
    (clone.root / "a").write_text("mine\n")
    finish_step(clone.root, token)
    assert (clone.root / "a").read_text() == "mine\n"
    for gone in (".git", "."):
        shutil.rmtree(clone.root / gone)
        clones._ask_paths.cache_clear()  # a process is one command
        finish_step(clone.root, token)
