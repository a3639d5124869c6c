"""Prove that upstream still lacks a hunk, although a search found it to be absorbed.

All proofs are tried before a hunk is dropped, however it was found. In doubt, the hunk is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from functools import cached_property, lru_cache
from operator import lt

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.absorption.proposal import marked_spots
from patchmgr.engines.absorption.superset import PIECE
from patchmgr.engines.absorption.thresholds import ALIKE, MOST_LEFT
from patchmgr.engines.languages.file_types import OTHER, language
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
from patchmgr.engines.series.placement import apply_one, split_lines
from patchmgr.engines.text.differences import Block, Run, matched_lines, runs_of
from patchmgr.engines.text.distinctive import bare
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Hunk
from patchmgr.model.ports import Blobs, TextMerge

_NUMBER = late_pattern(rb"(?<!\w)\d+(?!\w)")
_COUNT = late_pattern(rb"(?<![\w.])\d+(?![\w.])")
_DEFINED = late_pattern(rb"\s*(?:async\s+)?(?:def|class)\s+(\w+)")
# What begins a block or a section at any indentation, what ends one, and what is of the next line.
_OPENS = late_pattern(
    rb"\s*(?:\[[^\]]*\]\s*$|#\s*(?:if|el)|<!--|```|(?:case|default|public|private|protected)\b)"
    rb"|.*(?:[{(\[]|\b(?:then|do)|<<-?\s*\S+)\s*$"
)
_CLOSES = late_pattern(
    rb"\s*(?:[)\]}]|(?:fi|done|esac|end\w*)\b|#\s*endif|[A-Z_]{3,}\s*$)|.*-->\s*$"
)
_ATTRIBUTE = late_pattern(rb"\s*(?:@\w|#!?\[)")
_NAMED = late_pattern(rb"\s*(?:\w+\s*=(?!=)|\*\*)")


def key_of(line: bytes) -> bytes:
    """Return a line without its white space, or empty bytes if it contains no word."""
    return bare(line) if re.search(rb"\w", line) else b""


class Text(Struct, frozen=True, dict=True):
    """The lines of a text (from 0), and the blocks, comments and strings that they are in."""

    content: bytes

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines, with their line ends."""
        return split_lines(self.content)

    @cached_property
    def keys(self) -> list[bytes]:
        """The lines without white space, for comparison. A line without a word becomes empty."""
        return [*map(key_of, self.lines)]

    @cached_property
    def counts(self) -> Counter[bytes]:
        """How often each line with a word occurs, keyed by the line without white space."""
        return Counter(filter(None, self.keys))

    @cached_property
    def quoted(self) -> Mapping[int, bytes]:
        """The ending mark of the comment or long string that a line begins in, keyed by line."""
        found, ending = dict[int, bytes](), b""
        for number, line in enumerate(self.lines):
            if ending:
                found[number] = ending
            for mark in re.findall(rb"\"{3}|'{3}|/\*|\*/", line):
                if mark == ending:
                    ending = b""
                elif not ending and mark != b"*/":
                    ending = b"*/" if mark == b"/*" else mark
        return found

    def around(self, line: int) -> Iterator[bytes]:
        """Yield the keys of the lines that begin the blocks around a line, innermost first."""
        level = indentation(self.lines[line])
        while level and line:
            line -= 1
            text, key = self.lines[line], self.keys[line]
            if key and key[-1:] != b";" and text[:1] not in b"#/" and indentation(text) < level:
                level = indentation(text)
                yield key

    def decorated(self, line: int) -> bytes:
        """Return the name of the definition below a decorator, or b"" for any other line."""
        is_decorator = _ATTRIBUTE.match(self.lines[line])
        named = (_DEFINED.match(below) for below in self.lines[line:] if is_decorator)
        return next((name[1] for name in named if name), b"")


text_of = lru_cache(maxsize=16)(Text)


class Needed(Struct, frozen=True):
    """Why a hunk must be kept. `is_done` says whether applying it gives upstream's text anyway."""

    why: str
    is_done: bool = False


