"""Why upstream does not have what a hunk does, though the engine took it for absorbed.

Each proof looks at one hunk, the text that it is written against and upstream's text, and knows
nothing of how the engine came to its verdict. It answers what is left to do, or None.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from difflib import SequenceMatcher
from functools import cached_property

from msgspec import Struct

from patchmgr.engines.telling import bare, is_telling
from patchmgr.engines.depths import LITERAL, depths
from patchmgr.engines.differences import Block, changed_blocks, matched_lines
from patchmgr.engines.displays import Order, order_at
from patchmgr.engines.languages.words import is_import
from patchmgr.engines.own_lines import NOTHING, Own
from patchmgr.engines.placement import split_lines
from patchmgr.engines.runs import Run, runs_of
from patchmgr.model.patch import Hunk

ALIKE = 0.6  # of two lines: one may be the other, rewritten
ALIKE_TOGETHER = 0.7  # on average of what is left of a block
MOST_LEFT = 0.3  # of the lines that a run deletes
LARGEST_PLACE = 300  # new lines of upstream at a deletion
FAR = 20  # lines between a deletion and what became of it, where something else is in its place
NEAR = 3  # lines from one that is added to those that tell its place
LOCAL = 8  # lines: what upstream put farther away is no matter of order
LONGEST_SHOWN = 60

_NUMBER = re.compile(rb"(?<!\w)\d+(?!\w)")
_COUNT = re.compile(rb"(?<![\w.])\d+(?![\w.])")
_DIGITS = re.compile(r"\d+")
_PIECE = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\w+|[^\w\s]")


class Needed(Struct, frozen=True):
    """Why a hunk may not be dropped.

    Where `is_done`, upstream's bytes are what the hunk makes of them, and it is carried so.
    """

    why: str
    is_done: bool = False


class Drop:
    """A hunk that is said to be in upstream's text, and what stands beside it.

    `base` is the text that the hunk is written against. `own` is what the series itself does to the
    file, which upstream may have taken in as well. `beside` are hunks of the patch in the same file
    that upstream does not have. Where `is_verbatim`, upstream is said to have all of the hunk; else
    a part of it may be there in other words.
    """

    def __init__(
        self,
        path: str,
        base: bytes,
        ours: bytes,
        hunk: Hunk,
        position: int,
        *,
        own: Own = NOTHING,
        beside: Sequence[Hunk] = (),
        is_verbatim: bool = True,
    ) -> None:
        self.path, self.hunk, self.position = path, hunk, position
        self.own, self.beside, self.is_verbatim = own, beside, is_verbatim
        self.base, self.ours = split_lines(base), split_lines(ours)
        self.theirs = list(self.base)
        self.theirs[position : position + len(hunk.old())] = hunk.new()
        self.runs = tuple(runs_of(hunk, position))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """What upstream changed in the text that the hunk is written against."""
        return changed_blocks(self.base, self.ours)

    def in_ours(self, line: int, *, is_end: bool = False) -> int:
        """Return where upstream's text has a place between lines of base, at blocks their edge."""
        shift = 0
        for block in self.blocks:
            if block.old_start > line or (block.old_start == line and not is_end):
                break
            if line < block.old_end:
                return block.new_end if is_end else block.new_start
            shift = block.new_end - block.old_end
        return line + shift

    @cached_property
    def brought(self) -> frozenset[int]:
        """The lines of upstream (from 0) that it brought."""
        return frozenset(n for b in self.blocks for n in range(b.new_start, b.new_end))

    @cached_property
    def news(self) -> frozenset[bytes]:
        """What upstream brought, without white space."""
        return frozenset(self.bare_ours[n] for n in self.brought)

    @cached_property
    def stripped_base(self) -> Counter[bytes]:
        """How often base has each line, the space around it aside."""
        return Counter(line.strip() for line in self.base)

    @cached_property
    def stripped_ours(self) -> Counter[bytes]:
        """How often upstream has each line, the space around it aside."""
        return Counter(line.strip() for line in self.ours)

    def is_rarer(self, line: bytes) -> bool:
        """Say whether upstream has a line less often than base."""
        return self.stripped_ours[line.strip()] < self.stripped_base[line.strip()]

    @cached_property
    def bare_ours(self) -> list[bytes]:
        """Upstream's lines without white space."""
        return [bare(line) for line in self.ours]

    @cached_property
    def bare_theirs(self) -> list[bytes]:
        """The lines with the hunk applied, without white space."""
        return [bare(line) for line in self.theirs]

    @cached_property
    def wanted(self) -> Counter[bytes]:
        """How often each line is there with the hunk applied, white space aside."""
        return Counter(self.bare_theirs)

    @cached_property
    def counts(self) -> Counter[bytes]:
        """How often upstream has each line, white space aside."""
        return Counter(self.bare_ours)

    @cached_property
    def added(self) -> frozenset[int]:
        """The lines (from 0) that the hunk adds, where it is applied."""
        shift, found = 0, set[int]()
        for run in self.runs:
            at = run.start + shift
            found.update(range(at, at + len(run.added)))
            shift += len(run.added) - len(run.removed)
        return frozenset(found)

    @cached_property
    def pairs(self) -> dict[int, int]:
        """The lines with the hunk applied that upstream has in this order, white space aside."""
        return dict(matched_lines(self.bare_theirs, self.bare_ours))

    def depths(self) -> tuple[Sequence[int | None], Sequence[int | None]]:
        """Return how deep the lines stand, with the hunk applied and in upstream's text."""
        texts = (b"".join(self.theirs), b"".join(self.ours))
        return depths(self.path, texts[0]), depths(self.path, texts[1])

    def is_shared(self, line: bytes) -> bool:
        """Say whether a line, white space aside, is another patch's as well, or comes back."""
        return bare(line) in self.own.shared or bare(line) in self.own.added

    def is_word(self, line: int) -> bool:
        """Say whether a line with the hunk applied has a word."""
        return _has_word(self.bare_theirs[line])

    def places(self, line: int) -> list[int]:
        """Return where upstream brought a line that the hunk alone adds, white space aside.

        Nowhere, where it has the line less often.
        """
        wanted = self.bare_theirs[line]
        is_known = wanted in self.news and wanted not in self.own.shared
        if not is_known or self.wanted[wanted] > self.counts[wanted]:
            return []
        if self.counts[wanted] > LOCAL:
            place = self.pairs.get(line)
            return [place] if place is not None and place in self.brought else []
        return [n for n in sorted(self.brought) if self.bare_ours[n] == wanted]


