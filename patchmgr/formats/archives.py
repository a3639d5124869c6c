"""Read the files of an sdist or a wheel with bounded memory, and refuse unsafe members."""

from __future__ import annotations

import bz2
import calendar
import enum
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO, cast

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import decode_path, encode_path, is_below_git, parents_of
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, SYMLINK


class MemberKind(enum.Enum):
    """The kinds of archive members that can be read; members of other kinds are refused."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    HARDLINK = "hardlink"


class Member(Struct, frozen=True):
    """A member of an archive, whose name and link target have not been checked yet."""

    name: str
    kind: MemberKind
    is_executable: bool
    mtime: int  # seconds since the epoch
    content: bytes = b""  # of a symbolic link, its target
    target: str = ""  # of a hard link, the member with the content


class Limits(Struct, frozen=True):
    """Limits on an archive and its unpacked content."""

    members: int = 500_000
    file_bytes: int = 1 << 30
    total_bytes: int = 4 << 30  # never more for all files together
    free_bytes: int = 256 << 20  # always allowed for all files together
    ratio: int = 200  # of unpacked to packed bytes, beyond `free_bytes`


class Budget:
    """A count of the members and bytes read from an archive; exceeding a limit raises an error."""

    def __init__(self, limits: Limits, archive_size: int) -> None:
        self._limits = limits
        self._members = 0
        self._left = min(limits.total_bytes, max(limits.free_bytes, archive_size * limits.ratio))

    def member(self) -> None:
        """Count one member; raise a "bad-archive" error if the archive has too many."""
        self._members += 1
        if self._members > self._limits.members:
            raise bad(f"has more than {self._limits.members} members")

    def take(self, size: int) -> None:
        """Count bytes about to be read; raise a "bad-archive" error if there are too many."""
        if size < 0 or size > self._limits.file_bytes or size > self._left:
            raise bad("unpacks to more than the limit allows (it may be a zip bomb)")
        self._left -= size


def bad(reason: str) -> PatchmgrError:
    """Return the error for an unusable archive; `reason` is a clause like "contains no files"."""
    return PatchmgrError("bad-archive", reason)


def refused(name: str, reason: str) -> PatchmgrError:
    """Return the error for an archive that is refused because of one member."""
    shown = name if len(name) < 200 else name[:200] + "..."
    return bad(f"is refused: its member {shown!a} {reason}")


_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST = 4096


def safe_path(name: str) -> str:
    """Return the path of a member, without its empty and `.` components.

    Raises ValueError for a path that could lead out of the tree, or that leads to git's own
    directory on some file system.
    """
    if len(name) > _LONGEST:
        raise ValueError("has too long a name")
    if "\0" in name or "\\" in name:
        raise ValueError("has a NUL or a backslash in its name")
    if name.startswith("/") or _DRIVE.match(name):
        raise ValueError("has an absolute path")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError("has a path that leads out of the archive")
    if is_below_git(parts):
        raise ValueError("is inside a .git directory")
    return "/".join(parts)


def is_inside(link: str, target: str) -> bool:
    """Return whether the target of a symbolic link at the path `link` is inside the tree."""
    if not target or target.startswith("/") or _DRIVE.match(target):
        return False
    if "\0" in target or "\\" in target:
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    # `..` is allowed only at the start: a component before it could itself be a link.
    climbs = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
    down = parts[climbs:]
    return climbs <= link.count("/") and ".." not in down and not is_below_git(down)


BLOCK = 512
MAX_EXTENSION = 1 << 20
_KINDS = {
    tarfile.REGTYPE: MemberKind.FILE,
    tarfile.AREGTYPE: MemberKind.FILE,
    tarfile.CONTTYPE: MemberKind.FILE,
    tarfile.DIRTYPE: MemberKind.DIRECTORY,
    tarfile.SYMTYPE: MemberKind.SYMLINK,
    tarfile.LNKTYPE: MemberKind.HARDLINK,
}
_PAX = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_LONG = {tarfile.GNUTYPE_LONGNAME: b"path", tarfile.GNUTYPE_LONGLINK: b"linkpath"}


def tar_members(stream: BinaryIO, budget: Budget) -> Iterator[Member]:
    """Yield the members of an uncompressed tar stream; memory is bounded by the largest file."""
    everywhere: dict[bytes, bytes] = {}
    here: dict[bytes, bytes] = {}
    # `tarfile` itself would read extended headers of any claimed size into memory, and take twice
    # as long.
    while (header := _header(stream, budget)) is not None:
        if header.type in _PAX:
            records = _pax_records(_extension(stream, header, budget))
            (everywhere if header.type == tarfile.XGLTYPE else here).update(records)
        elif header.type in _LONG:
            here[_LONG[header.type]] = _extension(stream, header, budget).split(b"\0")[0]
        else:
            budget.member()
            _extend(header, {**everywhere, **here})
            yield _tar_member(stream, header, budget)
            here = {}
    while rest := stream.read(1 << 16):  # to the end, so that checksums are verified
        budget.take(len(rest))


def _header(stream: BinaryIO, budget: Budget) -> tarfile.TarInfo | None:
    block = stream.read(BLOCK)
    if not block or block.count(0) == BLOCK:
        return None
    budget.take(BLOCK)
    return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")


def _extension(stream: BinaryIO, header: tarfile.TarInfo, budget: Budget) -> bytes:
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
        key, _, value = body[space + 1 : at + length].partition(b"=")
        if length < 5 or at + length > len(body) or value[-1:] != b"\n":
            raise bad("has a broken extended header")
        records[key] = value[:-1]
        at += length
    return records


def _extend(header: tarfile.TarInfo, records: Mapping[bytes, bytes]) -> None:
    """Replace fields of a header with the values from its extended headers."""
    if any(key.startswith(b"GNU.sparse.") for key in records):
        raise refused(header.name, "is a sparse file")
    if b"path" in records:
        header.name = decode_path(records[b"path"])
    if b"linkpath" in records:
        header.linkname = decode_path(records[b"linkpath"])
    if b"size" in records:
        header.size = _number(records[b"size"])
    if b"mtime" in records:
        header.mtime = _number(records[b"mtime"].split(b".")[0])


def _number(digits: bytes) -> int:
    if len(digits) > 20:
        raise bad("has a broken extended header")
    return int(digits)


def _tar_member(stream: BinaryIO, header: tarfile.TarInfo, budget: Budget) -> Member:
    kind = _KINDS.get(header.type)
    if kind is None:
        raise refused(header.name, "is neither a file, a directory nor a link")
    content = _body(stream, header.size, budget) if kind is MemberKind.FILE else b""
    if kind is MemberKind.SYMLINK:
        content = encode_path(header.linkname)
    is_executable = kind is MemberKind.FILE and bool(header.mode & 0o111)
    return Member(header.name, kind, is_executable, int(header.mtime), content, header.linkname)


_UNIX = 3
_UTF8_FLAG = 0x800


def zip_members(file: BinaryIO, budget: Budget) -> Iterator[Member]:
    """Yield the members of a zip file in the order of its central directory; times are in UTC."""
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            budget.member()
            yield _zip_member(archive, info, budget)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> Member:
    name = _name(info)
    mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
    kind = _kind(name, mode)
    content = b""
    if kind is not MemberKind.DIRECTORY:
        budget.take(info.file_size)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise refused(name, "is not compressed with deflate")  # memory would not be bounded
        with archive.open(info) as stream:  # `archive.read` unpacks more than the stated size
            content = stream.read(info.file_size + 1)
    return Member(name, kind, kind is MemberKind.FILE and bool(mode & 0o111), _mtime(info), content)


def _name(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _UTF8_FLAG:
        return info.orig_filename
    return decode_path(info.orig_filename.encode("cp437"))


def _kind(name: str, mode: int) -> MemberKind:
    """Return the kind of a zip member; refuse a member that is not a file, directory or link."""
    if name.endswith("/"):
        return MemberKind.DIRECTORY
    if stat.S_ISLNK(mode):
        return MemberKind.SYMLINK
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise refused(name, "is neither a file, a directory nor a link")
    return MemberKind.FILE


def _mtime(info: zipfile.ZipInfo) -> int:
    """Return the time of a zip member in seconds, or 0 if its month or day is not set."""
    year, month, day, hour, minute, second = info.date_time
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return 0
    return calendar.timegm((year, month, day, hour, minute, second, 0, 1, 0))


LIMITS = Limits()
# What the standard library raises for archives that are broken or that it does not support.
_FAULTS = (
    tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, zlib.error, lzma.LZMAError,
    ValueError, NotImplementedError, RuntimeError, OverflowError,
)  # fmt: skip
_COMPILED = re.compile(r"\.(so|pyd|dll|dylib|lib|a|o|exe|pyc|cubin|fatbin)(\.[0-9.]+)?$", re.I)
_INSTALLED = re.compile(r"[^/]+\.data/(?:purelib|platlib)/(.+)", re.DOTALL)
_PACKAGING = re.compile(r"[^/]+\.(?:dist-info|data)/")
_TEXT_WINDOW = 8000
_Place = Callable[[str], "str | None"]


class ArchiveFile(Struct, frozen=True):
    """A file or link of a release; `mode` is git's octal mode; `mtime` is in Unix seconds."""

    path: str
    mode: str
    content: bytes
    mtime: int


