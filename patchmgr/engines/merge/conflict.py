"""A conflict region, and a candidate resolution that has no likelihood yet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from patchmgr.engines.merge.features import Subject, Words
from patchmgr.engines.merge.imports import FileImports
from patchmgr.engines.merge.languages import Language, lex
from patchmgr.engines.merge.region import Region
from patchmgr.engines.merge.replay import Place
from patchmgr.engines.merge.tree import Node
from patchmgr.engines.merge.verify import Surroundings
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.text.distinctive import bare, is_distinctive

WORD = re.compile(r"\w+")
LONGEST = 2000  # characters of a call, or of a line
_Side = TypeVar("_Side")


class Made(Struct, frozen=True):
    """A candidate resolution that has no likelihood yet, and the rule that made it."""

    rule: str
    text: str
    places: tuple[Place, ...] = ()  # that both sides changed
    asks: tuple[str, ...] = ()  # why a person must confirm the text
    features: Mapping[str, str] = {}
    spaced: str = ""  # with blank lines between insertions, if they were missing


class Conflict(Struct, frozen=True):
    """A conflict region, and the facts that all of its candidate resolutions share."""

    region: Region
    flat: Sequence[Node]  # the sides as tokens
    around: Surroundings
    subject: Subject
    texts: Texts
    # how often the file has each line, without indentation, in base, ours and theirs
    lines: Sequence[Words]
    imports: FileImports | None  # None: not Python
    has_one_answer: bool  # the changes can be merged in only one way


def outside_brackets(lines: Iterable[str], language: Language) -> Iterator[str]:
    """Yield the lines that begin outside all brackets."""
    depth = 0
    for line in lines:
        if depth == 0:
            yield line
        signs = [token.text for token in lex(line, language) if token.kind == "sign"]
        depth += sum(x in "([{" for x in signs) - sum(x in ")]}" for x in signs)


def is_layout(conflict: Conflict) -> bool:
    """Return whether a side changes only the layout, or both sides differ only in the layout."""
    return conflict.subject.features["layout"] != "no"


def ways(two: Sequence[_Side]) -> tuple[Sequence[_Side], Sequence[_Side]]:
    """Return two sides in both orders: `((ours, theirs), (theirs, ours))`."""
    return two, two[::-1]


def counted(lines: Iterable[str]) -> Words:
    """Count how often each line occurs, ignoring indentation."""
    return Counter(line.strip() for line in lines)


def is_distinctive_line(line: str) -> bool:
    """Return whether a line is distinctive: unlikely to occur by chance, unlike `}` or `return`."""
    return is_distinctive(bare(line.encode("utf-8", "surrogateescape")))
