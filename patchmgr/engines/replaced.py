"""Patches whose lines a later one of the series takes away: both are in, or both are carried.

To drop the later one alone would bring back what it took away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.atoms import is_telling
from patchmgr.engines.differences import matched_lines
from patchmgr.engines.fold import FileStep
from patchmgr.engines.placement import split_lines
from patchmgr.engines.search import Search
from patchmgr.model.outcome import How
from patchmgr.model.snapshot import FILE_MODES, Entry

Found = Mapping[int, Absorption]


def with_replaced(search: Search, found: Found) -> dict[int, Absorption]:
    """Return what upstream has, made to fit together.

    A patch whose lines a landed one takes away is in with it if its files are settled: the net
    change of the series changes nothing there; its hunks that take lines of one that is not in
    are left out. Else the hunks that take them away, or give back
    what it takes away, say so: they are to be carried if that patch is.
    """
    more = dict(found)
    for number, absorption in sorted(found.items()):
        for earlier in range(number):
            if _is_carried(more, earlier) and _is_taken(search, earlier, number):
                ranged = _in_range(search, earlier, absorption, _held(search, more, earlier))
                if not ranged.hunks <= (more[earlier].hunks if earlier in more else frozenset()):
                    more[earlier] = ranged
    for patch in range(len(search.series)):
        beside = _beside(search, more, patch) if _is_carried(more, patch) else None
        if beside is not None:
            more[patch] = _in_range(search, patch, beside)
    return _with_undone(search, more)


def _in_range(
    search: Search, patch: int, other: Absorption, held: frozenset[int] = frozenset()
) -> Absorption:
    hunks = frozenset(range(len(search.series[patch].hunks))) - held
    return Absorption(hunks, other.step, Event.LANDED, is_whole=not held, how=How.RANGE)


def _held(search: Search, found: Found, patch: int) -> frozenset[int]:
    """Return the hunks of a patch that take away what an earlier one that is not in adds."""
    carried = (earlier for earlier in range(patch) if _is_carried(found, earlier))
    return frozenset(hunk for earlier in carried for hunk in _taking(search, earlier, patch))


def _beside(search: Search, found: Found, patch: int) -> Absorption | None:
    """Return the landing of another patch with which the files of this one are settled.

    Lines that say nothing do not show where they came from. A patch that another one of the
    series takes back, or that does so itself, is not in for that.
    """
    atoms, last = search.series[patch], len(search.series) - 1
    others = [
        absorption
        for number, absorption in found.items()
        if number != patch and absorption.is_whole and search.series[number].paths & atoms.paths
    ]
    if not others or not search.view(last, search.end).is_settled(atoms):
        return None
    steps = search.folded[patch].steps
    if any(s.base is None or s.theirs is None or s.base.mode != s.theirs.mode for s in steps):
        return None
    pairs = [(patch, later) for later in range(patch + 1, last + 1)]
    pairs += [(earlier, patch) for earlier in range(patch)]
    if any(next(_taking(search, *pair), None) is not None for pair in pairs):
        return None
    return others[0]


def _is_carried(found: Found, patch: int) -> bool:
    return patch not in found or not found[patch].is_whole


def _is_taken(search: Search, patch: int, later: int) -> bool:
    """Say whether a later patch takes away what one adds, and the files of both are settled."""
    if next(_taking(search, patch, later), None) is None:
        return False
    atoms, ends = search.series[patch], (len(search.series) - 1, later)
    return any(search.view(end, search.end).is_settled(atoms) for end in dict.fromkeys(ends))


def _with_undone(search: Search, found: Found) -> dict[int, Absorption]:
    """Note which hunks take away what earlier patches bring that may be carried."""
    noted: dict[int, Absorption] = {}
    for number, absorption in sorted(found.items()):
        undoes: dict[int, frozenset[str]] = {}
        for earlier in range(number):
            if _is_carried(found, earlier) or noted[earlier].undoes:
                name = search.folded[earlier].patch.name
                for hunk in undoing(search, earlier, number):
                    undoes[hunk] = undoes.get(hunk, frozenset()) | {name}
        noted[number] = replace(absorption, undoes=undoes) if undoes else absorption
    return noted


def undoing(search: Search, earlier: int, later: int) -> Iterator[int]:
    """Yield the hunks of a patch that take away what an earlier one adds, or give it back.

    What the earlier one takes away is given back by a line that the file had nowhere in between.
    """
    yield from _taking(search, earlier, later)
    for number, hunk in enumerate(search.series[later].hunks):
        lines = frozenset(filter(is_telling, hunk.added))
        taken = (h.removed & lines for h in search.series[earlier].hunks if h.path == hunk.path)
        if any(given - search.lines(search.states[hunk.path][later]) for given in taken if given):
            yield number


def _taking(search: Search, earlier: int, later: int) -> Iterator[int]:
    """Yield the hunks of a patch that take away what an earlier one adds."""
    if search.series[earlier].paths.isdisjoint(search.series[later].paths):
        return
    for old in search.folded[earlier].steps:
        for first, new in _numbered(search.folded[later].steps):
            if old.change.new_path is not None and old.change.new_path == new.change.path:
                yield from (first + hunk for hunk in _overlaps(search, old, new))


def _numbered(steps: tuple[FileStep, ...]) -> Iterator[tuple[int, FileStep]]:
    first = 0
    for step in steps:
        yield first, step
        first += max(1, len(step.change.hunks))


def _overlaps(search: Search, old: FileStep, new: FileStep) -> Iterator[int]:
    """Yield the hunks of a step that remove lines, or the file, which the other one added."""
    if old.base is None and new.theirs is None:
        yield from range(max(1, len(new.change.hunks)))
        return
    before, after = _lines(search, old.theirs), _lines(search, new.base)
    added = set(_places(old, b"+", b"-"))
    if before != after:
        added = {j for i, j in matched_lines(before, after) if i in added}
    for number, hunk in enumerate(new.change.hunks):
        single = replace(new.change, hunks=(hunk,))
        step = replace(new, change=single, positions=(new.positions[number],))
        if not added.isdisjoint(_places(step, b"-", b"+")):
            yield number


def _places(step: FileStep, kind: bytes, other: bytes) -> Iterator[int]:
    """Yield the lines (from 0) of one kind, on the side of a step that has them."""
    drift = 0
    for hunk, position in zip(step.change.hunks, step.positions, strict=True):
        at = position + (drift if kind == b"+" else 0)
        for line in hunk.lines:
            if line[:1] == kind:
                yield at
            at += line[:1] != other
        drift += hunk.added() - hunk.removed()


def _lines(search: Search, entry: Entry | None) -> list[bytes]:
    if entry is None or entry.mode not in FILE_MODES:
        return []
    return split_lines(search.blobs.read(entry.blob))
