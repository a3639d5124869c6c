"""Import releases of a package into a bare git store, as commits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.archives import ArchiveFile, read_sdist, read_wheel
from patchmgr.formats.wheel_records import normalized_name
from patchmgr.model.patch import own_author
from patchmgr.model.progress import Progress
from patchmgr.model.snapshot import ZERO_ID, Entry
from patchmgr.model.upstream import Resolved
from patchmgr.plumbing import git_process
from patchmgr.plumbing.closing import task
from patchmgr.plumbing.downloads import sha256_of, writing
from patchmgr.plumbing.package_index import Archive, Release, check_filename
from patchmgr.plumbing.package_upstream import RELEASES, imported
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.plumbing.stores import adopt_pack

REPLACED = "refs/upstream/replaced/"
_OLDEST = 315_619_200  # 1980-01-02: the first whole day of the zip format
_NEWEST = 4_102_444_800  # 2100-01-01
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!]*")


def import_release(
    store: Path, package: str, release: Release, archive_path: Path, *, progress: Progress
) -> str:
    """Import an archive as one commit without parents, whose id depends only on the archive.

    Returns the id; `refs/upstream/releases/<version>` names the commit. A commit made earlier from
    another archive of this version stays reachable through `refs/upstream/replaced/`. Raises
    PatchmgrError "bad-archive", "checksum-mismatch", "busy" or, if the store cannot be written,
    "cache"; the store is then unchanged.
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
                f"{archive.filename} must have sha256 {archive.sha256}, but has {sha256}",
                "delete the file and run the command again",
            )
        if before is not None and before.sha256 == sha256:
            return before.commit
        packaging = Packaging(normalized_name(package), release.version)
        named: list[str] = []

        def is_upstreams(found: ArchiveFile) -> bool:
            is_generated = packaging.is_generated(found.path, found.content)
            named.extend(filter(None, [upstream_commit(found.content)] * is_generated))
            return not is_generated

        def message() -> str:
            upstream = max(named, key=len, default=None)
            last = f"Upstream-Commit: {upstream}\n" if upstream else ""
            title = f"{packaging.package} {packaging.version}"
            return f"{title}\n\nArchive: {archive.filename}\nSha256: {sha256}\n{last}"

        files = _read(file, archive, progress)
        commit = write_snapshot(store, files, message, is_upstreams)
    _point(store, release.version, commit, before=before)
    return commit


def write_snapshot(
    store: Path,
    files: Iterable[ArchiveFile],
    message: Callable[[], str],
    is_kept: Callable[[ArchiveFile], bool] = lambda file: True,
) -> str:
    """Write the files for which `is_kept` is true as a commit without parents; return its id.

    The date is the newest time in `files`, limited to the years 1980 to 2100. `message` is called
    when all files have been read.
    """
    with writing("the store"), Scratch((store,)) as scratch:
        entries: dict[str, Entry] = {}
        newest = _OLDEST
        for file in files:
            newest = max(newest, file.mtime)
            if is_kept(file):
                entries[file.path] = Entry(file.mode, scratch.add(file.content))
        author = own_author(f"{min(newest, _NEWEST)} +0000")
        draft = Draft(author, message().encode("utf-8", "surrogateescape"), entries)
        (commit,) = write_commits(scratch, None, [draft])
        adopt_pack(store, scratch.git_dir)
    return commit


def _check_names(release: Release) -> None:
    """Raise an error if a ref or a commit message cannot contain the version or file name."""
    version = release.version
    if not _VERSION.fullmatch(version) or ".." in version or version.endswith((".", ".lock")):
        raise PatchmgrError("bad-archive", f"{version!a} is not a valid package version")
    check_filename(release.archive)


def _read(file: BinaryIO, archive: Archive, progress: Progress) -> Iterator[ArchiveFile]:
    at, size = 0, file.tell()
    try:
        with task(progress, f"Importing {archive.filename}", size):
            for found in read_wheel(file) if archive.kind == "wheel" else read_sdist(file):
                yield found
                at, before = file.tell(), at
                progress.advance(at - before)
    except PatchmgrError as fault:
        hint = "choose another release, and tell the package's authors"
        raise PatchmgrError(fault.kind, f"{archive.filename} {fault.message}", hint) from fault


def _point(store: Path, version: str, commit: str, *, before: Resolved | None) -> None:
    """Set the ref of a version; raise "busy" if it no longer names the commit of `before`."""
    old = before.commit if before is not None else ZERO_ID
    commands = [f"update {RELEASES}{version} {commit} {old}"]
    if before is not None and old != commit:
        commands.append(f"update {REPLACED}{version}/{old} {old}")
    data = git_process.words(["start", *commands, "commit"])
    code, _ = git_process.run(["update-ref", "--stdin"], git_dir=store, data=data, good=(0, 128))
    if code:
        now = imported(store, version)
        # Another run may have imported the same archive meanwhile.
        if now is None or now.commit != commit:
            raise PatchmgrError(
                "busy",
                f"another run changed release {version} while it was being imported",
                "run the command again",
            )


