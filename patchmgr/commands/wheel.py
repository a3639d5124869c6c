"""`wheel`: make a patched wheel from a wheel, with a local version (`+patchmgr.…`)."""

from __future__ import annotations

import copy
import hashlib
import os
import re
import stat
import zipfile
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.archives import safe_path
from patchmgr.formats.wheel_records import (
    RecordRow,
    digests,
    is_known_digest,
    normalized_name,
    parse_record,
    record_digest,
    row_of,
    write_record,
)
from patchmgr.model.bill_of_materials import Materials
from patchmgr.model.snapshot import EXECUTABLE, REGULAR
from patchmgr.plumbing.applied import Content, content_of
from patchmgr.plumbing.closing import Closing
from patchmgr.plumbing.durable import written_beside
from patchmgr.plumbing.outputs import make_folder
from patchmgr.plumbing.work_tree import WorkFile, permissions_for
from patchmgr.services.bill_of_materials import materials_of, patches_used
from patchmgr.services.installed import WHEEL_MARK, path_map
from patchmgr.services.packages import Package, PackageResult, carry_onto_package, keep_undecided
from patchmgr.services.series import whole_series
from patchmgr.services.session import Session

BILL = "sboms/patchmgr.cdx.json"  # in .dist-info, as PEP 770 specifies
Bill = Callable[[Sequence[Materials]], str]
_DIGEST = re.compile(r"[a-f][0-9a-f]{9}")  # a local part of digits alone would be a number


class PatchedWheel(Struct, frozen=True):
    """The result of `wheel`."""

    series: str
    source: Path
    place: Path | None  # the patched wheel; None if conflicts remain
    version: str
    paths: tuple[str, ...]  # files that differ from those in the original wheel
    carried: PackageResult


def make_wheel(
    session: Session, name: str, source: Path, folder: Path, bill: Bill | None
) -> PatchedWheel:
    """Write a patched wheel to a folder; the same wheel and series always give the same bytes.

    `bill` makes a bill of materials to add.
    """
    _refuse_file(folder)
    record = session.workspace.series_record(name)
    with Wheel(source) as wheel:
        wanted = session.workspace.upstream(record.upstream).package
        if wanted is not None and normalized_name(wheel.name) != normalized_name(wanted):
            raise UsageError(
                f"{source.name} is not a wheel of {wanted}",
                f"use --from to name a wheel of {wanted}",
            )
        package = Package(
            normalized_name(wheel.name), wheel.version, wheel.record, wheel.read,
            path_map(session, name),
        )  # fmt: skip
        done = carry_onto_package(session, record, package)
        keep_undecided(session, done)
        changes = dict(done.files)
        version = wheel.local_version(changes) if changes else wheel.version
        result = PatchedWheel(
            name, source, folder / wheel.patched_name(version), version,
            tuple(sorted(changes)), done,
        )  # fmt: skip
        if done.outcome.has_conflicts:
            return PatchedWheel(name, source, None, wheel.version, (), done)
        if not changes:
            raise PatchmgrError(
                "nothing-to-do",
                f"{source.name} already has all changes of {name}, or none of the files that they"
                " change",
                "there is nothing to patch: use the wheel as it is",
            )
        if bill is not None:
            patches = whole_series(session, record)[0]
            used = patches_used([o for o in done.outcome.patches if o.is_carried], patches)
            digest = hashlib.sha256(source.read_bytes()).hexdigest()
            made_of = materials_of(
                session, record, wheel.version, version, sha256=digest, used=used
            )
            upstream = replace(made_of.upstream, package=normalized_name(wheel.name))
            text = bill([replace(made_of, commit=None, upstream=upstream)])
            changes[f"{wheel.info}/{BILL}"] = content_of(REGULAR, text.encode())
        if not session.is_dry_run:
            assert result.place is not None
            make_folder(folder)
            wheel.write(result.place, version, changes)
        return result


def _refuse_file(folder: Path) -> None:
    """Raise PatchmgrError "usage" if a file is where the folder, or one above it, should be."""
    for place in (folder, *folder.parents):
        if os.path.isfile(place):
            raise UsageError(f"{place} is a file, not a folder", "name a folder: --out DIR")


