"""Prove that upstream still lacks a hunk, although a search found it to be absorbed.

All proofs are tried before a hunk is dropped, however it was found. A proof sees only the hunk, the
text that the hunk is written against, and upstream's text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.absorption.layout import PIECE, Layout, Order, key_of, layout_of
from patchmgr.engines.absorption.proposal import marked_spots
from patchmgr.engines.absorption.thresholds import ALIKE, MOST_LEFT
from patchmgr.engines.languages.words import indentation, is_import
from patchmgr.engines.rebase.ladder import (
    ABSORBED_REWORDED,
    CARRIED_TEXT,
    CONFLICT,
    DECIDED,
    SAME_LINES,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.series.placement import apply_one
from patchmgr.engines.text.differences import Block, Run, matched_lines, runs_of
from patchmgr.engines.text.telling import bare
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs, TextMerge

_NUMBER = re.compile(rb"(?<!\w)\d+(?!\w)")
_COUNT = re.compile(rb"(?<![\w.])\d+(?![\w.])")
_DECORATOR = re.compile(rb"\s*@\w")
_DEFINED = re.compile(rb"\s*(?:async\s+)?(?:def|class)\s+(\w+)")


class Needed(Struct, frozen=True):
    """Why a hunk that upstream seems to have must be kept.

    If `is_done` is true, the hunk changes nothing in upstream's text, but stays in the patch.
    """

    why: str
    is_done: bool = False


class Drop(Struct, frozen=True, dict=True):
    """A hunk that may be dropped as absorbed, the text it is written against, and upstream's text.

    `position` is the line (from 0) of `base` where the hunk starts. `beside` holds the other hunks
    of the patch in this file that upstream does not have. `is_state` says that upstream's lines are
    exactly those of a state of the series.
    """

    path: str
    base: bytes
    ours: bytes
    hunk: Hunk
    position: int
    beside: Sequence[Hunk] = ()
    is_state: bool = False

    @cached_property
    def is_there(self) -> bool:
        """Whether the hunk adds lines, and upstream has its text as it is."""
        new = self.hunk.new() if self.hunk.added() else ()
        return bool(new) and (self.is_state or b"".join(new) in self.ours)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs of consecutive changed lines in the hunk."""
        return tuple(runs_of(self.hunk, self.position))

    @cached_property
    def mine(self) -> Layout:
        """The text that the hunk produces when it is applied to `base`."""
        return Layout(self.path, apply_one(self.base, self.hunk, self.position))

    @cached_property
    def there(self) -> Layout:
        """Upstream's version of the file."""
        return layout_of(self.path, self.ours)

    @cached_property
    def places(self) -> tuple[range, ...]:
        """For each run of changed lines, the range of its added lines in the patched text."""
        found, shift = list[range](), 0
        for run in self.runs:
            found.append(range(run.start + shift, run.start + shift + len(run.added)))
            shift += len(run.added) - len(run.removed)
        return tuple(found)

    @cached_property
    def added(self) -> Mapping[int, bytes]:
        """The lines that the hunk adds, without white space, by number in the patched text."""
        numbers = (n for place in self.places for n in place)
        return dict(zip(numbers, map(key_of, chain(*(r.added for r in self.runs))), strict=True))

    def kept(self, line: int) -> int | None:
        """Return the number of the upstream line that a line of the patched text became, if any.

        A line that the hunk adds became no upstream line.
        """
        if line in self.added:
            return None
        return self._matched.to.get(self._in_base(line))

    @cached_property
    def _matched(self) -> _MatchedTexts:
        return _matched_texts(self.path, self.base, self.ours)

    @cached_property
    def _gone(self) -> Set[int]:
        return {n for run in self.runs for n in range(run.start, run.end)}

    def _in_base(self, line: int) -> int:
        """Return the number in `base` of a line of the patched text, or of the run that adds it."""
        shift = 0
        for run, place in zip(self.runs, self.places, strict=True):
            if line < place.stop:
                return run.start if line >= place.start else line + shift
            shift = run.end - place.stop
        return line + shift

    def _patched(self, line: int) -> int:
        """Return the number in the patched text of a line of `base` that the hunk keeps."""
        before = (run for run in self.runs if run.end <= line)
        return line + sum(len(run.added) - len(run.removed) for run in before)

    def between(self, place: range) -> tuple[range, range]:
        """Return the lines at a place, up to the nearest lines that both texts have.

        The first range is of the patched text, the second of upstream's.
        """
        old, new = self._matched.old, self._matched.new
        above = bisect_left(old, self._in_base(place.start)) - 1
        below = bisect_left(old, self._in_base(place.stop))
        while above >= 0 and old[above] in self._gone:
            above -= 1
        while below < len(old) and old[below] in self._gone:
            below += 1
        starts = (self._patched(old[above]) + 1, new[above] + 1) if above >= 0 else (0, 0)
        ends = len(self.mine.lines), len(self.there.lines)
        if below < len(old):
            ends = self._patched(old[below]), new[below]
        return range(starts[0], ends[0]), range(starts[1], ends[1])

    @property
    def spot(self) -> Block:
        """The lines of base that the hunk changes, and upstream's lines in the same place."""
        _, there = self.between(range(self.places[0].start, self.places[-1].stop))
        return Block(self.runs[0].start, self.runs[-1].end, there.start, there.stop)

    @cached_property
    def news(self) -> Mapping[bytes, Sequence[int]]:
        """Maps each line that upstream added, without its white space, to its line numbers.

        Lines that became those which the hunk removes count as added.
        """
        found, keys = self._matched.added, self.there.keys
        own = defaultdict[bytes, list[int]](list)
        for line in sorted(self._gone & self._matched.to.keys()):
            to = self._matched.to[line]
            own[keys[to]].append(to)
        return ChainMap({k: sorted((*found.get(k, ()), *own[k])) for k in own}, found)

    @cached_property
    def pairs(self) -> Mapping[int, int]:
        """Maps lines that the hunk adds to equal upstream lines in the same place, by number."""
        places = ((place, self.between(place)[1]) for place in self.places)
        keys = self.there.keys
        return dict(
            pair
            for mine, there in places
            for pair in _matched({n: self.added[n] for n in mine}, {n: keys[n] for n in there})
        )

    @cached_property
    def shared(self) -> Set[bytes]:
        """The lines, without white space, that the patched text and upstream have exactly once."""
        return self.mine.singular & self.there.singular

    @cached_property
    def brought(self) -> Mapping[int, Sequence[int]]:
        """Maps each line that both the hunk and upstream add to its line numbers upstream."""
        return {n: self.news[key] for n, key in self.added.items() if self.is_new(key)}

    def is_new(self, key: bytes) -> bool:
        """Return whether upstream added the given line, which has no white space.

        Where counts tell, the texts are not matched: a generated file has hundreds of hunks.
        """
        before, after = (layout_of(self.path, text).counts[key] for text in (self.base, self.ours))
        return bool(after) and (after > before or key in self.news)


