"""Split file contents into lines, words and definitions, and compare and merge them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain, compress, count, pairwise
from operator import ne

Lines = list[bytes]
Pair = tuple[bytes, bytes]
Block = tuple[int, int, int, int]
Words = Counter[bytes]
START, END = b"\n<", b"\n>"  # equal to no line of a file, because of the line feed
_BESIDE = 3
IMPORT = re.compile(rb"\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|using\b)")
REMARK = re.compile(rb"\s*(?:#(?!\s*(?:include|define|if|el|end|pragma|undef))|//|/?\*)")


@lru_cache(maxsize=16)  # each file is read several times; callers must not change the lists
def lines_of(content: bytes | None) -> Lines | None:
    """Return the lines of a file without line endings, or None if there is no content."""
    if content is None:
        return None
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if b"\r" in content:
        return [line.removesuffix(b"\r") for line in lines]
    return lines


def pairs_of(lines: Lines | None) -> Iterable[Pair]:
    """Return all pairs of consecutive lines; the start and the end of the file count as lines."""
    return () if lines is None else pairwise(chain((START,), lines, (END,)))


_LAYOUT = b" \t\r\n\v\f,()'\"\\"
_IN_LINES = _LAYOUT.replace(b"\n", b"")
_WORD = re.compile(rb"\w+|->|::|[^\w\s,()'\"\\]")
# Punctuation that joins words. It comes and goes with the words, and means nothing by itself.
JOINTS = frozenset((b".", b"->", b"::", b":", b"=", b";", b"[", b"]", b"{", b"}"))
_NAMED = (
    ("test", re.compile(rb"\s*(?:async\s+)?def\s+(test\w*)|\s*TEST(?:_[FP])?\s*\(([^)]*)\)")),
    ("function", re.compile(rb"\s*(?:async\s+)?def\s+(\w+)")),
    ("class", re.compile(rb"\s*(?:class|struct|enum(?:\s+class)?|union|namespace)\s+(\w+)")),
    ("macro", re.compile(rb"\s*#\s*define\s+(\w+)")),
)


def apart(old: Lines, new: Lines) -> tuple[Lines, Lines]:
    """Remove the common beginning and the common end of two files, except for one line of each."""
    # So the counts of all items, and of pairs of lines, still differ by the same numbers.
    most = min(len(old), len(new))
    head = max(0, next(compress(count(), map(ne, old, new)), most) - 1)
    rest = map(ne, reversed(old), reversed(new))
    tail = max(0, min(most - head, next(compress(count(), rest), most)) - 1)
    return old[head : len(old) - tail], new[head : len(new) - tail]


def words_of(lines: Iterable[bytes]) -> Words:
    """Count how often each word occurs in the given lines."""
    return Counter(_WORD.findall(b"\n".join(lines)))


def squeezed(text: bytes) -> bytes:
    """Return the text without white space, commas, parentheses, quotes and backslashes."""
    return text.translate(None, _LAYOUT)


def definitions_of(lines: Iterable[bytes]) -> Counter[tuple[str, bytes]]:
    """Count the definitions (functions, classes, macros) that start in the given lines."""
    found: Counter[tuple[str, bytes]] = Counter()
    for line in lines:
        for kind, pattern in _NAMED:
            match = pattern.match(line)
            if match is not None:
                found[kind, next(filter(None, match.groups()), b"")] += 1
                break
    return found


def position(lines: Lines, old: Lines, at: int, *, is_last: bool = False) -> int | None:
    """Return the index at which the sequence `old` starts in `lines`, or None if it does not occur.

    Of several such indexes, the one nearest to `at` or, if `is_last`, the last is returned.
    """
    if not old:
        return min(at, len(lines))
    if lines[max(0, at) : max(0, at) + len(old)] == old:
        return max(0, at)
    places = (
        i for i, line in enumerate(lines) if line == old[0] and lines[i : i + len(old)] == old
    )
    at = len(lines) if is_last else at
    return min(places, key=lambda place: abs(place - at), default=None)


def contested(base: Lines, ours: Lines, theirs: Lines) -> set[bytes]:
    """Return the lines at and around each position that both sides of a merge changed."""
    blocks = [(a, b, _beside(ours, c, d), 0) for a, b, c, d in blocks_of(base, ours)]
    blocks += [(a, b, _beside(theirs, c, d), 1) for a, b, c, d in blocks_of(base, theirs)]
    found: set[bytes] = set()
    cluster: list[tuple[int, int, Lines, int]] = []
    end = 0
    for block in (*sorted(blocks, key=lambda one: one[:2]), (len(base) + 9, 0, [], 0)):
        if cluster and block[0] > end + _BESIDE:
            if len({side for *_, side in cluster}) == 2:
                found.update(_beside(base, cluster[0][0], end), *(one[2] for one in cluster))
            cluster = []
        cluster.append(block)
        end = max(end, block[1])
    return found


def is_near(start: int, end: int, places: Iterable[tuple[int, int]]) -> bool:
    """Return whether a range of lines overlaps, or is close to, any of the ranges in `places`."""
    return any(a <= end + _BESIDE and start <= b + _BESIDE for a, b in places)


def _beside(lines: Lines, start: int, end: int) -> Lines:
    """Return a range of lines and a few lines around it, since diffs may place a change there."""
    return lines[max(0, start - _BESIDE) : end + _BESIDE]


class Searched:
    """The lines of a file, prepared for finding many sequences of lines, fastest in file order."""

    def __init__(self, lines: Lines) -> None:
        self._text, self._at = _joined(lines), 0

    def __contains__(self, run: Lines) -> bool:
        part = _joined(run)
        at = self._text.find(part, self._at)
        at = at if at >= 0 else self._text.find(part, 0, self._at + len(part))
        self._at = max(at, 0)
        return at >= 0


def blocks_of(old: Lines, new: Lines) -> Iterator[Block]:
    """Yield (old start, old end, new start, new end) for each range in which two files differ."""
    at_old = at_new = 0
    for end_old, end_new in (*_in_both(old, new), (len(old), len(new))):
        some = old[at_old:end_old], new[at_new:end_new]
        if some[0] != some[1]:
            matcher = SequenceMatcher(None, *some, autojunk=False)
            for tag, a, b, c, d in matcher.get_opcodes():
                if tag != "equal":
                    yield a + at_old, b + at_old, c + at_new, d + at_new
        at_old, at_new = end_old + 1, end_new + 1


def _in_both(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """Return (old index, new index) for unique lines that are in the same order in both files."""
    # These lines split the files into short parts: the time of difflib grows with the square.
    counts = Counter(old), Counter(new)
    places = {line: at for at, line in enumerate(new) if counts[1][line] == 1 == counts[0][line]}
    pairs = [(at, places[line]) for at, line in enumerate(old) if line in places]
    kept, least = set[int](), len(new)
    for at, place in reversed(pairs):
        if place < least:
            kept.add(at)
            least = place
    most, found = -1, list[tuple[int, int]]()
    for at, place in pairs:
        if place > most:
            most = place
            if at in kept:
                found.append((at, place))
    return found


def merged(base: Lines, ours: Lines, theirs: Lines) -> Lines | None:
    """Merge two versions of a file, or return None if both changed the same lines differently."""
    blocks = [(a, b, tuple(ours[c:d])) for a, b, c, d in blocks_of(base, ours)]
    blocks += [(a, b, tuple(theirs[c:d])) for a, b, c, d in blocks_of(base, theirs)]
    found: Lines = []
    at = -1
    for start, end, lines in sorted(set(blocks), key=lambda block: block[:2]):
        if start <= at:
            return None
        found += base[max(at, 0) : start]
        found += lines
        at = end
    return found + base[max(at, 0) :]


def strange(made: Lines, ours: Lines, theirs: Lines) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield every three consecutive lines of a merge that are not consecutive on either side.

    Those where lines of one side end and lines of the other side begin are left out.
    """
    threes = {*_threes(ours), *_threes(theirs)}
    odd = [three for three in _threes(made) if three not in threes]
    pairs = [set(pairs_of(lines)) for lines in (ours, theirs)] if odd else []
    for three in odd:
        sides = [[pair in side for side in pairs] for pair in (three[:2], three[1:])]
        if sides not in ([[True, False], [False, True]], [[False, True], [True, False]]):
            yield three


