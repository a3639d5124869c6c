"""A throwaway repository on top of a store: what a run makes stays apart until published."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from patchmgr.model.ids import blob_id
from patchmgr.plumbing.closing import Closing
from patchmgr.plumbing.made import Made
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.plumbing.read_ahead import MOST, ReadAhead

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tlogAllRefUpdates = false
[gc]
\tauto = 0
[fastimport]
\tunpackLimit = 1
[pack]
\tcompression = 1
[merge]
\tconflictStyle = zdiff3
\trenormalize = false
[attr]
\ttree = 4b825dc642cb6eb9a060e54bf8d69288fbee4904
"""


class Workbench(Closing):
    """A bare repository that borrows the objects of others and keeps its own apart.

    Blobs that a run makes are held apart; `write_loose` and `fast_import` put what git
    must see into the bench. Leaving the context deletes it.
    """

    def __init__(self, lenders: Sequence[Path], *, folder: Path | None = None) -> None:
        self._lenders = tuple(lenders)
        parent = folder if folder is not None else self._lenders[0] / "tmp"
        parent.mkdir(parents=True, exist_ok=True)
        self.git_dir = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
        objects = self.git_dir / "objects"
        (objects / "info").mkdir(parents=True)
        (objects / "pack").mkdir()
        (self.git_dir / "refs").mkdir()
        (self.git_dir / "HEAD").write_text("ref: refs/heads/unborn\n")
        (self.git_dir / "config").write_text(_CONFIG)
        lines = [str((lender / "objects").resolve()) + "\n" for lender in self._lenders]
        (objects / "info" / "alternates").write_text("".join(lines), errors="surrogateescape")
        self.reader = ObjectReader(self.git_dir)
        self._made = Made(self.git_dir)
        self._ahead: ReadAhead | None = None
        self._written: set[str] = set()

    def close(self) -> None:
        """End the processes and delete the bench."""
        self.reader.close()
        if self._ahead is not None:
            self._ahead.close()
        self._made.close()
        shutil.rmtree(self.git_dir, ignore_errors=True)

    def read(self, blob: str) -> bytes:
        """Return a blob's content."""
        made = self._made.get(blob)
        if made is None and self._ahead is not None:
            made = self._ahead.get(blob)
        return self.reader.blob(blob) if made is None else made

    def read_ahead(self, blobs: Sequence[str]) -> None:
        """Begin to read what will be asked for, in that order, unless it is very much."""
        if self._ahead is None and 0 < len(blobs) <= MOST:
            with suppress(OSError):  # without it everything takes a little longer
                self._ahead = ReadAhead(self.git_dir, blobs, self.git_dir)

    def add(self, content: bytes) -> str:
        """Keep a new content for the rest of the run and return its id."""
        name = blob_id(content)
        self._made.add(name, content)
        return name

    def is_made(self, blob: str) -> bool:
        """Say whether the blob was made in this run."""
        return blob in self._made

    def tree(self, commit: str) -> StoredTree:
        """Return the files of a commit."""
        return StoredTree(self.reader, self.reader.tree_of(commit))

    def write_loose(self, kind: str, content: bytes) -> str:
        """Write one loose object into the bench and return its id."""
        whole = f"{kind} {len(content)}".encode() + b"\0" + content
        name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        if name not in self._written:
            folder = self.git_dir / "objects" / name[:2]
            folder.mkdir(exist_ok=True)
            descriptor = os.open(folder / name[2:], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o444)
            with os.fdopen(descriptor, "wb") as file:
                file.write(zlib.compress(whole, 1))
            self._written.add(name)
        return name
