"""Releases of a package as commits of a bare git store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.archives import ArchiveFile, read_sdist, read_wheel
from patchmgr.formats.generated_files import Packaging, upstream_commit
from patchmgr.formats.wheel_records import normalised_name
from patchmgr.model.ids import ZERO_ID
from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author
from patchmgr.model.progress import Progress
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.downloads import sha256_of, writing
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.package_index import FILENAME, Archive, Release
from patchmgr.plumbing.package_upstream import RELEASES, Imported, imported
from patchmgr.plumbing.stores import adopt_pack
from patchmgr.plumbing.workbench import Workbench

REPLACED = "refs/upstream/replaced/"
_OLDEST = 315_619_200  # 1980-01-02: the first whole day of the zip format
_NEWEST = 4_102_444_800  # 2100-01-01
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!]*")


class _Content(Struct, frozen=True):
    """What one archive becomes: files by path, the newest time in it, and upstream's commit."""

    files: dict[str, Entry]
    mtime: int
    upstream: str | None


def import_release(
    store: Path, package: str, release: Release, archive_path: Path, *, progress: Progress
) -> str:
    """Import an archive as one commit without parents and return its id.

    The id depends on the archive alone. `refs/upstream/releases/<version>` names it when all is
    written; a commit that another archive of the version gave before stays reachable below
    `refs/upstream/replaced/`. An archive that is in the store already is not read again.

    Raises PatchmgrError "bad-archive", "checksum-mismatch", "cache" where the store cannot be
    written, or "busy"; the store then shows what it showed.
    """
    archive = release.archive
    _check_names(release)
    before = imported(store, release.version)
    if before is not None and archive.sha256 and before.sha256 == archive.sha256:
        return before.commit
    try:
        opened = archive_path.open("rb")
    except OSError as fault:
        reason = f"{archive_path.name} cannot be read: {fault.strerror}"
        raise PatchmgrError("bad-archive", reason) from fault
    with opened as file:
        sha256 = sha256_of(file)
        if archive.sha256 and sha256 != archive.sha256:
            raise PatchmgrError(
                "checksum-mismatch",
                f"{archive.filename} has sha256 {sha256}, not {archive.sha256}",
                ("delete the file and run the command again",),
            )
        if before is not None and before.sha256 == sha256:
            return before.commit
        packaging = Packaging(normalised_name(package), release.version)
        with writing("the store"), Workbench((store,)) as bench:
            content = _content(bench, file, archive, packaging=packaging, progress=progress)
            message = f"{packaging.package} {packaging.version}\n\nArchive: {archive.filename}\n"
            message += f"Sha256: {sha256}\n"
            if content.upstream:
                message += f"Upstream-Commit: {content.upstream}\n"
            date = f"{seconds_of(content.mtime)} +0000"
            author = Author(COMMITTER_NAME, COMMITTER_EMAIL, date)
            (commit,) = write_commits(bench, None, [Draft(author, message.encode(), content.files)])
            adopt_pack(store, bench.git_dir)
    _point(store, release.version, commit, before=before)
    return commit


def seconds_of(mtime: int) -> int:
    """Return the date of a commit that is made of an archive, by the newest time in it."""
    return min(max(mtime, _OLDEST), _NEWEST)


def _check_names(release: Release) -> None:
    """Refuse a version or a file name that a ref or a commit message cannot hold."""
    version, filename = release.version, release.archive.filename
    if not _VERSION.fullmatch(version) or ".." in version or version.endswith((".", ".lock")):
        raise PatchmgrError("bad-archive", f"{version!a} is no version of a package")
    if not FILENAME.fullmatch(filename):
        raise PatchmgrError("bad-archive", f"{filename!a} is no file name of a package")


def _content(
    bench: Workbench, file: BinaryIO, archive: Archive, *, packaging: Packaging, progress: Progress
) -> _Content:
    """Put the files of the archive into the bench."""
    files: dict[str, Entry] = {}
    mtime = 0
    commits: list[str] = []
    for found in _read(file, archive, progress):
        mtime = max(mtime, found.mtime)
        if packaging.is_generated(found.path, found.content):
            commits += filter(None, [upstream_commit(found.content)])
        else:
            files[found.path] = Entry(found.mode, bench.add(found.content))
    return _Content(files, mtime, max(commits, key=len, default=None))


def _read(file: BinaryIO, archive: Archive, progress: Progress) -> Iterator[ArchiveFile]:
    """Yield the files of the archive; what is wrong with it is said with its name."""
    size = file.tell()
    progress.start(f"Importing {archive.filename}", size)
    at = 0
    try:
        for found in read_wheel(file) if archive.kind == "wheel" else read_sdist(file):
            yield found
            at, before = file.tell(), at
            progress.advance(at - before)
    except PatchmgrError as fault:
        hint = "choose another release, and tell the package's authors"
        raise PatchmgrError(fault.kind, f"{archive.filename} {fault.message}", (hint,)) from fault
    finally:
        progress.done()


def _point(store: Path, version: str, commit: str, *, before: Imported | None) -> None:
    """Move the ref of the version in one transaction, from what it was when the import began.

    Another run may have imported the same archive meanwhile: then it names the commit already.
    """
    old = before.commit if before is not None else ZERO_ID
    commands = [f"update {RELEASES}{version} {commit} {old}"]
    if before is not None and old != commit:
        commands.append(f"update {REPLACED}{version}/{old} {old}")
    data = "".join(f"{line}\n" for line in ["start", *commands, "commit"]).encode()
    code, _ = git_process.run(["update-ref", "--stdin"], git_dir=store, data=data, good=(0, 128))
    if code:
        now = imported(store, version)
        if now is None or now.commit != commit:
            raise PatchmgrError(
                "busy",
                f"another run changed release {version} while it was imported",
                ("run the command again",),
            )