class Spot(Struct, frozen=True):
    """A run of changed lines, with the lines around it up to the next lines that upstream kept."""

    run: Run
    added: range
    mine: range
    there: range
    pairs: Mapping[int, int]


class Drop(Struct, frozen=True, dict=True):
    """A hunk that may be dropped, its first line in `base` (from 0), and upstream's text."""

    path: str
    base: bytes
    ours: bytes
    hunk: Hunk
    position: int
    beside: Sequence[Hunk] = ()
    is_state: bool = False

    @cached_property
    def is_there(self) -> bool:
        """Whether the hunk adds lines, and upstream's file has the hunk's new text unchanged."""
        return self.hunk.added() > 0 and (self.is_state or b"".join(self.hunk.new()) in self.ours)

    @cached_property
    def mine(self) -> Text:
        """The text that the hunk produces when it is applied to `base`."""
        return Text(apply_one(self.base, self.hunk, self.position))

    @cached_property
    def there(self) -> Text:
        """Upstream's version of the file."""
        return text_of(self.ours)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs of consecutive changed lines in the hunk."""
        return tuple(runs_of(self.hunk, self.position))

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """The runs of changed lines, each with upstream's lines at the same position."""
        kept = _kept(self.base, self.ours)
        gone = {n for run in self.runs for n in range(run.start, run.end)}
        found, shift, ends = list[Spot](), 0, (len(self.mine.lines), len(self.there.lines))
        for run in self.runs:
            above, below = bisect_left(kept.old, run.start) - 1, bisect_left(kept.old, run.end)
            while above >= 0 and kept.old[above] in gone:
                above -= 1
            while below < len(kept.old) and kept.old[below] in gone:
                below += 1
            start, end = (self._both(kept, at, ends) for at in (above, below))
            added = range(run.start + shift, run.start + shift + len(run.added))
            mine, there = (range(a + 1, b) for a, b in zip(start, end, strict=True))
            keys = {n: self.mine.keys[n] for n in added}, {n: self.there.keys[n] for n in there}
            found.append(Spot(run, added, mine, there, dict(_matched(*keys))))
            shift += len(run.added) - len(run.removed)
        return tuple(found)

    def _both(self, kept: _Kept, at: int, ends: tuple[int, int]) -> tuple[int, int]:
        """Return the numbers that a kept line has in the patched text and in upstream's text."""
        if not 0 <= at < len(kept.old):
            return ends if at >= 0 else (-1, -1)
        line = kept.old[at]
        before = (run for run in self.runs if run.end <= line)
        return line + sum(len(r.added) - len(r.removed) for r in before), kept.new[at]

    @cached_property
    def shared(self) -> Set[bytes]:
        """The lines, without white space, that the patched text and upstream have exactly once."""
        mine, there = self.mine.counts, self.there.counts
        return {key for key, count in mine.items() if count == there[key] == 1}

    def is_new(self, key: bytes) -> bool:
        """Return whether upstream added a line, which is given without white space."""
        before, after = (text_of(text).counts[key] for text in (self.base, self.ours))
        return after > before or key in _kept(self.base, self.ours).added

    def is_same_block(self, line: int, place: int) -> bool:
        """Return whether two lines are in the same block, judged by lines unique in both texts."""
        if language(self.path) in ("Text", OTHER):
            return True
        old, new = [*self.mine.around(line)], [*self.there.around(place)]
        same = [[key for key in keys if key in self.shared] for keys in (old, new)]
        is_of_same = self.mine.decorated(line) == self.there.decorated(place)
        return is_of_same and same[0] == same[1] and len(new) <= len(old)


class _Kept(Struct, frozen=True):
    """The numbers of the equal lines of two texts, in order, and the lines that the second adds."""

    old: Sequence[int]
    new: Sequence[int]
    added: Set[bytes]


