"""A merge of one text as a value: clean, or with conflicting regions."""

from __future__ import annotations

from msgspec import Struct

MARKER_BASE = b"base"
MARKER_OURS = b"ours"
MARKER_THEIRS = b"theirs"


class Clean(Struct, frozen=True):
    """A merge without conflict."""

    content: bytes


class Conflicted(Struct, frozen=True):
    """A merge with conflicts: the text with zdiff3 markers, or None if the sides are binary.

    The labels after the markers are `ours`, `base` and `theirs`.
    """

    marked: bytes | None


Merge = Clean | Conflicted
