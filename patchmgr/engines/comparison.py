"""What upstream brought into a file since the base, and how much its words say.

A word that the file had everywhere says little, one that it did not have says much.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from patchmgr.engines.differences import Block, Run, changed_blocks
from patchmgr.engines.languages.names import language
from patchmgr.engines.languages.words import (
    KEYWORDS,
    OPERATORS,
    SIGN,
    all_words,
    indentation,
    is_blank,
    is_import,
    parts_of,
    words_of,
)
from patchmgr.engines.name_counts import NameCounts
from patchmgr.engines.placement import split_lines

LONGEST_LINE = 500  # what is longer is generated, or no code
NEAR = 6  # lines
NEAR_WITHOUT_SYMBOL = 5
KEYWORD_WEIGHT = 0.1
LOCAL_WEIGHT = 0.5
SIGN_WEIGHT = 0.6  # of a number, or of a sign in a string, against a name as frequent

LOCAL = "§"
"""Stands for every local variable, whose name may be another one."""

_BOUND = re.compile(
    r"(?:^|[({;])\s*(?:for\s+)?(?:[\w:<>,]+[\s*&]+)*?([^\W\d]\w*)\s*(?::[^=]+)?\s=\s"
    r"|\bfor\s+([^\W\d]\w*)\s+in\b|\bas\s+([^\W\d]\w*)\s*[:,)]"
)

if TYPE_CHECKING:
    from patchmgr.engines.symbols import SymbolIndex


class Brought(Struct, frozen=True):
    """A line of upstream (from 0), the words that upstream brought there, and its block."""

    number: int
    words: tuple[str, ...]
    block: Block


class Said:
    """Words that were said, as `Sayings.share` looks for them."""

    def __init__(self, words: Sequence[str]) -> None:
        self.counts = Counter(words)

    @cached_property
    def parts(self) -> frozenset[str]:
        """What the words are made of."""
        return frozenset(part for word in self.counts for part in parts_of(word))


class Sayings(Struct, frozen=True):
    """Words to look for: in order, how often each, and how much it says."""

    order: tuple[str, ...]
    counts: Mapping[str, int]
    weights: Mapping[str, float]

    @property
    def telling(self) -> float:
        """Return how much all of it says."""
        return sum(self.weights.values())

    def share(self, said: Said, *, part_credit: float = 0.0) -> float:
        """Return how much of it other words say, from 0 to 1.

        A name that is not among them counts a bit where the words that it is made of are.
        """
        got = 0.0
        for word, count in self.counts.items():
            share = min(said.counts.get(word, 0), count) / count
            own = parts_of(word) if share < 1 and part_credit and word not in KEYWORDS else ()
            if own:
                share += (1 - share) * part_credit * sum(p in said.parts for p in own) / len(own)
            got += share * self.weights[word]
        return got / self.telling if self.telling else 0.0


class Comparison:
    """A file before and after upstream's changes."""

    def __init__(
        self, path: str, base: bytes, ours: bytes, *, names: NameCounts | None = None
    ) -> None:
        self._names = names or NameCounts()
        self.language = language(path, base)
        self.base, self.ours = split_lines(base), split_lines(ours)
        self._path = path
        self._contents = base, ours

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that upstream changed."""
        return changed_blocks(self.base, self.ours)

    @cached_property
    def brought(self) -> tuple[Brought, ...]:
        """What upstream brought, line by line."""
        return tuple(line for block in self.blocks for line in self._brought_by(block))

    def _brought_by(self, block: Block) -> Iterator[Brought]:
        new = self.ours[block.new_start : block.new_end]
        words = [(n, word) for n, line in enumerate(new) for word in self._words(line)]
        old = all_words(self.base[block.old_start : block.old_end], self.language)
        kept = _kept(old, [word for _, word in words])
        bound = self._locals(new)
        lines: dict[int, list[str]] = {}
        for number, (n, word) in enumerate(words):
            if number not in kept:
                lines.setdefault(n, []).append(LOCAL if word in bound else word)
        for n, here in lines.items():
            yield Brought(block.new_start + n, tuple(here), block)

    @cached_property
    def said(self) -> Said:
        """The words of the lines that upstream has more often than base: quick to say."""
        new = list((Counter(self.ours) - Counter(self.base)).elements())
        bound = self._locals(new)
        words = (word for line in new for word in self._words(line))
        return Said([LOCAL if word in bound else word for word in words])

    def _words(self, line: bytes) -> list[str]:
        is_code = len(line) <= LONGEST_LINE and not is_import(line)
        return words_of(line, self.language) if is_code else []

    @cached_property
    def _frequency(self) -> Counter[bytes]:
        return self._names.of(self.base)

    def weight(self, word: str) -> float:
        """Return how much a word says: 1 for a name that the file did not have."""
        if word in KEYWORDS or word in OPERATORS:
            return KEYWORD_WEIGHT
        if word == LOCAL:
            return LOCAL_WEIGHT
        if word[0] == SIGN:
            count = self._contents[0].count(word[1:].encode("utf-8", "surrogateescape"))
        else:
            count = self._count(word)
        weight = 1 / (1 + math.log2(1 + count))
        return weight if word[0].isalpha() or word[0] == "_" else weight * SIGN_WEIGHT

    def _count(self, name: str) -> int:
        return self._frequency[name.encode("utf-8", "surrogateescape")]

    def _locals(self, lines: Sequence[bytes]) -> frozenset[str]:
        """Return the names of variables that the lines bind and that the file did not have."""
        texts = (x.decode("utf-8", "surrogateescape") for x in lines if len(x) <= LONGEST_LINE)
        names = {name for text in texts for found in _BOUND.findall(text) for name in found}
        return frozenset(
            name
            for name in names - KEYWORDS
            if name and name != name.upper() and not self._count(name)
        )

    def sayings(self, runs: Sequence[Run]) -> Sayings:
        """Return what runs bring that they do not only keep from the lines they replace."""
        order: list[str] = []
        bound = self._locals([line for run in runs for line in run.added])
        for run in runs:
            new = [word for line in run.added for word in self._words(line)]
            kept = _kept(all_words(run.removed, self.language), new)
            order += [word for number, word in enumerate(new) if number not in kept]
        return self.weighed([LOCAL if word in bound else word for word in order])

    def weighed(self, words: Sequence[str]) -> Sayings:
        """Return words with how much each says."""
        weights = {word: self.weight(word) for word in dict.fromkeys(words)}
        return Sayings(tuple(words), Counter(words), weights)

    def has_news_near(self, runs: Sequence[Run]) -> bool:
        """Say whether upstream brought a line near one of the runs: quicker than `is_beside`."""
        starts, ends = self._news
        return any(
            bisect_left(ends, run.start - NEAR) < bisect_right(starts, run.end + NEAR)
            for run in runs
        )

    @cached_property
    def _news(self) -> tuple[list[int], list[int]]:
        """Where the blocks that upstream brought lines to start in base, and where they end."""
        news = [block for block in self.blocks if block.new_start != block.new_end]
        return [block.old_start for block in news], [block.old_end for block in news]

    def is_beside(self, run: Run, block: Block) -> bool:
        """Say whether a block is near a run, in the same symbol and the same suite."""
        return (
            _is_near(run, block)
            and self._is_same_suite(run, block)
            and self._is_same_symbol(run, block)
        )

    def _is_same_suite(self, run: Run, block: Block) -> bool:
        """Say whether nothing between the two is indented less than the run is."""
        depth = indentation(next(line for line in run.added if not is_blank(line)))
        at = self.in_ours(run.start)
        between = self.ours[block.new_end : at] or self.ours[at : block.new_start]
        return all(is_blank(line) or indentation(line) >= depth for line in between)

    def in_ours(self, line: int) -> int:
        """Return where a line of base is in upstream's file, or would be."""
        shift = 0
        for block in self.blocks:
            if block.old_start >= line:
                break
            if line < block.old_end:
                return block.new_start
            shift = block.new_end - block.old_end
        return line + shift

    @cached_property
    def _symbols(self) -> tuple[SymbolIndex, SymbolIndex]:
        from patchmgr.engines.symbols import SymbolIndex

        base, ours = self._contents
        return SymbolIndex(self._path, base), SymbolIndex(self._path, ours)

    def symbol_of(self, run: Run) -> str | None:
        """Return the symbol of base that a run is in, None where there is none."""
        lines = range(run.start + (not run.removed), run.end + 2)
        found = (self._symbols[0].at(max(1, line)) for line in lines)
        return next((symbol for symbol in found if symbol is not None), None)

    def _is_same_symbol(self, run: Run, block: Block) -> bool:
        symbol = self.symbol_of(run)
        lines = range(block.new_start, block.new_end)
        there = {self._symbols[1].at(line + 1) for line in lines}
        if symbol is None or there == {None}:
            return run.gap(block) <= NEAR_WITHOUT_SYMBOL
        return symbol in there

    def brought_here(self, runs: Sequence[Run]) -> tuple[Brought, ...]:
        """Return what upstream brought into the symbols of the runs.

        Where a run or a line is in none, being near is enough.
        """
        places = [(run, self.symbol_of(run)) for run in runs]
        return tuple(
            line
            for line in self.brought
            if any(self._is_here(line, run, symbol) for run, symbol in places)
        )

    def _is_here(self, line: Brought, run: Run, symbol: str | None) -> bool:
        there = self._symbols[1].at(line.number + 1)
        if symbol is None or there is None:
            return run.gap(line.block) <= NEAR_WITHOUT_SYMBOL
        return there == symbol

    def called(self, lines: Sequence[Brought]) -> tuple[Brought, ...]:
        """Return what upstream brought into new functions of the file that the lines name."""
        base, ours = self._symbols
        said = {word for line in lines for word in line.words}
        new = ours.names() - base.names()
        called = {name for name in new if re.split(r"\.|::", name)[-1] in said}
        return tuple(line for line in self.brought if ours.at(line.number + 1) in called)


def _is_near(run: Run, block: Block) -> bool:
    return block.new_start != block.new_end and run.gap(block) <= NEAR


def _kept(old: Sequence[str], new: Sequence[str]) -> frozenset[int]:
    """Return which of the new words the old ones had already, by number."""
    if not old:
        return frozenset()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    blocks = matcher.get_matching_blocks()
    return frozenset(n for block in blocks for n in range(block.b, block.b + block.size))
