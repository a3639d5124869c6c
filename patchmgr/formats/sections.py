"""Read the sections of a diff, one per file: names, extended headers and hunks.

A section is refused if its headers disagree about a path or a mode, because two programs could then
read two different changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.binary import read_binary
from patchmgr.formats.paths import (
    MAX_PATH,
    check_link,
    check_path,
    decode_path,
    encode_path,
    parents_of,
)
from patchmgr.formats.reader import PatchReader
from patchmgr.formats.shown import shown
from patchmgr.model.patch import BinaryChange, FilePatch, Hunk
from patchmgr.model.snapshot import EXECUTABLE, FILE_MODES, GITLINK, REGULAR, SYMLINK, blob_id

NO_FILE = b"/dev/null"

_MAX_TITLE = 2 * MAX_PATH + 256


Names = tuple["str | None", "str | None"]
"""(old, new) paths of a section; one is None if the section creates or deletes the file."""


_MAX_STAMP = 100

# A date after a name without a tab, as in a copy of a terminal (git's diff_timestamp_len).
_STAMP = re.compile(
    rb" +(\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*(?: +[-+]\d\d:?\d\d)?"
    rb"|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d (?:[A-Z]+ )?\d{4})\s*$"
)


def _read_marker(reader: PatchReader, marker: bytes) -> tuple[bytes, bytes]:
    """Read a `---` or `+++` line; return the name, and the date or other text after it."""
    if not reader.starts(marker):
        raise reader.fault(f"a {marker.decode().strip()} line is expected here")
    text = reader.take()[len(marker) :]
    if text[:1] != b'"':
        return name_and_stamp(text)
    quoted = unquote(text)
    if quoted is None or quoted[1][:1] not in (b"", b"\t"):
        raise reader.fault("the quoted name cannot be read", at=reader.at - 1)
    return quoted[0], quoted[1][1:]


def name_and_stamp(text: bytes) -> tuple[bytes, bytes]:
    """Split the text after `---` or `+++`, which must not be quoted, into file name and date."""
    name, tab, stamp = text.partition(b"\t")
    match = None if tab else _STAMP.search(name, max(0, len(name) - _MAX_STAMP))
    return (name, stamp) if match is None else (name[: match.start()].rstrip(b" "), match[1])


def _checked_name(reader: PatchReader, name: bytes, at: int, strip: int | None = None) -> str:
    """Return a name as a path without its first `strip` directories; refuse an unsafe path."""
    strip = reader.strip if strip is None else strip
    what = f"{reader.where(at)}: the path"
    path = decode_path(name)
    for part in path.split("/", strip)[:strip]:
        if part != ".":
            check_path(part or path, what=what)
    stripped = _stripped(name, strip)
    if stripped is None:
        hint = "in the series file, add -pN after the patch's name, "
        hint += "where N is the number of leading directories to strip"
        raise reader.fault(f"a path has too few directories for -p{strip}", hint, at=at)
    return check_path(decode_path(stripped), what=what)


def _common_name(reader: PatchReader, title: bytes, at: int) -> str:
    """Return the one path that a "diff --git" line names twice."""
    strip = reader.strip
    pairs = [
        (old, new)
        for old, new in _splits(title)
        if (name := _stripped(old, strip)) is not None and name == _stripped(new, strip)
    ]
    if len(pairs) != 1:
        raise reader.fault("the diff --git line does not name the same file twice", at=at)
    old, new = (_checked_name(reader, name, at) for name in pairs[0])
    assert old == new
    return new


def _check_title(reader: PatchReader, title: bytes, names: Names, at: int) -> None:
    """Raise an error unless a "diff --git" line can be read as these names."""
    old, new = names
    wanted = [encode_path(path or "") for path in (old or new, new or old)]
    for pair in _splits(title):
        if [_stripped(name, reader.strip) for name in pair] == wanted:
            for name in pair:
                _checked_name(reader, name, at)
            return
    raise reader.fault("the diff --git line and the lines below it name different files", at=at)


def _stripped(name: bytes, strip: int) -> bytes | None:
    """Return the name without its first `strip` directories, or None if it has fewer."""
    parts = name.split(b"/", strip)
    return parts[strip] if len(parts) > strip else None


def _whole_name(reader: PatchReader, text: bytes, at: int) -> bytes:
    """Return a name, without its quotes if it is quoted."""
    if text[:1] != b'"':
        return text
    quoted = unquote(text)
    if quoted is None or quoted[1]:
        raise reader.fault("the quoted name cannot be read", at=at)
    return quoted[0]


def _splits(title: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield every pair of names that a "diff --git" line can be read as."""
    if title[:1] == b'"':
        quoted = unquote(title)
        if quoted is not None and quoted[1][:1] == b" ":
            yield from _pair(quoted[0], quoted[1][1:])
    elif b' "' in title:
        old, _, new = title.partition(b' "')
        yield from _pair(old, b'"' + new)
    elif len(title) <= _MAX_TITLE:
        at = title.find(b" ")
        while at >= 0:
            yield title[:at], title[at + 1 :]
            at = title.find(b" ", at + 1)