@lru_cache(maxsize=4)  # all hunks of a file ask, and a generated file has hundreds
def _kept(base: bytes, ours: bytes) -> _Kept:
    mine, there = (dict(enumerate(text_of(text).keys)) for text in (base, ours))
    to = dict(_matched(mine, there))
    known = frozenset(to.values())
    added = {key for number, key in there.items() if key and number not in known}
    return _Kept([*to], [*to.values()], added)


def _matched(mine: Mapping[int, bytes], there: Mapping[int, bytes]) -> Iterator[tuple[int, int]]:
    """Yield pairs of lines with equal keys, in order. Lines without a word are left out."""
    old, new = ([n for n, key in side.items() if key] for side in (mine, there))
    keys = [mine[n] for n in old], [there[n] for n in new]
    return ((old[i], new[j]) for i, j in matched_lines(*keys))


def rewritten_deletion(drop: Drop) -> Needed | None:
    """Return why a hunk is needed if upstream kept or rewrote lines that the hunk only deletes."""
    for spot in () if drop.is_there else drop.spots:
        lines = [n.strip() for n in spot.run.removed if key_of(n)]
        if spot.run.added or not lines:
            continue
        gone = [drop.mine.lines[n].strip() for n in spot.mine]
        news = [drop.there.lines[n].strip() for n in spot.there]
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
    """Return a list with the line in `others` that is most like `line`, or an empty list."""
    return get_close_matches(line, others, 1, ALIKE)


def _is_moved(drop: Drop, lines: Sequence[bytes]) -> bool:
    """Return whether upstream still has all removed lines, one of which is unique in the base."""
    base, ours = text_of(drop.base).counts, drop.there.counts
    removed = [bare(line) for line in lines]
    is_kept = all(ours[line] >= base[line] for line in removed)
    return is_kept and any(base[line] == 1 for line in removed)


def coincidence(drop: Drop) -> Needed | None:
    """Return why a hunk is needed if upstream has only one of its lines, with a changed number."""
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
    """Yield (added line, removed line) for each pair that differs only in numbers."""
    old = {_NUMBER.sub(b"0", bare(line)): line for line in run.removed}
    for line in run.added:
        before = old.get(_NUMBER.sub(b"0", bare(line)))
        if before is not None and bare(before) != bare(line):
            yield line, before


def _uncounted(runs: Iterable[Run]) -> list[bytes]:
    """Return the added lines that differ from every removed line in more than numbers."""
    sides = ((run.added, dict(_counted(run))) for run in runs)
    return [x for added, counted in sides for x in added if key_of(x) and x not in counted]


def other_place(drop: Drop) -> Needed | None:
    """Return why a hunk is needed if upstream has its lines elsewhere or with other white space."""
    for spot in drop.spots:
        mine, there = spot.mine.start, spot.there.start
        for line in spot.added:
            said, place = None, spot.pairs.get(line)
            if place is not None:
                own = drop.mine.lines[mine:line], drop.there.lines[there:place]
                said = _difference(drop, line, place, own)
                mine, there = line + 1, place + 1
            elif drop.mine.keys[line] and drop.is_new(drop.mine.keys[line]):
                said = None if _is_unordered(drop, line) else "in another order"
            if said is not None:
                return Needed(f"upstream has {_shown(drop.mine.lines[line])} {said}")
    return None


def _difference(
    drop: Drop, line: int, place: int, own: tuple[Sequence[bytes], Sequence[bytes]]
) -> str | None:
    """Return how upstream's line differs from the patch's in meaning, or None if it does not."""
    texts = drop.mine.lines[line], drop.there.lines[place]
    quoted = drop.mine.quoted.get(line), drop.there.quoted.get(place)
    is_literal = quoted[0] not in (None, b"*/")
    if PIECE.findall(texts[0]) != PIECE.findall(texts[1]) or (
        is_literal and texts[0].rstrip() != texts[1].rstrip()
    ):
        return "with other white space, which matters here"
    begun = [_begun(lines, indentation(text)) for lines, text in zip(own, texts, strict=True)]
    is_further = not _CLOSES.match(texts[0]) and any(map(lt, *begun))
    if is_further or (quoted[1] and not quoted[0]) or not drop.is_same_block(line, place):
        return "in another block"
    sizes = [sum(1 for text in lines if key_of(text)) for lines in own]
    around = next(drop.mine.around(line), b"")
    is_numbered = around.count(b"(") > around.count(b")") or around.startswith(
        (b"enum", b"typedef")
    )
    is_behind = sizes[1] > sizes[0] and is_numbered and not _is_unordered(drop, line)
    return "in another order" if is_behind else None


