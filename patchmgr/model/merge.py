"""The result of merging the three versions of a file: clean, or with conflicts."""

from __future__ import annotations

from msgspec import Struct


class Clean(Struct, frozen=True):
    """A merge without conflict."""

    content: bytes


class Conflicted(Struct, frozen=True):
    """A merge with conflicts."""

    # the text with zdiff3 markers (`ours`, `base`, `theirs`); None if the sides are binary
    marked: bytes | None


Merge = Clean | Conflicted
