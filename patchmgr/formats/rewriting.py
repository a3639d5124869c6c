"""Rewrite patches that `parse_patch` refuses, keeping the meaning that `patch` and git give them.

`parse_patch` refuses a patch that two programs could read in two ways. Many existing folders have
such patches, each written for one tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.mail_text import folded_end, leading_date, parse_date, squeezed, written_date
from patchmgr.formats.mailbox import read_header
from patchmgr.formats.paths import decode_path, encode_path, refusal
from patchmgr.formats.reader import PatchReader, split_lines, unmangled_lines
from patchmgr.formats.sections import (
    NO_FILE,
    NOISE,
    TITLE,
    Sections,
    has_no_prefixes,
    is_epoch,
    is_hunk_head,
    name_and_stamp,
    read_git_section,
    read_hunks,
    read_plain_section,
    unquote,
)
from patchmgr.formats.shown import shown
from patchmgr.model.patch import FilePatch, Patch

_KIND = (b"new file mode ", b"deleted file mode ")
_ABOVE = (TITLE, b"index ", *_KIND, *NOISE)
_CHANGE = re.compile(
    rb"[+\\]|-(?!-\s|-+\s*$)|@@|GIT binary patch|Binary files |diff --c"
    rb"|File (?=.+ is an? ).+ while file |Symbolic links .+ differ"  # what GNU diff cannot express
    rb"|Submodule .+ [0-9a-f]+\.\.\.?[0-9a-f]+"  # git diff --submodule=log
)
_LISTED = 9  # the most names or lines in a note
_LOST_LINES = 3  # the most blank lines of context that `patch` adds at the end of a file


class Rewritten(Struct, frozen=True):
    """A rewritten patch: its parts in the order in which they apply, and what was changed."""

    parts: tuple[bytes, ...]
    notes: tuple[str, ...]


class _Section(Struct, frozen=True):
    lines: Sequence[bytes]
    file: FilePatch
    is_rewritten: bool = False


def rewritten(raw: bytes, *, name: str, strip: int, exists: Callable[[str], bool]) -> Rewritten:
    """Return a patch in a form that `parse_patch` reads; `exists` says whether a path is a file.

    If a section names two files, the one that exists is used. A second section for the same file
    becomes a separate part. Raises PatchmgrError if anything else is wrong with the diff.
    """
    lines, notes = unmangled_lines(raw), list[str]()
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
        notes.append("the newline at the end was missing")
    start = next(_starts(lines, 0), len(lines))
    header = _readable_header(lines[:start], name, notes)
    reader = PatchReader(name, lines, start, strip=strip)
    parts, sections = list[list[_Section]](), Sections()
    text: list[str] = []
    paths: list[str] = []
    while reader.line is not None:
        section = _section(reader, exists, notes)
        paths += [section.file.path] if section.is_rewritten else []
        if not parts or sections.add(section.file) is not None:
            parts.append([])
            sections = Sections()
            sections.add(section.file)
        parts[-1].append(section)
        text += _skipped(reader)
    if paths:
        notes.append(f"the names of these files were rewritten: {_listed(paths)}")
    if text:
        notes.append(f"text that changes nothing was left out: line {_listed(text)}")
    if len(parts) > 1:
        notes.append(f"it changes a file more than once, so it became {len(parts)} patches")
    diffs = (b"".join(line for one in part for line in one.lines) for part in parts or [[]])
    return Rewritten(tuple(b"".join(header) + diff for diff in diffs), tuple(notes))


def with_places(patch: Patch, places: Mapping[int, Sequence[int]]) -> bytes:
    """Return a patch with new start lines (from 0) for the hunks of the files in `places`."""
    lines, at = split_lines(patch.diff), 0
    for index, file in enumerate(patch.files):
        grown = 0
        for number, hunk in enumerate(file.hunks):
            at = next(n for n in range(at, len(lines)) if is_hunk_head(lines[n]))
            if index in places:
                place = places[index][number]
                old, new = place + bool(hunk.old_count), place + grown + bool(hunk.new_count)
                head = f"@@ -{old},{hunk.old_count} +{new},{hunk.new_count} @@".encode()
                lines[at] = head + lines[at].split(b"@@", 2)[2]
            grown += hunk.new_count - hunk.old_count
            at += 1 + len(hunk.lines)
    end = len(patch.header) + len(patch.diff)
    return patch.header + b"".join(lines) + patch.raw[end:]


def _listed(words: Sequence[str]) -> str:
    return shown(", ".join(words[:_LISTED])) + ", …" * (len(words) > _LISTED)


def _readable_header(lines: Sequence[bytes], name: str, notes: list[str]) -> Sequence[bytes]:
    """Return a header with unreadable dates replaced; the old dates are kept as `Original-Date`."""
    try:
        read_header(b"".join(lines), name=name)
    except PatchmgrError:
        kept: list[bytes] = []
        at = 0
        while at < len(lines):
            end = folded_end(lines, at)
            text = squeezed(decode_path(b"".join(lines[at:end]))[5:])
            if lines[at][:5].lower() != b"date:" or parse_date(text) is not None:
                kept += lines[at:end]
            else:
                date = leading_date(text)
                now = "removed" if date is None else f"replaced by {written_date(date)}"
                notes.append(f"the date {shown(text)} cannot be read; it was {now}")
                kept += [] if date is None else [f"Date: {written_date(date)}\n".encode()]
                kept.append(encode_path(f"Original-Date: {text}\n"))
            at = end
        return kept
    return lines


def _starts(lines: Sequence[bytes], at: int) -> Iterator[int]:
    """Yield the index of the first line of each section, beginning at index `at`."""
    first = at
    for n in range(at, len(lines)):
        below = lines[n + 1] if n + 1 < len(lines) else b""
        is_plain = lines[n].startswith(b"--- ") and below.startswith(b"+++ ")
        if lines[n].startswith(TITLE):
            yield n
        elif is_plain or (lines[n].startswith(b"+++ ") and is_hunk_head(below)):
            while n > first and lines[n - 1].startswith(NOISE):
                n -= 1
            yield n


def _skipped(reader: PatchReader) -> Iterator[str]:
    """Skip text up to the next section, and yield the numbers of the skipped lines as text.

    Blank lines and a mail signature at the end are skipped, too, but not named.

    Raises PatchmgrError if the text could be a part of a change.
    """
    end = next(_starts(reader.lines, reader.at), len(reader.lines))
    is_signed = False
    while reader.at < end:
        line = reader.lines[reader.at]
        if _CHANGE.match(line):
            hint = "if the counts of the hunk above are wrong: recountdiff (of patchutils)"
            raise reader.fault("the line belongs to no hunk", hint)
        is_signed = is_signed or (end == len(reader.lines) and line.rstrip() == b"--")
        if line.strip() and not is_signed:
            yield str(reader.at + 1)
        reader.at += 1


def _section(reader: PatchReader, exists: Callable[[str], bool], notes: list[str]) -> _Section:
    """Read a section as `parse_patch` does; if that fails, rewrite it so that it can be read."""
    start = reader.at
    try:
        file = _with_lost_lines(reader, notes)
    except PatchmgrError as fault:
        reader.at = start
        lines = _rewritten(reader, exists, fault)
        file = _strict(PatchReader(reader.name, lines, strip=reader.strip))
        return _Section(lines, file, is_rewritten=True)
    return _Section(reader.lines[start : reader.at], file)


def _with_lost_lines(reader: PatchReader, notes: list[str]) -> FilePatch:
    """Read a section; add the blank lines of context that an editor cut off at the end."""
    start, size = reader.at, len(reader.lines)
    while True:
        reader.at = start
        try:
            file = _strict(reader)
        except PatchmgrError:
            if reader.at < len(reader.lines) or len(reader.lines) == size + _LOST_LINES:
                del reader.lines[size:]
                raise
            reader.lines.append(b" \n")
        else:
            if len(reader.lines) > size:
                notes.append("blank lines that were missing at the end of the last hunk were added")
            return file


def _strict(reader: PatchReader) -> FilePatch:
    if reader.starts(TITLE):
        return read_git_section(reader)
    while reader.starts(*NOISE):
        reader.at += 1
    return read_plain_section(reader)


def _rewritten(
    reader: PatchReader, exists: Callable[[str], bool], fault: PatchmgrError
) -> list[bytes]:
    """Rewrite a section so that its headers agree on one name; raise `fault` if they cannot."""
    kind = b""
    while reader.starts(*_ABOVE):
        if reader.starts(TITLE) and has_no_prefixes(reader.lines[reader.at], reader.strip):
            raise fault
        kind = reader.lines[reader.at] if reader.starts(*_KIND) else kind
        reader.at += 1
    texts = [reader.take()[4:] for marker in (b"--- ", b"+++ ") if reader.starts(marker)]
    if not texts or not reader.starts(b"@@ "):
        raise fault
    at = reader.at
    read_hunks(reader)
    names = [unquote(text) or name_and_stamp(text.rstrip()) for text in texts]
    is_none = [name == NO_FILE or is_epoch(stamp.strip()) for name, stamp in names]
    is_new = kind.startswith(b"new ") or (is_none[0] and len(names) > 1)
    is_gone = kind.startswith(b"deleted ") or (is_none[-1] and not is_new)
    path = encode_path(_path([n for n, _ in names if n != NO_FILE], reader.strip, exists, fault))
    old, new = (prefix * reader.strip + path for prefix in (b"a/", b"b/"))
    title = [TITLE + old + b" " + new + b"\n", kind] if kind else []
    tab = b"\t" * (b" " in path)
    sides = NO_FILE if is_new else old + tab, NO_FILE if is_gone else new + tab
    markers = [b"--- " + sides[0] + b"\n", b"+++ " + sides[1] + b"\n"]
    return [*title, *markers, *reader.lines[at : reader.at]]


def _path(
    names: Sequence[bytes], strip: int, exists: Callable[[str], bool], fault: PatchmgrError
) -> str:
    """Return the path that a section changes: the path that exists, or else git apply's choice."""
    stripped = (re.sub(rb"/+", b"/", name).split(b"/", strip) for name in names)
    paths = [decode_path(parts[strip]) for parts in stripped if len(parts) > strip]
    found = [re.sub(r"^(\./)+", "", path) for path in paths]
    if any(b"//" in name for name in names) and not any(map(exists, found)):
        raise fault
    if not found or refusal(found[-1]) is not None or '"' in found[-1]:
        raise fault
    found = [path for path in found if refusal(path) is None]
    there = {path for path in found if exists(path)}
    if len(there) == 1:
        return there.pop()
    if there:
        listed = " and ".join(shown(path) for path in found)
        message = f"{fault.message}: {listed} both exist"
        hint = "write the name of the changed file in both the --- and the +++ line"
        raise PatchmgrError("bad-patch", message, hint)
    return found[0] if found[-1].startswith(found[0]) else found[-1]
