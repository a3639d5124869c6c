"""A diff on a terminal, in the colours that git gives it."""

from __future__ import annotations

from patchmgr.render.clean import clean
from patchmgr.render.terminal import painted

_CODES = (
    (("+++ ", "--- ", "diff ", "index "), "1"),
    (("@@ ",), "36"),
    (("+",), "32"),
    (("-",), "31"),
)


def diff_text(header: bytes, diff: bytes, *, colour: bool) -> str:
    """Return a patch for a terminal: nothing in it can move the cursor, and the diff is painted."""
    lines = _lines(header) + [painted_line(line, colour=colour) for line in _lines(diff)]
    return "".join(f"{line}\n" for line in lines)


def painted_line(line: str, *, colour: bool) -> str:
    """Return a line of a diff in its colour."""
    code = next((code for starts, code in _CODES if line.startswith(starts)), None)
    return line if code is None else painted(line, code, colour=colour)


def _lines(content: bytes) -> list[str]:
    text = content.decode("utf-8", "surrogateescape")
    return [clean(line, keep="\t") for line in text.removesuffix("\n").split("\n")] if text else []
