"""Download archives into the cache; downloads can be resumed, and digests are checked."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from requests import Session

from patchmgr.errors import PatchmgrError
from patchmgr.formats.git_urls import local_path
from patchmgr.model.progress import Progress
from patchmgr.plumbing.closing import task
from patchmgr.plumbing.index_session import IndexSettings, answer, open_session, unreachable
from patchmgr.plumbing.package_index import Archive, check_filename

_CHUNK = 1 << 18
_OK, _PARTIAL, _BEYOND_END = 200, 206, 416
_RANGE = re.compile(r"bytes (\d{1,18})-")


class _RangeError(Exception):
    """Raised if the index refuses to send only the missing bytes of an archive."""


def download(
    archive: Archive, folder: Path, settings: IndexSettings, *, progress: Progress
) -> Path:
    """Return the path of an archive in `folder`, after downloading it or the rest of it if needed.

    Raises PatchmgrError "bad-archive", "offline", "unreachable-upstream", "checksum-mismatch" or,
    if the folder cannot be written, "cache".
    """
    check_filename(archive)
    target = folder / archive.filename
    if _is_right(target, archive):
        return target
    if settings.offline and local_path(archive.url) is None:
        raise PatchmgrError(
            "offline",
            f"{archive.filename} is not in the cache and cannot be downloaded offline",
            "unset UV_OFFLINE and run the command again",
        )
    path = folder / f"{archive.filename}.{(archive.sha256 or 'unchecked')[:12]}.part"
    with writing(), _locked(path) as part:
        if _is_right(target, archive):  # another run downloaded it while this one waited
            path.unlink()
            return target
        try:
            _bring(part, archive, settings, progress=progress)
        except BaseException:
            if not archive.sha256 or not _size(part):
                path.unlink()
            raise
        path.replace(target)
    return target


def _is_right(path: Path, archive: Archive) -> bool:
    """Return whether the file exists and has the archive's sha256, if the index gives one."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return archive.sha256 in (None, sha256_of(file))


def sha256_of(file: BinaryIO) -> str:
    """Return the sha256 (64 hex digits) of a whole file; the file position is then at its end."""
    digest = hashlib.sha256()
    file.seek(0)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _size(part: BinaryIO) -> int:
    return os.fstat(part.fileno()).st_size


@contextlib.contextmanager
def writing(what: str = "the cache") -> Iterator[None]:
    """Turn an OSError in the `with` block into a "cache" error that names `what`."""
    try:
        yield
    except OSError as fault:
        reason = f"{what} cannot be written: {fault.strerror}"
        raise PatchmgrError("cache", reason, "free some space or set XDG_CACHE_HOME") from fault


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """Open a partial download for this run alone; a second run waits for the first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b") as part:
            fcntl.flock(part, fcntl.LOCK_EX)
            try:
                is_there = os.path.samestat(os.fstat(part.fileno()), path.stat())
            except FileNotFoundError:  # another run has moved it
                is_there = False
            if is_there:
                yield part
                return


def _bring(
    part: BinaryIO, archive: Archive, settings: IndexSettings, *, progress: Progress
) -> None:
    """Complete a partial download; if its digest is then wrong, download the whole file again."""
    if not archive.sha256:
        part.truncate(0)
    while archive.sha256 is None or sha256_of(part) != archive.sha256:
        was_empty = not _size(part)
        source = local_path(archive.url)
        if source is not None:
            _copy(source, part, archive, progress=progress)
        else:
            _fetch(part, archive, settings, progress=progress)
        if archive.sha256 is None:
            return
        found = sha256_of(part)
        if found != archive.sha256:
            part.truncate(0)
            if was_empty:
                raise PatchmgrError(
                    "checksum-mismatch",
                    f"{archive.filename} has sha256 {found}, but the package index says "
                    f"{archive.sha256}",
                    "run the command again; if it fails again, tell the maintainer of the index",
                )


def _copy(source: Path, part: BinaryIO, archive: Archive, *, progress: Progress) -> None:
    part.seek(0)
    part.truncate()
    try:
        file = source.open("rb")
    except OSError as fault:
        raise unreachable(archive.filename, fault.strerror or "it is not there") from fault
    with file:
        _write(part, iter(lambda: file.read(_CHUNK), b""), archive, (0, _size(file)), progress)


def _fetch(
    part: BinaryIO, archive: Archive, settings: IndexSettings, *, progress: Progress
) -> None:
    """Request the missing bytes from the index, and retry as long as each answer adds some."""
    with open_session() as session:
        while True:
            before = _size(part)
            try:
                _fetch_once(session, part, archive, settings=settings, progress=progress)
                return
            except _RangeError:
                part.truncate(0)
            except PatchmgrError as fault:
                if fault.kind != "unreachable-upstream" or _size(part) <= before:
                    raise


def _fetch_once(
    session: Session,
    part: BinaryIO,
    archive: Archive,
    *,
    settings: IndexSettings,
    progress: Progress,
) -> None:
    offset = _size(part) if archive.sha256 else 0
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
    what = archive.filename
    with answer(session, archive.url, settings=settings, headers=headers, what=what) as response:
        status, start = response.status_code, 0
        told = _RANGE.match(response.headers.get("Content-Range", ""))
        if status == _PARTIAL and told is not None and int(told[1]) == offset:
            start = offset
        elif offset and status in (_PARTIAL, _BEYOND_END):
            raise _RangeError
        elif status != _OK:
            raise unreachable(what, f"the server answered with status {status}")
        part.seek(start)
        part.truncate()
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else archive.size
        # As in pip, do not decode: some servers declare a .tar.gz file as an encoded .tar file.
        chunks = response.raw.stream(_CHUNK, decode_content=False)
        _write(part, chunks, archive, (start, total), progress)
    if total is not None and _size(part) < total:
        raise unreachable(what, "the connection was lost")


def _write(
    part: BinaryIO,
    chunks: Iterable[bytes],
    archive: Archive,
    span: tuple[int, int | None],
    progress: Progress,
) -> None:
    start, total = span
    with task(progress, f"Downloading {archive.filename}", total):
        progress.advance(start)
        for chunk in chunks:
            with writing():
                part.write(chunk)
                part.flush()
            progress.advance(len(chunk))
