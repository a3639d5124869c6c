"""The line endings of a text: LF or CR LF."""

from __future__ import annotations

LF, CRLF = b"\n", b"\r\n"


def line_ending(content: bytes) -> bytes | None:
    """Return the ending of all lines of a text, or None if they differ or no line has an ending."""
    lines, with_cr = content.count(LF), content.count(CRLF)
    if not lines or 0 < with_cr < lines:
        return None
    return CRLF if with_cr else LF


def with_line_ending(content: bytes, ending: bytes) -> bytes:
    """Return the text with each LF and CR LF replaced by `ending`."""
    return content.replace(CRLF, LF).replace(LF, ending)


def converted(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bytes] | None:
    """Return base and theirs with the line ending to which ours was converted.

    Returns None if ours was not converted, if a text has lines with different endings, or if theirs
    has another line ending than base. Without the conversion, every line would be in conflict.
    """
    old, ending = line_ending(base), line_ending(ours)
    if old is None or ending is None or old == ending or line_ending(theirs) != old:
        return None
    return with_line_ending(base, ending), with_line_ending(theirs, ending)
