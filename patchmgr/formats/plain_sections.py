"""One file section of a plain unified diff, as diff -u, quilt and Subversion write it."""

from __future__ import annotations

import re

from patchmgr.formats.hunks import read_hunks
from patchmgr.formats.reader import PatchReader
from patchmgr.formats.section_names import NO_FILE, checked_name, read_marker
from patchmgr.model.patch import FilePatch

NOISE = (b"Index: ", b"=====", b"diff -", b"RCS file: ", b"retrieving revision ")

# How GNU diff -N dates a file that is not there: the epoch, in any time zone (git's
# has_epoch_timestamp).
_EPOCH = re.compile(rb"(1969-12-31|1970-01-01) (\d\d):(\d\d):00(?:\.0+)? ([-+])(\d\d):?(\d\d)\s*")
_BACKUP = re.compile(r"\.(?:orig|old|bak|new)|~")


def skip_noise(reader: PatchReader) -> None:
    """Step over the lines that such a diff may have above a section."""
    start = reader.at
    while reader.starts(*NOISE):
        reader.at += 1
    if reader.at > start and not reader.starts(b"--- "):
        hint = "an empty file and a mode need a diff made by git"
        raise reader.fault("a section without a change", hint, at=start)


def read_plain_section(reader: PatchReader, strip: int) -> FilePatch:
    """Read the section that begins at the reader's place with its `---` line."""
    start = reader.at
    old_name, old_stamp = read_marker(reader, b"--- ")
    new_name, new_stamp = read_marker(reader, b"+++ ")
    path = _path(reader, old_name, new_name, strip=strip, start=start)
    hunks = read_hunks(reader)
    is_new = old_name == NO_FILE or _is_epoch(old_stamp)
    is_deleted = new_name == NO_FILE or _is_epoch(new_stamp)
    if is_new and any(hunk.old_count for hunk in hunks):
        raise reader.fault("a new file with old lines", at=start)
    if is_deleted and any(hunk.new_count for hunk in hunks):
        raise reader.fault("a deleted file with lines left", at=start)
    return FilePatch(None if is_new else path, None if is_deleted else path, hunks=hunks)


def _path(reader: PatchReader, old: bytes, new: bytes, *, strip: int, start: int) -> str:
    """Return the one path that two names mean, one of which may be a backup's or no file's."""
    named = [name for name in enumerate((old, new), start) if name[1] != NO_FILE]
    if not named:
        raise reader.fault("both names say that there is no file", at=start)
    paths = [checked_name(reader, name, strip, at) for at, name in named]
    short, long = sorted((paths[0], paths[-1]), key=len)
    if short == long or (long.startswith(short) and _BACKUP.fullmatch(long[len(short) :])):
        return short
    raise reader.fault("the --- and +++ lines name two files", at=start)


def _is_epoch(stamp: bytes) -> bool:
    match = _EPOCH.fullmatch(stamp)
    if match is None:
        return False
    hour, minute, zone_hour, zone_minute = (int(match[n]) for n in (2, 3, 5, 6))
    clock = hour * 60 + minute - (24 * 60 if match[1].startswith(b"1969") else 0)
    zone = zone_hour * 60 + zone_minute
    return clock == (zone if match[4] == b"+" else -zone)