_FILE_NAME = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?P<rest>(?:-[^-]+){3,4})\.whl")
_SIGNATURES = ("RECORD.jws", "RECORD.p7s")
_VERSION = re.compile(rb"^Version:[^\r\n]*", re.MULTILINE | re.IGNORECASE)
_LARGEST = 1 << 30
_HEADER = 30
_UNIX = 3  # the system whose modes a member has


class Wheel(Closing):
    """A wheel that is open for reading."""

    def __init__(self, path: Path) -> None:
        named = _FILE_NAME.fullmatch(path.name)
        if named is None:
            raise _bad(path, "does not have the file name of a wheel")
        self.path, self.name, self.version = path, named["name"], named["version"]
        self._rest = named["rest"]
        try:
            self._archive = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as fault:
            raise _bad(path, f"cannot be read: {fault}") from fault
        self._members = {info.filename: info for info in self._archive.infolist()}
        self.info = self._find_info()
        self.rows = parse_record(self._archive.read(f"{self.info}/RECORD"))
        self.record = digests(self.rows)

    def close(self) -> None:
        """Close the file of the wheel."""
        self._archive.close()

    def _find_info(self) -> str:
        if len(self._members) != len(self._archive.infolist()):
            raise _bad(self.path, "has two members with the same name")
        for name in self._members:
            try:
                safe_path(name)
            except ValueError as fault:
                raise _bad(self.path, f"has a member {name!a} that {fault}") from fault
        tops = {name.partition("/")[0] for name in self._members if "/" in name}
        infos = {top for top in tops if top.endswith(".dist-info")}
        if len(infos) != 1:
            raise _bad(self.path, "does not have exactly one .dist-info folder")
        info = infos.pop()
        for needed in ("RECORD", "METADATA"):
            if f"{info}/{needed}" not in self._members:
                raise _bad(self.path, f"has no {needed}")
        return info

    def read(self, path: str) -> WorkFile | None:
        """Return a file of the wheel, or None; raise "bad-archive" if RECORD does not match it."""
        info = self._members.get(path)
        if info is None:
            return None
        if info.file_size > _LARGEST:
            raise _bad(self.path, f"has a member {path!a} that is too large")
        content = self._archive.read(info)
        digest = self.record.get(path, "")
        if is_known_digest(digest) and record_digest(content) != digest:
            raise _bad(self.path, f"has a member {path!a} whose content does not match its RECORD")
        return _work_file(info, content)

    def local_version(self, changes: Mapping[str, Content | None]) -> str:
        """Return the wheel's version with a local part that contains a digest of the changes."""
        whole = hashlib.sha256()
        for path, change in sorted(changes.items(), key=itemgetter(0)):
            part = b"-" if change is None else hashlib.sha256(change.content).digest()
            whole.update(path.encode("utf-8", "surrogateescape") + b"\0" + part)
            # a mode counts only if it differs from the one in the wheel
            old = self._members.get(path)
            mode = REGULAR if old is None else _work_file(old, b"").mode
            if change is not None and change.mode != mode:
                whole.update(b"\0" + change.mode.encode())
        found = _DIGEST.search(whole.hexdigest())
        digest = found[0] if found is not None else f"x{whole.hexdigest()[:9]}"
        return f"{self.version}{'.' if '+' in self.version else '+'}{WHEEL_MARK}{digest}"

    def patched_name(self, version: str) -> str:
        """Return the file name of this wheel, with `version` in place of its own version."""
        return f"{self.name}-{version}{self._rest}.whl"

    def write(self, place: Path, version: str, changes: Mapping[str, Content | None]) -> None:
        """Write the wheel with another version and changed files; None removes a file."""
        with written_beside(place) as beside:
            with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as out:
                # the bytes depend only on this wheel, the version and the changes
                _Writer(self._archive, out, self, version).write(changes)
            os.chmod(beside, 0o644)


