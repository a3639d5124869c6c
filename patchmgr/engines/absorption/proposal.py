"""Propose to drop hunks that upstream seems to have in a different form. A person decides.

The words of a hunk are searched for, in order, among the words that upstream added since the base.
A word that was rare in the file weighs more than a frequent one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property, lru_cache
from math import fsum, log2
from operator import itemgetter

from msgspec import Struct

from patchmgr.engines.absorption.thresholds import (
    FEWEST_WEIGHT,
    LIKE_IN_CLEAN,
    LIKE_IN_CONFLICT,
    LONGEST_LINE,
    NEAR,
)
from patchmgr.engines.languages.file_types import language
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.languages.words import BLANKED, KEYWORDS, OPERATORS, SIGN, is_import, words_of
from patchmgr.engines.moved.units import leaf_of
from patchmgr.engines.rebase.ladder import CONFLICT, Collided, Merged, Sides
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import (
    Alignment,
    Block,
    Run,
    aligned,
    changed_blocks,
    matched_lines,
    runs_of,
)
from patchmgr.engines.text.known_changes import changes_of
from patchmgr.model.merge import Clean
from patchmgr.model.outcome import How, Resemblance, Verdict
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs, TextMerge

AddedWord = tuple[int, str]
"""The number of a line in upstream's file (from 0), and a word that upstream added to it."""


class Wanted(Struct, frozen=True):
    """The words that a hunk adds, in order, with the weight of each word and the total weight."""

    words: tuple[str, ...]
    weights: dict[str, float]
    total: float
    lines: int

    def weight(self, words: Iterable[str]) -> float:
        """Return the total weight of `words`, each of which must be in `weights`."""
        return fsum(map(self.weights.__getitem__, words))


@lru_cache(maxsize=1024)  # upstream's changes of a file are the same for each of its patches
def _put(old: tuple[bytes, ...], new: tuple[bytes, ...], spoken: str) -> tuple[AddedWord, ...]:
    """Return the words that `new` lines add to the `old` ones, with their line numbers in `new`."""

    def words_in(line: bytes) -> list[str]:
        return words_of(line, spoken) if len(line) <= LONGEST_LINE and not is_import(line) else []

    words = [(n, word) for n, line in enumerate(new) for word in words_in(line)]
    before = [word for line in old for word in words_in(line)]
    kept = {at for _, at in matched_lines(before, [word for _, word in words])}
    return tuple(
        (n, word)
        for at, (n, word) in enumerate(words)
        if at not in kept and word not in KEYWORDS and word not in OPERATORS
    )