class _MatchedTexts(Struct, frozen=True):
    """The numbers of equal lines of two texts, and the lines of the second that equal none.

    `old` and `new` are in order, and `to` maps one to the other. `added` maps lines without their
    white space to their numbers.
    """

    old: Sequence[int]
    new: Sequence[int]
    to: Mapping[int, int]
    added: dict[bytes, Sequence[int]]


@lru_cache(maxsize=4)  # all hunks of a file ask, and a generated file has hundreds
def _matched_texts(path: str, base: bytes, ours: bytes) -> _MatchedTexts:
    mine, there = (dict(enumerate(layout_of(path, text).keys)) for text in (base, ours))
    to = dict(_matched(mine, there))
    known, added = frozenset(to.values()), defaultdict[bytes, list[int]](list)
    for number, key in there.items():
        if key and number not in known:
            added[key].append(number)
    return _MatchedTexts([*to], [*to.values()], to, dict(added))


def _matched(mine: Mapping[int, bytes], there: Mapping[int, bytes]) -> Iterator[tuple[int, int]]:
    """Yield pairs of lines with equal keys, in order. Lines without a word are left out."""
    old, new = ([n for n, key in side.items() if key] for side in (mine, there))
    keys = [mine[n] for n in old], [there[n] for n in new]
    return ((old[i], new[j]) for i, j in matched_lines(*keys))


