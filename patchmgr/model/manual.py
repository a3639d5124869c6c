"""The pages of the manual: one for each command, and one for each topic."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class BlockKind(Enum):
    """Whether a block of a page is a paragraph, a list item, or code."""

    TEXT = "text"
    ITEM = "item"
    CODE = "code"


class PageBlock(Struct, frozen=True):
    """A paragraph or list item on a single line, or several lines of code."""

    kind: BlockKind
    text: str


class ParameterHelp(Struct, frozen=True):
    """An argument or option: its names, the placeholder for its value, and its description."""

    names: tuple[str, ...]
    value: str
    text: str
    is_needed: bool


class CommandPage(Struct, frozen=True):
    """The manual page of a command."""

    words: tuple[str, ...]  # what a user types to run the command
    summary: str
    text: tuple[str, ...]
    examples: tuple[str, ...]
    arguments: tuple[ParameterHelp, ...]
    options: tuple[ParameterHelp, ...]
    below: tuple[tuple[str, str], ...] = ()  # the name and summary of each command of a group

    @property
    def name(self) -> str:
        """Return the name of the page: the words of the command, joined by dashes."""
        return "-".join(self.words)


class Topic(Struct, frozen=True):
    """A topic page: its name, its subject, and its text, both as written and as blocks."""

    name: str
    about: str
    text: str
    blocks: tuple[PageBlock, ...]
