"""A checkout as a target of `apply`: besides files, its HEAD and index change.

Record and journal live in the git directory of the work tree (`patchmgr/`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.clones import Clone
from patchmgr.plumbing.replacements import Exchange, Replacement
from patchmgr.plumbing.target import Target

__all__ = ["Checkout", "Exchange", "Replacement"]


class Checkout(Target):
    """A work tree that series are applied to."""

    fault = "dirty-checkout"
    mending = ("put the files back with git, then delete that one",)
    settling = ("commit or stash that edit, then run this again",)

    def __init__(self, clone: Clone) -> None:
        if clone.is_bare:
            raise PatchmgrError(
                "usage", f"{clone.root} has no work tree", ("use: patchmgr branch --repo",)
            )
        super().__init__(clone.root, clone.private / "patchmgr")
        self.clone = clone

    def _is_resumable(self, journal: Mapping[str, Any]) -> bool:
        return self.clone.head() in journal["head"]

    def _stage_more(self, exchange: Exchange) -> None:
        if not exchange.index and not exchange.hidden:
            return
        present, staged = self.clone.private / "index", self._staging / "index"
        if (self.clone.private / "index.lock").exists():
            raise PatchmgrError(
                "busy",
                f"another git is at work in {self.clone.root}",
                (f"if none is, delete {self.clone.private / 'index.lock'}",),
            )
        if present.exists():
            shutil.copyfile(present, staged)
        self.clone.write_index(exchange.index, exchange.hidden, staged)

    def _finish_more(self, journal: Mapping[str, Any], *, is_fresh: bool) -> None:
        self._finish_index(journal, is_fresh=is_fresh)
        old, new = journal["head"]
        if old != new and self.clone.head() != new:
            self.clone.move_head(old, new)
        if journal["index"]:
            self.clone.refresh()

    def _finish_index(self, journal: Mapping[str, Any], *, is_fresh: bool) -> None:
        staged = self._staging / "index"
        if is_fresh:
            if staged.exists():
                os.replace(staged, self.clone.private / "index")
            return
        # Somebody may have staged something since: what was prepared then is out of date.
        entries = {path: e and Entry(*e) for path, e in journal["index"].items()}
        self.clone.write_index(entries, journal["hidden"], None)