def rewritten_deletion(drop: Drop) -> Needed | None:
    """Return why a hunk is needed if upstream kept or rewrote lines that the hunk only deletes.

    For example, a patch deletes `check(size <= 256)`, and upstream changes it to 512: the line is
    gone, but the check is not.
    """
    for run, place in zip(drop.runs, drop.places, strict=True):
        lines = [n.strip() for n in run.removed if key_of(n)]
        if run.added or not lines:
            continue
        mine, there = drop.between(place)
        gone = [drop.mine.lines[n].strip() for n in mine if drop.kept(n) is None]
        news = [drop.there.lines[n].strip() for n in there]
        pairs = [(line, new) for line in lines for new in _closest(line, news)]
        # What is more like another line that is gone is that one, rewritten.
        left = [new for line, new in pairs if _closest(new, [line, *gone]) == [line]]
        if len(left) > MOST_LEFT * len(lines) or _is_moved(drop, lines):
            rewritten = sorted(set(left).difference(lines))
            did = "rewrote" if rewritten else "still has"
            shown = _shown(min(rewritten or lines))
            return Needed(f"upstream {did} the lines that the patch deletes: {shown}")
    return None


def _closest(line: bytes, others: Sequence[bytes]) -> list[bytes]:
    """Return the line most similar to a line, or nothing if none is similar enough."""
    return get_close_matches(line, others, 1, ALIKE)


def _is_moved(drop: Drop, lines: Sequence[bytes]) -> bool:
    """Return whether upstream still has removed lines, at least as often as the base has.

    At least one of them must occur exactly once in the base.
    """
    base, ours = layout_of(drop.path, drop.base).counts, drop.there.counts
    removed = [bare(line) for line in lines]
    is_kept = all(ours[line] >= base[line] for line in removed)
    return is_kept and any(base[line] == 1 for line in removed)


def coincidence(drop: Drop) -> Needed | None:
    """Return why a hunk is still needed if upstream has only a changed number in common with it.

    For example, both sides add an enumerator and change `COUNT` from 1 to 2: these are two changes.
    """
    counted = dict(pair for run in drop.runs for pair in _counted(run))
    if not counted:
        return None
    beside = (run for hunk in drop.beside for run in runs_of(hunk, 0))
    more = _uncounted(drop.runs) or _uncounted(beside)
    if not more or any(drop.is_new(bare(line)) for line in more):
        return None
    line, old = next(iter(counted.items()))
    pairs = zip(_COUNT.findall(old), _COUNT.findall(line), strict=False)
    # A number that rises by no more than the lines that are added counts them.
    counts = any(0 < int(after) - int(before) <= len(more) for before, after in pairs)
    why = f"both sides have {_shown(line)}, but upstream lacks what goes with it: {_shown(more[0])}"
    return Needed(why, is_done=not counts)


def _counted(run: Run) -> Iterator[tuple[bytes, bytes]]:
    """Yield each added line that differs from a removed line only in numbers, and that line."""
    old = {_NUMBER.sub(b"0", bare(line)): line for line in run.removed}
    for line in run.added:
        before = old.get(_NUMBER.sub(b"0", bare(line)))
        if before is not None and bare(before) != bare(line):
            yield line, before


def _uncounted(runs: Iterable[Run]) -> list[bytes]:
    """Return the added lines that differ from the removed ones in more than numbers."""
    sides = ((run.added, dict(_counted(run))) for run in runs)
    return [x for added, counted in sides for x in added if key_of(x) and x not in counted]


