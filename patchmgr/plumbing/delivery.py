"""Exported files in a folder of a person: all of them or none, and over nothing of theirs.

What was written is on record in the workspace, so that the next export knows its own files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.snapshot import REGULAR, SYMLINK
from patchmgr.plumbing.applied import AppliedFile, Record, content_of, found_state, state_of
from patchmgr.plumbing.durable import unwritable
from patchmgr.plumbing.target import Exchange, Replacement, Target
from patchmgr.plumbing.work_tree import WorkFile, permissions_for


class Delivered(Struct, frozen=True):
    """What an export changed: files written and deleted, and old ones that a person edited."""

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    left: tuple[str, ...]


class Delivery(Target):
    """A folder that exports go to."""

    fault = "edited-export"
    mending = ("delete that file; the next export then needs --force",)
    settling = ("move that edit away, then run this again",)

    def __init__(self, place: Path, private: Path, *, is_file: bool) -> None:
        digest = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
        root = place.parent if is_file else place
        super().__init__(root, private / digest)
        self._name = place.name if is_file else ""

    def deliver(
        self, files: Mapping[str, bytes], *, series: str, is_forced: bool, is_dry_run: bool
    ) -> Delivered:
        """Write files by path, and delete those of the export before that are gone.

        Raises PatchmgrError "in-the-way" where something else is there, unless it is forced.
        """
        wanted = {path or self._name: content for path, content in files.items()}
        if is_dry_run:
            return self._plan_files(wanted, series, is_forced)[1]
        made = _make_folders(self.root)
        try:
            self.private.parent.mkdir(parents=True, exist_ok=True)
            with self.held():
                self.recover()
                exchange, delivered = self._plan_files(wanted, series, is_forced)
                self.replace(exchange)
        except BaseException:
            for folder in reversed(made):
                with suppress(OSError):
                    folder.rmdir()
            raise
        return delivered

    def _plan_files(
        self, wanted: Mapping[str, bytes], series: str, is_forced: bool
    ) -> tuple[Exchange, Delivered]:
        record = self.record()
        known = {} if record is None else {file.path: file.after for file in record.files}
        rows: list[Replacement] = []
        left: list[str] = []
        for path in sorted({*wanted, *known}):
            found = self._found(path)
            state = found_state(found)
            is_ours = state is None or state == known.get(path)
            if path not in wanted:
                if is_ours and state is not None:
                    rows.append(Replacement(path, state, None))
                elif not is_ours:
                    left.append(path)
            elif found is None or found.mode == SYMLINK or found.content != wanted[path]:
                if not (is_ours or is_forced):
                    message = (
                        f"{shown(path)} is in {self.root} already, and not as patchmgr left it"
                    )
                    hints = ("name another --out", "or let it be replaced: --force")
                    raise PatchmgrError("in-the-way", message, hints)
                new = content_of(REGULAR, wanted[path])
                rows.append(Replacement(path, state, new, permissions_for(REGULAR, found)))
        noted = (
            AppliedFile(path, None, state_of(REGULAR, content), None, None)
            for path, content in sorted(wanted.items())
        )
        fresh = Record(series, "export", (), "", None, tuple(noted))
        gone = tuple(row.path for row in rows if row.wanted is None)
        there = tuple(row.path for row in rows if row.wanted is not None)
        return Exchange(tuple(rows), fresh, {}), Delivered(there, gone, tuple(left))

    def _found(self, path: str) -> WorkFile | None:
        if not os.path.lexists(self.root):
            return None
        if not self.root.is_dir():
            raise PatchmgrError("usage", f"{self.root} is no folder")
        return self.tree.read(path)


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it, and return which were made."""
    made: list[Path] = []
    try:
        for place in (*reversed(folder.parents), folder):
            if not os.path.lexists(place):
                place.mkdir()
                made.append(place)
    except OSError as fault:
        raise unwritable(str(folder), fault) from fault
    return made
