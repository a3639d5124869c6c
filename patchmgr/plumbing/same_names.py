"""Paths that some file systems take for one: those that differ in case or in Unicode form alone."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.plumbing import door
from patchmgr.plumbing.objects import StoredTree


def refuse_same_names(
    root: Path,
    there: Collection[str],
    leaving: Collection[str] = (),
    below: StoredTree | None = None,
) -> None:
    """Raise PatchmgrError "same-name" where a folder cannot hold files that are to be there.

    They are to be there beside those of the tree `below` that are not leaving. The folder is only
    asked, by two empty files, where there are such paths at all.
    """
    for one, other in _alike(there, leaving, below):
        if not _holds_apart(root, one, other):
            raise PatchmgrError(
                "same-name",
                f"{shown(one)} and {shown(other)} are one file in {root}: "
                "its file system does not tell their names apart",
                ("use a checkout on a case-sensitive file system (on macOS: a disk image, say)",),
            )


def _alike(
    there: Collection[str], leaving: Collection[str], below: StoredTree | None
) -> Iterator[tuple[str, str]]:
    """Yield pairs of paths whose names are alike, folder by folder."""
    known: dict[str, str] = {}
    for path in sorted(there):
        other = known.setdefault(_folded(path), path)
        if other != path:
            yield other, path
        for found in below.alike(path, _folded) if below is not None else ():
            if found not in leaving and found not in there:
                yield found, path


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _holds_apart(root: Path, one: str, other: str) -> bool:
    """Ask the file system of a folder whether two names are two files."""
    pairs = zip(one.split("/"), other.split("/"), strict=True)
    first, second = next(pair for pair in pairs if pair[0] != pair[1])
    with suppress(OSError), tempfile.TemporaryDirectory(prefix=".patchmgr-", dir=root) as folder:
        place = os.path.join(os.fsencode(folder), door.raw(first))
        with open(place, "xb"):
            return not os.path.lexists(os.path.join(os.fsencode(folder), door.raw(second)))
    return True
