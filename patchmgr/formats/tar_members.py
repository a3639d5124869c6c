"""The members of a tar stream, read once from front to back."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.formats.members import Budget, Kind, Member, bad, refused

BLOCK = 512
MAX_EXTENSION = 1 << 20
_KINDS = {
    tarfile.REGTYPE: Kind.FILE,
    tarfile.AREGTYPE: Kind.FILE,
    tarfile.CONTTYPE: Kind.FILE,
    tarfile.DIRTYPE: Kind.DIRECTORY,
    tarfile.SYMTYPE: Kind.SYMLINK,
    tarfile.LNKTYPE: Kind.HARDLINK,
}
_PAX = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_LONG = {tarfile.GNUTYPE_LONGNAME: b"path", tarfile.GNUTYPE_LONGLINK: b"linkpath"}


class _Header(Struct, frozen=True):
    name: str
    type: bytes
    mode: int
    mtime: int
    size: int
    target: str


def tar_members(stream: BinaryIO, budget: Budget) -> Iterator[Member]:
    """Yield the members of an unpacked tar stream; memory is bounded by the largest file.

    Headers are decoded by tarfile; the walk is ours because tarfile reads extended headers of
    any claimed size into memory and takes twice as long.
    """
    everywhere: dict[bytes, bytes] = {}
    here: dict[bytes, bytes] = {}
    while (header := _header(stream, budget)) is not None:
        if header.type in _PAX:
            records = _pax_records(_extension(stream, header, budget))
            (everywhere if header.type == tarfile.XGLTYPE else here).update(records)
        elif header.type in _LONG:
            here[_LONG[header.type]] = _extension(stream, header, budget).split(b"\0")[0]
        else:
            budget.member()
            yield _member(stream, _extended(header, {**everywhere, **here}), budget)
            here = {}
    while rest := stream.read(1 << 16):  # to the end, so that checksums are verified
        budget.take(len(rest))


def _header(stream: BinaryIO, budget: Budget) -> _Header | None:
    block = stream.read(BLOCK)
    if not block or block.count(0) == BLOCK:
        return None
    budget.take(BLOCK)
    info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    return _Header(
        info.name, info.type, int(info.mode), int(info.mtime), int(info.size), info.linkname
    )


def _extension(stream: BinaryIO, header: _Header, budget: Budget) -> bytes:
    if header.size > MAX_EXTENSION:
        raise bad("has an extended header of more than a megabyte")
    return _body(stream, header.size, budget)


def _body(stream: BinaryIO, size: int, budget: Budget) -> bytes:
    budget.take(size)
    padding = -size % BLOCK
    content = stream.read(size + padding)
    if len(content) < size:
        raise bad("ends in the middle of a member")
    return content[:size] if padding else content


def _pax_records(body: bytes) -> dict[bytes, bytes]:
    """Return the records `<length> <key>=<value>\\n` of an extended header."""
    records: dict[bytes, bytes] = {}
    at = 0
    while at < len(body) and body[at] != 0:
        space = body.find(b" ", at, at + 20)
        length = int(body[at:space]) if space > 0 else 0
        key, equals, value = body[space + 1 : at + length].partition(b"=")
        if length < 5 or at + length > len(body) or not equals or value[-1:] != b"\n":
            raise bad("has a broken extended header")
        records[key] = value[:-1]
        at += length
    return records


def _extended(header: _Header, records: dict[bytes, bytes]) -> _Header:
    """Return the header with what extended headers say in its place."""
    if any(key.startswith(b"GNU.sparse.") for key in records):
        raise refused(header.name, "is a sparse file")
    if b"path" in records:
        header = replace(header, name=_text(records[b"path"]))
    if b"linkpath" in records:
        header = replace(header, target=_text(records[b"linkpath"]))
    if b"size" in records:
        header = replace(header, size=_number(records[b"size"]))
    if b"mtime" in records:
        header = replace(header, mtime=_number(records[b"mtime"].split(b".")[0]))
    return header


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _number(digits: bytes) -> int:
    if len(digits) > 20:
        raise bad("has a broken extended header")
    return int(digits)


def _member(stream: BinaryIO, header: _Header, budget: Budget) -> Member:
    kind = _KINDS.get(header.type)
    if kind is None:
        raise refused(header.name, "is neither a file, a directory nor a link")
    content = _body(stream, header.size, budget) if kind is Kind.FILE else b""
    if kind is Kind.SYMLINK:
        content = header.target.encode("utf-8", "surrogateescape")
    is_executable = kind is Kind.FILE and bool(header.mode & 0o111)
    return Member(header.name, kind, is_executable, header.mtime, content, header.target)
