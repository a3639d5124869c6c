"""What a patch does to a file, described in words."""

from __future__ import annotations

from msgspec import Struct


class Edit(Struct, frozen=True):
    """An edit that a patch makes, and the symbol in which it makes the edit."""

    symbol: str  # `Class.method`; empty for code outside of any symbol
    words: str

    def __str__(self) -> str:
        """Return the edit in words, followed by its symbol if there is one."""
        return f"{self.words} in {self.symbol}" if self.symbol else self.words


class FileEdits(Struct, frozen=True):
    """The edits that a patch makes to one file."""

    path: str
    edits: tuple[Edit, ...]
