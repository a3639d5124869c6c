"""The record of the patches applied in a checkout or package, and its JSON form."""

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
    """The state of a file: its mode in git (octal string) and the sha256 of its content."""

    mode: str
    sha256: str


def state_of(mode: str, content: bytes) -> FileState:
    """Return the state of a file with this mode and content."""
    return FileState(mode, hashlib.sha256(content).hexdigest())


class Content(Struct, frozen=True):
    """A file to write: its mode and blob id in git, and its content as in git or as on disk."""

    entry: Entry
    content: bytes

    @property
    def mode(self) -> str:
        """Return the file's mode in git."""
        return self.entry.mode


def content_of(mode: str, content: bytes) -> Content:
    """Return the file to write that has this mode and the content that git stores."""
    return Content(Entry(mode, blob_id(content)), content)


def found_state(file: Content | WorkFile | None) -> FileState | None:
    """Return the state of an existing or planned file, or None if there is no file."""
    return None if file is None else state_of(file.mode, file.content)


class AppliedFile(Struct, frozen=True):
    """A file that patches changed in a checkout or package.

    `before` and `after` are its states without and with the patches (None: no file). `original` is
    the name under which the old content is kept, and `permissions` are the permission bits of the
    old file; both are None if there was no old file. `blob` is git's id of the new content, which
    may have other line ends in the checkout. `patched` is the name under which the new content is
    kept; it is None if there is no new file, or if an older version wrote the record.
    """

    path: str
    before: FileState | None
    after: FileState | None
    original: str | None
    permissions: int | None
    blob: str | None = None
    patched: str | None = None

    def kept(self) -> dict[str, FileState]:
        """Map the name of each saved content to the state in which this file has that content."""
        pairs = ((self.original, self.before), (self.patched, self.after))
        return {name: state for name, state in pairs if name is not None and state is not None}


class PushedPatch(Struct, frozen=True):
    """A pushed patch: its name, and the sha256 of the diff that was pushed.

    `is_forced` is true if it was pushed even though some of its hunks did not apply.
    """

    name: str
    digest: str
    is_forced: bool = False


class Record(Struct, frozen=True):
    """The patches that are applied in a checkout or package.

    `digest` is the sha256 of the series as it was applied, and `selected` are the guard symbols
    that were selected for it. `onto` is the commit that the patches were applied to; `head` is the
    commit with the patches, or None if files were changed without a commit. `pushed` lists the
    patches, in order, that were pushed one by one, and is None if `apply` was used. `workspace` is
    the path of the workspace that contains the patches. `rejects` lists the files with hunks that
    did not apply.
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
    """Return a record as a value that can be written as JSON."""
    return {"format": FORMAT, **to_builtins(record)}


def read_record(document: Mapping[str, Any]) -> Record:
    """Return the record in a JSON document; raise a "broken-target" error for a newer format."""
    if document["format"] != FORMAT:
        raise PatchmgrError(
            "broken-target", "the record of applied patches was written by a newer patchmgr"
        )
    return convert(document, Record)
