"""The contents that a run makes: the newest in memory, older ones in a file without a name."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from patchmgr.plumbing.closing import Closing

MOST_HELD = 1 << 26  # bytes


class Made(Closing):
    """Contents by id; at most so many bytes of them are held in memory."""

    def __init__(self, folder: Path, *, most_held: int = MOST_HELD) -> None:
        self._folder = folder
        self._most_held = most_held
        self._held: dict[str, bytes] = {}
        self._size = 0
        self._laid: dict[str, tuple[int, int]] = {}
        self._file: int | None = None
        self._end = 0

    def __contains__(self, name: str) -> bool:
        return name in self._held or name in self._laid

    def get(self, name: str) -> bytes | None:
        """Return a content, None where there is none of that id."""
        if name not in self._laid:
            return self._held.get(name)
        assert self._file is not None
        start, size = self._laid[name]
        content = os.pread(self._file, size, start)
        assert len(content) == size
        return content

    def add(self, name: str, content: bytes) -> None:
        """Keep a content; raise OSError where older ones must go to a disk that is full."""
        if name in self:
            return
        self._held[name] = content
        self._size += len(content)
        while self._size > self._most_held and len(self._held) > 1:
            self._lay_down(next(iter(self._held)))

    def _lay_down(self, name: str) -> None:
        if self._file is None:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                self._file = os.dup(file.fileno())
        content = self._held[name]
        written = 0
        while written < len(content):
            written += os.pwrite(self._file, content[written:], self._end + written)
        self._laid[name] = self._end, len(content)
        self._end += len(content)
        self._size -= len(content)
        del self._held[name]

    def close(self) -> None:
        """Forget all."""
        if self._file is not None:
            os.close(self._file)
        self._file = None
        self._held, self._laid, self._size, self._end = {}, {}, 0, 0