class _Writer:
    def __init__(
        self, source: zipfile.ZipFile, out: zipfile.ZipFile, wheel: Wheel, version: str
    ) -> None:
        self._source, self._out, self._wheel, self._version = source, out, wheel, version
        self._rows: list[RecordRow] = []
        self._old = {row.path: row for row in wheel.rows}

    def write(self, changes: Mapping[str, Content | None]) -> None:
        """Write all members in their old order, then the new files, and RECORD last."""
        info, left = self._wheel.info, dict(changes)
        record: zipfile.ZipInfo | None = None
        for member in self._source.infolist():
            name = member.filename
            if name == f"{info}/RECORD":
                record = member
            elif name == f"{info}/METADATA":
                head = self._source.read(member)
                line = b"Version: " + self._version.encode()
                self._put(member, _VERSION.sub(line, head, count=1))
            elif name in left:
                change = left.pop(name)
                if change is not None:
                    old = _work_file(member, b"")
                    bits = permissions_for(change.mode, old)
                    if bits is not None and bits != old.permissions:
                        member = _with_permissions(member, bits)
                    self._put(member, change.content)
            elif name not in {f"{info}/{signature}" for signature in _SIGNATURES}:
                self._copy(member)
        assert record is not None
        for path, change in sorted(left.items(), key=itemgetter(0)):
            if change is not None:
                bits = 0o755 if change.mode == EXECUTABLE else 0o644
                fresh = _with_permissions(record, bits)
                fresh.filename = path
                self._put(fresh, change.content)
        self._rows.append(RecordRow(self._renamed(record.filename), "", ""))
        self._store(record, write_record(self._rows))

    def _renamed(self, path: str) -> str:
        top, slash, rest = path.partition("/")
        for kind in (".dist-info", ".data"):
            if top.endswith(kind):
                return f"{self._wheel.name}-{self._version}{kind}{slash}{rest}"
        return path

    def _put(self, member: zipfile.ZipInfo, content: bytes) -> None:
        self._rows.append(row_of(self._renamed(member.filename), content))
        self._store(member, content)

    def _store(self, member: zipfile.ZipInfo, content: bytes) -> None:
        fresh = zipfile.ZipInfo(self._renamed(member.filename), member.date_time)
        fresh.external_attr, fresh.create_system = member.external_attr, member.create_system
        fresh.compress_type = zipfile.ZIP_DEFLATED
        self._out.writestr(fresh, content, compresslevel=6)

    def _copy(self, member: zipfile.ZipInfo) -> None:
        """Copy a member without decompressing it, because a wheel may contain gigabytes."""
        if not member.is_dir():
            row = self._old.get(member.filename)
            if row is None:
                row = row_of(member.filename, self._source.read(member))
            name = self._renamed(member.filename)
            self._rows.append(RecordRow(name, row.digest, row.size))
        source, out = self._source.fp, self._out.fp
        assert source is not None and out is not None
        source.seek(member.header_offset)
        head = source.read(_HEADER)
        skipped = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        source.seek(member.header_offset + _HEADER + skipped)
        fresh = copy.copy(member)
        fresh.filename = fresh.orig_filename = self._renamed(member.filename)
        fresh.extra, fresh.flag_bits = b"", member.flag_bits & ~0x08
        out.seek(self._out.start_dir)
        fresh.header_offset = out.tell()
        out.write(fresh.FileHeader(max(member.file_size, member.compress_size) > 0x7FFFFFFF))
        _copy_bytes(source, out, member.compress_size)
        self._out.filelist.append(fresh)
        self._out.NameToInfo[fresh.filename] = fresh
        self._out.start_dir = out.tell()


def _work_file(member: zipfile.ZipInfo, content: bytes) -> WorkFile:
    bits = member.external_attr >> 16 & 0o777
    return WorkFile(EXECUTABLE if bits & 0o100 else REGULAR, content, bits or 0o644)


def _with_permissions(member: zipfile.ZipInfo, bits: int) -> zipfile.ZipInfo:
    fresh = copy.copy(member)
    fresh.create_system = _UNIX
    fresh.external_attr = (stat.S_IFREG | bits) << 16 | member.external_attr & 0xFFFF
    return fresh


def _copy_bytes(source: IO[bytes], out: IO[bytes], count: int) -> None:
    while count:
        chunk = source.read(min(count, 1 << 20))
        if not chunk:
            raise OSError("the archive ends too early")
        out.write(chunk)
        count -= len(chunk)


def _bad(path: Path, reason: str) -> PatchmgrError:
    return PatchmgrError("bad-archive", f"{path.name} {reason}", "download the wheel again")
