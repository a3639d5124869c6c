"""How a result is displayed: how much of it, how wide, and in which colors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from enum import Enum
from textwrap import wrap

from msgspec import Struct

UNLIMITED = 1 << 30  # columns, if the output is not a terminal
_COLOR = re.compile("\x1b\\[[0-9;]*m")


def cells(text: str) -> int:
    """Return how many columns a text occupies on a terminal; color codes occupy none."""
    text = _COLOR.sub("", text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def table(rows: Sequence[Sequence[str]], *, right: Container[int] = ()) -> Iterator[str]:
    """Yield rows of cells as columns, two spaces apart; columns in `right` are right-aligned."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        gaps = [" " * (wide - cells(cell)) for cell, wide in zip(row, widths, strict=True)]
        pairs = enumerate(zip(row, gaps, strict=True))
        yield "  ".join(g + c if n in right else c + g for n, (c, g) in pairs).rstrip()


class Detail(Enum):
    """How much of a result is displayed: one line, only what changed, or everything."""

    LINE = "line"
    CHANGES = "changes"
    ALL = "all"


class View(Struct, frozen=True):
    """How a result is displayed."""

    detail: Detail = Detail.CHANGES
    width: int = UNLIMITED  # the columns of the terminal
    color: bool = False
    is_dry_run: bool = False  # the result says what would be done

    def verb(self, would: str, did: str) -> str:
        """Return `would` in a dry run, and otherwise `did`."""
        return would if self.is_dry_run else did

    @property
    def is_line(self) -> bool:
        """Return whether the result is displayed as one line."""
        return self.detail is Detail.LINE

    @property
    def is_all(self) -> bool:
        """Return whether the whole result is displayed, including unchanged items."""
        return self.detail is Detail.ALL

    def folded(self, line: str, indent: str) -> Iterator[str]:
        """Yield a line of prose after `indent`, wrapped if it is wider than the terminal."""
        room = self.width - len(indent)
        if len(line) <= room:
            yield f"{indent}{line}"
            return
        parts = wrap(
            line, max(room, 20), subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        yield from (f"{indent}{part}" for part in parts)
