"""A git pack of new blobs, compressed on all cores and visible only when it is whole."""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
import zlib
from collections import deque
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from msgspec import Struct

from patchmgr.model.ids import blob_id

_BLOB = 3
_LEVEL = 1
_BATCH_BYTES = 1 << 20
_SMALL_OFFSET_END = 1 << 31
_IS_FAR = 1 << 31


class _Entry(Struct, frozen=True):
    """Where one object is in the pack."""

    id: bytes
    checksum: int
    offset: int


class BlobPack:
    """Writes blobs into one pack of a repository, each once, and none that is `known`.

    `git fast-import` could do it, but takes twice as long as unpacking the archive does: it
    compresses and hashes on one core. Nothing is visible before `finish`; what an interrupted
    run leaves is a `tmp_pack_*` file that `git gc` removes.
    """

    def __init__(self, git_dir: Path, *, known: Collection[str] = ()) -> None:
        self._folder = git_dir / "objects" / "pack"
        self._seen = set(known)
        self._entries: list[_Entry] = []
        self._batch: list[tuple[str, bytes]] = []
        self._batch_bytes = 0
        self._waiting: deque[Future[list[tuple[str, bytes]]]] = deque()

    def __enter__(self) -> BlobPack:
        """Open the temporary file."""
        self._folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix="tmp_pack_", dir=self._folder)
        self._path = Path(name)
        self._file: BinaryIO = os.fdopen(handle, "w+b")
        self._file.write(_header(0))
        self._workers = min(os.cpu_count() or 1, 8)
        self._pool = ThreadPoolExecutor(self._workers)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove what was not finished."""
        self._pool.shutdown(cancel_futures=True)
        self._file.close()
        self._path.unlink(missing_ok=True)

    def add(self, content: bytes) -> str:
        """Take a blob and return its id."""
        blob = blob_id(content)
        if blob not in self._seen:
            self._seen.add(blob)
            self._batch.append((blob, content))
            self._batch_bytes += len(content)
            if self._batch_bytes >= _BATCH_BYTES:
                self._send()
        return blob

    def finish(self) -> None:
        """Write pack and index under their final names; without new blobs there is none."""
        self._send()
        while self._waiting:
            self._receive()
        if not self._entries:
            return
        checksum = self._seal()
        index = _index(self._entries, checksum)
        name = self._folder / f"pack-{checksum.hex()}"
        if name.with_suffix(".idx").exists():
            return
        beside = self._path.with_name(self._path.name + ".idx")
        _write_durably(beside, index)
        self._path.chmod(0o444)
        self._path.rename(name.with_suffix(".pack"))
        beside.rename(name.with_suffix(".idx"))

    def _send(self) -> None:
        if self._batch:
            self._waiting.append(self._pool.submit(_compressed, self._batch))
            self._batch, self._batch_bytes = [], 0
        while len(self._waiting) > 2 * self._workers:
            self._receive()

    def _receive(self) -> None:
        """Append the oldest batch: the order, and so the pack, is that of `add`."""
        for blob, packed in self._waiting.popleft().result():
            entry = _Entry(bytes.fromhex(blob), zlib.crc32(packed), self._file.tell())
            self._entries.append(entry)
            self._file.write(packed)

    def _seal(self) -> bytes:
        """Write header and trailer, and return the trailer."""
        self._file.seek(0)
        self._file.write(_header(len(self._entries)))
        self._file.seek(0)
        digest = hashlib.sha1(usedforsecurity=False)
        while chunk := self._file.read(_BATCH_BYTES):
            digest.update(chunk)
        self._file.write(digest.digest())
        self._file.flush()
        os.fsync(self._file.fileno())
        return digest.digest()


def _header(count: int) -> bytes:
    return struct.pack(">4sII", b"PACK", 2, count)


def _compressed(batch: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    return [(blob, _size(len(data)) + zlib.compress(data, _LEVEL)) for blob, data in batch]


def _size(size: int) -> bytes:
    """Return kind and size as a pack entry begins: four bits, then seven a byte."""
    byte = _BLOB << 4 | size & 15
    size >>= 4
    encoded = bytearray()
    while size:
        encoded.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    encoded.append(byte)
    return bytes(encoded)


def _index(entries: list[_Entry], checksum: bytes) -> bytes:
    """Return the pack index, version 2 (gitformat-pack)."""
    ordered = sorted(entries, key=lambda entry: entry.id)
    counts = [0] * 256
    for entry in ordered:
        counts[entry.id[0]] += 1
    fanout = [sum(counts[: first + 1]) for first in range(256)]
    far = [entry.offset for entry in ordered if entry.offset >= _SMALL_OFFSET_END]
    places = {offset: _IS_FAR | number for number, offset in enumerate(far)}
    offsets = [places.get(entry.offset, entry.offset) for entry in ordered]
    body = b"".join(
        [
            b"\xfftOc" + struct.pack(">I256I", 2, *fanout),
            b"".join(entry.id for entry in ordered),
            struct.pack(f">{len(ordered)}I", *(entry.checksum for entry in ordered)),
            struct.pack(f">{len(ordered)}I", *offsets),
            struct.pack(f">{len(far)}Q", *far),
            checksum,
        ]
    )
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        path.chmod(0o444)
