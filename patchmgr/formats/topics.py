"""Topic pages: Markdown of a few forms, whose first line is `# name: what it is about`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from patchmgr.model.manual import Block, Kind, Topic

_TITLE = re.compile(r"# ([a-z][a-z-]*): (.+)")


def parse_topic(text: str) -> Topic:
    """Read a page; raise ValueError where its title is none."""
    title, _, rest = text.partition("\n")
    match = _TITLE.fullmatch(title)
    if match is None:
        raise ValueError(f"the title {title!r}")
    text = rest.strip("\n") + "\n"
    return Topic(match[1], match[2], text, tuple(_blocks(text)))


def _blocks(text: str) -> Iterator[Block]:
    for part in re.split(r"\n{2,}", text.strip("\n")):
        lines = part.split("\n")
        if all(line.startswith("    ") for line in lines):
            yield Block(Kind.CODE, "\n".join(line[4:] for line in lines))
        elif lines[0].startswith("- "):
            for item in re.split(r"\n(?=- )", part):
                yield Block(Kind.ITEM, " ".join(item[2:].split()))
        else:
            yield Block(Kind.TEXT, " ".join(part.split()))
