"""A regular expression as a program for a machine that never goes back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Place(str, Enum):
    """Where an instruction without width holds: ends of a line, edges of words."""

    START = "^"
    END = "$"
    EDGE = r"\b"
    NO_EDGE = r"\B"


@dataclass(frozen=True, slots=True)
class Take:
    """Take one character that is in a range (or in none of them, if negated)."""

    ranges: tuple[tuple[str, str], ...]
    is_negated: bool = False

    def accepts(self, char: str) -> bool:
        """Say whether the character is taken."""
        return any(low <= char <= high for low, high in self.ranges) is not self.is_negated


@dataclass(frozen=True, slots=True)
class Fork:
    """Go on at both places, which are given relative to this one; the first is preferred."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on elsewhere, relative to this place."""

    by: int


@dataclass(frozen=True, slots=True)
class Hold:
    """Go on only where the place is right."""

    place: Place


@dataclass(frozen=True, slots=True)
class Mark:
    """Note where a group starts (an even slot) or ends (the odd one after it)."""

    slot: int


Instruction = Take | Fork | Jump | Hold | Mark


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression: its text and its program, which matches at the program's end."""

    text: str
    program: tuple[Instruction, ...]
    groups: int