def read_sdist(file: BinaryIO, *, limits: Limits = LIMITS) -> Iterator[ArchiveFile]:
    """Yield the files of an sdist in archive order, hard links last, relative to its top folder.

    Raises PatchmgrError "bad-archive" at the first member that is unsafe, duplicated or too large,
    so read all files before you use any of them. `file` must be seekable.
    """
    count = 0
    for found in _files(file, limits, _TopFolder().inside):
        count += 1
        yield found
    if not count:
        raise bad("contains no files")


def read_archive(file: BinaryIO, *, limits: Limits = LIMITS) -> Iterator[ArchiveFile]:
    """Yield the files of any archive as `read_sdist` does, but do not require a top folder."""
    members = (member for member, _ in _placed(file, limits, lambda path: path))
    paths = [safe_path(m.name) for m in members if m.kind is not MemberKind.DIRECTORY]
    if not paths:
        raise bad("contains no files")
    has_top = all("/" in path for path in paths) and len({p.split("/")[0] for p in paths}) == 1
    yield from _files(file, limits, _TopFolder().inside if has_top else lambda path: path)


def read_wheel(file: BinaryIO, *, limits: Limits = LIMITS) -> Iterator[ArchiveFile]:
    """Yield the text files of a wheel except its metadata; raise errors as `read_sdist` does."""
    files = _files(file, limits, _installed_path)
    return (found for found in files if _is_text(found))


