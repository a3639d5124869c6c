"""The record of what is applied in a target, and its form on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert, to_builtins

from patchmgr.errors import PatchmgrError
from patchmgr.model.ids import blob_id
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.work_tree import WorkFile

FORMAT = 1


class FileState(Struct, frozen=True):
    """The state of a file: mode (octal string) and sha256 of its content."""

    mode: str
    sha256: str


def state_of(mode: str, content: bytes) -> FileState:
    """Return the state of a file."""
    return FileState(mode, hashlib.sha256(content).hexdigest())


class Content(Struct, frozen=True):
    """A file to put in place: git's entry, and the content in git's or the checkout's form."""

    entry: Entry
    content: bytes

    @property
    def mode(self) -> str:
        """Return git's mode."""
        return self.entry.mode


def content_of(mode: str, content: bytes) -> Content:
    """Return a file whose content is in git's form."""
    return Content(Entry(mode, blob_id(content)), content)


def found_state(file: Content | WorkFile | None) -> FileState | None:
    """Return the state of a present or planned file, or None if there is none."""
    return None if file is None else state_of(file.mode, file.content)


class AppliedFile(Struct, frozen=True):
    """A file that was replaced; a state is None if there was no file before, or is none now.

    `original` names the saved old content, and `permissions` are the old file's. `blob` is git's id
    of the new content; the checkout may have it with other line ends.
    """

    path: str
    before: FileState | None
    after: FileState | None
    original: str | None
    permissions: int | None
    blob: str | None = None


class PushedPatch(Struct, frozen=True):
    """A pushed patch: its name, and the sha256 of its diff when it was pushed.

    `is_forced` means that not all of its hunks applied.
    """

    name: str
    digest: str
    is_forced: bool = False


class Record(Struct, frozen=True):
    """What is applied in a target.

    `digest` is the digest of the series with the guards `selected`. `onto` is the commit that it
    was put on; `head` is the commit that contains it, or None if files were changed without a
    commit. `pushed` are the patches, in order, if they were pushed one by one, or None if `apply`
    was used. `workspace` is where the patches are kept, and `rejects` names the files with hunks
    that did not apply.
    """

    series: str
    digest: str
    selected: tuple[str, ...]
    onto: str
    head: str | None
    files: tuple[AppliedFile, ...]
    workspace: str | None = None
    pushed: tuple[PushedPatch, ...] | None = None
    rejects: tuple[str, ...] = ()


def record_document(record: Record) -> dict[str, Any]:
    """Return a record as JSON values."""
    return {"format": FORMAT, **to_builtins(record)}


def read_record(document: Mapping[str, Any]) -> Record:
    """Return the record of JSON values; raise "broken-target" for a newer format."""
    if document["format"] != FORMAT:
        raise PatchmgrError("broken-target", "the record was written by a newer patchmgr")
    return convert(document, Record)
