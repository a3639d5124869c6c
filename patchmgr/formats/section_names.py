"""The names in the headers of a file section: unquoted, stripped and checked."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from patchmgr.formats.paths import MAX_PATH, check_path, decode_path, encode_path
from patchmgr.formats.quoting import unquote
from patchmgr.formats.reader import PatchReader

NO_FILE = b"/dev/null"

_MAX_TITLE = 2 * MAX_PATH + 256


class SectionNames(Struct, frozen=True):
    """The old and the new path of a section; None where there is no such file."""

    old: str | None
    new: str | None


def moved_name(reader: PatchReader, text: bytes, at: int, strip: int) -> str:
    """Return the path of a rename or copy line, which has one leading directory less."""
    return checked_name(reader, _whole_name(reader, text, at), max(strip - 1, 0), at)


def marker_name(reader: PatchReader, marker: bytes, strip: int) -> str | None:
    """Read a `---` or `+++` line of a git section and return its path, None for /dev/null."""
    at = reader.at
    name, _ = read_marker(reader, marker)
    return None if name == NO_FILE else checked_name(reader, name, strip, at)


def read_marker(reader: PatchReader, marker: bytes) -> tuple[bytes, bytes]:
    """Read a `---` or `+++` line and return the name as it stands, and what follows a tab."""
    if not reader.starts(marker):
        raise reader.fault(f"a {marker.decode().strip()} line is expected here")
    text = reader.take()[len(marker) :]
    if text[:1] != b'"':
        name, _, stamp = text.partition(b"\t")
        return name, stamp
    quoted = unquote(text)
    if quoted is None or quoted[1][:1] not in (b"", b"\t"):
        raise reader.fault("the quoted name cannot be read", at=reader.at - 1)
    return quoted[0], quoted[1][1:]


def checked_name(reader: PatchReader, name: bytes, strip: int, at: int) -> str:
    """Return the path that a name means without its first directories, or raise."""
    what = f"{reader.where(at)}: the path"
    path = decode_path(name)
    for part in path.split("/", strip)[:strip]:
        if part != ".":
            check_path(part or path, what=what)
    stripped = _stripped(name, strip)
    if stripped is None:
        hint = "write -pN after the name in the series file, N being the directories to strip"
        raise reader.fault(f"a path has too few directories for -p{strip}", hint, at=at)
    return check_path(decode_path(stripped), what=what)


def common_name(reader: PatchReader, title: bytes, strip: int, at: int) -> str:
    """Return the one path that a "diff --git" line names twice."""
    pairs = [(old, new) for old, new in _splits(title) if _is_same(old, new, strip)]
    if len(pairs) != 1:
        raise reader.fault("the diff --git line does not name one file twice", at=at)
    old, new = (checked_name(reader, name, strip, at) for name in pairs[0])
    assert old == new
    return new


def check_title(
    reader: PatchReader, title: bytes, names: SectionNames, *, strip: int, at: int
) -> None:
    """Raise unless a "diff --git" line can be read as these names."""
    old, new = names.old or names.new, names.new or names.old
    wanted = (encode_path(old or ""), encode_path(new or ""))
    for pair in _splits(title):
        if (_stripped(pair[0], strip), _stripped(pair[1], strip)) == wanted:
            for name in pair:
                checked_name(reader, name, strip, at)
            return
    raise reader.fault("the diff --git line names other files", at=at)


def check_prefixes(reader: PatchReader, title: bytes, strip: int, at: int) -> None:
    """Refuse a diff made without prefixes where one is to be stripped.

    Its names would lose a real directory, and the patch would name other files.
    """
    half = len(title) // 2
    if strip and title[:half] == title[half + 1 :]:
        hint = "export with the prefixes a/ and b/, or write -p0 after the name in the series file"
        raise reader.fault("the names have no prefixes a/ and b/", hint, at=at)


def _is_same(old: bytes, new: bytes, strip: int) -> bool:
    name = _stripped(old, strip)
    return name is not None and name == _stripped(new, strip)


def _stripped(name: bytes, strip: int) -> bytes | None:
    """Return the name without its first directories, None where it has too few."""
    parts = name.split(b"/", strip)
    return parts[strip] if len(parts) > strip else None


def _whole_name(reader: PatchReader, text: bytes, at: int) -> bytes:
    """Return the name that a whole text is, quoted or not."""
    if text[:1] != b'"':
        return text
    quoted = unquote(text)
    if quoted is None or quoted[1]:
        raise reader.fault("the quoted name cannot be read", at=at)
    return quoted[0]


def _splits(title: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Give every way to read the two names of a "diff --git" line."""
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
    """Give the pair of a name and of the rest of a line, if the rest is one name."""
    if text[:1] != b'"':
        yield old, text
    else:
        quoted = unquote(text)
        if quoted is not None and not quoted[1]:
            yield old, quoted[0]
