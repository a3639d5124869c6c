"""Bytes read as a row of choices, so that any bytes are a case, and near bytes a near case."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """A row of choices; where the bytes end, each further choice is the first."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    def number(self, below: int) -> int:
        """Choose a number from 0 on."""
        if self._at >= len(self._raw) or below <= 1:
            return 0
        self._at += 1
        return self._raw[self._at - 1] % below

    def one_of(self, items: Sequence[T]) -> T:
        """Choose an item."""
        return items[self.number(len(items))]


def edited(choices: Choices, lines: Sequence[T], words: Sequence[T], most: int) -> list[T]:
    """Return the lines with a few replaced, deleted or inserted."""
    found = list(lines)
    for _ in range(choices.number(most + 1)):
        kind, at = choices.number(3), choices.number(len(found) + 1)
        if kind == 0:
            found.insert(at, choices.one_of(words))
        elif at < len(found) and kind == 1:
            found[at] = choices.one_of(words)
        elif at < len(found):
            del found[at]
    return found
