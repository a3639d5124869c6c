"""The hunks of one file section: bounded here by their counts, then read by unidiff."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from unidiff.constants import LINE_TYPE_NO_NEWLINE
from unidiff.patch import Hunk as FoundHunk
from unidiff.patch import PatchSet

from patchmgr.formats.reader import PatchReader
from patchmgr.model.patch import Hunk

_HEAD = re.compile(rb"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
_MARKER = b"\\ No newline at end of file\n"
_OLD, _NEW = 1, 2
_SIDES = {b" ": _OLD | _NEW, b"\n": _OLD | _NEW, b"-": _OLD, b"+": _NEW}


def is_hunk_head(line: bytes) -> bool:
    """Say whether the line begins a hunk of a unified diff."""
    return _HEAD.match(line) is not None


def read_hunks(reader: PatchReader) -> tuple[Hunk, ...]:
    """Read all hunks at the reader's place; raise "bad-patch" where one does not hold together.

    Nothing is allocated by the counts of a header: they are only compared with what is there.
    """
    start, scan = reader.at, _Scan(reader)
    while reader.starts(b"@@"):
        scan.hunk()
    if reader.at == start:
        raise reader.fault("a hunk is expected here")
    text = [line.decode("latin-1") for line in scan.lines]
    (found,) = PatchSet(["--- old\n", "+++ new\n", *text])
    return tuple(_hunk(hunk) for hunk in found)


@dataclass(slots=True)
class _Scan:
    """The walk over the hunks of one file: `ended` holds the sides without a last newline."""

    reader: PatchReader
    ended: int = 0
    next_line: int = 1
    lines: list[bytes] = field(default_factory=list)

    def hunk(self) -> None:
        """Step over one hunk."""
        old, new = self._head()
        start, bodies = self.reader.at, set()
        while old or new:
            kind = self._line()
            sides = _SIDES[kind]
            bodies.add(kind)
            old -= sides & _OLD
            new -= sides >> 1
            if old < 0 or new < 0:
                raise self.reader.fault("the hunk is longer than its counts", at=self.reader.at - 1)
        if not bodies & {b"-", b"+"}:
            raise self.reader.fault("the hunk changes nothing", at=start - 1)

    def _head(self) -> tuple[int, int]:
        """Read the hunk's first line and return its counts."""
        reader, line = self.reader, self.reader.line or b""
        match = _HEAD.match(line)
        if match is None or not line.endswith(b"\n"):
            raise reader.fault("the hunk header cannot be read")
        old_start, old, new_start, new = (1 if n is None else int(n) for n in match.groups())
        first = old_start if old else old_start + 1
        if not first or not (new_start or not new):
            raise reader.fault("line numbers in a hunk header count from 1")
        if first < self.next_line:
            raise reader.fault("the hunk overlaps the one before it, or is out of order")
        self.next_line = first + old
        self.lines.append(line)
        reader.at += 1
        return old, new

    def _line(self) -> bytes:
        """Read one line of the body, with a marker behind it, and return its kind."""
        reader, line = self.reader, self.reader.line
        if line is None:
            raise reader.fault("the patch ends inside a hunk", "is the file complete?")
        kind = line[:1]
        sides = _SIDES.get(kind)
        if sides is None:
            raise reader.fault("the hunk is shorter than its counts")
        if self.ended & sides:
            raise reader.fault("a line follows the last line of the file")
        if not line.endswith(b"\n"):
            raise reader.fault("the last line has no end", "add the newline if nothing is missing")
        self.lines.append(line)
        reader.at += 1
        if reader.starts(b"\\ "):
            self._marker(line, sides)
        return kind

    def _marker(self, line: bytes, sides: int) -> None:
        """Step over "No newline at end of file", in whatever language it is written."""
        if len(line) <= 2:
            raise self.reader.fault("an empty line cannot lack its newline")
        self.ended |= sides
        self.lines.append(_MARKER)
        self.reader.at += 1


def _hunk(found: FoundHunk) -> Hunk:
    """Turn unidiff's hunk into ours."""
    lines: list[bytes] = []
    for line in found:
        if line.line_type == LINE_TYPE_NO_NEWLINE:
            lines[-1] = lines[-1][:-1]
        else:
            lines.append(f"{line.line_type}{line.value}".encode("latin-1"))
    return Hunk(
        old_start=found.source_start,
        old_count=found.source_length,
        new_start=found.target_start,
        new_count=found.target_length,
        heading=found.section_header.encode("latin-1"),
        lines=tuple(lines),
    )