def _files(file: BinaryIO, limits: Limits, place: _Place) -> Iterator[ArchiveFile]:
    """Yield each file with the path that `place` returns, unless that path is None."""
    kinds: dict[str, MemberKind] = {}
    links: dict[str, list[str]] = {}
    for member, path in _placed(file, limits, place):
        _add(kinds, path, member)
        if member.kind is MemberKind.HARDLINK:
            links.setdefault(_linked(member, place, kinds), []).append(path)
        elif member.kind is not MemberKind.DIRECTORY:
            yield _file(path, member)
    if links:  # rare: two names of one inode in the builder's checkout
        for member, path in _placed(file, limits, place):
            for name in links.get(path, ()):
                yield _file(name, member)


def _placed(file: BinaryIO, limits: Limits, place: _Place) -> Iterator[tuple[Member, str]]:
    try:
        for member in _members(file, limits):
            path = _checked(member, place)
            if path:
                yield member, path
    except _FAULTS as fault:
        said = " ".join(str(fault).split()) or type(fault).__name__
        raise bad(f"cannot be unpacked: {said}") from fault


def _checked(member: Member, place: _Place) -> str | None:
    try:
        path = place(safe_path(member.name))
    except ValueError as fault:
        raise refused(member.name, str(fault)) from fault
    if path == "" and member.kind is not MemberKind.DIRECTORY:
        raise refused(member.name, "has the name of the top folder but is not a folder")
    return path


def _members(file: BinaryIO, limits: Limits) -> Iterator[Member]:
    budget = Budget(limits, file.seek(0, io.SEEK_END))
    file.seek(0)
    magic = file.read(6)
    file.seek(0)
    if magic[:4] in (b"PK\3\4", b"PK\5\6"):
        yield from zip_members(file, budget)
        return
    with _unpacked(file, magic) as stream:
        yield from tar_members(stream, budget)


def _unpacked(file: BinaryIO, magic: bytes) -> AbstractContextManager[BinaryIO]:
    if magic[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file, mode="rb"))
    if magic[:3] == b"BZh":
        return cast(BinaryIO, bz2.BZ2File(file, "rb"))
    if magic == b"\xfd7zXZ\0" or magic[:3] == b"]\0\0":
        return cast(BinaryIO, lzma.LZMAFile(file, "rb"))
    return nullcontext(file)  # the caller closes `file`


class _TopFolder:
    def __init__(self) -> None:
        self._name: str | None = None

    def inside(self, path: str) -> str:
        """Return a path without the top folder, which the first path sets, or raise ValueError."""
        top, _, rest = path.partition("/")
        if self._name is None and top:
            self._name = top
        if top and top != self._name:
            raise ValueError("is outside the archive's top folder")
        return rest


def _installed_path(path: str) -> str | None:
    """Return the installed path of a wheel's member, or None for metadata, scripts and headers."""
    library = _INSTALLED.fullmatch(path)
    if library:
        return library[1]
    return None if _PACKAGING.match(path) else path


def _is_text(found: ArchiveFile) -> bool:
    if found.mode == SYMLINK:
        return True
    return not _COMPILED.search(found.path) and b"\0" not in found.content[:_TEXT_WINDOW]


def _add(kinds: dict[str, MemberKind], path: str, member: Member) -> None:
    """Record the kind of a member; refuse a path that occurs twice or is below a file."""
    is_directory = member.kind is MemberKind.DIRECTORY
    seen = kinds.get(path)
    if seen is not None and not (is_directory and seen is MemberKind.DIRECTORY):
        raise refused(member.name, "appears twice")
    kinds[path] = member.kind
    for folder in parents_of(path):
        if kinds.setdefault(folder, MemberKind.DIRECTORY) is not MemberKind.DIRECTORY:
            raise refused(member.name, "has a file or a link as a parent folder")


def _linked(member: Member, place: _Place, kinds: Mapping[str, MemberKind]) -> str:
    """Return the path of the file to which a hard link refers."""
    try:
        path = place(safe_path(member.target))
    except ValueError:
        path = None
    if path is None or kinds.get(path) is not MemberKind.FILE:
        raise refused(member.name, "is a hard link to something that is not in the archive")
    return path


def _file(path: str, member: Member) -> ArchiveFile:
    mode = EXECUTABLE if member.is_executable else REGULAR
    if member.kind is MemberKind.SYMLINK:
        mode = SYMLINK
        if not is_inside(path, decode_path(member.content)):
            raise refused(member.name, "is a link that leads out of the archive")
    return ArchiveFile(path, mode, member.content, member.mtime)