class Comparison:
    """A file before (`base`) and after (`ours`) upstream's changes."""

    def __init__(self, path: str, base: bytes, ours: bytes) -> None:
        self.language = language(path, base)
        self.base, self.ours = split_lines(base), split_lines(ours)
        self._contents = base, ours
        self._symbols = SymbolIndex(path, base), SymbolIndex(path, ours)
        _, new = self._symbols  # all hunks ask for the same blocks
        self._symbols_in = cache(lambda b: {new.at(n + 1) for n in range(b.new_start, b.new_end)})

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The ranges of lines that upstream changed."""
        return changed_blocks(self.base, self.ours)

    def near(self, runs: Sequence[Run]) -> Sequence[Block]:
        """Return the ranges changed by upstream that are near any of a hunk's changes (`runs`)."""
        changes = changes_of(*self._contents)  # at least as wide, and mostly known
        if changes is not None and not any(
            run.gap(Block(*change)) <= NEAR for change in changes for run in runs
        ):
            return ()
        blocks, least, most = self.blocks, runs[0].start - NEAR, runs[-1].end + NEAR
        first = bisect_left(blocks, least, key=lambda block: block.old_end)
        last = bisect_right(blocks, most, key=lambda block: block.old_start)
        return blocks[first:last]

    def brought(self, blocks: Iterable[Block]) -> list[AddedWord]:
        """Return the words that upstream added in the given ranges, with their line numbers."""
        found = list[AddedWord]()
        for block in blocks:
            old = tuple(self.base[block.old_start : block.old_end])
            put = _put(old, tuple(self.ours[block.new_start : block.new_end]), self.language)
            found += [(block.new_start + n, word) for n, word in put]
        return found

    @cached_property
    def _names(self) -> Counter[bytes]:
        return Counter(self._contents[0].translate(BLANKED).split())

    def wanted(self, runs: Sequence[Run]) -> Wanted:
        """Return the words that some changes of a hunk add, with a weight for each word."""

        def count(word: str) -> int:
            text = word.removeprefix(SIGN).encode("utf-8", "surrogateescape")
            return self._contents[0].count(text) if word[0] == SIGN else self._names[text]

        words = [word for run in runs for _, word in _put(run.removed, run.added, self.language)]
        counts = Counter(words)
        weights = {word: 1 / (1 + log2(1 + count(word))) / n for word, n in counts.items()}
        total = fsum(map(weights.__getitem__, words))
        return Wanted(tuple(words), weights, total, sum(len(run.added) for run in runs))

    def brought_to(self, runs: Sequence[Run], blocks: Iterable[Block]) -> list[Block]:
        """Return those `blocks` that are in the same symbols as the changes of a hunk (`runs`)."""
        symbols = dict[Run, str | None]()
        for run in runs:
            around = range(run.start + (not run.removed), run.end + 2)
            told = (self._symbols[0].at(max(1, n)) for n in around)
            symbols[run] = next(filter(None, told), None)

        def is_near(run: Run, block: Block) -> bool:
            there, symbol = self._symbols_in(block), symbols[run]
            is_told = symbol is not None and there != {None}
            return symbol in there if is_told else run.gap(block) <= NEAR

        return [block for block in blocks if any(is_near(run, block) for run in runs)]

    def find_resemblance(self, hunk: Hunk, position: int, *, is_clean: bool) -> Resemblance | None:
        """Return the upstream lines that seem to do what a hunk does, or None."""
        runs = [run for run in runs_of(hunk, position) if run.says_something]
        changed = (self.near(runs) if is_clean else self.blocks) if runs else ()
        if not changed:
            return None
        wanted, least = self.wanted(runs), LIKE_IN_CLEAN if is_clean else LIKE_IN_CONFLICT
        is_short = wanted.total < FEWEST_WEIGHT
        if is_short and is_clean:
            return None
        fewest = 1 if is_short else least - 0.01  # a confidence is rounded
        there = {word for _, word in self.brought(changed)}
        # Few hunks pass this test. Finding the symbols takes 10 ms for a file of 2,000 lines.
        if wanted.weight(filter(there.__contains__, wanted.words)) < fewest * wanted.total:
            return None
        lines = self.brought(self.brought_to(runs, changed))
        if is_short:  # a new function that upstream calls here may do it (stale-hash at 0.24.0)
            (base, ours), words = self._symbols, {word for _, word in lines}
            new = {symbol for symbol in ours.names - base.names if leaf_of(symbol) in words}
            lines = [b for b in self.brought(self.blocks) if new and ours.at(b[0] + 1) in new]
            is_missing = Counter(wanted.words) - Counter(word for _, word in lines)
            wanted = self.wanted([Run(position, (), hunk.new())])
            if is_missing or wanted.total < FEWEST_WEIGHT:
                return None
        return self._passage(hunk, wanted, lines, min(changed, key=runs[0].gap).new_start, least)

    def _passage(
        self, hunk: Hunk, wanted: Wanted, there: Sequence[AddedWord], near: int, least: float
    ) -> Resemblance | None:
        """Return the short range of upstream's lines that has the most words of a hunk, or None."""
        there = [one for one in there if one[1] in wanted.weights]
        size = wanted.lines + NEAR

        def fit(first: int) -> tuple[float, int, list[int]]:
            window = there[bisect_left(there, (first, "")) : bisect_left(there, (first + size, ""))]
            pairs = matched_lines(wanted.words, [word for _, word in window])
            share = wanted.weight(wanted.words[at] for at, _ in pairs) / wanted.total
            return share, -abs(first - near), [window[at][0] for _, at in pairs]

        fits = map(fit, dict.fromkeys(line for line, _ in there))
        share, _, lines = max(fits, key=itemgetter(0, 1), default=(0, 0, ()))
        confidence = round(min(share, 0.99), 2)
        if not lines or confidence < least:  # without lines, too many words occur more than once
            return None
        start = lines[0]
        while start and self.ours[start - 1].rstrip().endswith((b"(", b"[")):
            start -= 1
        upstream = b"".join(self.ours[start : lines[-1] + 1])
        return Resemblance(confidence, start + 1, upstream, hunk.added_text())


