"""The rungs of the merge ladder that are tried after git's text merge, and their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.conflicts.ids import conflict_id
from patchmgr.engines.conflicts.memory import replay, whole_sides
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.rebase.formatting import may_be_formatting, merge_formatted, text_of
from patchmgr.engines.rebase.ladder import (
    ABSORBED_SYNTAX,
    CARRIED_TEXT,
    CONFLICT,
    DECIDED,
    DRIFTED_TEXT,
    FORMATTED,
    SOLVED,
    STRUCTURAL,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.rebase.work import Mergers, Tools
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.structure.imports import has_imports_of
from patchmgr.engines.structure.python_tree import compiles
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.text.line_endings import conversion, with_line_ending
from patchmgr.engines.text.marked import sides_of
from patchmgr.model.merge import Clean
from patchmgr.model.outcome import How, Reliability, Suggestion
from patchmgr.model.snapshot import Entry

_ANSWERS: dict[How, Answer] = {
    How.RECORDED: SOLVED,
    How.FORMAT: FORMATTED,
    How.STRUCTURAL: STRUCTURAL,
}
_POINTER = b"version https://git-lfs.github.com/spec/"  # the first line of a Git LFS pointer file


class Solved(Struct, frozen=True):
    """The content of a file that merged without a conflict, and the method that merged it."""

    content: bytes
    how: How
    used: tuple[str, ...] = ()  # ids of recorded resolutions
    reliability: tuple[Reliability, ...] = ()  # of a structural merge, by region


class Unsolved(Struct, frozen=True):
    """A file with conflicts that are left to a person."""

    marked: bytes | None  # with conflict markers (None: binary)
    used: tuple[str, ...] = ()  # ids of recorded resolutions
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()  # for each region, likeliest first


class Open(Struct, frozen=True):
    """A file in conflict that further methods may merge: its sides, and the text with markers."""

    marked: bytes
    base: bytes
    upstream: bytes
    fork: bytes
    path: str
    is_upstream_ours: bool = True  # upstream's side is `ours` in the markers
    used: tuple[str, ...] = ()  # ids of the resolutions that all four texts have
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()


def recorded(left: Open, mergers: Mergers) -> Solved | Open:
    """Apply recorded resolutions; return the merged text, or the conflict that is left."""
    if mergers.recall is None:
        return left
    whole = whole_sides(left.marked)
    known = None if whole is None else mergers.recall.find_file(*whole)
    if whole is not None and known is not None and known.content is not None:
        return Solved(known.content, How.RECORDED, (conflict_id(*whole, None),))
    ends = has_last_newline(left.base, left.upstream, left.fork)
    replayed = replay(left.marked, mergers.recall.find, ends_with_newline=ends)
    if replayed.is_clean:
        return Solved(replayed.marked, How.RECORDED, replayed.used)
    if not replayed.used:
        return left
    base, ours, theirs = sides_of(replayed.marked)
    upstream, fork = (ours, theirs) if left.is_upstream_ours else (theirs, ours)
    return replace(
        left, marked=replayed.marked, base=base, upstream=upstream, fork=fork, used=replayed.used
    )


def formatted(left: Open, mergers: Mergers) -> Solved | Open:
    """Merge a conflict as text after formatting base and the patch's side as upstream does."""
    if mergers.formatter is None or not may_be_formatting(left.marked):
        return left
    content = merge_formatted(
        left.base,
        left.upstream,
        left.fork,
        path=left.path,
        formatter=mergers.formatter,
        text=mergers.text,
    )
    return left if content is None else Solved(content, How.FORMAT, left.used)


def structural(left: Open, mergers: Mergers) -> Solved | Open:
    """Merge a conflict by the syntax of the file, or add suggestions for its regions."""
    # A Git LFS pointer has no parts to merge: the hash of one side and the size of the other would
    # name a file that nobody has.
    if mergers.structure is None or left.upstream.startswith(_POINTER):
        return left
    marked = left.marked
    if not left.is_upstream_ours:  # a structural merge needs upstream's side first
        merge = mergers.text.merge(left.base, left.upstream, left.fork)
        marked = marked if isinstance(merge, Clean) else merge.marked or marked
    texts = _texts(left.base, left.upstream, left.fork)
    found = mergers.structure(texts, left.path, marked)
    if found is None or found.text is None:
        return left if found is None else replace(left, suggestions=found.suggestions)
    content = found.text.encode("utf-8", "surrogateescape")
    how = How.FORMAT if found.is_layout else How.STRUCTURAL
    return Solved(content, how, left.used, found.reliability)


Rung = Callable[[Open, Mergers], "Solved | Open"]

RUNGS: tuple[Rung, ...] = (recorded, formatted, structural)
"""The rungs in the order in which they are tried: recorded resolutions first, then merges."""

RECORDED, GUESSED = RUNGS[:1], RUNGS[1:]
"""The rungs tried before and after asking whether upstream has the lines in another form."""