def other_order(drop: Drop) -> Needed | None:
    """Return why a hunk is still needed if upstream has the hunk's lines in another order.

    For example, a patch adds the argument `ws` after `tok`, and upstream adds it before. Order does
    not matter for imports, sets, keyword arguments and `__all__`.
    """
    for place in drop.places:
        mine, _ = drop.between(place)
        # Upstream may have put it on the other side of a neighbour, and no farther away.
        _, near = drop.between(range(mine.start - 1, mine.stop + 1))
        for line in (n for n in place if n in drop.brought and not is_import(drop.mine.lines[n])):
            if line in drop.pairs:
                is_wrong = _is_shifted(drop, mine.start, line)
            else:
                is_wrong = any(n in near for n in drop.brought[line])
            order = drop.mine.order_at(line) if is_wrong else Order.NONE
            if order is Order.NUMBERED or (order is Order.LINED and line not in drop.pairs):
                return Needed(f"upstream has {_shown(drop.mine.lines[line])} in another order")
    return None


def _is_shifted(drop: Drop, start: int, line: int) -> bool:
    """Return whether upstream has more lines than `mine` between a line and the pair before it."""
    before = next((n for n in range(line - 1, start - 1, -1) if n in drop.pairs), start - 1)
    last = drop.pairs[before] if before in drop.pairs else drop.kept(before)
    mine = range(before + 1, line)
    there = range(0 if last is None else last + 1, drop.pairs[line])
    return sum(bool(drop.there.keys[n]) for n in there) > sum(bool(drop.mine.keys[n]) for n in mine)


def other_white_space(drop: Drop) -> Needed | None:
    """Return why a hunk is needed if upstream's white space differs in a string or name."""
    said = "with other white space, which matters here"
    return _nowhere(drop, drop.brought, _has_same_space, said)


def _nowhere(
    drop: Drop, lines: Iterable[int], is_same: Callable[[Drop, int, int], bool], said: str
) -> Needed | None:
    """Return a reason to keep the hunk if `is_same` holds for a line at none of its places."""
    for line in lines:
        places = [drop.pairs[line]] if line in drop.pairs else drop.brought[line]
        if not any(is_same(drop, line, place) for place in places):
            return Needed(f"upstream has {_shown(drop.mine.lines[line])} {said}")
    return None


def _has_same_space(drop: Drop, line: int, place: int) -> bool:
    mine, there = drop.mine.lines[line], drop.there.lines[place]
    is_literal = line in drop.mine.scanned.literal
    is_same = not is_literal or mine.rstrip(b"\r\n") == there.rstrip(b"\r\n")
    return is_same and PIECE.findall(mine) == PIECE.findall(there)


def other_block(drop: Drop) -> Needed | None:
    """Return why a hunk is still needed if upstream has its lines in another block or comment.

    Upstream may have put a call under `else`, into a function or struct next to it, or below
    another `[section]`, or else into a comment, a string or a here-document. If upstream has the
    hunk's text as it is, the block may be a copy, or may have changed places with the right one.
    Then lines in blocks that the hunk itself adds are ignored, and if the old text of the hunk was
    unique and is gone, no other block can be confused with it.
    """
    lines = [*drop.brought]
    if drop.is_there:
        old, added = b"".join(drop.hunk.old()), frozenset(drop.added)
        if drop.base.count(old) == 1 and old not in drop.ours:
            return None
        lines = [n for n in lines if added.isdisjoint(drop.mine.around(n))]
    return _nowhere(drop, lines, _has_same_block, "in another block")


def _has_same_block(drop: Drop, line: int, place: int) -> bool:
    """Return whether a line and its place upstream are in blocks that begin with the same lines.

    Only lines that are unique in both texts are compared. Upstream may have rewritten the others,
    but may not have added further blocks around the line.
    """
    mine, there = drop.mine, drop.there
    if place in there.scanned.inside and line not in mine.scanned.inside:
        return False
    if not there.is_program:
        _, near = drop.between(range(line, line + 1))
        own = {*near}.difference(drop.pairs.values())
        if place - 1 in own and there.is_enclosed(place, own):
            return False
    old, new = mine.around(line), there.around(place)
    keys = [key for n in old if (key := mine.keys[n]) in drop.shared]
    known = [key for n in new if (key := there.keys[n]) in drop.shared]
    return keys == known and len(new) <= len(old)


