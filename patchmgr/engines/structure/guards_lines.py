"""Find lines in a merge that one side replaced everywhere, by counting lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from patchmgr.engines.languages.words import NAMES
from patchmgr.formats.shown import cut

if TYPE_CHECKING:
    from patchmgr.engines.structure.sides import Texts

FEWEST_GONE = 2  # removed lines that show that a form was replaced
FEWEST_WORDS = 2  # of a distinctive line
SHORTEST = 12  # characters of a distinctive line
LONGEST_SHOWN = 80  # characters of a line that are quoted
_WORD = re.compile(r"\w+")
_BLANKED = bytes(c if c in NAMES or c >= 128 else 32 for c in range(256))  # for `_split`
_CONDITION = re.compile(r"[ \t]*(?:el)?if\b[ \t]*(.+?)[ \t]*:(?:[ \t]|$)")  # of Python


class Growths(Struct, frozen=True):
    """How many more copies of each changed line upstream, fork and merge have than base."""

    upstream: Mapping[str, int]
    fork: Mapping[str, int]
    merged: Mapping[str, int]


def growths(texts: Texts, merged: str) -> Growths:
    """Return how many more copies of each changed line upstream, fork and merge have than base."""
    base, upstream, fork, both = (
        Counter(side.split("\n")) for side in (texts.base, texts.upstream, texts.fork, merged)
    )
    return Growths(_growth(base, upstream), _growth(base, fork), _growth(base, both))


def _growth(old: Counter[str], new: Counter[str]) -> dict[str, int]:
    changed = {line for line, _ in old.items() ^ new.items()}
    return {line: new[line] - old[line] for line in sorted(changed)}


def bare(growth: Mapping[str, int]) -> Counter[str]:
    """Strip white space from both ends of each line, and add up the counts of equal lines."""
    found: Counter[str] = Counter()
    for line, count in growth.items():
        found[line.strip()] += count
    return found


def outdated_lines(texts: Texts, counted: Growths) -> tuple[str, ...]:
    """Return warnings about lines that one side adds, although the other side removed all copies.

    The other side must have removed at least two such lines, or one that occurred twice.
    """
    upstream, fork, merged = map(bare, (counted.upstream, counted.fork, counted.merged))
    told: list[str] = []
    for who, gone, new in (("upstream", upstream, fork), ("the patch", fork, upstream)):
        doubtful = [n for n, count in new.items() if count > 0 > gone[n] and _is_distinctive(n)]
        if not doubtful:
            continue
        base = Counter(line.strip() for line in texts.base.split("\n"))
        old = [n for n in doubtful if gone[n] == -base[n] and base[n] + merged[n] > 0]
        if sum(base[n] for n in old) >= FEWEST_GONE:
            told.append(_sentence(sorted(old, key=lambda n: (texts.base.find(n), n)), who))
    return tuple(told)


def _is_distinctive(line: str) -> bool:
    return len(line) >= SHORTEST and len(_WORD.findall(line)) >= FEWEST_WORDS


def _sentence(lines: list[str], who: str) -> str:
    more = f" (and {len(lines) - 1} more like it)" if len(lines) > 1 else ""
    return (
        f"`{cut(lines[0], LONGEST_SHOWN)}`{more} is new, although {who} replaced every copy of it."
    )


def is_worth_a_look(texts: Texts, counted: Growths) -> bool:
    """Return whether a merge of Python could have a fault that closer checks would find."""
    return _is_condition_twice(counted) or _is_word_suspect(texts.base, counted)


def _split(text: str) -> list[bytes]:
    """Split a text into names and numbers."""
    # Several times faster than a regular expression.
    return text.encode("utf-8", "surrogateescape").translate(_BLANKED).split()


def _words(growth: Mapping[str, int]) -> Counter[bytes]:
    """Add up, for each word, how many more copies of it there are than in base."""
    found: Counter[bytes] = Counter()
    for line, count in growth.items():
        for word in _split(line):
            if not word[:1].isdigit():
                found[word] += count
    return found


def _is_word_suspect(base: str, counted: Growths) -> bool:
    """Return whether the merge has a word that a side removed everywhere or that both sides add.

    A word also counts if the merge has it once, but both sides have it more often.
    """
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


def _is_condition_twice(counted: Growths) -> bool:
    """Return whether both sides add an `if` or `elif` with the same condition."""
    ours, theirs = (
        {match[1] for line, n in side.items() if n > 0 and (match := _CONDITION.match(line))}
        for side in (counted.upstream, counted.fork)
    )
    return not ours.isdisjoint(theirs)
