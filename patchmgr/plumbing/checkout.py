"""A checkout as a target of `apply`: its state, its record of what is applied, and a journal.

The record and the journal live in the git directory of the work tree (`patchmgr/`). A change
is staged there in full and described in the journal before the first file moves: a run after
a crash finishes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing import door
from patchmgr.plumbing.clones import Clone
from patchmgr.plumbing.work_tree import WorkTree

_RECORD = "applied.json"
_JOURNAL = "journal.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class FileState:
    """A file by mode (octal string) and sha256 of its content."""

    mode: str
    sha256: str


@dataclass(frozen=True, slots=True)
class AppliedFile:
    """A file that was replaced; None where there was or is no such file.

    `original` names the kept old content below the record's folder.
    """

    path: str
    before: FileState | None
    after: FileState | None
    original: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """What is applied in a checkout.

    `digest` is the digest of the series, `onto` the commit that it was put on, `head` the
    commit that holds it, None where the files are changed without a commit.
    """

    series: str
    digest: str
    onto: str
    head: str | None
    files: tuple[AppliedFile, ...]


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to put in place: the entry is for the index, None entry and content delete."""

    path: str
    entry: Entry | None
    content: bytes | None


def state_of(found: tuple[str, bytes] | None) -> FileState | None:
    """Return the state of what `WorkTree.read` gave."""
    return None if found is None else FileState(found[0], hashlib.sha256(found[1]).hexdigest())


class Checkout:
    """A work tree that series are applied to."""

    def __init__(self, clone: Clone) -> None:
        if clone.is_bare:
            raise PatchmgrError(
                "usage", f"{clone.root} has no work tree", ("use: patchmgr branch --repo",)
            )
        self.clone = clone
        self.tree = WorkTree(clone.root)
        self._folder = clone.private / "patchmgr"

    def record(self) -> Record | None:
        """Return what is applied, None where nothing is."""
        path = self._folder / _RECORD
        if not path.exists():
            return None
        try:
            return _read_record(json.loads(path.read_bytes()))
        except (ValueError, KeyError, TypeError) as fault:
            raise PatchmgrError("broken-target", f"{path} cannot be read") from fault

    def changed_paths(self) -> tuple[str, ...]:
        """Return the tracked paths that differ from HEAD in the index or the work tree."""
        arguments = ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames",
                     "--ignore-submodules=all"]  # fmt: skip
        printed = door.text(door.output(arguments, cwd=self.clone.root))
        return tuple(field[3:] for field in printed.split("\0") if field)

    def recover(self) -> bool:
        """Finish a change that was interrupted; say whether there was one."""
        journal = self._folder / _JOURNAL
        if not journal.exists():
            return False
        self._finish(json.loads(journal.read_bytes()))
        return True

    def replace(
        self, files: Sequence[NewFile], record: Record | None, head: tuple[str, str] | None
    ) -> None:
        """Put all files in place, move HEAD from old to new where asked, and keep the record."""
        staging = self._folder / "staging"
        try:
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir(parents=True)
            rows = [self._stage(staging, n, file) for n, file in enumerate(files)]
            document: dict[str, Any] = {
                "files": rows,
                "record": None if record is None else {"format": FORMAT, **asdict(record)},
                "head": head,
            }
            _write_synced(self._folder / f"{_JOURNAL}.new", json.dumps(document).encode())
        except OSError as fault:
            shutil.rmtree(staging, ignore_errors=True)
            raise _unwritable(self.clone.root, fault) from fault
        os.replace(self._folder / f"{_JOURNAL}.new", self._folder / _JOURNAL)
        try:
            self._finish(document)
        except OSError as fault:
            raise PatchmgrError(
                "unwritable",
                f"{self.clone.root} could be written in part only: {fault.strerror}",
                ("mend that, then run the same command again: it finishes what was begun",),
            ) from fault

    @staticmethod
    def _stage(staging: Path, number: int, file: NewFile) -> list[str | None]:
        if file.entry is None or file.content is None:
            return [file.path, None, None, None]
        _write_synced(staging / str(number), file.content)
        return [file.path, file.entry.mode, file.entry.blob, str(number)]

    def keep_original(self, number: int, content: bytes) -> str:
        """Keep an old content for `unapply` and return its name below the folder."""
        folder = self._folder / "originals-new"
        folder.mkdir(parents=True, exist_ok=True)
        _write_synced(folder / str(number), content)
        return f"originals/{number}"

    def original(self, name: str) -> bytes:
        """Return a kept old content."""
        number = name.removeprefix("originals/")
        if not number.isdigit():
            raise PatchmgrError("broken-target", f"the record in {self._folder} names {name}")
        return (self._folder / "originals" / number).read_bytes()

    def _finish(self, journal: Mapping[str, Any]) -> None:
        staging = self._folder / "staging"
        for path, mode, _, staged in journal["files"]:
            if staged is None:
                self.tree.delete(path)
            else:
                self.tree.write(path, mode, (staging / staged).read_bytes())
        if journal["head"] is not None:
            self._move_head(journal["files"], *journal["head"])
        self._keep_record(journal["record"])
        (self._folder / _JOURNAL).unlink()
        shutil.rmtree(staging, ignore_errors=True)

    def _move_head(self, files: Sequence[Sequence[str | None]], old: str, new: str) -> None:
        lines = [
            f"0 {'0' * 40}\t{path}\0" if blob is None else f"{mode} {blob}\t{path}\0"
            for path, mode, blob, _ in files
        ]
        data = door.raw("".join(lines))
        door.output(["update-index", "-z", "--index-info"], cwd=self.clone.root, data=data)
        if self.clone.head() != new:
            arguments = ["update-ref", "--no-deref", "-m", "patchmgr", "HEAD", new, old]
            if self._branch() is not None:
                arguments = ["update-ref", "-m", "patchmgr", "HEAD", new, old]
            door.output(arguments, cwd=self.clone.root)
        door.run(["update-index", "-q", "--refresh"], cwd=self.clone.root, good=(0, 1))

    def _branch(self) -> str | None:
        code, printed = door.run(
            ["symbolic-ref", "--quiet", "HEAD"], cwd=self.clone.root, good=(0, 1)
        )
        return None if code else door.text(printed).strip()

    def _keep_record(self, record: Mapping[str, Any] | None) -> None:
        path, fresh = self._folder / _RECORD, self._folder / "originals-new"
        if record is None:
            path.unlink(missing_ok=True)
            shutil.rmtree(self._folder / "originals", ignore_errors=True)
            return
        if fresh.exists():
            shutil.rmtree(self._folder / "originals", ignore_errors=True)
            fresh.rename(self._folder / "originals")
        _write_synced(self._folder / f"{_RECORD}.new", json.dumps(record, indent=1).encode())
        os.replace(self._folder / f"{_RECORD}.new", path)


def _read_record(document: Mapping[str, Any]) -> Record:
    if document["format"] != FORMAT:
        raise PatchmgrError("broken-target", "the record was written by a newer patchmgr")
    files = tuple(
        AppliedFile(
            f["path"],
            FileState(**f["before"]) if f["before"] else None,
            FileState(**f["after"]) if f["after"] else None,
            f["original"],
        )
        for f in document["files"]
    )
    return Record(document["series"], document["digest"], document["onto"], document["head"], files)


def _write_synced(path: Path, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _unwritable(root: Path, fault: OSError) -> PatchmgrError:
    kind = "no-space" if fault.errno == 28 else "unwritable"
    return PatchmgrError(kind, f"{root} cannot be written: {fault.strerror}; nothing was changed")
