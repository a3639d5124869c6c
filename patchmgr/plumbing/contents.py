"""Contents kept by their sha256, compressed: what a workspace had before it changed."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.durable import write_synced

_LEVEL = 1  # of compression: what is kept is rarely read
LARGEST = 1 << 30


class Contents:
    """A folder of contents below a root; what is there is never written again."""

    def __init__(self, root: Path, path: str) -> None:
        self._root, self._path = root, path
        self._folder = root / path

    def keep(self, content: bytes) -> str:
        """Keep a content and return its sha256 (64 hex)."""
        name = hashlib.sha256(content).hexdigest()
        place = self._place(name)
        if not place.exists():
            self._refuse_links(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            beside = place.with_name(f"{name}.new")
            write_synced(beside, zlib.compress(content, _LEVEL))
            os.replace(beside, place)
        return name

    def _refuse_links(self, name: str) -> None:
        """Refuse to write through a link: the folder may have come with a workspace."""
        at = self._root
        for part in (*self._path.split("/"), name[:2]):
            at = at / part
            if at.is_symlink():
                raise PatchmgrError("unsafe-path", f"{self._path} leads through a symbolic link")

    def has(self, name: str) -> bool:
        """Say whether a content is kept."""
        return self._place(name).exists()

    def read(self, name: str) -> bytes:
        """Return a content; raise PatchmgrError "forgotten" where it is not there, or not whole."""
        try:
            unpacking = zlib.decompressobj()
            content = unpacking.decompress(self._place(name).read_bytes(), LARGEST)
        except (OSError, zlib.error) as fault:
            raise _forgotten(name) from fault
        if hashlib.sha256(content).hexdigest() != name:
            raise _forgotten(name)
        return content

    def size(self) -> int:
        """Return how many bytes are on disk."""
        return sum(path.stat().st_size for path in self._files())

    def keep_only(self, names: Collection[str]) -> None:
        """Delete all other contents."""
        for path in list(self._files()):
            if path.name not in names:
                with suppress(OSError):
                    path.unlink()

    def _place(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def _files(self) -> Iterator[Path]:
        with suppress(OSError):
            for folder in sorted(self._folder.iterdir()):
                if not folder.is_symlink():
                    yield from folder.iterdir()


def _forgotten(name: str) -> PatchmgrError:
    message = f"the content {name[:12]} of an older state is not kept any more"
    return PatchmgrError("forgotten", message, ("patchmgr log lists what is",))