def _is_unordered(drop: Drop, line: int) -> bool:
    """Return whether the position of a line among its neighbours has no meaning, as for imports."""
    text, around = drop.mine.lines[line], next(drop.mine.around(line), b"")
    if is_import(text) or language(drop.path) != "Python":
        return is_import(text)
    if around.endswith(b"{"):
        return b":" not in text
    is_named = _NAMED.match(text) is not None and not around.startswith(b"def")
    return is_named or around.endswith(b"import(") or around.startswith(b"__all__")


def _begun(lines: Sequence[bytes], level: int) -> tuple[int, int]:
    """Return how many lines are indented less than `level`, and how many blocks the others open."""
    said = [line for line in lines if line.strip()]
    rest = [line for line in said if indentation(line) >= level or line[:1] == b"#"]
    opened = sum(bool(_OPENS.match(line)) - bool(_CLOSES.match(line)) for line in rest)
    return len(said) - len(rest), opened + any(map(_ATTRIBUTE.match, said[-1:]))


def copied(drop: Drop) -> Needed | None:
    """Return why a hunk is needed if upstream has exactly its text, but only in another block."""
    old, new = b"".join(drop.hunk.old()), [*drop.hunk.new()]
    if drop.base.count(old) == 1 and old not in drop.ours:  # then that block is no copy
        return None
    lines, spot = drop.there.lines, next(spot for spot in drop.spots if spot.run.added)
    starts = [
        n for n, line in enumerate(lines) if line == new[0] and lines[n : n + len(new)] == new
    ]
    first = spot.added.start
    places = [n + first - drop.position for n in starts] or [*spot.pairs.values()][:1]
    if not places or any(drop.is_same_block(first, place) for place in places):
        return None
    return Needed(f"upstream has {_shown(drop.mine.lines[first])} in another block")


def _shown(line: bytes) -> str:
    text = " ".join(line.decode("utf-8", "replace").split())
    return text if len(text) <= 60 else f"{text[:60]}…"


PROOFS: tuple[tuple[str, Callable[[Drop], Needed | None]], ...] = (
    ("deletion", rewritten_deletion),
    ("coincidence", coincidence),
    ("place", lambda drop: copied(drop) if drop.is_there else other_place(drop)),
)


def why_needed(drop: Drop) -> Needed | None:
    """Return why a hunk must be kept, by the first proof that applies, or None if it may go."""
    return next((needed for _, proof in PROOFS if (needed := proof(drop)) is not None), None)


def checked(
    sides: Sides, merged: Merged | Collided, *, blobs: Blobs, text: TextMerge
) -> Merged | Collided:
    """Return the merge after the proofs: a hunk that is still needed is in conflict or carried."""
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
            spots += [_block(drop)] if is_dropped else []
    if not whys:
        return replace(merged, answers=tuple(answers))
    if isinstance(merged, Collided) and merged.reason != SAME_LINES:
        whys.insert(0, merged.reason)
    reason = "; ".join(dict.fromkeys(whys))
    if isinstance(merged, Collided) and (not spots or merged.marked is None):
        return replace(merged, reason=reason, answers=tuple(answers))
    return Collided(reason, marked_spots(base, ours, theirs, spots, text), tuple(answers))


def _block(drop: Drop) -> Block:
    """Return the lines of base that a hunk changes, and upstream's lines at the same position."""
    first, last = drop.spots[0], drop.spots[-1]
    return Block(first.run.start, last.run.end, first.there.start, last.there.stop)
