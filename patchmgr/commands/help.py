"""`help`: find the topic pages that come with the program, and write man pages."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date, datetime, timezone
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.manual import BlockKind, PageBlock, Topic
from patchmgr.plumbing.outputs import make_folder, write_output

OURS = b'.\\" Made by patchmgr help --man'


@cache
def topics() -> tuple[Topic, ...]:
    """Return all topics, sorted by name."""
    pages = (page for page in files("patchmgr").joinpath("topics").iterdir())
    texts = (page.read_text("utf-8") for page in pages if page.name.endswith(".md"))
    return tuple(sorted(map(parse_topic, texts), key=lambda topic: topic.name))


def find_topic(name: str, commands: Collection[str]) -> Topic | None:
    """Return the named topic, or None for a command; raise "unknown-topic" for any other name."""
    known = {topic.name: topic for topic in topics()}
    if name in known or name in commands:
        return known.get(name)
    close = get_close_matches(name.lower(), dict.fromkeys([*known, *commands]), n=3, cutoff=0.5)
    hint = f"nearest names: {', '.join(close)}" if close else "to list the topics: patchmgr help"
    raise PatchmgrError("unknown-topic", f"there is no topic or command {shown(name)}", hint)


def write_pages(folder: Path, pages: Mapping[str, bytes]) -> None:
    """Write man pages to a folder; raise "in-the-way" if a file is not one of patchmgr's pages."""
    for name in pages:
        place = folder / name
        if os.path.lexists(place) and not (place.is_file() and _is_ours(place)):
            message = f"{place} already exists, and is not a man page of patchmgr"
            raise PatchmgrError("in-the-way", message, "name another folder")
    make_folder(folder)
    for name, page in pages.items():
        write_output(folder / name, page)


def _is_ours(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(len(OURS)) == OURS


def page_date() -> date:
    """Return the date for man pages: SOURCE_DATE_EPOCH if it is set, otherwise today."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.now(timezone.utc)
    return (datetime.fromtimestamp(int(given), timezone.utc) if given.isdigit() else now).date()


_TITLE = re.compile(r"# ([a-z][a-z-]*): (.+)")


def parse_topic(text: str) -> Topic:
    """Parse a topic page; raise ValueError if its title is malformed."""
    title, _, rest = text.partition("\n")
    match = _TITLE.fullmatch(title)
    if match is None:
        raise ValueError(f"the title {title!r}")
    text = rest.strip("\n") + "\n"
    return Topic(match[1], match[2], text, tuple(_blocks(text)))


def _blocks(text: str) -> Iterator[PageBlock]:
    for part in re.split(r"\n{2,}", text.strip("\n")):
        lines = part.split("\n")
        if all(line.startswith("    ") for line in lines):
            yield PageBlock(BlockKind.CODE, "\n".join(line[4:] for line in lines))
        elif lines[0].startswith("- "):
            for item in re.split(r"\n(?=- )", part):
                yield PageBlock(BlockKind.ITEM, " ".join(item[2:].split()))
        else:
            yield PageBlock(BlockKind.TEXT, " ".join(part.split()))
