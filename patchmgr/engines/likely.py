"""Whether upstream seems to have done the same as a hunk, in other words.

What the hunk brings is held, word by word, against what upstream has brought since the base
into the same symbol. This is no proof: it asks a person to decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.comparison import Brought, Comparison, Said, Sayings
from patchmgr.engines.differences import Run, runs_of
from patchmgr.engines.guards import Guard, find_guards
from patchmgr.engines.languages.words import all_words, is_code, parts_of
from patchmgr.model.patch import Hunk

LIKE_IN_CONFLICT = 0.6  # share of what a colliding hunk says that upstream says, too
LIKE_IN_CLEAN = 0.8  # the same for a hunk that merges
IN_ORDER = 0.8  # of it, how many words come in the same order
LIKE_GUARD = 0.3  # the same for two guards that are alike otherwise
GUARD_BONUS = 0.3
FEWEST_TELLING = 1.5  # what a hunk must say; a name that the file did not have says 1
TELLING_SURROUNDINGS = 2.0
FEWEST_MOVED = 0.7  # of the surroundings, how much must have gone to a new function
MOVED_CONFIDENCE = 0.7
PART_CREDIT = 0.5  # for the words that a name is made of
LONGEST_GUARD = 12  # lines, with what prepares it
RARE = 0.5
WINDOW = 1.5  # how much longer upstream's words may be
SMALLEST_WINDOW = 12
MOST_CONFIDENT = 0.99
FEWEST_WHOLE = 12  # words that must all be there to say the same
TELLING_WHOLE = 2.0  # what they must say
LONGER_WHOLE = 2.0  # how much longer upstream's words may be
_NEGATION = re.compile(rb"(?<!is )\bnot\b(?! in\b)|!(?!=)")


class Likeness(Struct, frozen=True):
    """Upstream's lines (from 0, end exclusive) that seem to do what a hunk does.

    `is_whole` says that they have each of its words, in its order, and a few more.
    """

    confidence: float
    start: int
    end: int
    is_whole: bool = False


def find_likeness(
    comparison: Comparison, hunk: Hunk, position: int, *, is_clean: bool
) -> Likeness | None:
    """Return what upstream has in other words of a hunk that starts at a line of base.

    One that merges must be said again right beside it, nearly word for word, or be a guard
    beside a guard of the same kind: it may well be needed.
    """
    runs = [run for run in runs_of(hunk, position) if run.says_something]
    if not runs or (is_clean and not comparison.has_news_near(runs)):
        return None
    wanted = comparison.sayings(runs)
    if is_clean:
        found = _beside(comparison, runs, wanted)
    else:
        found = [
            *_beside(comparison, runs, wanted),
            *(_other_literal(comparison, run) for run in runs),
            _in_other_words(comparison, runs, wanted),
            _moved_with_surroundings(comparison, hunk, runs, wanted),
        ]
    best = max((f for f in found if f is not None), key=lambda f: f.confidence, default=None)
    if best is None:
        return None
    best = _from_its_start(comparison, best)
    is_whole = not is_clean and _is_said_whole(comparison, runs, wanted, best)
    return replace(best, is_whole=is_whole)


def _is_said_whole(
    comparison: Comparison, runs: Sequence[Run], wanted: Sayings, found: Likeness
) -> bool:
    """Say whether upstream's lines are what runs only add, in a later wording.

    Names must be the same: another one is a decision. So must be what turns a condition round.
    """
    if any(run.removed for run in runs) or wanted.telling < TELLING_WHOLE:
        return False
    if not is_code(comparison.language):
        return False
    ours = comparison.ours[found.start : found.end]
    added = [line for run in runs for line in run.added]
    words, there = (all_words(lines, comparison.language) for lines in (added, ours))
    if not FEWEST_WHOLE <= len(words) <= len(there) <= LONGER_WHOLE * len(words):
        return False
    rest = iter(there)
    return all(word in rest for word in words) and _negations(added) == _negations(ours)


def _negations(lines: Sequence[bytes]) -> int:
    return sum(len(_NEGATION.findall(line)) for line in lines)


def _from_its_start(comparison: Comparison, likeness: Likeness) -> Likeness:
    """Begin with the line that opens the brackets that the first line stands in."""
    start = likeness.start
    while start and comparison.ours[start - 1].rstrip().endswith((b"(", b"[")):
        start -= 1
    return replace(likeness, start=start)


def _beside(comparison: Comparison, runs: Sequence[Run], wanted: Sayings) -> list[Likeness | None]:
    """Judge a hunk by what upstream brought right beside it."""
    if wanted.share(comparison.said, part_credit=PART_CREDIT) < LIKE_GUARD:
        return []
    guards = [_doubled_guard(comparison, run) for run in runs]
    return [*guards, _said_again(comparison, runs, wanted)]


def _said_again(comparison: Comparison, runs: Sequence[Run], wanted: Sayings) -> Likeness | None:
    """Return what upstream brought beside a hunk that says nearly the same, word for word."""
    is_rare = any(weight >= RARE for weight in wanted.weights.values())
    if wanted.telling < FEWEST_TELLING or not is_rare:
        return None
    if wanted.share(comparison.said) < LIKE_IN_CLEAN:
        return None
    beside = {b for b in comparison.blocks if any(comparison.is_beside(run, b) for run in runs)}
    lines = [line for line in comparison.brought if line.block in beside]
    found = _best_window(wanted, lines, comparison.in_ours(runs[0].start))
    if found is None or found.confidence < LIKE_IN_CLEAN:
        return None
    words = [w for line in lines if found.start <= line.number < found.end for w in line.words]
    matcher = SequenceMatcher(None, wanted.order, words, autojunk=False)
    size = sum(block.size for block in matcher.get_matching_blocks())
    return found if size >= IN_ORDER * len(wanted.order) else None


def _in_other_words(
    comparison: Comparison, runs: Sequence[Run], wanted: Sayings
) -> Likeness | None:
    """Judge a hunk that collides by what upstream brought into the same symbol."""
    if wanted.telling < FEWEST_TELLING:
        return None
    if wanted.share(comparison.said, part_credit=PART_CREDIT) < LIKE_IN_CONFLICT:
        return None
    here = comparison.brought_here(runs)
    lines = dict.fromkeys((*here, *comparison.called(here)))
    found = _best_window(
        wanted, tuple(lines), comparison.in_ours(runs[0].start), part_credit=PART_CREDIT
    )
    return found if found is not None and found.confidence >= LIKE_IN_CONFLICT else None


def _moved_with_surroundings(
    comparison: Comparison, hunk: Hunk, runs: Sequence[Run], wanted: Sayings
) -> Likeness | None:
    """Judge a hunk that collides because upstream moved its place into a new function."""
    called = comparison.called(comparison.brought_here(runs))
    words = _words(called)
    if wanted.share(Said(words)) < 1:
        return None
    blocks = [b for b in comparison.blocks if any(run.gap(b) == 0 for run in runs)]
    gone = [line for b in blocks for line in comparison.base[b.old_start : b.old_end]]
    surroundings = comparison.weighed(all_words(gone, comparison.language))
    if (
        surroundings.telling < TELLING_SURROUNDINGS
        or surroundings.share(Said(words)) < FEWEST_MOVED
    ):
        return None
    place = comparison.weighed(all_words(hunk.new(), comparison.language))
    found = _best_window(place, called, comparison.in_ours(runs[0].start))
    assert found is not None
    return replace(found, confidence=MOVED_CONFIDENCE)


def _other_literal(comparison: Comparison, run: Run) -> Likeness | None:
    """Judge a string that both sides rewrote in the same statement."""
    from patchmgr.engines.literals import alike_literals

    for block in [b for b in comparison.blocks if run.removed and run.gap(b) == 0]:
        theirs = comparison.ours[block.new_start : block.new_end]
        found = alike_literals(run.removed, run.added, theirs, comparison.language)
        if found is not None:
            line = block.new_start + found[1]
            return Likeness(_rounded(found[0]), line, line + 1)
    return None


def _doubled_guard(comparison: Comparison, run: Run) -> Likeness | None:
    """Judge a guard by one that upstream put beside it, which leaves by the same way."""
    mine = tuple(find_guards(run.added, comparison.language))
    if not mine:
        return None
    wanted = comparison.sayings([run])
    rare = {p for w, weight in wanted.weights.items() if weight >= RARE for p in parts_of(w)}
    best: Likeness | None = None
    for theirs, lines in _guards_beside(comparison, run):
        words = _words(lines)
        share = wanted.share(Said(words), part_credit=PART_CREDIT)
        if share < LIKE_GUARD or rare.isdisjoint(p for w in words for p in parts_of(w)):
            continue
        confidence = _rounded(share + (1 - share) * GUARD_BONUS)
        is_better = best is None or confidence > best.confidence
        if is_better and any(_is_same_guard(guard, theirs) for guard in mine):
            best = Likeness(confidence, lines[0].number, lines[-1].number + 1)
    return best


def _guards_beside(comparison: Comparison, run: Run) -> Iterator[tuple[Guard, tuple[Brought, ...]]]:
    """Yield the guards that upstream put beside a run, with what it brought up to there."""
    for block in comparison.blocks:
        if not comparison.is_beside(run, block):
            continue
        for guard in find_guards(
            comparison.ours[block.new_start : block.new_end], comparison.language
        ):
            end = block.new_start + guard.end
            start = max(block.new_start, end - LONGEST_GUARD)
            yield guard, tuple(b for b in comparison.brought if start <= b.number < end)


def _is_same_guard(mine: Guard, theirs: Guard) -> bool:
    return (
        mine.way_out == theirs.way_out
        and mine.indentation == theirs.indentation
        and not mine.names.isdisjoint(theirs.names)
        and not mine.excludes(theirs)
    )


def _best_window(
    wanted: Sayings, lines: Sequence[Brought], near: int, *, part_credit: float = 0.0
) -> Likeness | None:
    """Return the few lines that say most of what is wanted, of several those near a line."""
    size = max(SMALLEST_WINDOW, WINDOW * len(wanted.order))
    best: tuple[float, int] = (0.0, 0)
    window: Sequence[Brought] = ()
    for start, line in enumerate(lines):
        candidate = _window(lines, start, size)
        share = wanted.share(Said(_words(candidate)), part_credit=part_credit)
        if share and (share, -abs(line.number - near)) > best:
            best, window = (share, -abs(line.number - near)), candidate
    share = best[0]
    if not window:
        return None
    while len(window) > 1:
        halves = (window[:-1], window[1:])
        enough = (
            h for h in halves if wanted.share(Said(_words(h)), part_credit=part_credit) >= share
        )
        smaller = next(enough, None)
        if smaller is None:
            break
        window = smaller
    return Likeness(_rounded(share), window[0].number, window[-1].number + 1)


def _window(lines: Sequence[Brought], start: int, size: float) -> Sequence[Brought]:
    end, length = start, 0
    while end < len(lines) and (end == start or length + len(lines[end].words) <= size):
        length += len(lines[end].words)
        end += 1
    return lines[start:end]


def _words(lines: Sequence[Brought]) -> list[str]:
    return [word for line in lines for word in line.words]


def _rounded(confidence: float) -> float:
    return round(min(confidence, MOST_CONFIDENT), 2)