_LARGEST = 16 << 10
_LONGEST_LINE = 300
_HEAD = 1024
_TOOLS = r"setuptools[-_]scm|vcs[-_]versioning|hatch[-_]vcs|'?versioneer(?:\.py)?|versioningit|flit"
_GENERATED_BY = re.compile(
    rf"^(?:#|//) *(?:This )?(?:file|setup\.py) (?:was |is )?generated by (?:{_TOOLS})\b",
    re.MULTILINE,
)
_DOCSTRING = re.compile(r"(\"\"\"|''').*?\1", re.DOTALL)
_CONSTANT = re.compile(r"(?:\w+\s*(?::\s*\w+\s*)?=\s*)+(?:\"[^\"\\]*\"|'[^'\\]*')\s*(?:#.*)?")
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_REVISION_NAME = re.compile(r"(?:^|[_-])(?:git|commit|revision|revisionid|node|sha|hash)(?:[_-]|$)")
_VERSION_NAME = re.compile(r"(?:^|_)version(?:_|$)")
_COMMIT = re.compile(r"g?([0-9a-f]{7,40})")
_LOCAL_COMMIT = re.compile(r".*\+(?:[0-9a-z]+\.)*g([0-9a-f]{7,40})(?:\..*)?")
_TAGS = re.compile(r"tag_(?:build|date|svn_revision)\s*[=:]\s*(?:(?:0|false)\s*)?", re.IGNORECASE)
_ARCHIVAL = frozenset({".git_archival.txt", ".git_archival.json"})


class Packaging(Struct, frozen=True):
    """The package and version of a release, used to recognize files that a build tool generated."""

    package: str  # normalized
    version: str

    def is_generated(self, path: str, content: bytes) -> bool:
        """Return whether a build tool generated the file, so that upstream never committed it."""
        folder, _, name = path.rpartition("/")
        if path == "PKG-INFO" or self._is_egg_info(folder) or name.endswith(".pyc"):
            return True
        if len(content) > _LARGEST:
            return False
        if path == "setup.cfg":
            # setuptools wrote it if it contains only the section that setuptools adds.
            lines = [line.strip() for line in _text(content).splitlines() if line.strip()]
            return lines[:1] == ["[egg_info]"] and all(map(_TAGS.fullmatch, lines[1:]))
        if name in _ARCHIVAL:
            return upstream_commit(content) is not None
        head = content[:_HEAD]
        may_say = not name.startswith(".") and b"generated by " in head
        if may_say and _GENERATED_BY.search(_text(head)):
            return True
        return name.endswith(".py") and self._is_build_record(content)

    def _is_egg_info(self, folder: str) -> bool:
        """Return whether a folder is in an egg-info folder at the root or of this package."""
        for depth, part in enumerate(folder.split("/")):
            if part.endswith(".egg-info"):
                stem = part.removesuffix(".egg-info")
                return not depth or normalized_name(stem) == self.package
        return False

    def _is_build_record(self, content: bytes) -> bool:
        """Return whether a module has only string constants, with this version and a revision."""
        # A commit cannot contain its own id, so a build generated such a module.
        if self.version.encode() not in content:
            return False
        body = _DOCSTRING.sub("", _text(content), count=1)
        lines = [line.strip() for line in body.splitlines()]
        code = [line for line in lines if line and not line.startswith("#")]
        if any(len(line) > _LONGEST_LINE or not _CONSTANT.fullmatch(line) for line in code):
            return False
        pairs = list(_pairs("\n".join(code)))
        is_this = any(_names(pair, _VERSION_NAME) and pair[1] == self.version for pair in pairs)
        return is_this and any(_names(pair, _REVISION_NAME) for pair in pairs)


def upstream_commit(content: bytes) -> str | None:
    """Return the longest commit id (7 to 40 hex digits) that a generated file names, or None."""
    found: list[str] = []
    for pair in _pairs(_text(content[:_LARGEST])):
        if _names(pair, _REVISION_NAME) and (match := _COMMIT.fullmatch(pair[1])):
            found.append(match[1])
        if _names(pair, _VERSION_NAME) and (match := _LOCAL_COMMIT.fullmatch(pair[1])):
            found.append(match[1])
    return max(found, key=len, default=None)


def _pairs(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the names and the value of each line `a = b = "value"` or `"name": "value",`."""
    for line in text.splitlines():
        if len(line) > _LONGEST_LINE:
            continue
        left, sign, right = line.rpartition("=")
        if not sign:
            left, sign, right = line.partition(":")
        yield _NAME.findall(left), right.strip().strip("\"',")


def _names(pair: tuple[list[str], str], wanted: re.Pattern[str]) -> bool:
    return any(wanted.search(name.strip("_")) for name in pair[0])


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
