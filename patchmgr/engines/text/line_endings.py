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


def conversion(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the line ending to which ours was converted, or None if it was not converted.

    It counts as converted only if no text mixes line endings and theirs has the same one as base.
    """
    if b"\r" not in base and b"\r" not in ours:  # the usual case
        return None
    old, ending = line_ending(base), line_ending(ours)
    # Every line is in conflict then, unless base and theirs are converted, too.
    is_converted = None not in (old, ending) and old != ending and line_ending(theirs) == old
    return ending if is_converted else None
