"""The lines of a patch file, read one by one, and errors that name the patch and the line."""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import cached_property

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown


def split_lines(raw: bytes) -> list[bytes]:
    """Return the lines with their newlines; only a line feed ends a line."""
    return io.BytesIO(raw).readlines()


def merge_hints(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Return a hint to resolve the merge conflict if the lines have conflict markers, else ()."""
    has_marker = any(line.startswith(b"<<<<<<< ") for line in lines)
    return ("resolve the merge conflict in the file",) if has_marker else ()


def unmangled_lines(raw: bytes) -> list[bytes]:
    """Return the lines of a patch file; if all of them end in CR LF, the CRs are removed."""
    lines = split_lines(raw)
    # Such CRs come from mail transport; git am and patch remove them, too. In the diff of a file
    # with CR LF, the header lines have no CR.
    if raw.count(b"\r\n") == raw.count(b"\n"):
        return [line[:-2] + b"\n" if line.endswith(b"\r\n") else line for line in lines]
    return lines


class PatchReader:
    """The lines of one patch file, and the current position."""

    def __init__(self, name: str, lines: list[bytes], start: int = 0, *, strip: int = 1) -> None:
        self.name = name
        self.lines = lines
        self.at = start
        self.strip = strip  # leading directories to remove from each path
        self._shown = shown(name)

    @property
    def line(self) -> bytes | None:
        """Return the current line, or None at the end of the file."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    @cached_property
    def _merge_hints(self) -> tuple[str, ...]:
        return merge_hints(self.lines)

    def starts(self, *prefixes: bytes) -> bool:
        """Return whether the current line begins with one of the prefixes."""
        return self.at < len(self.lines) and self.lines[self.at].startswith(prefixes)

    def take(self) -> bytes:
        """Return the current line without its newline, and advance to the next line."""
        line = self.lines[self.at]
        self.at += 1
        return line.removesuffix(b"\n")

    def where(self, at: int | None = None) -> str:
        """Return "patch NAME line N" for the line at an index, by default the current line."""
        return f"patch {self._shown} line {(self.at if at is None else at) + 1}"

    def fault(self, problem: str, *hints: str, at: int | None = None) -> PatchmgrError:
        """Return a "bad-patch" error for a line, by default the current line."""
        index = self.at if at is None else at
        if index < len(self.lines) and self.lines[index].endswith(b"\r\n"):
            hints = (*hints, "the line ends in CR LF, but other lines of the file do not")
        hints = (*hints, *self._merge_hints)
        return PatchmgrError("bad-patch", f"{self.where(index)}: {problem}", *hints)