def other_definition(drop: Drop) -> Needed | None:
    """Return why a hunk is still needed if upstream has its decorators only elsewhere."""
    for line, key in drop.added.items():
        places = [n for n, other in enumerate(drop.there.keys) if other == key]
        if places and _DECORATOR.match(drop.mine.lines[line]):
            name = _decorated(drop.mine, line)
            if all(_decorated(drop.there, place) != name for place in places):
                return Needed(f"upstream has {_shown(drop.mine.lines[line])} on other definitions")
    return None


def _decorated(layout: Layout, line: int) -> bytes:
    """Return the name of what a decorator is written above, or the line that has no such name."""
    level = indentation(layout.lines[line])
    for below in layout.lines[line + 1 :]:
        if key_of(below) and indentation(below) <= level and not _DECORATOR.match(below):
            name = _DEFINED.match(below)
            return bare(below) if name is None else name[1]
    return b""


def _shown(line: bytes) -> str:
    text = " ".join(line.decode("utf-8", "replace").split())
    return text if len(text) <= 60 else f"{text[:60]}…"


PROOFS: tuple[tuple[str, Callable[[Drop], Needed | None]], ...] = (
    ("deletion", rewritten_deletion),
    ("coincidence", coincidence),
    ("order", other_order),
    ("white space", other_white_space),
    ("block", other_block),
    ("definition", other_definition),
)
WHERE_IT_IS_THERE = frozenset({"coincidence", "block"})


def why_needed(drop: Drop) -> Needed | None:
    """Return why a hunk must be kept, or None if it may be dropped because upstream has it.

    If upstream has the hunk's text as it is, only the proofs in WHERE_IT_IS_THERE are tried. The
    first that applies decides.
    """
    proofs = (proof for name, proof in PROOFS if not drop.is_there or name in WHERE_IT_IS_THERE)
    return next((needed for proof in proofs if (needed := proof(drop)) is not None), None)


def checked(
    sides: Sides, merged: Merged | Collided, *, blobs: Blobs, text: TextMerge
) -> Merged | Collided:
    """Return a merge that no longer drops the hunks which are proved to be still needed.

    Such a hunk becomes a conflict, or is carried if it has no effect on upstream's text. The reason
    for a conflict about deleted lines says what upstream did with these lines.
    """
    is_asked = any(verdict in (Verdict.ABSORBED, Verdict.CONFLICT) for verdict, _ in merged.answers)
    texts = sides.texts(blobs) if is_asked and sides.ours != sides.theirs else None
    if texts is None:
        return merged
    base, ours, theirs = texts
    answers, whys, spots = list(merged.answers), list[str](), list[Block]()
    pairs = [*zip(sides.hunks, merged.answers, strict=False)]
    beside = tuple(hunk for hunk, (verdict, _) in pairs if verdict is not Verdict.ABSORBED)
    for number, (hunk, answer) in enumerate(pairs):
        is_dropped = answer[0] is Verdict.ABSORBED and answer not in (DECIDED, ABSORBED_REWORDED)
        if not is_dropped and (answer != CONFLICT or hunk.added()):
            continue
        drop = Drop(sides.path, base, ours, hunk, sides.positions[number], beside)
        found = why_needed(drop) if is_dropped else rewritten_deletion(drop)
        if found is None:
            continue
        answers[number] = CARRIED_TEXT if found.is_done else CONFLICT
        if not found.is_done:
            whys.append(found.why)
            spots += [drop.spot] if is_dropped else []
    if not whys:
        return replace(merged, answers=tuple(answers))
    if isinstance(merged, Collided) and merged.reason != SAME_LINES:
        whys.insert(0, merged.reason)
    reason = "; ".join(dict.fromkeys(whys))
    if isinstance(merged, Collided) and (not spots or merged.marked is None):
        return replace(merged, reason=reason, answers=tuple(answers))
    return Collided(reason, marked_spots(base, ours, theirs, spots, text), tuple(answers))
