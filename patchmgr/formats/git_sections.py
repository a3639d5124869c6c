"""One file section of a git diff: its extended headers, read strictly.

Every statement about a path or mode is compared with every other; a section whose headers
disagree is refused, because two readers could take it for two different changes.
"""

from __future__ import annotations

import re

from msgspec import Struct

from patchmgr.formats.binary import read_binary
from patchmgr.formats.hunks import read_hunks
from patchmgr.formats.paths import check_link
from patchmgr.formats.reader import PatchReader
from patchmgr.formats.section_names import (
    SectionNames,
    check_prefixes,
    check_title,
    common_name,
    marker_name,
    moved_name,
)
from patchmgr.model.ids import blob_id
from patchmgr.model.patch import BinaryChange, FilePatch, Hunk
from patchmgr.model.snapshot import EXECUTABLE, FILE_MODES, GITLINK, REGULAR, SYMLINK

TITLE = b"diff --git "

_KEYS = {
    b"old mode ": "old mode",
    b"new mode ": "new mode",
    b"new file mode ": "new file mode",
    b"deleted file mode ": "deleted file mode",
    b"rename from ": "rename from",
    b"rename to ": "rename to",
    b"copy from ": "copy from",
    b"copy to ": "copy to",
    b"similarity index ": "similarity index",
    b"dissimilarity index ": "dissimilarity index",
    b"index ": "index",
}
_PAIRS = (("old mode", "new mode"), ("rename from", "rename to"), ("copy from", "copy to"))
_KINDS = ("new file mode", "deleted file mode", "old mode", "rename from", "copy from")
_TOGETHER = {frozenset({"old mode", "rename from"}), frozenset({"old mode", "copy from"})}
_MODES = frozenset({REGULAR, EXECUTABLE, SYMLINK, GITLINK})
_INDEX = re.compile(rb"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: (\d{6}))?")
_PERCENT = re.compile(rb"\d{1,3}%")


class _Facts(Struct, frozen=True):
    """What the extended headers of a section say."""

    old_mode: str | None
    new_mode: str | None
    old_id: str | None
    new_id: str | None
    is_new: bool
    is_deleted: bool
    is_copy: bool
    moved: SectionNames | None


def read_git_section(reader: PatchReader, strip: int) -> FilePatch:
    """Read the section that begins at the reader's place with its "diff --git" line."""
    start = reader.at
    title = reader.take()[len(TITLE) :]
    check_prefixes(reader, title, strip, start)
    facts = _facts(reader, _extended(reader), strip)
    markers = _markers(reader, strip)
    names = _names(reader, title, facts, markers, strip=strip, start=start)
    hunks = read_hunks(reader) if markers else ()
    binary = None if markers else _binary(reader, facts)
    _check_sides(reader, facts, hunks, start)
    if not (hunks or binary or _says_something(facts)):
        raise reader.fault("the section changes nothing", at=start)
    if names.new is not None:
        check_link(names.new, facts.new_mode, what=f"{reader.where(start)}: the path")
    return FilePatch(
        names.old,
        names.new,
        facts.old_mode,
        facts.new_mode,
        facts.old_id,
        facts.new_id,
        is_copy=facts.is_copy,
        hunks=hunks,
        binary=binary,
    )


def _extended(reader: PatchReader) -> dict[str, tuple[bytes, int]]:
    """Read the extended header lines: what each says, and where."""
    found: dict[str, tuple[bytes, int]] = {}
    while reader.starts(*_KEYS):
        line = reader.lines[reader.at]
        key, text = next((text, key) for key, text in _KEYS.items() if line.startswith(key))
        if key in found:
            raise reader.fault(f"a second {key} line in one section")
        found[key] = (reader.take()[len(text) :], reader.at - 1)
    return found


def _facts(reader: PatchReader, found: dict[str, tuple[bytes, int]], strip: int) -> _Facts:
    """Turn header lines into facts, refusing what contradicts itself."""
    _check_together(reader, found)
    modes = {key: _mode(reader, *found[key]) for key in found if key.endswith("mode")}
    old_id, new_id, both = _index(reader, found)
    old = modes.get("old mode") or modes.get("deleted file mode") or both
    new = modes.get("new mode") or modes.get("new file mode") or both
    if both and modes and {both} != set(modes.values()):
        raise reader.fault("the index line has another mode", at=found["index"][1])
    if old and new and old != new and not {old, new} <= FILE_MODES:
        raise reader.fault("a file cannot become a link in one section", at=found["old mode"][1])
    is_new, is_deleted = "new file mode" in found, "deleted file mode" in found
    return _Facts(
        None if is_new else old,
        None if is_deleted else new,
        old_id,
        new_id,
        is_new,
        is_deleted,
        "copy from" in found,
        _moved(reader, found, strip),
    )


