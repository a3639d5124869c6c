"""Git's binary patches: decode them (base 85 and zlib) and apply them to the old content."""

from __future__ import annotations

import base64
import re
import zlib

from patchmgr.errors import PatchmgrError
from patchmgr.formats.reader import PatchReader
from patchmgr.model.patch import BinaryChange

MAX_CONTENT = 256 * 1024 * 1024

_HEAD = re.compile(rb"(literal|delta) (\d{1,12})")
_COPY_ALL = 0x10000


def read_binary(reader: PatchReader) -> BinaryChange:
    """Read the binary patch that follows a "GIT binary patch" line; return its forward change."""
    forward = _read_half(reader)
    if forward is None:
        raise reader.fault("a literal or delta line is expected here")
    _read_half(reader)
    return forward


def apply_binary(change: BinaryChange, old: bytes) -> bytes:
    """Return the new content; raise a "bad-patch" error if the delta does not fit `old`."""
    if change.method == "literal":
        return change.payload
    return apply_delta(change.payload, old)


def apply_delta(delta: bytes, old: bytes) -> bytes:
    """Apply a git delta to `old`; raise a "bad-patch" error if the delta does not fit `old`."""
    try:
        old_size, at = _size(delta, 0)
        new_size, at = _size(delta, at)
        if old_size != len(old):
            raise _misfit(
                f"is made for a file of {old_size} bytes, but the old file has {len(old)}"
            )
        if new_size > MAX_CONTENT:
            raise _misfit("makes a file that is too large")
        made = bytearray()
        while at < len(delta) and len(made) <= new_size:
            at = _step(delta, at, old, made)
        if len(made) != new_size:
            raise _misfit("makes a file whose size differs from the one it states")
        return bytes(made)
    except IndexError:
        raise _misfit("ends too early") from None


def _step(delta: bytes, at: int, old: bytes, made: bytearray) -> int:
    """Execute the instruction at index `at`, and return the index of the next one."""
    code = delta[at]
    at += 1
    if code & 0x80:
        return _copy(delta, at, old, made)
    if code == 0:
        raise _misfit("has an unknown instruction")
    if at + code > len(delta):
        raise _misfit("ends too early")
    made += delta[at : at + code]
    return at + code


def _copy(delta: bytes, at: int, old: bytes, made: bytearray) -> int:
    """Execute the copy instruction whose first byte precedes `at`; return the next index."""
    code, numbers = delta[at - 1], [0, 0]
    for bit in range(7):
        if code & 1 << bit:
            numbers[bit // 4] |= delta[at] << bit % 4 * 8
            at += 1
    start, size = numbers[0], numbers[1] or _COPY_ALL
    if start + size > len(old):
        raise _misfit("copies from beyond the end of the old content")
    made += old[start : start + size]
    return at


def _size(delta: bytes, at: int) -> tuple[int, int]:
    """Return the variable-length number at index `at`, and the index after it."""
    value = 0
    for shift in range(0, 63, 7):
        byte = delta[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
    raise _misfit("states an impossible size")


def _misfit(problem: str) -> PatchmgrError:
    return PatchmgrError("bad-patch", f"the binary delta {problem}")


def _read_half(reader: PatchReader) -> BinaryChange | None:
    """Read one change and the blank line after it; return None if no change begins here."""
    match = _HEAD.fullmatch((reader.line or b"").removesuffix(b"\n"))
    if match is None:
        return None
    head, size = reader.at, int(match[2])
    if size > MAX_CONTENT:
        raise reader.fault(f"the binary content of {size} bytes is too large")
    reader.at += 1
    packed = bytearray()
    while reader.line is not None and reader.line != b"\n":
        packed += _unpack_line(reader)
    if reader.line is not None:
        reader.at += 1
    return BinaryChange(match[1].decode(), _inflate(reader, bytes(packed), size, head))


def _unpack_line(reader: PatchReader) -> bytes:
    """Decode a base-85 line; its first letter gives the number of bytes."""
    line = reader.take()
    letter = line[:1]
    if letter.isalpha():
        count = ord(letter) - (64 if letter.isupper() else 70)
        if len(line) == 1 + (count + 3) // 4 * 5:
            try:
                return base64.b85decode(line[1:])[:count]
            except ValueError:
                pass
    raise reader.fault("a line of a binary patch cannot be read", at=reader.at - 1)


def _inflate(reader: PatchReader, packed: bytes, size: int, head: int) -> bytes:
    """Return the decompressed content, which must have the stated size."""
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(packed, size + 1)
    except zlib.error:
        raise reader.fault("the binary patch does not decompress", at=head) from None
    if not stream.eof or stream.unused_data or len(content) != size:
        raise reader.fault("the binary patch does not decompress to its stated size", at=head)
    return content
