"""Split a text with conflict markers into clean lines and conflict regions, and extend these."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import accumulate, takewhile

from msgspec import Struct

from patchmgr.engines.merge.languages import PYTHON, Language, lex
from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.text.differences import changed_blocks
from patchmgr.engines.text.marked import split_marked

_FARTHEST = 300  # lines that are searched in each direction for the end of a statement

Lines = tuple[str, ...]


class Region(Struct, frozen=True):
    """The lines of base, ours and theirs in one conflict region of git."""

    base: Lines
    ours: Lines
    theirs: Lines
    before: int = 0  # number of equal lines at the start (if widened)
    after: int = 0  # number of equal lines at the end
    head: Lines = ()  # added by both sides: git left them out
    tail: Lines = ()  # the same at the end

    @property
    def sides(self) -> tuple[Lines, Lines, Lines]:
        """Return the region's lines in base, in ours and in theirs."""
        return self.base, self.ours, self.theirs

    @property
    def changed(self) -> tuple[Lines, Lines, Lines]:
        """Return the sides without the `before` and `after` lines, which are not in conflict."""
        base, ours, theirs = (side[self.before : len(side) - self.after] for side in self.sides)
        return base, ours, theirs


Piece = Lines | Region


def pieces_of(marked: str) -> tuple[Piece, ...] | None:
    """Split a text into clean lines and conflict regions, or return None if a region has no end."""
    found = split_marked(marked.encode("utf-8", "surrogateescape"))
    texts = [_lines(text) for text in found.texts]
    if any(line.startswith("<<<<<<< ") for lines in texts for line in lines):
        return None
    pieces: list[Piece] = [texts[0]]
    for marks, after in zip(found.regions, texts[1:], strict=True):
        base, ours, theirs = map(_lines, marks.region.sides)
        pieces += [Region(base, ours, theirs), after]
    return tuple(pieces)


def _lines(text: bytes) -> Lines:
    return lines_of(text.decode("utf-8", "surrogateescape"))


def grown(pieces: Sequence[Piece], base: str) -> tuple[Piece, ...]:
    """Add to the regions the lines that both sides add, which zdiff3 leaves out of them.

    Lines added at the start of a region are also its `head`, and lines added at its end its `tail`.
    """
    found = list(pieces)
    in_base = _in_base(pieces, base)
    at = 0
    for n, piece in enumerate(pieces):
        lines = piece.base if isinstance(piece, Region) else piece
        start, at = at, at + len(lines)
        if isinstance(piece, Region):
            continue
        first, last = 0, len(piece)
        while n > 0 and first < last and start + first not in in_base:
            first += 1
        while n < len(pieces) - 1 and last > first and start + last - 1 not in in_base:
            last -= 1
        found[n] = piece[first:last]
        _grow(found, n, piece[:first], piece[last:])
    return tuple(found)


def _in_base(pieces: Sequence[Piece], base: str) -> set[int]:
    """Return the indices of the base lines of `pieces` that also occur in the text `base`."""
    sides = [p.base if isinstance(p, Region) else p for p in pieces]
    old = [x for side in sides for x in side]
    edges = set(accumulate(map(len, sides)))
    kept = set(range(len(old)))
    for block in changed_blocks(old, lines_of(base)):
        lines = range(block.old_start, block.old_end)
        is_new = block.new_start == block.new_end
        kept.difference_update(_at_an_edge(old, lines, edges) if is_new and lines else lines)
    return kept


def _at_an_edge(lines: Sequence[str], run: range, edges: Set[int]) -> range:
    """Return a run of added lines, moved to one of `edges` if that gives the same text."""
    # Each side adds an entry between two blank lines, with a third blank line: which of the three
    # is new cannot be seen (pypa/pip 0fffb402e4).
    for step in (-1, 1):
        moved = run
        while edges.isdisjoint((moved.start, moved.stop)):
            left, right = (
                (moved.start - 1, moved.stop - 1) if step < 0 else (moved.start, moved.stop)
            )
            if left < 0 or right >= len(lines) or lines[left] != lines[right]:
                break
            moved = range(moved.start + step, moved.stop + step)
        else:
            return moved
    return run


