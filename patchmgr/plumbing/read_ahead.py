"""Blobs that will be asked for: git unpacks them into a file while this process computes."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from patchmgr.plumbing import door
from patchmgr.plumbing.closing import Closing

MOST = 500  # blobs
_MOST_BYTES = 64 << 20  # of the file, beyond which it ends
_HEAD = 64  # bytes that the line before a blob has at most


class ReadAhead(Closing):
    """Reads blobs in the order in which they will be asked for.

    What has not come yet, or not at all, is nobody's loss: it is read in another way.
    """

    def __init__(self, git_dir: Path, blobs: Sequence[str], scratch: Path) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self._wanted = frozenset(blobs)
        self._at = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - until it is closed
        try:
            self._start(git_dir, blobs, scratch)
        except BaseException:
            self.close()
            raise

    def _start(self, git_dir: Path, blobs: Sequence[str], scratch: Path) -> None:
        with tempfile.TemporaryFile(dir=scratch) as names:
            names.write("".join(f"{blob}\n" for blob in blobs).encode())
            names.seek(0)
            self._process = subprocess.Popen(
                door.command(["cat-file", "--batch"], git_dir),
                stdin=names,
                stdout=self._file,
                stderr=subprocess.DEVNULL,
                env=door.clean_environment(),
            )

    def get(self, blob: str) -> bytes | None:
        """Return a blob's content, None where it is not there yet."""
        if blob not in self._wanted:
            return None
        while blob not in self._places:
            if not self._advance():
                return None
        start, size = self._places[blob]
        content = os.pread(self._file.fileno(), size, start)
        return content if len(content) == size else None

    def _advance(self) -> bool:
        """Look at the next blob of the file, if its line is there."""
        head, is_there, _ = os.pread(self._file.fileno(), _HEAD, self._at).partition(b"\n")
        if not is_there or self._at > _MOST_BYTES:
            return False
        words = head.split()
        start = self._at + len(head) + 1
        if len(words) == 3:
            self._places[words[0].decode()] = start, int(words[2])
            self._at = start + int(words[2]) + 1
        else:  # nobody has it
            self._at = start
        return True

    def close(self) -> None:
        """End git and forget the file."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        with suppress(OSError):
            self._file.close()
