"""Topic pages: their title and their blocks."""

import pytest

from patchmgr.commands.help import parse_topic
from patchmgr.model.manual import BlockKind, PageBlock
from tests.tables import table

PAGE = """\
# some-topic: what it is about

Text of
two lines.

- one
  goes on
- two

    code `as` is
      indented

Last.
"""


def test_a_page_is_read() -> None:
    topic = parse_topic(PAGE)
    assert (topic.name, topic.about) == ("some-topic", "what it is about")
    assert topic.text == PAGE.partition("\n\n")[2]
    assert list(topic.blocks) == [
        PageBlock(BlockKind.TEXT, "Text of two lines."),
        PageBlock(BlockKind.ITEM, "one goes on"),
        PageBlock(BlockKind.ITEM, "two"),
        PageBlock(BlockKind.CODE, "code `as` is\n  indented"),
        PageBlock(BlockKind.TEXT, "Last."),
    ]


@table("text", ["", "some: text\n", "# Some: text\n", "# a b: c\n", "# a:b\n"])
def test_a_page_without_a_title_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="the title"):
        parse_topic(text)
