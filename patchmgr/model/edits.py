"""What a change does, in words."""

from __future__ import annotations

from msgspec import Struct


class Edit(Struct, frozen=True):
    """One thing that a patch does, in which symbol (`Class.method`, empty at the top)."""

    symbol: str
    words: str

    def __str__(self) -> str:
        """The edit as a sentence without a full stop."""
        return f"{self.words} in {self.symbol}" if self.symbol else self.words


class FileEdits(Struct, frozen=True):
    """What a patch does to a file, edit by edit."""

    path: str
    edits: tuple[Edit, ...]