def _pair(old: bytes, text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (old, new) if `text` is one name, which may be quoted."""
    if text[:1] != b'"':
        yield old, text
    else:
        quoted = unquote(text)
        if quoted is not None and not quoted[1]:
            yield old, quoted[0]


_QUOTED = re.compile(rb'[^"\\\n]+|\\([abtnvfr"\\])|\\([0-3][0-7]{2})')
_CHARS = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def unquote(raw: bytes) -> tuple[bytes, bytes] | None:
    """Return the quoted name at the start of `raw`, and the rest; None if the name is malformed."""
    if raw[:1] != b'"':
        return None
    at, found = 1, bytearray()
    while match := _QUOTED.match(raw, at):
        at = match.end()
        if match[1]:
            found.append(_CHARS[match[1][0]])
        elif match[2]:
            found.append(int(match[2], 8))
        else:
            found += match[0]
    return (bytes(found), raw[at + 1 :]) if raw[at : at + 1] == b'"' else None


_HUNK = re.compile(rb"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
_OLD, _NEW = 1, 2
_SIDES = {b" ": _OLD | _NEW, b"\n": _OLD | _NEW, b"-": _OLD, b"+": _NEW}


def is_hunk_head(line: bytes) -> bool:
    """Return whether the line starts a hunk of a unified diff."""
    return _HUNK.match(line) is not None


def read_hunks(reader: PatchReader) -> tuple[Hunk, ...]:
    """Read all hunks at the reader's position; raise "bad-patch" if one is inconsistent."""
    scan = _Scan(reader)
    hunks: list[Hunk] = []
    while reader.starts(b"@@"):
        hunks.append(scan.hunk())
    if not hunks:
        raise reader.fault("a hunk is expected here")
    return tuple(hunks)


class _Scan(Struct):
    """The state of reading the hunks of one file."""

    reader: PatchReader
    ended: int = 0  # a bit for each side that ended without a newline
    next_line: int = 1  # the first old line that the next hunk may change

    def hunk(self) -> Hunk:
        start = self.reader.at
        old_start, old, new_start, new, heading = self._head()
        lines = self._body(old, new)
        if not any(line.startswith((b"+", b"-")) for line in lines):
            raise self.reader.fault("the hunk changes nothing", at=start)
        return Hunk(old_start, old, new_start, new, heading, lines)

    def _head(self) -> tuple[int, int, int, int, bytes]:
        """Read a hunk header; return the start and count of both sides, and the heading."""
        reader, line = self.reader, self.reader.line or b""
        match = _HUNK.match(line)
        if match is None or not line.endswith(b"\n"):
            raise reader.fault("the hunk header cannot be read")
        old_start, old, new_start, new = (1 if n is None else int(n) for n in match.groups())
        first = old_start if old else old_start + 1
        if not first or not (new_start or not new):
            raise reader.fault("the hunk header names line 0, but the first line is 1")
        if first < self.next_line:
            raise reader.fault("the hunk overlaps the one before it, or is out of order")
        self.next_line = first + old
        reader.at += 1
        return old_start, old, new_start, new, line[match.end() : -1].removeprefix(b" ")

    def _body(self, old: int, new: int) -> tuple[bytes, ...]:
        """Read the lines of a hunk; `old` and `new` are the counts in its header."""
        reader, found = self.reader, list[bytes]()
        lines = reader.lines
        while old or new:
            line = lines[reader.at] if reader.at < len(lines) else b""
            sides = _SIDES.get(line[:1])
            if sides is None or self.ended & sides or line[-1:] != b"\n":
                raise self._fault(line, sides)
            old -= sides & _OLD
            new -= sides >> 1
            if old < 0 or new < 0:
                raise reader.fault("the hunk has more lines than its header says")
            found.append(line if line != b"\n" else b" \n")
            reader.at += 1
            if reader.at < len(lines) and lines[reader.at][:2] == b"\\ ":
                found[-1] = self._unended(line, sides)
        return tuple(found)

    def _fault(self, line: bytes, sides: int | None) -> PatchmgrError:
        """Return the error for a line of a hunk; `line` is empty at the end of the patch."""
        if not line:
            return self.reader.fault("the patch ends inside a hunk", "is the file complete?")
        if sides is None:
            return self.reader.fault("the hunk has fewer lines than its header says")
        if self.ended & sides:
            return self.reader.fault("a line follows the last line of the file")
        hint = "add the newline if nothing else is missing"
        return self.reader.fault("the last line has no newline", hint)

    def _unended(self, line: bytes, sides: int) -> bytes:
        """Return `line` without its newline, and skip the "No newline at end of file" below it."""
        if len(line) <= 2:
            raise self.reader.fault("an empty line is marked as having no newline at its end")
        self.ended |= sides
        self.reader.at += 1
        return line[:-1]


NOISE = (b"Index: ", b"=====", b"diff -", b"diff '", b"RCS file: ", b"retrieving revision ")

# The date that GNU diff -N gives a missing file: the epoch, in any time zone (git's
# has_epoch_timestamp).
_EPOCH = re.compile(rb"(1969-12-31|1970-01-01) (\d\d):(\d\d):00(?:\.0+)? ([-+])(\d\d):?(\d\d)\s*")
_BACKUP = re.compile(r"\.(?:orig|old|bak|new)|~")


def skip_noise(reader: PatchReader) -> None:
    """Skip lines such as `Index: ` that other tools write before a `---` line."""
    start = reader.at
    while reader.starts(*NOISE):
        reader.at += 1
    if reader.at > start and not reader.starts(b"--- "):
        hint = "for an empty file or a changed mode, make the diff with git"
        raise reader.fault("this file's section changes nothing", hint, at=start)


def read_plain_section(reader: PatchReader) -> FilePatch:
    """Read a section without a "diff --git" line; the reader is at its `---` line."""
    start = reader.at
    old_name, old_stamp = _read_marker(reader, b"--- ")
    new_name, new_stamp = _read_marker(reader, b"+++ ")
    path = _plain_path(reader, old_name, new_name, start)
    hunks = read_hunks(reader)
    is_new = old_name == NO_FILE or is_epoch(old_stamp)
    is_deleted = new_name == NO_FILE or is_epoch(new_stamp)
    _check_sides(reader, hunks, start, is_new=is_new, is_deleted=is_deleted)
    return FilePatch(None if is_new else path, None if is_deleted else path, hunks=hunks)


def _plain_path(reader: PatchReader, old: bytes, new: bytes, start: int) -> str:
    """Return the path that both names refer to; one may be /dev/null, or a backup (`f.orig`)."""
    named = [name for name in enumerate((old, new), start) if name[1] != NO_FILE]
    if not named:
        raise reader.fault("both the --- and the +++ line name /dev/null", at=start)
    paths = [_checked_name(reader, name, at) for at, name in named]
    short, long = sorted((paths[0], paths[-1]), key=len)
    if short == long or (long.startswith(short) and _BACKUP.fullmatch(long[len(short) :])):
        return short
    raise reader.fault("the --- and +++ lines name different files", at=start)


def is_epoch(stamp: bytes) -> bool:
    """Return whether the date after a file name is the epoch, which means that there is no file."""
    match = _EPOCH.fullmatch(stamp)
    if match is None:
        return False
    hour, minute, zone_hour, zone_minute = (int(match[n]) for n in (2, 3, 5, 6))
    clock = hour * 60 + minute - (24 * 60 if match[1].startswith(b"1969") else 0)
    zone = zone_hour * 60 + zone_minute
    return clock == (zone if match[4] == b"+" else -zone)


class Sections:
    """The paths in the sections of a patch that have been read so far."""

    def __init__(self) -> None:
        self._left: set[str] = set()
        self._taken: set[str] = set()
        self._below: dict[str, str] = {}  # the path of a file in each folder

    def add(self, file: FilePatch) -> str | None:
        """Add a section; if it contradicts an earlier one, return why, and do not add it."""
        old, new = (None if file.is_copy else file.old_path), file.new_path
        # A path that was removed may be reused: a change of type, or two renames that swap paths.
        if old in self._left or new in self._taken:
            return f"there is a second section for {shown(file.path)}"
        if old is not None and new is None and old in self._taken:
            return f"{shown(old)} is created before it is deleted"
        if new is not None:
            folders = [*parents_of(new)]
            above = next((each for each in folders if each in self._taken), new)
            path = new if above != new else self._below.get(new)
            if path is not None:
                return f"{shown(path)} is below {shown(above)}, which is a file"
            self._taken.add(new)
            self._below.update(dict.fromkeys(folders, new))
        if old is not None:
            self._left.add(old)
        return None


TITLE = b"diff --git "

_EXTENDED = (
    "old mode", "new mode", "new file mode", "deleted file mode", "rename from", "rename to",
    "copy from", "copy to", "similarity index", "dissimilarity index", "index",
)  # fmt: skip
_KEYS = {f"{key} ".encode(): key for key in _EXTENDED}
_PAIRS = (("old mode", "new mode"), ("rename from", "rename to"), ("copy from", "copy to"))
_KINDS = ("new file mode", "deleted file mode", "old mode", "rename from", "copy from")
_TOGETHER = {frozenset({"old mode", "rename from"}), frozenset({"old mode", "copy from"})}
_MODES = frozenset({REGULAR, EXECUTABLE, SYMLINK, GITLINK})
_INDEX = re.compile(rb"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: (\d{6}))?")
_PERCENT = re.compile(rb"\d{1,3}%")


class _Facts(Struct, frozen=True):
    """The content of the extended headers of a section."""

    old_mode: str | None
    new_mode: str | None
    old_id: str | None
    new_id: str | None
    is_new: bool
    is_deleted: bool
    is_copy: bool
    moved: Names | None


def has_no_prefixes(title: bytes, strip: int) -> bool:
    """Return whether a "diff --git" line lacks the prefixes `a/` and `b/` that `strip` requires."""
    names = title.removeprefix(TITLE).removesuffix(b"\n")
    half = len(names) // 2
    return strip > 0 and names[:half] == names[half + 1 :]


def read_git_section(reader: PatchReader) -> FilePatch:
    """Read a section in git's format; the reader is at its "diff --git" line."""
    start = reader.at
    title = reader.take()[len(TITLE) :]
    if has_no_prefixes(title, reader.strip):
        # Stripping would remove a real directory, and the patch would change other files.
        hint = "export with the prefixes a/ and b/, or write -p0 after the name in the series file"
        raise reader.fault("the file names lack the prefixes a/ and b/", hint, at=start)
    facts = _facts(reader, _extended(reader))
    markers = _markers(reader)
    old, new = _names(reader, title, facts, markers, start)
    hunks = read_hunks(reader) if markers else ()
    binary = None if markers else _binary(reader, facts)
    _check_sides(reader, hunks, start, is_new=facts.is_new, is_deleted=facts.is_deleted)
    is_other = facts.is_new or facts.is_deleted or facts.old_mode != facts.new_mode
    if not (hunks or binary or is_other or facts.moved):
        raise reader.fault("this file's section changes nothing", at=start)
    if new is not None:
        check_link(new, facts.new_mode, what=f"{reader.where(start)}: the path")
    return FilePatch(
        old,
        new,
        facts.old_mode,
        facts.new_mode,
        facts.old_id,
        facts.new_id,
        is_copy=facts.is_copy,
        hunks=hunks,
        binary=binary,
    )


_Lines = Mapping[str, tuple[bytes, int]]
"""Maps each extended header, such as "old mode", to its text and the index of its line."""


def _extended(reader: PatchReader) -> dict[str, tuple[bytes, int]]:
    found: dict[str, tuple[bytes, int]] = {}
    while reader.starts(*_KEYS):
        line = reader.lines[reader.at]
        key, text = next((text, key) for key, text in _KEYS.items() if line.startswith(key))
        if key in found:
            raise reader.fault(f"the section has a second {key} line")
        found[key] = (reader.take()[len(text) :], reader.at - 1)
    return found


def _facts(reader: PatchReader, found: _Lines) -> _Facts:
    """Interpret the extended header lines; raise a "bad-patch" error if they disagree."""
    _check_together(reader, found)
    modes = {key: _mode(reader, *found[key]) for key in found if key.endswith("mode")}
    old_id, new_id, both = _index(reader, found)
    old = modes.get("old mode") or modes.get("deleted file mode") or both
    new = modes.get("new mode") or modes.get("new file mode") or both
    if both and modes and {both} != set(modes.values()):
        raise reader.fault(
            "the index line and the mode lines give different modes", at=found["index"][1]
        )
    if old and new and old != new and not {old, new} <= FILE_MODES:
        hint = "split it into a deletion of the old file and a creation of the new one"
        problem = "a single diff cannot change a file's type"
        raise reader.fault(problem, hint, at=found["old mode"][1])
    is_new, is_deleted = "new file mode" in found, "deleted file mode" in found
    return _Facts(
        None if is_new else old,
        None if is_deleted else new,
        old_id,
        new_id,
        is_new,
        is_deleted,
        "copy from" in found,
        _moved(reader, found),
    )


def _check_together(reader: PatchReader, found: _Lines) -> None:
    for first, second in _PAIRS:
        if (first in found) != (second in found):
            alone = first if first in found else second
            lacks = second if first in found else first
            raise reader.fault(f"there is a {alone} line but no {lacks} line", at=found[alone][1])
    kinds = [key for key in _KINDS if key in found]
    if len(kinds) > 1 and frozenset(kinds) not in _TOGETHER:
        problem = f"the {kinds[0]} and {kinds[1]} lines exclude each other"
        raise reader.fault(problem, at=found[kinds[1]][1])
    for key in ("similarity index", "dissimilarity index"):
        if key in found and not _PERCENT.fullmatch(found[key][0]):
            raise reader.fault(f"the {key} line cannot be read", at=found[key][1])


def _mode(reader: PatchReader, text: bytes, at: int) -> str:
    mode = text.decode("latin-1")
    if mode not in _MODES:
        hint = f"git knows these modes: {', '.join(sorted(_MODES))}"
        raise reader.fault("the file mode is not one that git writes", hint, at=at)
    return mode


def _index(reader: PatchReader, found: _Lines) -> tuple[str | None, str | None, str | None]:
    if "index" not in found:
        return None, None, None
    text, at = found["index"]
    match = _INDEX.fullmatch(text)
    if match is None:
        raise reader.fault("the index line cannot be read", at=at)
    mode = _mode(reader, match[3], at) if match[3] else None
    return match[1].decode(), match[2].decode(), mode


def _moved(reader: PatchReader, found: _Lines) -> Names | None:
    """Return both paths (without `a/` and `b/`) of a rename or copy, or None."""
    for verb in ("rename", "copy"):
        if f"{verb} from" in found:
            lines = (found[f"{verb} from"], found[f"{verb} to"])
            strip = max(reader.strip - 1, 0)
            old, new = (
                _checked_name(reader, _whole_name(reader, text, at), at, strip)
                for text, at in lines
            )
            if old == new:
                raise reader.fault(
                    f"the {verb} has the same path on both sides", at=found[f"{verb} to"][1]
                )
            return old, new
    return None


def _markers(reader: PatchReader) -> Names | None:
    if not reader.starts(b"--- "):
        return None
    paths: list[str | None] = []
    for marker in (b"--- ", b"+++ "):
        at = reader.at
        name, _ = _read_marker(reader, marker)
        paths.append(None if name == NO_FILE else _checked_name(reader, name, at))
    return paths[0], paths[1]


def _names(
    reader: PatchReader, title: bytes, facts: _Facts, markers: Names | None, start: int
) -> Names:
    """Return the paths of a section; raise a "bad-patch" error if its headers disagree."""
    if facts.moved and markers and facts.moved != markers:
        problem = "the rename or copy lines and the --- and +++ lines name different files"
        raise reader.fault(problem, at=start)
    named = facts.moved or markers
    if named is None:
        path = _common_name(reader, title, start)
        return None if facts.is_new else path, None if facts.is_deleted else path
    old, new = named
    if (old is None, new is None) != (facts.is_new, facts.is_deleted):
        problem = "the mode lines and the --- and +++ lines disagree on whether the file is new"
        raise reader.fault(f"{problem} or deleted", at=start)
    if not facts.moved and old and new and old != new:
        problem = "the --- and +++ lines name different files, but no rename or copy is stated"
        raise reader.fault(problem, at=start)
    _check_title(reader, title, named, start)
    return named


def _binary(reader: PatchReader, facts: _Facts) -> BinaryChange | None:
    if reader.starts(b"Binary files "):
        raise reader.fault("the content of the binary file is missing", "export with --binary")
    if reader.line != b"GIT binary patch\n":
        return None
    at = reader.at
    reader.at += 1
    if not (facts.old_id and facts.new_id and len(facts.old_id) == len(facts.new_id) >= 40):
        hint = "export with --full-index --binary"
        raise reader.fault("the binary patch has no full index line", hint, at=at)
    change = read_binary(reader)
    if facts.is_deleted and change != BinaryChange("literal", b""):
        raise reader.fault("the section deletes the file, but adds content to it", at=at)
    wanted = facts.new_id if len(facts.new_id) == 40 and change.method == "literal" else None
    if wanted and not facts.is_deleted and blob_id(change.payload) != wanted:
        raise reader.fault("the binary content does not match the index line", at=at)
    return change


def _check_sides(
    reader: PatchReader, hunks: tuple[Hunk, ...], start: int, *, is_new: bool, is_deleted: bool
) -> None:
    """Refuse a new file with old lines, and a deleted file with new lines."""
    if is_new and any(hunk.old_count for hunk in hunks):
        raise reader.fault("the section creates the file, but a hunk has old lines", at=start)
    if is_deleted and any(hunk.new_count for hunk in hunks):
        raise reader.fault("the section deletes the file, but a hunk leaves lines in it", at=start)