def _grow(found: list[Piece], n: int, first: Lines, last: Lines) -> None:
    before = found[n - 1] if n else None
    after = found[n + 1] if n + 1 < len(found) else None
    if first and isinstance(before, Region):
        found[n - 1] = Region(
            before.base, before.ours + first, before.theirs + first, head=before.head, tail=first
        )
    if last and isinstance(after, Region):
        found[n + 1] = Region(after.base, last + after.ours, last + after.theirs, head=last)


_CLOSES = re.compile(r"\s*(?:[)\]}]|</|(?:end|fi|done|esac)\b)")


def slid(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Move each region in which both sides only insert lines to where a block begins or ends.

    The text of the sides does not change. For a function that is inserted after another one, git
    may show the `}` of either function as inserted.
    """
    # If both sides add a function at the end of a file, git's region has `}`, an empty line and the
    # function without its `}` (prometheus/prometheus 9eec3ab904), or without its last `return`
    # (pymedusa/Medusa 0e54a05278). Or it has the first line of the next comment (jellyfin
    # 1b2b674a21).
    found = list(pieces)
    for n in range(1, len(found) - 1, 2):
        before, region, after = found[n - 1 : n + 2]
        assert isinstance(before, tuple) and isinstance(region, Region) and isinstance(after, tuple)
        if not region.base:
            found[n - 1 : n + 2] = _slid(before, region, after)
    return tuple(found)


def _slid(before: Lines, region: Region, after: Lines) -> tuple[Lines, Region, Lines]:
    both = region.ours, region.theirs
    least = min(map(len, both))
    same = takewhile(lambda lines: len({*lines}) == 1, zip(*both, after, strict=False))
    ends = (n for n, (line, *_) in enumerate(same, 1) if _ends_a_block(line, both, n))
    down = max(ends, default=0)
    if 0 < down < least:
        first = after[:down]
        ours, theirs = (side[down:] + first for side in both)
        slid_down = Region((), ours, theirs, head=region.head[down:], tail=region.tail + first)
        return before + first, slid_down, after[down:]
    last_ones = zip(*(lines[::-1] for lines in (*both, before)), strict=False)
    up = sum(1 for _ in takewhile(lambda x: len({*x}) == 1 and x[0].strip(), last_ones))
    if 0 < up < min(least, len(before)) and not before[-up - 1].strip():
        last = before[-up:]
        ours, theirs = (last + side[:-up] for side in both)
        slid_up = Region((), ours, theirs, head=region.head, tail=region.tail[:-up])
        return before[:-up], slid_up, last + after
    return before, region, after


def _ends_a_block(line: str, both: Sequence[Lines], n: int) -> bool:
    """Return whether a line ends a block: it is a closing bracket, or less indented lines follow.

    The following lines are those from index `n` of both sides.
    """
    depth = len(line) - len(line.lstrip()) if line.strip() else 0
    following = (next(filter(str.strip, side[n:]), line) for side in both)
    is_deeper = all(len(x) - len(x.lstrip()) < depth for x in following)
    return is_deeper or bool(_CLOSES.match(line))


def widened(pieces: Sequence[Piece], language: Language) -> tuple[Piece, ...]:
    """Extend each region to complete statements; regions that then overlap are joined."""
    found = list(pieces)
    at = 1
    while at < len(found):
        region = found[at]
        assert isinstance(region, Region)
        wide = _widened(found, at, language)
        if wide is None:
            if at + 2 < len(found) and not found[at + 1]:
                wide = 0, 0
            else:
                at += 2
                continue
        at = _apply(found, at, wide)
    return tuple(found)


def _apply(found: list[Piece], at: int, wide: tuple[int, int]) -> int:
    """Extend the region at `at` by `wide` lines before and after it, or join it with its neighbor.

    Returns the index of the region to look at next.
    """
    before, region, after = found[at - 1], found[at], found[at + 1]
    assert isinstance(before, tuple) and isinstance(region, Region) and isinstance(after, tuple)
    if wide[0] > len(before) and at > 1:
        return _joined(found, at - 2)
    if wide[1] > len(after) and at + 2 < len(found):
        return _joined(found, at)
    head = before[len(before) - wide[0] :] if wide[0] else ()
    tail = after[: wide[1]]
    found[at - 1] = before[: len(before) - len(head)]
    base, ours, theirs = ((*head, *side, *tail) for side in region.sides)
    found[at] = Region(base, ours, theirs, len(head), len(tail), region.head, region.tail)
    found[at + 1] = after[len(tail) :]
    return at + 2


def _joined(found: list[Piece], at: int) -> int:
    one, between, other = found[at : at + 3]
    assert isinstance(one, Region) and isinstance(between, tuple) and isinstance(other, Region)
    base, ours, theirs = ((*a, *between, *b) for a, b in zip(one.sides, other.sides, strict=True))
    found[at : at + 3] = [Region(base, ours, theirs)]
    return at


def _widened(found: list[Piece], at: int, language: Language) -> tuple[int, int] | None:
    """Return how many lines a region needs before and after it to have complete statements.

    Returns None if it has them already.
    """
    if language.layout == "lines" and language.family in ("text", "shell"):
        return None
    region = found[at]
    assert isinstance(region, Region)
    before = [x for p in found[:at] for x in (p.ours if isinstance(p, Region) else p)][-_FARTHEST:]
    after = [x for p in found[at + 1 :] for x in (p.ours if isinstance(p, Region) else p)][
        :_FARTHEST
    ]
    anchor = _anchor(before, language)
    context = before[anchor:]
    first = min(_starts("".join((*context, *s)), len(context), language) for s in region.sides)
    places = [
        ("".join((*context[first:], *side, *after)), len(context) - first + len(side))
        for side in region.sides
    ]
    for room in (3, _FARTHEST):
        ends = [_ends(text, lines, language, room) for text, lines in places]
        common = ends[0] & ends[1] & ends[2]
        if common:
            break
    last = min(common, default=0)
    return None if first == len(context) and not last else (len(context) - first, last)


_ANCHORS = re.compile(r"[A-Za-z_#]")  # begins a statement if not indented
_IN_PYTHON = re.compile(r"\s*(?:async def|def|class|import|from|@)\b|[A-Za-z_#@]")
# A line of a raw string may begin like any other statement.
_BESIDE_RAW_STRINGS = re.compile(
    r"(?:async|class|const|export|func|function|import|let|type|var) [\w({*]"
)


def _anchor(lines: Sequence[str], language: Language) -> int:
    """Return the index of the last line that surely begins a statement, or 0."""
    starts = _BESIDE_RAW_STRINGS if language.continues else _ANCHORS
    starts = _IN_PYTHON if language is PYTHON else starts
    for n in range(len(lines) - 1, -1, -1):
        if starts.match(lines[n]) and not lines[n].lstrip().startswith("#"):
            return n
    return 0


def _starts(text: str, lines: int, language: Language) -> int:
    """Return the first line of the statement that is incomplete after `lines` lines.

    If no statement is incomplete there, returns `lines`.
    """
    at, opened = 0, list[int]()
    first = -1  # the first line of a statement that a backslash may continue
    for token in lex(text, language):
        start = at + token.lead.count("\n")
        at = start + token.text.count("\n")
        if start >= lines:
            break
        if at >= lines and token.kind == "string":
            return min([start, *opened[:1]])
        if language.layout == "indent":
            first = -1 if token.kind == "eol" else start if first < 0 else first
        if token.kind == "sign":
            opened = _opened(opened, token.text, start, language)
    return first if first >= 0 else opened[0] if opened else lines


def _opened(opened: list[int], sign: str, line: int, language: Language) -> list[int]:
    """Return the line of each bracket that is open after a token. In C, `{` does not count."""
    brackets = "([" if language.layout == "signs" and language.family == "c" else "([{"
    closing = ")]" if len(brackets) == 2 else ")]}"
    if sign in brackets:
        return [*opened, line]
    return opened[:-1] if sign in closing else opened


def _ends(text: str, lines: int, language: Language, room: int) -> set[int]:
    """Return each n for which no statement or bracket is open `lines` + n lines into the text.

    The search stops when n is larger than `room`.
    """
    found: set[int] = set()
    at, is_line, opened = 0, True, list[int]()
    for token in lex(text, language):
        end = at + token.lead.count("\n")
        if not opened and (is_line or language.layout != "indent" or token.kind == "end"):
            found.update(range(max(at + (not is_line), lines), end + 1))
        at, is_line = end + token.text.count("\n"), token.text == "\n"
        if token.kind == "sign":
            opened = _opened(opened, token.text, 0, language)
        if at > lines + room:
            break
    return {n - lines for n in found}
