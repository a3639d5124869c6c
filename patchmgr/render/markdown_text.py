"""Markdown for GitHub: untrusted text that is shown literally, and pages of limited length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from patchmgr.render.escape import clean, cut

LONGEST = 200
LIMIT = 60_000  # characters; GitHub accepts 65,536
_SENTENCE = 160  # characters reserved for the sentence that says how much is left out
_NUMBERS = frozenset({"Files", "Added", "Removed", "#", "Tests", "Problems"})

_APART = "&#8203;"  # a zero-width space: keeps GitHub from making links and notifying people
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$!^]")
_LINKED = re.compile(
    r"@(?=\w) | \#(?=\d) | (?<=\bgh)-(?=\d) | :(?=//|[\w+-]+:) | (?<=\bwww)(?=\.)",
    re.IGNORECASE | re.VERBOSE,
)
_BLOCK_MARK = re.compile(r"(\d{0,9})([-+#=.)])")
_TICKS = re.compile("`+")


def text(foreign: str) -> str:
    """Return the text on one line, escaped so that GitHub finds no markup, mention or link."""
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
    """Return the text as a fenced code block; the fence is longer than any fence in the text."""
    shown = clean(foreign, keep="\n\t").rstrip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    return f"{fence}\n{shown}\n{fence}"


def fitting(
    items: Sequence[str], room: int, what: str, *, gap: int = 1
) -> tuple[list[str], list[str]]:
    """Return the items that fit into `room` characters, and a sentence that counts the others.

    Each item takes `gap` more characters for a separator. The sentence calls the items `what`.
    """
    kept: list[str] = []
    for item in items:
        if len(item) + gap <= room:
            kept.append(item)
            room -= len(item) + gap
    left = len(items) - len(kept)
    return kept, [f"Left out for lack of space: {left} of {len(items)} {what}."] * bool(left)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table: two for the heading, and one for each row of cells."""
    rule = "|".join("--:" if name in _NUMBERS else "---" for name in columns)
    head, *body = (f"| {' | '.join(map(str, cells))} |" for cells in (columns, *rows))
    return [f"{head}\n|{rule}|", *body]


class Page:
    """A page of Markdown, built block by block, with a limit on its length in characters."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._blocks: list[str] = []

    def whole(self) -> str:
        """Return the page: its blocks, separated by blank lines."""
        return "\n\n".join(self._blocks) + "\n"

    def add(self, *blocks: str) -> None:
        """Add the blocks that are not empty, even if the page then exceeds its limit."""
        self._blocks += filter(None, blocks)

    def _room(self, share: float) -> int:
        return int((self._limit - len(self.whole())) * share) - _SENTENCE

    def blocks(self, blocks: Sequence[str], *, what: str, share: float = 1.0) -> None:
        """Add the blocks that fit into a share of the free space; count the others as `what`."""
        kept, rest = fitting(blocks, self._room(share), what, gap=2)
        self.add(*kept, *rest)

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        what: str,
        summary: str = "",
        title: str = "",
        share: float = 0.5,
    ) -> None:
        """Add a table with as many rows as fit, and a line that counts the other rows as `what`.

        The table takes at most a `share` of the free space. With a `summary`, only that line is
        shown until the reader unfolds the table.
        """
        head, *lines = table(columns, rows)
        self._add_lines(title, [head], lines, what, summary, share)

    def bullets(
        self, title: str, rows: Sequence[str], *, what: str, summary: str = "", share: float = 0.5
    ) -> None:
        """Add a bulleted list, limited and folded like `table`; rows `  - …` are nested items."""
        lines = [row if row.startswith("  - ") else f"- {row}" for row in rows]
        self._add_lines(title, [], lines, what, summary, share)

    def _add_lines(
        self, title: str, head: list[str], lines: list[str], what: str, summary: str, share: float
    ) -> None:
        if not lines:
            return
        self.add(title)
        around = [f"<details>\n<summary>{summary}</summary>\n", "\n</details>"] if summary else []
        size = sum(map(len, (*around, *head)))
        kept, rest = fitting(lines, self._room(share) - size, what)
        rest = [f"\n{sentence}" for sentence in rest]
        self.add("\n".join([*around[:1], *head, *kept, *rest, *around[1:]]))


def shortened(foreign: str) -> str:
    """Return the text, escaped by `clean` and cut to at most `LONGEST` characters."""
    return cut(clean(foreign), LONGEST)