def _check_together(reader: PatchReader, found: dict[str, tuple[bytes, int]]) -> None:
    for first, second in _PAIRS:
        if (first in found) != (second in found):
            alone = first if first in found else second
            raise reader.fault(f"a {alone} line without its counterpart", at=found[alone][1])
    kinds = [key for key in _KINDS if key in found]
    if len(kinds) > 1 and frozenset(kinds) not in _TOGETHER:
        raise reader.fault(f"{kinds[0]} and {kinds[1]} disagree", at=found[kinds[1]][1])
    for key in ("similarity index", "dissimilarity index"):
        if key in found and not _PERCENT.fullmatch(found[key][0]):
            raise reader.fault(f"the {key} cannot be read", at=found[key][1])


def _mode(reader: PatchReader, text: bytes, at: int) -> str:
    mode = text.decode("latin-1")
    if mode not in _MODES:
        raise reader.fault("the mode is none that git writes", at=at)
    return mode


def _index(
    reader: PatchReader, found: dict[str, tuple[bytes, int]]
) -> tuple[str | None, str | None, str | None]:
    """Return both ids and the mode of the index line."""
    if "index" not in found:
        return None, None, None
    text, at = found["index"]
    match = _INDEX.fullmatch(text)
    if match is None:
        raise reader.fault("the index line cannot be read", at=at)
    mode = _mode(reader, match[3], at) if match[3] else None
    return match[1].decode(), match[2].decode(), mode


def _moved(
    reader: PatchReader, found: dict[str, tuple[bytes, int]], strip: int
) -> SectionNames | None:
    """Return the two paths of a rename or copy."""
    for verb in ("rename", "copy"):
        if f"{verb} from" in found:
            old, new = (
                moved_name(reader, *found[f"{verb} {end}"], strip) for end in ("from", "to")
            )
            if old == new:
                raise reader.fault(f"a {verb} onto itself", at=found[f"{verb} to"][1])
            return SectionNames(old, new)
    return None


def _markers(reader: PatchReader, strip: int) -> SectionNames | None:
    """Read the --- and +++ lines, where there are any."""
    if not reader.starts(b"--- "):
        return None
    old = marker_name(reader, b"--- ", strip)
    new = marker_name(reader, b"+++ ", strip)
    return SectionNames(old, new)


def _names(
    reader: PatchReader,
    title: bytes,
    facts: _Facts,
    markers: SectionNames | None,
    *,
    strip: int,
    start: int,
) -> SectionNames:
    """Return the paths that all headers agree on."""
    if facts.moved and markers and facts.moved != markers:
        raise reader.fault("the rename or copy lines and the --- +++ lines disagree", at=start)
    named = facts.moved or markers
    if named is None:
        path = common_name(reader, title, strip, start)
        return SectionNames(None if facts.is_new else path, None if facts.is_deleted else path)
    if (named.old is None, named.new is None) != (facts.is_new, facts.is_deleted):
        raise reader.fault("/dev/null and the new or deleted file mode disagree", at=start)
    if not facts.moved and named.old and named.new and named.old != named.new:
        raise reader.fault("the --- and +++ lines name two files, with no rename", at=start)
    check_title(reader, title, named, strip=strip, at=start)
    return named


def _binary(reader: PatchReader, facts: _Facts) -> BinaryChange | None:
    """Read a binary payload, where the section has one."""
    if reader.starts(b"Binary files "):
        raise reader.fault("a binary file without its content", "export with --binary")
    if reader.line != b"GIT binary patch\n":
        return None
    at = reader.at
    reader.at += 1
    if not (facts.old_id and facts.new_id and len(facts.old_id) == len(facts.new_id) >= 40):
        hint = "export with --full-index --binary"
        raise reader.fault("a binary patch without a full index line", hint, at=at)
    change = read_binary(reader)
    if facts.is_deleted and change != BinaryChange("literal", b""):
        raise reader.fault("a deleted file with content", at=at)
    wanted = facts.new_id if len(facts.new_id) == 40 and change.method == "literal" else None
    if wanted and not facts.is_deleted and blob_id(change.payload) != wanted:
        raise reader.fault("the binary content is not the one that the index line names", at=at)
    return change


def _check_sides(reader: PatchReader, facts: _Facts, hunks: tuple[Hunk, ...], start: int) -> None:
    """Refuse a new file with an old side and a deleted file with a new one."""
    if facts.is_new and any(hunk.old_count for hunk in hunks):
        raise reader.fault("a new file with old lines", at=start)
    if facts.is_deleted and any(hunk.new_count for hunk in hunks):
        raise reader.fault("a deleted file with lines left", at=start)


def _says_something(facts: _Facts) -> bool:
    """Say whether the headers alone change something."""
    changes_mode = facts.old_mode != facts.new_mode
    return facts.is_new or facts.is_deleted or facts.moved is not None or changes_mode
