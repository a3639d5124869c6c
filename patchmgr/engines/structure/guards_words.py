"""Whether a merge that is clean as text can be suspicious at all: a cheap look at its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from patchmgr.engines.structure.sides import Texts

_WORD = re.compile(r"[^\W\d]\w*")
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]", re.MULTILINE)
_DEFINED = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)(.*?:)[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE | re.DOTALL,
)
_CALL = re.compile(r"\b(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)")


def is_worth_a_look(texts: Texts, merged: str) -> bool:
    """Say whether a check of names, definitions and statements could find anything.

    It could where the merge has a word that one side wiped out, where both sides bring in the
    same word, where a name is left alone that both sides use, where one side changes the head of
    a definition that the other one names in new lines, or where a line is back that one removed.
    """
    base, *others = (
        Counter(side.split("\n")) for side in (texts.base, texts.upstream, texts.fork, merged)
    )
    upstream, fork, both = (_growth(base, side) for side in others)
    return (
        _is_line_back(upstream, fork, both)
        or _is_word_suspect(texts.base, *map(_words, (upstream, fork, both)))
        or _is_called_otherwise(texts)
    )


def _growth(old: Counter[str], new: Counter[str]) -> dict[str, int]:
    """Return how many more of a line the new text has, for the lines that it has not as often."""
    return {line: new[line] - old[line] for line, _ in old.items() ^ new.items()}


def _words(growth: Mapping[str, int]) -> Counter[str]:
    """Return how many more of a word there are, given lines."""
    found: Counter[str] = Counter()
    for line, count in growth.items():
        for word in _WORD.findall(line):
            found[word] += count
    return found


def _is_word_suspect(
    base: str, upstream: Counter[str], fork: Counter[str], both: Counter[str]
) -> bool:
    """Say whether a word of the merge is wiped out by a side, brought by both, or left alone.

    Given are how many more of a word each text has than the base; all others are as they were.
    """
    old = Counter(_WORD.findall(base))
    for word in upstream.keys() | fork.keys() | both.keys():
        was, held = old[word], old[word] + both[word]
        fewest = was + min(upstream[word], fork[word])
        if held and (not fewest if was else fewest > 0):
            return True
        if was and held == 1 and fewest > 1:
            return True
    return False


def _is_called_otherwise(texts: Texts) -> bool:
    heads = [_heads(side) for side in (texts.base, texts.upstream, texts.fork)]
    changed = [{name for name, _ in heads[0] ^ side} for side in heads[1:]]
    if not any(changed):
        return False
    calls = set(_CALL.findall(texts.base))
    return any(
        not names.isdisjoint(name for name, _ in {*_CALL.findall(side)} - calls)
        for names, side in zip(changed, (texts.fork, texts.upstream), strict=True)
        if names
    )


def _heads(text: str) -> set[tuple[str, str]]:
    """Return name and head of all definitions."""
    found: set[tuple[str, str]] = set()
    end = 0
    for start in _DEFINES.finditer(text):
        match = _DEFINED.match(text, start.start()) if start.start() >= end else None
        if match is not None:
            found.add((match[1], match[2]))
            end = match.end()
    return found


def _is_line_back(
    upstream: Mapping[str, int], fork: Mapping[str, int], both: Mapping[str, int]
) -> bool:
    """Say whether the merge has a line more often than the sides explain, white space aside."""
    more: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    for found, growth in zip(more, (upstream, fork, both), strict=True):
        for line, count in growth.items():
            found[line.strip()] += count
    ours, theirs, merged = more
    return any(
        merged[line] > max(ours[line] + theirs[line], min(ours[line], theirs[line]))
        for line in ours.keys() | theirs.keys()
        if line and min(ours[line], theirs[line]) < 0
    )
