"""The line endings of a text: LF or CR LF."""

from __future__ import annotations

LF, CRLF = b"\n", b"\r\n"


def line_ending(content: bytes) -> bytes | None:
    """Return the ending that all lines of a text have, or None if they differ or there is none."""
    lines, with_cr = content.count(LF), content.count(CRLF)
    if not lines or 0 < with_cr < lines:
        return None
    return CRLF if with_cr else LF


def with_line_ending(content: bytes, ending: bytes) -> bytes:
    """Return a text in which each line that has an ending has the given one."""
    return content.replace(CRLF, LF).replace(LF, ending)


def converted(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bytes] | None:
    """Return base and theirs with the line ending to which ours was converted.

    Returns None if ours was not converted. Each text must have one line ending throughout, and
    theirs the one of base: git then has a conflict in every line, and no side's intent is hidden.
    """
    old, ending = line_ending(base), line_ending(ours)
    if old is None or ending is None or old == ending or line_ending(theirs) != old:
        return None
    return with_line_ending(base, ending), with_line_ending(theirs, ending)