def climb(left: Open, mergers: Mergers, rungs: Sequence[Rung] = RUNGS) -> Solved | Open:
    """Try the methods in order; return the first merged text, or else the conflict that is left."""
    for rung in rungs:
        found = rung(left, mergers)
        if isinstance(found, Solved):
            return found
        left = found
    return left


def climb_on(
    sides: Sides, collided: Collided, tools: Tools, rungs: Sequence[Rung]
) -> Merged | Collided:
    """Try further methods on a file that git's text merge left in conflict.

    If the result has upstream's text in all regions, it is not used, except for imports: no merge
    may decide that an edit of the patch is not needed.
    """
    if collided.marked is None or collided.texts is None:
        return collided
    marked, (base, ours, theirs) = collided.marked, collided.texts
    assert sides.ours is not None
    assert sides.theirs is not None
    is_python = sides.path.endswith(PYTHON)
    is_kept = sides.base is not None and sides.ours.mode != sides.base.mode
    mode = sides.ours.mode if is_kept else sides.theirs.mode
    found = climb(Open(marked, base, ours, theirs, sides.path), tools, rungs)
    if isinstance(found, Open):
        marked, texts = found.marked, (found.base, found.upstream, found.fork)
        collided = replace(collided, marked=marked, texts=texts, suggestions=found.suggestions)
        if structural not in rungs and sides.base is not None:
            tools.ahead(_texts(*texts), sides.path, marked)
    elif found.how is How.RECORDED:
        if is_python and _breaks(found.content, ours, theirs):
            return collided
        if found.content == ours:
            return Merged(sides.ours, (DECIDED,) * len(collided.answers))
    around = tuple(map(text_of, sides_of(marked)))
    if isinstance(found, Solved) and not _is_ours(found, ours, around[1]):
        answers = _answered(collided, _ANSWERS[found.how])
        if found.how is How.FORMAT:
            answers = tuple(_reformatted(sides, answers, found.content))
        return Merged(Entry(mode, tools.blobs.add(found.content)), answers, found.reliability)
    is_guessed = structural in rungs and is_python and mode == sides.ours.mode
    if is_guessed and has_imports_of(*around):
        content = around[1].encode("utf-8", "surrogateescape")
        entry = sides.ours if content == ours else Entry(mode, tools.blobs.add(content))
        return Merged(entry, _answered(collided, ABSORBED_SYNTAX))
    return collided


def _is_ours(found: Solved, ours: bytes, around: str) -> bool:
    """Return whether a merge has upstream's text, in the whole file or in all regions."""
    is_guess = found.how is How.STRUCTURAL
    return found.content == ours or (is_guess and text_of(found.content) == around)


def _breaks(content: bytes, *sides: bytes) -> bool:
    return not compiles(text_of(content)) and all(compiles(text_of(side)) for side in sides)


def _answered(collided: Collided, answer: Answer) -> tuple[Answer, ...]:
    """Return the verdicts on all hunks, with `answer` for the hunks in conflict."""
    return tuple(answer if a == CONFLICT else a for a in collided.answers)


def _reformatted(sides: Sides, answers: Sequence[Answer], content: bytes) -> Iterator[Answer]:
    """Yield the verdicts, changed for hunks that merged as text but were reformatted."""
    lines = frozenset(split_lines(content))
    for hunk, answer in zip(sides.hunks, answers, strict=True):
        is_text = answer in (CARRIED_TEXT, DRIFTED_TEXT)
        is_new = is_text and not lines.issuperset(split_lines(hunk.added_text()))
        yield FORMATTED if is_new else answer


def solve_text(
    base: bytes,
    upstream: bytes,
    fork: bytes,
    path: str,
    *,
    mergers: Mergers,
    is_upstream_ours: bool = True,
) -> Solved | Unsolved:
    """Merge three versions of one file that is in no series, as a merge driver does.

    `is_upstream_ours` says whether upstream's side is `ours` or `theirs` in conflict markers.
    """
    ending = conversion(base, upstream, fork)
    if ending is not None:
        base, fork = with_line_ending(base, ending), with_line_ending(fork, ending)
    elif (ending := conversion(base, fork, upstream)) is not None:
        base, upstream = with_line_ending(base, ending), with_line_ending(upstream, ending)
    sides = (upstream, fork) if is_upstream_ours else (fork, upstream)
    merge = mergers.text.merge(base, *sides)
    if isinstance(merge, Clean):
        return Solved(merge.content, How.TEXT if ending is None else How.FORMAT)
    if merge.marked is None:
        return Unsolved(None)
    found = climb(Open(merge.marked, base, upstream, fork, path, is_upstream_ours), mergers)
    if isinstance(found, Solved):
        return found
    return Unsolved(found.marked, found.used, found.suggestions)


def has_last_newline(base: bytes, ours: bytes, theirs: bytes) -> bool:
    """Return whether a merge ends with a line feed: as the side that changes this, or as base."""
    in_base, in_ours, in_theirs = (not t or t.endswith(b"\n") for t in (base, ours, theirs))
    return in_theirs if in_ours == in_base else in_ours


def _texts(base: bytes, ours: bytes, theirs: bytes) -> Texts:
    return Texts(text_of(base), text_of(ours), text_of(theirs))
