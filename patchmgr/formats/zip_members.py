"""The members of a zip file: wheels, and sdists of older tools."""

from __future__ import annotations

import calendar
import stat
import zipfile
from collections.abc import Iterator
from typing import BinaryIO

from patchmgr.formats.members import Budget, Kind, Member, refused

_UNIX = 3
_UTF8_FLAG = 0x800
_ENCRYPTED_FLAG = 0x1


def zip_members(file: BinaryIO, budget: Budget) -> Iterator[Member]:
    """Yield the members in the order of the central directory.

    A name without the UTF-8 flag is taken as the bytes it is made of; times are taken as UTC.
    """
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            budget.member()
            yield _member(archive, info, budget)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> Member:
    name = _name(info)
    mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
    kind = _kind(name, mode)
    content = b""
    if kind is not Kind.DIRECTORY:
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise refused(name, "is encrypted")
        budget.take(info.file_size)
        content = archive.read(info)
    return Member(name, kind, kind is Kind.FILE and bool(mode & 0o111), _mtime(info), content)


def _name(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _UTF8_FLAG:
        return info.orig_filename
    return info.orig_filename.encode("cp437").decode("utf-8", "surrogateescape")


def _kind(name: str, mode: int) -> Kind:
    """Return the kind by name and mode; refuse what is neither file, directory nor link."""
    if name.endswith("/"):
        return Kind.DIRECTORY
    if stat.S_ISLNK(mode):
        return Kind.SYMLINK
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise refused(name, "is neither a file, a directory nor a link")
    return Kind.FILE


def _mtime(info: zipfile.ZipInfo) -> int:
    """Return the time in seconds, 0 where month or day are not set."""
    year, month, day, hour, minute, second = info.date_time
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return 0
    return calendar.timegm((year, month, day, hour, minute, second, 0, 1, 0))
