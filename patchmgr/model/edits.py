"""Descriptions of the edits that a patch makes to a file."""

from __future__ import annotations

from msgspec import Struct


class Edit(Struct, frozen=True):
    """A description of one edit, and the symbol that contains the edit."""

    symbol: str  # `Class.method`; empty for code outside of any symbol
    words: str

    def __str__(self) -> str:
        """Return the description, followed by the symbol if there is one."""
        return f"{self.words} in {self.symbol}" if self.symbol else self.words


class FileEdits(Struct, frozen=True):
    """The edits that a patch makes to one file."""

    path: str
    edits: tuple[Edit, ...]
