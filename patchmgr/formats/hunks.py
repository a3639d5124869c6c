"""The hunks of one file section: bounded by their counts, and read line by line."""

from __future__ import annotations

import re

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.reader import PatchReader
from patchmgr.model.patch import Hunk

_HEAD = re.compile(rb"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
_OLD, _NEW = 1, 2
_SIDES = {b" ": _OLD | _NEW, b"\n": _OLD | _NEW, b"-": _OLD, b"+": _NEW}


def is_hunk_head(line: bytes) -> bool:
    """Say whether the line begins a hunk of a unified diff."""
    return _HEAD.match(line) is not None


def read_hunks(reader: PatchReader) -> tuple[Hunk, ...]:
    """Read all hunks at the reader's place; raise "bad-patch" where one does not hold together.

    Nothing is allocated by the counts of a header: they are only compared with what is there.
    """
    scan = _Scan(reader)
    hunks: list[Hunk] = []
    while reader.starts(b"@@"):
        hunks.append(scan.hunk())
    if not hunks:
        raise reader.fault("a hunk is expected here")
    return tuple(hunks)


class _Scan(Struct):
    """The walk over the hunks of one file: `ended` holds the sides without a last newline."""

    reader: PatchReader
    ended: int = 0
    next_line: int = 1

    def hunk(self) -> Hunk:
        """Read one hunk."""
        start = self.reader.at
        old_start, old, new_start, new, heading = self._head()
        lines = self._body(old, new)
        if not any(line.startswith((b"+", b"-")) for line in lines):
            raise self.reader.fault("the hunk changes nothing", at=start)
        return Hunk(old_start, old, new_start, new, heading, lines)

    def _head(self) -> tuple[int, int, int, int, bytes]:
        """Read the hunk's first line: starts and counts, and the heading behind them."""
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
        reader.at += 1
        return old_start, old, new_start, new, line[match.end() : -1].removeprefix(b" ")

    def _body(self, old: int, new: int) -> tuple[bytes, ...]:
        """Read the lines of a hunk with so many lines on its sides."""
        plain = self._plain_body(old, new)
        if plain is not None:
            return plain
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
                raise reader.fault("the hunk is longer than its counts")
            found.append(line if line != b"\n" else b" \n")
            reader.at += 1
            if reader.at < len(lines) and lines[reader.at][:2] == b"\\ ":
                found[-1] = self._unended(line, sides)
        return tuple(found)

    def _plain_body(self, old: int, new: int) -> tuple[bytes, ...] | None:
        """Read a body that all is well with, which most are; None where it needs a closer look."""
        reader = self.reader
        lines, start = reader.lines, reader.at
        end = start
        if self.ended or not (old or new):
            return None
        for at in range(start, len(lines)):
            kind = lines[at][:1]
            if kind == b" ":
                old -= 1
                new -= 1
            elif kind == b"+":
                new -= 1
            elif kind == b"-":
                old -= 1
            else:
                return None
            end += 1
            if old <= 0 and new <= 0:
                break
        found = tuple(lines[start:end])
        is_marked = end < len(lines) and lines[end][:1] == b"\\"
        if old or new or is_marked or found[-1][-1:] != b"\n":
            return None
        reader.at = end
        return found

    def _fault(self, line: bytes, sides: int | None) -> PatchmgrError:
        """Return what is wrong with a line of the body, empty where there is none."""
        if not line:
            return self.reader.fault("the patch ends inside a hunk", "is the file complete?")
        if sides is None:
            return self.reader.fault("the hunk is shorter than its counts")
        if self.ended & sides:
            return self.reader.fault("a line follows the last line of the file")
        hint = "add the newline if nothing is missing"
        return self.reader.fault("the last line has no end", hint)

    def _unended(self, line: bytes, sides: int) -> bytes:
        """Step over "No newline at end of file", in any language; return the line before it."""
        if len(line) <= 2:
            raise self.reader.fault("an empty line cannot lack its newline")
        self.ended |= sides
        self.reader.at += 1
        return line[:-1]
