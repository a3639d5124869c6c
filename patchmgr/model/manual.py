"""Pages of the manual: a command, and a topic."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Kind(Enum):
    """What a block of a page is."""

    TEXT = "text"
    ITEM = "item"
    CODE = "code"


class Block(Struct, frozen=True):
    """A paragraph or a list item on one line, or lines of code."""

    kind: Kind
    text: str


class Entry(Struct, frozen=True):
    """An argument or option: how it is written, the placeholder for its value, and what it does."""

    names: tuple[str, ...]
    value: str
    text: str
    is_needed: bool


class CommandPage(Struct, frozen=True):
    """The manual page of a command; `words` are what is typed, `below` the commands of a group."""

    words: tuple[str, ...]
    summary: str
    text: tuple[str, ...]
    examples: tuple[str, ...]
    arguments: tuple[Entry, ...]
    options: tuple[Entry, ...]
    below: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the page."""
        return "-".join(self.words)


class Topic(Struct, frozen=True):
    """A topic page: its name, its subject, and its text, also as blocks."""

    name: str
    about: str
    text: str
    blocks: tuple[Block, ...]