def rewritten_deletion(drop: Drop) -> Needed | None:
    """Tell what is left of lines that a run only deletes: there, rewritten or elsewhere.

    A patch deletes `check(size <= 256)`; upstream makes it 512, and the line is gone, but not the
    check.
    """
    for run in drop.runs:
        lines = [line for line in run.removed if _has_word(line) and not drop.is_shared(line)]
        lines = [line for line in lines if is_telling(bare(line))] or lines
        if run.added or not lines:
            continue
        left = [found for line in lines if (found := _what_is_left(drop, run, line)) is not None]
        likeness = sum(found[0] for found in left)
        if len(left) > MOST_LEFT * len(lines) and likeness >= ALIKE_TOGETHER * len(left):
            likeness, line = min(left)
            did = "still has" if likeness == 1.0 else "rewrote"
            return Needed(f"upstream {did} the lines that the patch deletes: {_shown(line)}")
        if _is_moved(drop, lines):
            shown = _shown(lines[0])
            return Needed(f"upstream still has the lines that the patch deletes: {shown}")
    return None


def _what_is_left(drop: Drop, run: Run, line: bytes) -> tuple[float, bytes] | None:
    """Return what upstream has at the place of a run for a removed line, and how alike it is.

    What is more like another line that upstream took away there is that one, rewritten.
    """
    near = [b for b in drop.blocks if run.gap(b) == 0]
    if any(_has_word(x) for b in near for x in drop.ours[b.new_start : b.new_end]):
        # Something replaced it, so it may be what was put a few lines away.
        near = [b for b in drop.blocks if run.gap(b) <= FAR]
    places = range(run.start, run.end)
    gone = {n for b in near for n in range(b.old_start, b.old_end)}
    if any(drop.base[n] == line and n not in gone for n in places) and not drop.is_rarer(line):
        return 1.0, line
    news = [
        n for b in near for n in drop.ours[b.new_start : b.new_end] if bare(n) not in drop.own.added
    ]
    if len(news) > LARGEST_PLACE:
        return None
    others = [drop.base[n] for n in gone if n not in places]
    best: tuple[float, bytes] | None = None
    for new in news:
        likeness = _likeness(line, new)
        if likeness < ALIKE or (best is not None and likeness <= best[0]):
            continue
        if is_import(line) and line.split()[:2] != new.split()[:2]:
            continue
        if all(_likeness(other, new) <= likeness for other in others):
            best = likeness, new
    return best


