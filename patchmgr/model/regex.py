"""A regular expression as a program for a machine that never goes back."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Place(str, Enum):
    """Where an instruction without width holds: ends of a line, edges of words."""

    START = "^"
    END = "$"
    EDGE = r"\b"
    NO_EDGE = r"\B"


class Take(Struct, frozen=True):
    """Take one character that is in a range (or in none of them, if negated)."""

    ranges: tuple[tuple[str, str], ...]
    is_negated: bool = False

    def accepts(self, char: str) -> bool:
        """Say whether the character is taken."""
        return any(low <= char <= high for low, high in self.ranges) is not self.is_negated


class Fork(Struct, frozen=True):
    """Go on at both places, which are given relative to this one; the first is preferred."""

    first: int
    second: int


class Jump(Struct, frozen=True):
    """Go on elsewhere, relative to this place."""

    by: int


class Hold(Struct, frozen=True):
    """Go on only where the place is right."""

    place: Place


class Mark(Struct, frozen=True):
    """Note where a group starts (an even slot) or ends (the odd one after it)."""

    slot: int


Instruction = Take | Fork | Jump | Hold | Mark


class Regex(Struct, frozen=True):
    """A regular expression: its text and its program, which matches at the program's end."""

    text: str
    program: tuple[Instruction, ...]
    groups: int
