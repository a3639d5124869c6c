"""How a result is displayed: how much of it, how wide, and in which colours."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from textwrap import wrap

from msgspec import Struct

UNLIMITED = 1 << 30  # columns, if the output is not a terminal


class Detail(Enum):
    """How much of a result is displayed: one line, only what changed, or everything."""

    LINE = "line"
    CHANGES = "changes"
    ALL = "all"


class View(Struct, frozen=True):
    """How a result is displayed; `width` is the number of columns of the terminal."""

    detail: Detail = Detail.CHANGES
    width: int = UNLIMITED
    colour: bool = False

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
