"""The record of the patches applied in a checkout or package, and its JSON form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert, to_builtins

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import Entry, blob_id
from patchmgr.plumbing.work_tree import WorkFile

FORMAT = 1


class FileState(Struct, frozen=True):
    """The state of a file: its mode in git (octal string) and the sha256 of its content."""

    mode: str
    sha256: str


def state_of(mode: str, content: bytes) -> FileState:
    """Return the state of a file with this mode and content."""
    return FileState(mode, hashlib.sha256(content).hexdigest())


class Content(Struct, frozen=True):
    """A file to write: its mode and blob id in git, and its content in git's form or the disk's."""

    entry: Entry
    content: bytes

    @property
    def mode(self) -> str:
        """Return the file's mode in git."""
        return self.entry.mode


def content_of(mode: str, content: bytes) -> Content:
    """Return a file to write, given its mode and the content that git stores for it."""
    return Content(Entry(mode, blob_id(content)), content)


def found_state(file: Content | WorkFile | None) -> FileState | None:
    """Return the state of an existing or planned file, or None if there is no file."""
    return None if file is None else state_of(file.mode, file.content)


class AppliedFile(Struct, frozen=True):
    """A file that patches changed in a checkout or package."""

    path: str
    before: FileState | None  # without the patches (None: no file)
    after: FileState | None  # with the patches (None: no file)
    original: str | None  # the name under which the old content is kept
    permissions: int | None  # of the old file
    blob: str | None = None  # the content as git stores it
    patched: str | None = None  # the name of the new content (None: no file, or an old record)

    def kept(self) -> dict[str, FileState]:
        """Map the name of each saved version of this file to the state that the version records."""
        pairs = ((self.original, self.before), (self.patched, self.after))
        return {name: state for name, state in pairs if name is not None and state is not None}


class PushedPatch(Struct, frozen=True):
    """A pushed patch, and the sha256 of the diff that was pushed."""

    name: str
    digest: str
    is_forced: bool = False  # pushed although some hunks did not apply


class Record(Struct, frozen=True):
    """The patches that are applied in a checkout or package."""

    series: str
    digest: str  # the sha256 of the series
    selected: tuple[str, ...]  # guard symbols
    onto: str  # the commit that the patches were applied to
    head: str | None  # the commit with the patches (None: no commit was made)
    files: tuple[AppliedFile, ...]
    workspace: str | None = None  # its path
    pushed: tuple[PushedPatch, ...] | None = None  # by `push`, in order (None: `apply` was used)
    rejects: tuple[str, ...] = ()  # files with hunks that did not apply


def record_document(record: Record) -> dict[str, Any]:
    """Return a record as a value that can be written as JSON."""
    return {"format": FORMAT, **to_builtins(record)}


def read_record(document: Mapping[str, Any]) -> Record:
    """Return the record in a JSON document; raise a "broken-target" error for a newer format."""
    if document["format"] != FORMAT:
        raise PatchmgrError(
            "broken-target",
            "the record of applied patches was written by a newer patchmgr",
            "install a newer patchmgr",
        )
    return convert(document, Record)
