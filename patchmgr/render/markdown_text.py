"""Escape untrusted text so that GitHub shows it literally in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from patchmgr.render.escape import clean

LONGEST = 200

_APART = "&#8203;"  # a zero-width space: keeps GitHub from making links and notifying people
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$!^]")
_LINKED = re.compile(
    r"@(?=\w) | \#(?=\d) | (?<=\bgh)-(?=\d) | :(?=//|[\w+-]+:) | (?<=\bwww)(?=\.)",
    re.IGNORECASE | re.VERBOSE,
)
_BLOCK_MARK = re.compile(r"(\d{0,9})([-+#=.)])")
_TICKS = re.compile("`+")


def text(foreign: str) -> str:
    """Return the text on one line, escaped so that GitHub sees no markup, mention or link in it."""
    shown = shortened(foreign)
    parts = [_SPECIAL.sub(r"\\\g<0>", part) for part in _LINKED.split(shown)]
    marks = [found + _APART for found in _LINKED.findall(shown)]
    whole = "".join(part + mark for part, mark in zip(parts, [*marks, ""], strict=True))
    found = _BLOCK_MARK.match(whole)
    return whole if found is None else f"{found[1]}\\{whole[found.end(1) :]}"


def code(foreign: str) -> str:
    """Return the text on one line as a code span, for use outside of tables."""
    shown = shortened(foreign)
    fence = "`" * (max((len(run) for run in _TICKS.findall(shown)), default=0) + 1)
    space = "" if shown and shown.strip(" `") == shown else " "
    return f"{fence}{space}{shown}{space}{fence}"


def code_cell(foreign: str) -> str:
    """Return the text as a code span for a table cell, with each `|` escaped."""
    return code(foreign).replace("|", "\\|")


def fenced(foreign: str) -> str:
    """Return the text as a fenced code block, with a fence longer than any in the text."""
    shown = clean(foreign, keep="\n\t").rstrip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    return f"{fence}\n{shown}\n{fence}"


def fitting(rows: Sequence[str], room: int, *, gap: int = 1) -> list[str]:
    """Return the first rows, as many as fit into `room` characters.

    Each row counts as `gap` characters longer, for the separator after it.
    """
    ends = accumulate(len(row) + gap for row in rows)
    return [row for row, end in zip(rows, ends, strict=True) if end <= room]


def shortened(foreign: str) -> str:
    """Return the text, escaped by `clean` and cut to at most `LONGEST` characters."""
    shown = clean(foreign)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