def _likeness(one: bytes, other: bytes) -> float:
    """Return how alike two lines are, from 0 to 1; with another number a short one is still it."""
    if not one.strip() or not other.strip():
        return 0.0
    texts = [side.strip().decode("utf-8", "surrogateescape") for side in (one, other)]
    return max(_ratio(*texts), _ratio(*(_DIGITS.sub("0", text) for text in texts)))


def _ratio(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
        return 0.0
    return matcher.ratio()


def _is_moved(drop: Drop, lines: Sequence[bytes]) -> bool:
    """Say whether upstream has removed lines as often as before, which no patch put there."""
    if any(drop.is_rarer(line) for line in lines):
        return False
    return any(drop.stripped_base[line.strip()] == 1 for line in lines)


def coincidence(drop: Drop) -> Needed | None:
    """Tell what a patch adds, where upstream has nothing but the number that goes with it.

    Both sides add an enumerator and turn `COUNT` from 1 to 2: that is two changes.
    """
    counted = {line: old for run in drop.runs for line, old in _counted(run)}
    if not counted:
        return None
    here = [line for run in drop.runs for line in run.added if line not in counted]
    more = [line for line in here if _has_word(line)] or list(_added_beside(drop))
    if not more or any(bare(line) in drop.news for line in more):
        return None
    line, old = next(iter(counted.items()))
    why = f"both sides have {_shown(line)}, and upstream lacks what it is for: {_shown(more[0])}"
    return Needed(why, is_done=not _counts(old, line, len(more)))


def _counts(old: bytes, new: bytes, more: int) -> bool:
    """Say whether a number rises by no more than the lines that are added: it counts them."""
    pairs = zip(_COUNT.findall(old), _COUNT.findall(new), strict=False)
    return any(0 < int(after) - int(before) <= more for before, after in pairs)


def _counted(run: Run) -> Iterator[tuple[bytes, bytes]]:
    """Yield the added lines that are removed ones with another number, and those."""
    old = {_NUMBER.sub(b"0", bare(line)): line for line in run.removed}
    for line in run.added:
        before = old.get(_NUMBER.sub(b"0", bare(line)))
        if before is not None and bare(before) != bare(line):
            yield line, before


def _added_beside(drop: Drop) -> Iterator[bytes]:
    """Yield what hunks that upstream does not have add, but for numbers."""
    for run in (run for hunk in drop.beside for run in runs_of(hunk, 0)):
        counted = {line for line, _ in _counted(run)}
        yield from (x for x in run.added if _has_word(x) and x not in counted)


def _has_word(line: bytes) -> bool:
    return re.search(rb"\w", line) is not None


def other_order(drop: Drop) -> Needed | None:
    """Tell of what a hunk adds that upstream has in another order, where order is meaning.

    A patch adds the argument `ws` behind `tok`, upstream before it. Only what the language calls
    unordered has no order: imports, sets, keyword arguments, `__all__`.
    """
    wrong: list[int] = []
    asked = [n for n in sorted(drop.added) if drop.is_word(n) and not is_import(drop.theirs[n])]
    for line in asked:
        places = drop.places(line)
        if not places:
            continue
        above = next((_place(drop, n) for n in _around(drop, line, -1)), None)
        below = next((_place(drop, n) for n in _around(drop, line, 1)), None)
        if any(_is_between(place, above, below) for place in places):
            if not _is_shifted(drop, line, places, above):
                continue
        elif not any(_is_local(place, above, below) for place in places):
            continue
        if order_at(drop.path, drop.theirs, line) is not Order.NONE:
            wrong.append(line)
    if not wrong:
        return None
    return Needed(f"upstream has {_shown(drop.theirs[wrong[0]])} in another order")


def _around(drop: Drop, line: int, way: int) -> Iterator[int]:
    """Yield the lines above or below that both sides have once, up to three that have words."""
    at, seen = line + way, 0
    while 0 <= at < len(drop.theirs) and seen < NEAR:
        if drop.is_word(at):
            seen += 1
            text = drop.bare_theirs[at]
            if drop.counts[text] == 1 and text not in drop.own.shared:
                yield at
        at += way


def _place(drop: Drop, line: int) -> int:
    return drop.bare_ours.index(drop.bare_theirs[line])


def _is_between(place: int, above: int | None, below: int | None) -> bool:
    return (above is None or above < place) and (below is None or place < below)


def _is_local(place: int, above: int | None, below: int | None) -> bool:
    return any(side is not None and abs(place - side) <= LOCAL for side in (above, below))


def _is_shifted(drop: Drop, line: int, places: Sequence[int], above: int | None) -> bool:
    """Say whether upstream put another member right before one that is known by its number."""
    if above is None or order_at(drop.path, drop.theirs, line) is not Order.NUMBERED:
        return False
    before = next(_around(drop, line, -1))
    own = sum(drop.is_word(n) for n in range(before + 1, line))
    place = min(p for p in places if p > above) if any(p > above for p in places) else above
    there = [
        n
        for n in range(above + 1, place)
        if _has_word(drop.bare_ours[n]) and drop.bare_ours[n] not in drop.own.added
    ]
    return len(there) > own


def other_white_space(drop: Drop) -> Needed | None:
    """Tell of what a hunk adds that upstream has with white space that means something else.

    Upstream put the call into the loop, or under `if DEBUG:`; or a string has another space.
    """
    wrong: list[int] = []
    asked = [n for n in sorted(drop.added) if drop.is_word(n)]
    for line in asked:
        places = drop.places(line)
        if places and not any(_has_same_space(drop, line, place) for place in places):
            wrong.append(line)
    if not wrong:
        return None
    shown = _shown(drop.theirs[wrong[0]])
    return Needed(f"upstream has {shown} with other white space, which is meaning")


def _has_same_space(drop: Drop, line: int, place: int) -> bool:
    mine, there = drop.theirs[line], drop.ours[place]
    if _PIECE.findall(mine) != _PIECE.findall(there):
        return False
    ours_depths, depth = drop.depths()[1], drop.depths()[0][line]
    if depth is None:
        return True
    if depth == LITERAL:
        return mine.rstrip(b"\r\n") == there.rstrip(b"\r\n")
    now = ours_depths[place]
    if now is None:
        return True
    anchors = [_depth_beside(drop, line, way) for way in (-1, 1)]
    deeper = [found for found in anchors if found is not None]
    return not deeper or now - depth in deeper


def _depth_beside(drop: Drop, line: int, way: int) -> int | None:
    """Return how much deeper upstream has the nearest line that the hunk does not add."""
    mine, ours = drop.depths()
    at = line + way
    while 0 <= at < len(drop.theirs):
        before = mine[at]
        is_kept = at not in drop.added and drop.bare_theirs[at] not in drop.own.shared
        if is_kept and at in drop.pairs and drop.is_word(at) and before is not None:
            now = ours[drop.pairs[at]]
            if now is not None and before != LITERAL:
                return now - before
        at += way
    return None


def _shown(line: bytes) -> str:
    text = " ".join(line.decode("utf-8", "replace").split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


PROOFS: tuple[tuple[str, Callable[[Drop], Needed | None]], ...] = (
    ("deletion", rewritten_deletion),
    ("coincidence", coincidence),
    ("order", other_order),
    ("white space", other_white_space),
)


def why_needed(drop: Drop, *, off: Set[str] = frozenset()) -> Needed | None:
    """Return what the first proof says that speaks against a drop; None where it may be.

    Where upstream is said to have a hunk in part in other words, its lines need not be there.
    """
    is_there = drop.hunk.added() and b"".join(drop.hunk.new()) in b"".join(drop.ours)
    names = {name for name, _ in PROOFS} if drop.is_verbatim else {"deletion"}
    names = (names & {"coincidence"} if is_there else names) - off
    proofs = (proof for name, proof in PROOFS if name in names)
    return next((needed for proof in proofs if (needed := proof(drop)) is not None), None)