def _threes(lines: Lines) -> Iterator[tuple[bytes, bytes, bytes]]:
    ended = [START, *lines, END]
    return zip(ended, ended[1:], ended[2:], strict=False)


def once(lines: Lines) -> dict[bytes, tuple[int, bytes]]:
    """Map each line that occurs only once, in `squeezed` form, to its index and its full text."""
    found: dict[bytes, tuple[int, bytes]] = {}
    double: set[bytes] = set()
    for place, (key, line) in enumerate(zip(each_squeezed(lines), lines, strict=False)):
        if key in found:
            double.add(key)
        found[key] = (place, line)
    return {key: at for key, at in found.items() if key not in double and len(key) > 2}


def each_squeezed(lines: Lines) -> Lines:
    """Return each line as `squeezed` returns it, or a single empty line if there are no lines."""
    return b"\n".join(lines).translate(None, _IN_LINES).split(b"\n")


def squeezed_counts(content: bytes) -> Counter[bytes]:
    """Count how often each line of a file occurs, with white space and punctuation removed."""
    return Counter(content.translate(None, _IN_LINES).split(b"\n"))


def _joined(lines: Lines) -> bytes:
    return b"\n%s\n" % b"\n".join(lines)


def is_within(lines: Lines, text: Lines) -> bool:
    """Return whether `text` has all of `lines` in this order, perhaps with others between them."""
    rest = iter(text)
    return all(line in rest for line in lines)
