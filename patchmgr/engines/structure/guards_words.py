"""Whether a merge that is clean as text can be suspicious at all: a cheap look at its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from patchmgr.engines.languages.words import NAMES
from patchmgr.engines.structure.guards_lines import Growths, bare

if TYPE_CHECKING:
    from patchmgr.engines.structure.sides import Texts

_BLANKED = bytes(c if c in NAMES or c >= 128 else 32 for c in range(256))
_HEAD = re.compile(
    r"(?:def|class)[ \t]+(\w+)(.*?:)[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE | re.DOTALL,
)
_ARGUMENTS = re.compile(r"[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)")
_CONDITION = re.compile(r"[ \t]*(?:el)?if\b[ \t]*(.+?)[ \t]*:(?:[ \t]|$)")
_ASYNC = re.compile(r"[ \t]*(?:async[ \t]+)?")


def is_worth_a_look(texts: Texts, counted: Growths) -> bool:
    """Return whether a check of names, definitions and statements could find anything.

    It could where the merge has a word that one side wiped out, where both sides bring in the same
    word, where a name is left alone that both sides use, where one side changes the head of a
    definition that the other one names in new lines, where a line is back that one removed, or
    where both bring the same condition.
    """
    return (
        _is_line_back(counted)
        or _is_condition_twice(counted)
        or _is_word_suspect(texts.base, counted)
        or _is_called_otherwise(texts)
    )


def _split(text: str) -> list[bytes]:
    """Return what is between the characters that no name has, numbers among it.

    This is several times as fast as a regular expression.
    """
    return text.encode("utf-8", "surrogateescape").translate(_BLANKED).split()


def _words(growth: Mapping[str, int]) -> Counter[bytes]:
    """Return how many more of a word there are, given lines."""
    found: Counter[bytes] = Counter()
    for line, count in growth.items():
        for word in _split(line):
            if not word[:1].isdigit():
                found[word] += count
    return found


def _is_word_suspect(base: str, counted: Growths) -> bool:
    """Say whether a word of the merge is wiped out by a side, brought by both, or left alone."""
    upstream, fork, both = map(_words, (counted.upstream, counted.fork, counted.merged))
    old = Counter(_split(base))
    for word in upstream.keys() | fork.keys() | both.keys():
        was, held = old[word], old[word] + both[word]
        fewest = was + min(upstream[word], fork[word])
        if held and (not fewest if was else fewest > 0):
            return True
        if was and held == 1 and fewest > 1:
            return True
    return False


def _is_called_otherwise(texts: Texts) -> bool:
    base, upstream, fork = (set(_heads(side)) for side in (texts.base, texts.upstream, texts.fork))
    return any(
        not set(_calls(name, side)) <= set(_calls(name, texts.base))
        for changed, side in ((base ^ upstream, texts.fork), (base ^ fork, texts.upstream))
        for name in {name for name, _ in changed}
    )


def _heads(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and head of all definitions."""
    for keyword in ("def ", "class ", "def\t", "class\t"):
        for at in _places(keyword, text):
            start = text.rfind("\n", 0, at) + 1
            match = _HEAD.match(text, at) if _ASYNC.fullmatch(text, start, at) else None
            if match is not None:
                yield match[1], match[2]


def _calls(name: str, text: str) -> Iterator[str]:
    """Yield the arguments with which a name is called."""
    for at in _places(name, text):
        match = _ARGUMENTS.match(text, at + len(name))
        if match is not None and not text[max(at - 1, 0) : at].isidentifier():
            yield match[1]


def _places(part: str, text: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _is_condition_twice(counted: Growths) -> bool:
    """Say whether both sides bring the same condition: the words of it may all be old."""
    ours, theirs = (
        {match[1] for line, n in side.items() if n > 0 and (match := _CONDITION.match(line))}
        for side in (counted.upstream, counted.fork)
    )
    return not ours.isdisjoint(theirs)


def _is_line_back(counted: Growths) -> bool:
    """Say whether the merge has a line more often than the sides explain, white space aside."""
    ours, theirs, merged = map(bare, (counted.upstream, counted.fork, counted.merged))
    return any(
        merged[line] > max(ours[line] + theirs[line], min(ours[line], theirs[line]))
        for line in ours.keys() | theirs.keys()
        if line and min(ours[line], theirs[line]) < 0
    )