REASON = "upstream seems to have this in a different form"


class Proposal(Struct, frozen=True):
    """A hunk, given by its index in the file, that upstream seems to have in a different form."""

    hunk: int
    is_clean: bool
    resemblance: Resemblance


def with_proposals(
    sides: Sides, merged: Merged | Collided, *, blobs: Blobs, text: TextMerge
) -> tuple[Merged | Collided, tuple[Proposal, ...]]:
    """Turn hunks that upstream seems to have into conflicts, with a proposal for each."""
    is_binary = isinstance(merged, Collided) and merged.marked is None
    texts = None if is_binary or sides.base == sides.ours else sides.texts(blobs)
    if texts is None:
        return merged, ()
    comparison, found = Comparison(sides.path, *texts[:2]), list[Proposal]()
    answers, spots = [*merged.answers], list[Block]()
    for n, (hunk, position) in enumerate(zip(sides.hunks, sides.positions, strict=True)):
        verdict, how = merged.answers[n]
        is_clean, there = verdict is not Verdict.CONFLICT, None
        if verdict is not Verdict.ABSORBED and how in (None, How.TEXT, How.MOVED):
            there = comparison.find_resemblance(hunk, position, is_clean=is_clean)
        if there is not None:
            found.append(Proposal(n, is_clean, there))
        if there is not None and is_clean:
            answers[n], lines = CONFLICT, split_lines(there.upstream)
            runs, at = [*runs_of(hunk, position)], there.line - 1
            spots.append(Block(runs[0].start, runs[-1].end, at, at + len(lines)))
    if spots:
        reason = merged.reason if isinstance(merged, Collided) else REASON
        merged = Collided(reason, marked_spots(texts, spots, text), tuple(answers))
    return merged, tuple(found)


def marked_spots(texts: Sequence[bytes], spots: Sequence[Block], text: TextMerge) -> bytes | None:
    """Merge three texts, with conflict markers around `spots`, even if these merge cleanly."""
    lines, new = split_lines(texts[0]), split_lines(texts[1])
    to = aligned(matched_lines(lines, new), lines, new)
    back = Alignment(to.new, to.old)
    places = list[tuple[int, int]]()
    for spot in spots:
        one, _ = to.around(range(spot.old_start, spot.old_end))
        _, other = back.around(range(spot.new_start, spot.new_end))
        start, end = min(one.start, other.start), max(one.stop, other.stop)
        while places and start <= places[-1][1]:
            start, end = min(start, places[-1][0]), max(end, places.pop()[1])
        places.append((start, end))
    held = dict[bytes, bytes]()
    for start, end in reversed(places):  # replaced by a line that no side has
        mark = b"%d of %d lines\n" % (start, len(lines))
        held[mark] = b"".join(line.rstrip(b"\n") + b"\n" for line in lines[start:end])
        lines[start:end] = [mark]
    merge = text.merge(b"".join(lines), texts[1], texts[2])
    marked = merge.content if isinstance(merge, Clean) else merge.marked
    for mark, content in held.items():
        marked = None if marked is None else marked.replace(mark, content)
    return marked
