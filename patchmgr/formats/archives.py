"""The files of an sdist or a wheel, in bounded memory and safe to put into a tree."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from msgspec import Struct

from patchmgr.formats.member_paths import is_inside, safe_path
from patchmgr.formats.members import Budget, Kind, Limits, Member, bad, refused
from patchmgr.formats.tar_members import tar_members
from patchmgr.formats.zip_members import zip_members
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, SYMLINK

LIMITS = Limits()
_MODES = {Kind.SYMLINK: SYMLINK}
# What the readers of the standard library raise for archives that are broken, or not understood.
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
    """One file of a release; `mode` is git's octal string and `mtime` in seconds."""

    path: str
    mode: str
    content: bytes
    mtime: int


def read_sdist(file: BinaryIO, *, limits: Limits = LIMITS) -> Iterator[ArchiveFile]:
    """Yield the files of an sdist, without its top folder, in archive order.

    Raises PatchmgrError "bad-archive" at the first member that is unsafe, doubled or too large:
    only what was read to its end may be used. The file must be seekable.
    """
    count = 0
    for found in _files(file, limits, _TopFolder().inside):
        count += 1
        yield found
    if not count:
        raise bad("holds no files")


def read_wheel(file: BinaryIO, *, limits: Limits = LIMITS) -> Iterator[ArchiveFile]:
    """Yield the text files that a wheel installs beside its metadata; as safe as `read_sdist`."""
    files = _files(file, limits, _installed_path)
    return (found for found in files if _is_text(found))


def _files(file: BinaryIO, limits: Limits, place: _Place) -> Iterator[ArchiveFile]:
    """Yield the files where `place` wants them: "" is the root, None leaves a member out."""
    tree = _Tree()
    links: dict[str, list[str]] = {}
    for member, path in _placed(file, limits, place):
        tree.add(path, member)
        if member.kind is Kind.HARDLINK:
            links.setdefault(_linked(member, place, tree), []).append(path)
        elif member.kind is not Kind.DIRECTORY:
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
    if path == "" and member.kind is not Kind.DIRECTORY:
        raise refused(member.name, "is in place of the top folder")
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


def _unpacked(file: BinaryIO, magic: bytes) -> BinaryIO:
    if magic[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file, mode="rb"))
    if magic[:3] == b"BZh":
        return cast(BinaryIO, bz2.BZ2File(file, "rb"))
    if magic == b"\xfd7zXZ\0" or magic[:3] == b"]\0\0":
        return cast(BinaryIO, lzma.LZMAFile(file, "rb"))
    return cast(BinaryIO, _Borrowed(file))


class _Borrowed(io.RawIOBase):
    """A plain tar file, which stays open when the reader is done."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)


class _TopFolder:
    """The folder that every member of an sdist is in."""

    def __init__(self) -> None:
        self._name: str | None = None

    def inside(self, path: str) -> str:
        """Return the path below the top folder, "" for the folder itself."""
        top, _, rest = path.partition("/")
        if self._name is None and top:
            self._name = top
        if top and top != self._name:
            raise ValueError("is outside the top folder")
        return rest


def _installed_path(path: str) -> str | None:
    """Return where a wheel's member is installed, None for metadata, scripts and headers."""
    library = _INSTALLED.fullmatch(path)
    if library:
        return library[1]
    return None if _PACKAGING.match(path) else path


def _is_text(found: ArchiveFile) -> bool:
    if found.mode == SYMLINK:
        return True
    return not _COMPILED.search(found.path) and b"\0" not in found.content[:_TEXT_WINDOW]


class _Tree:
    """The paths seen so far, none of them twice and none below a file."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}

    def add(self, path: str, member: Member) -> None:
        """Keep a path; refuse it where another member is in its place."""
        is_directory = member.kind is Kind.DIRECTORY
        seen = self._kinds.get(path)
        if seen is not None and not (is_directory and seen is Kind.DIRECTORY):
            raise refused(member.name, "is in it twice")
        self._kinds[path] = member.kind
        while "/" in path:
            path = path.rpartition("/")[0]
            above = self._kinds.setdefault(path, Kind.DIRECTORY)
            if above is not Kind.DIRECTORY:
                raise refused(member.name, "is below a file or a link")

    def has_file(self, path: str) -> bool:
        """Say whether a regular file is at the path."""
        return self._kinds.get(path) is Kind.FILE


def _linked(member: Member, place: _Place, tree: _Tree) -> str:
    """Return the path of the file that a hard link shares its content with."""
    try:
        path = place(safe_path(member.target))
    except ValueError:
        path = None
    if path is None or not tree.has_file(path):
        raise refused(member.name, "is a hard link to something that is not in the archive")
    return path


def _file(path: str, member: Member) -> ArchiveFile:
    if member.kind is Kind.SYMLINK:
        target = member.content.decode("utf-8", "surrogateescape")
        if not is_inside(path, target):
            raise refused(member.name, "is a link out of the archive")
    executable = EXECUTABLE if member.is_executable else REGULAR
    mode = _MODES.get(member.kind, executable)
    return ArchiveFile(path, mode, member.content, member.mtime)
