"""Find where upstream moved the lines of hunks that are in conflict.

A function is found by its name and its distinctive lines. Lines outside functions and classes are
found only if they are the same byte for byte. If the new place is not certain, the hunk stays where
it is, and the reason for its conflict names the likely places.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.moved.imports import (
    Unsure,
    added_imports,
    import_lines,
    is_import_line,
    missing_attribute,
    words_of,
)
from patchmgr.engines.moved.parts import (
    AddedSymbols,
    FilePart,
    MovedSymbols,
    part_elsewhere,
    part_within,
)
from patchmgr.engines.moved.runs import HunkRun, changes_of
from patchmgr.engines.moved.search import Elsewhere, Home, Search, Unclear
from patchmgr.engines.moved.units import Outline, Unit, indent_of, joined, leaf_of
from patchmgr.engines.rebase.ladder import CARRIED_MOVED, CONFLICT, Answer, Collided, Merged, Sides
from patchmgr.engines.series.placement import PatchedFile
from patchmgr.model.outcome import Verdict
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import FILE_MODES, Entry

Climb = Callable[[str, Sides], "Merged | Collided"]
"""A function that merges a file, given its path and its sides, by all rungs of the ladder."""


class Followed(Struct, frozen=True):
    """A file's hunks, merged where upstream moved their lines; a conflict is in `collision`."""

    changes: Mapping[str, Entry]  # files that merged without a conflict
    answers: tuple[Answer, ...]  # one for each hunk
    places: Mapping[int, HunkPlace] = field(default_factory=dict)  # by the number of a moved hunk
    collision: tuple[str, Sides, Collided] | None = None  # path, sides and conflict


class MovedInput(Struct, frozen=True):
    """What is needed to merge moved hunks: upstream's files with the earlier patches, and tools."""

    elsewhere: Elsewhere  # files that upstream changed
    entry_of: Callable[[str], Entry | None]  # the file at a path
    busy: Collection[str]  # paths that the patch changes already: no place for other hunks
    climb: Climb  # merges a file
    blobs: Blobs


def follow_hunks(
    path: str, sides: Sides, collided: Collided, *, home: str, side: MovedInput
) -> Followed | Collided:
    """Merge a file in conflict, with its hunks applied where upstream moved their lines.

    Returns the conflict if no new place is certain; its reason then lists the likely places.
    """
    found = _relocation(path, sides, collided, home, side)
    if found is None:
        return collided
    paths = [part.path for part in found.parts if part.path != home]
    taken = next((path for path in paths if path in side.busy), None)
    if taken is not None:
        reason = f"upstream moved these lines to {taken}, which the patch changes as well"
        return replace(collided, reason=reason, has_moved=True)
    if not found.parts:
        return replace(collided, reason=_uncertain_reason(found), has_moved=_has_home(found))
    return _merged(found, sides, collided, home, side)


def _relocation(
    path: str, sides: Sides, collided: Collided, home: str, side: MovedInput
) -> Relocation | None:
    base, ours, theirs = sides.base, sides.ours, sides.theirs
    if base is None or theirs is None or not sides.hunks or base.mode != theirs.mode:
        return None
    if any(e is not None and e.mode not in FILE_MODES for e in (base, ours, theirs)):
        return None
    old, patched = side.blobs.read(base.blob), side.blobs.read(theirs.blob)
    new = None if ours is None else side.blobs.read(ours.blob)
    if any(b"\0" in text for text in (old, patched, new or b"")):
        return None
    numbers = [n for n, answer in enumerate(collided.answers) if answer == CONFLICT]
    file = PatchedFile(path, old, patched, sides.hunks, sides.positions)
    return relocate(file, home=home, ours=new, collided=numbers, elsewhere=side.elsewhere)


def _merged(
    found: Relocation, sides: Sides, collided: Collided, home: str, side: MovedInput
) -> Followed | Collided:
    answers: dict[int, Answer] = {}
    changes: dict[str, Entry] = {}
    collisions: list[tuple[str, Sides, Collided]] = []
    for part in found.parts:
        of_part = _sides(part, side, is_moved=sides.is_moved or part.path != home)
        merged = side.climb(part.path, of_part)
        for number, answer in zip(part.numbers, merged.answers, strict=False):
            answers[number] = _worse(answers.get(number), _moved(answer, number in found.places))
        if isinstance(merged, Collided):
            collisions.append((part.path, of_part, merged))
        else:
            assert merged.entry is not None
            changes[part.path] = merged.entry
    for number in range(len(sides.hunks)):
        followed = CARRIED_MOVED if number in found.places else CONFLICT
        answers.setdefault(number, followed)
    for number in found.uncertain:
        answers[number] = CONFLICT
    if len(collisions) > 1 or (found.uncertain and not collisions):
        return replace(collided, reason=_places_reason(found, home), has_moved=_has_home(found))
    ordered = tuple(answers[number] for number in range(len(sides.hunks)))
    collision = collisions[0] if collisions else None
    if collision is not None and found.uncertain:
        reason = f"{collision[2].reason}; {_uncertain_reason(found)}"
        collision = (*collision[:2], replace(collision[2], reason=reason))
    return Followed(changes, ordered, found.places, collision)


def _sides(part: FilePart, side: MovedInput, *, is_moved: bool) -> Sides:
    ours = side.entry_of(part.path)
    assert ours is not None
    base, theirs = (Entry(ours.mode, side.blobs.add(text)) for text in (part.base, part.theirs))
    return Sides(base, ours, theirs, part.hunks, part.positions, is_moved, part.path)


def _moved(answer: Answer, is_moved: bool) -> Answer:
    is_carried = answer[0] in (Verdict.UNCHANGED, Verdict.MODIFIED)
    return CARRIED_MOVED if is_moved and is_carried else answer


def _worse(one: Answer | None, other: Answer) -> Answer:
    """Return the verdict on a hunk, given the verdicts on two parts of it."""
    if one is None or one == other:
        return other
    if CONFLICT in (one, other):
        return CONFLICT
    return CARRIED_MOVED


def _has_home(found: Relocation) -> bool:
    """Return whether any hunk has a new place, certain or likely."""
    return bool(found.places) or any(one.likely is not None for one in found.uncertain.values())


def _uncertain_reason(found: Relocation) -> str:
    return "; ".join(dict.fromkeys(uncertain.reason for uncertain in found.uncertain.values()))


def _places_reason(found: Relocation, home: str) -> str:
    """Return the reason for a conflict: where upstream moved the lines, or why that is unclear."""
    places = dict.fromkeys(place.path for place in found.places.values())
    paths = [path for path in places if path != home]
    moved = f"upstream moved these lines to {', '.join(paths)}" if paths else ""
    if not moved and places:
        moved = "upstream moved these lines within the file"
    return "; ".join(reason for reason in (moved, _uncertain_reason(found)) if reason)


class HunkPlace(Struct, frozen=True):
    """The file and symbol to which upstream moved the lines of a hunk."""

    path: str
    symbol: str | None


class Relocation(Struct, frozen=True):
    """Where upstream moved the lines of a file's hunks, and the changes to make there."""

    parts: tuple[FilePart, ...]  # for each file that gets hunks (empty: none moved)
    places: Mapping[int, HunkPlace] = field(default_factory=dict)  # by the number of a moved hunk
    uncertain: Mapping[int, Unclear] = field(default_factory=dict)  # why a hunk has no new place


def relocate(
    patched: PatchedFile,
    *,
    home: str,
    ours: bytes | None,
    collided: Collection[int],
    elsewhere: Elsewhere,
) -> Relocation | None:
    """Find where upstream moved the lines that the hunks in conflict (`collided`) change.

    `home` is the path of the file in upstream, and `ours` its text there (None: deleted). Returns
    None if no lines moved.
    """
    old, new = (Outline(patched.path, text) for text in (patched.base, patched.theirs))
    own = None if ours is None else Outline(home, ours)
    changes = changes_of(old, new, patched.hunks, patched.positions)
    work = _Work(old, new, own, changes, Search(old, own, elsewhere))
    work.find(collided)
    return work.result()


class _Work:
    """Finds where each run of changed lines belongs, and makes the changes that apply it there."""

    def __init__(
        self,
        base: Outline,
        theirs: Outline,
        own: Outline | None,
        changes: Sequence[HunkRun],
        search: Search,
    ) -> None:
        self._base, self._theirs, self._own = base, theirs, own
        self._changes, self._search = changes, search
        self._moves: dict[Unit, Home] = {}  # new place by moved symbol
        self._units: dict[HunkRun, Unit] = {}  # the moved symbol that a change edits
        self._additions: dict[HunkRun, AddedSymbols] = {}  # the new symbols beside a moved one
        self._imports: list[HunkRun] = []
        self._parts: list[FilePart] = []
        self._places: dict[int, HunkPlace] = {}
        self._uncertain: dict[int, Unclear] = {}

    def find(self, collided: Collection[int]) -> None:
        """Find where upstream moved the symbols that the hunks in conflict (`collided`) edit."""
        for change in self._changes:
            if change.number in collided:
                if self._is_import(change):
                    self._imports.append(change)
                elif change.brings:
                    self._follow_neighbors(change)
                else:
                    self._follow_unit(change)
        for change in self._changes:
            unit = self._covering(change)
            if unit is not None and not change.brings:
                self._units[change] = unit

    def _is_import(self, change: HunkRun) -> bool:
        run = change.run
        lines = [line for line in (*run.removed, *run.added) if line.strip()]
        if all(is_import_line(line, self._base.language) for line in lines):
            return bool(lines)
        inside = range(run.start, run.end) if run.removed else (run.start - 1, run.start)
        return all(line in self._known_imports for line in inside)

    @cached_property
    def _known_imports(self) -> frozenset[int]:
        try:
            return import_lines(self._base)
        except Unsure:
            return frozenset()

    def _follow_unit(self, change: HunkRun) -> None:
        if change.unit is None:
            self._lose_if_gone(change)
            return
        found = self._home(change.unit)
        if isinstance(found, Unclear):
            self._lose(change, found)
        elif found is not None:
            unit, home = found
            self._moves[unit] = home

    def _home(self, unit: Unit) -> tuple[Unit, Home] | Unclear | None:
        """Return the new place of a unit, or else that of the innermost moved symbol around it."""
        first: Unclear | None = None
        around: Unit | None = unit
        while around is not None:
            found = self._search.home(around)
            if isinstance(found, Home):
                return around, found
            if found is None:
                return first
            first = first or found
            around = self._outer(around)
        return first

    def _outer(self, unit: Unit) -> Unit | None:
        if unit.outer is None:
            return None
        around = [
            other for other in self._base.named(unit.outer) if other.has(unit.start, unit.end)
        ]
        return around[0] if around else None

    def _follow_neighbors(self, change: HunkRun) -> None:
        """Move new symbols to another file if the symbols beside them moved to that file."""
        before, behind = self._beside(change)
        homes = [self._search.home(unit) for unit in (*before, *behind)]
        found = [home for home in homes if isinstance(home, Home)]
        paths = {home.path for home in found}
        is_here = None in homes or (self._own is not None and self._own.path in paths)
        if not found or is_here:
            self._lose_if_gone(change)
        elif len(found) < len(homes) or len(paths) > 1:
            likely = found[-1] if len(paths) == 1 else None
            reason = "upstream moved the lines next to this hunk to several places"
            self._lose(change, Unclear(reason, likely))
        else:
            neighbor = (behind or before)[0]
            self._moves.setdefault(neighbor, found[-1] if behind else found[0])
            self._additions[change] = AddedSymbols(change, neighbor, is_before=bool(behind))

    def _lose_if_gone(self, change: HunkRun) -> None:
        """Record the place of a change as uncertain if upstream deleted the file."""
        if self._own is None:
            self._lose(change, Unclear("upstream deleted the file"))

    def _beside(self, change: HunkRun) -> tuple[list[Unit], list[Unit]]:
        """Return the unit directly before the new units and the one directly after, if any."""
        outer, is_named = change.brings[0].outer, change.brings[0].name is not None
        beside = [
            unit
            for unit in self._base.units
            if unit.outer == outer and (unit.name is not None) == is_named
        ]
        before = [unit for unit in beside if unit.end <= change.start][-1:]
        return before, [unit for unit in beside if unit.start >= change.start][:1]

    def _covering(self, change: HunkRun) -> Unit | None:
        """Return the largest moved symbol that contains the lines of a change, or None."""
        unit = change.unit
        if unit is None:
            return None
        around = [moved for moved in self._moves if moved.has(unit.start, unit.end)]
        return max(around, key=lambda moved: moved.end - moved.start, default=None)

    def _home_of(self, change: HunkRun) -> Home | None:
        """Return the new place of a change, or None if it has none or it is uncertain."""
        addition = self._additions.get(change)
        unit = self._units.get(change) if addition is None else addition.neighbor
        return None if unit is None else self._moves[unit]

    def _lose(self, change: HunkRun, lost: Unclear) -> None:
        self._uncertain.setdefault(change.number, lost)

    def result(self) -> Relocation | None:
        """Return the places and changes that were found, or None if there is nothing to move."""
        for moved in self._moved_symbols():
            self._add_part(moved)
        self._settle_imports()
        moves = {unit: self._moves[unit] for unit in self._units.values()}
        is_own = self._search.is_own
        displaced = [(unit, home.unit) for unit, home in moves.items() if is_own(home.path)]
        if not self._parts and not displaced:
            return Relocation((), {}, self._uncertain) if self._uncertain else None
        staying = [change for change in self._changes if not self._is_away(change)]
        staying = [change for change in staying if not self._has_followed(change, staying)]
        if self._own is not None and staying:
            part = part_within(self._base, self._own, displaced, staying)
            if part is None:
                return None
            self._parts.insert(0, part)
            for change in staying:
                home = self._home_of(change)
                if home is not None and home.path == part.path:
                    self._settle(change, home)
        return Relocation(tuple(self._parts), self._places, self._uncertain)

    def _is_away(self, change: HunkRun) -> bool:
        """Return whether a change belongs to another file now, or its own file was deleted."""
        home = self._home_of(change)
        if home is None:
            return self._own is None
        return not self._search.is_own(home.path) and any(p.path == home.path for p in self._parts)

    def _has_followed(self, change: HunkRun, staying: Sequence[HunkRun]) -> bool:
        """Return whether a change adds imports that only moved lines use, so that it moves, too."""
        names = added_imports(change.run) if self._own is not None else frozenset()
        if not names or self._own is None:
            return False
        others = [line for c in staying if c is not change for line in c.run.added]
        if names & words_of(b"".join((*self._own.lines, *others))):
            return False
        parts = [part for part in self._parts if names <= words_of(part.theirs)]
        if parts:
            self._places.setdefault(change.number, HunkPlace(parts[0].path, None))
        return bool(parts)

    def _moved_symbols(self) -> Iterator[MovedSymbols]:
        """Yield, for each other file, the symbols that moved to it and the changes to them."""
        used = {*self._units.values(), *(one.neighbor for one in self._additions.values())}
        moves: dict[str, list[tuple[Unit, Home]]] = {}
        for unit, home in self._moves.items():
            is_inner = any(u != unit and u.has(unit.start, unit.end) for u in self._moves)
            if not self._search.is_own(home.path) and unit in used and not is_inner:
                moves.setdefault(home.path, []).append((unit, home))
        for pairs in moves.values():
            here = {unit for unit, _ in pairs}
            changes = tuple((c, u) for c, u in self._units.items() if u in here)
            additions = tuple(g for g in self._additions.values() if g.neighbor in here)
            yield MovedSymbols(tuple(pairs), changes, additions)

    def _add_part(self, moved: MovedSymbols) -> None:
        reason = self._obstacle(moved)
        if reason is None:
            try:
                self._parts.append(part_elsewhere(self._base, self._theirs, moved))
            except Unsure as fault:
                reason = str(fault)
        for change in moved.every():
            home = self._home_of(change)
            assert home is not None
            if reason is None:
                self._settle(change, home)
            else:
                self._lose(change, Unclear(reason, home))

    def _obstacle(self, moved: MovedSymbols) -> str | None:
        """Return a reason why the changes cannot be made in the new file, or None."""
        regions = sorted((home.unit.start, home.unit.end) for _, home in moved.moves)
        if any(one[1] > other[0] for one, other in pairwise(regions)):
            return "upstream merged several symbols into one"
        for unit, home in moved.moves:
            old, new = self._base.text_of(unit), home.outline.text_of(home.unit)
            if (b"\r\n" in b"".join(old)) != (b"\r\n" in b"".join(new)):
                return "upstream moved these lines to a file with different line endings"
            if indent_of(old) != indent_of(new) and _has_long_string(moved.added()):
                return (
                    "upstream changed the indentation of these lines, and the patch adds a string "
                    "that spans several lines"
                )
        return self._missing(moved)

    def _missing(self, moved: MovedSymbols) -> str | None:
        """Return a reason that names something the changes use but the new file lacks, or None."""
        added, brought = moved.added(), moved.brought()
        for unit, home in moved.moves:
            is_same = unit.outer == home.unit.outer
            name = None if is_same else missing_attribute(home.outline, added, brought)
            if name is not None:
                return f"the patch uses {name}, which is not in {home.path}"
        text = b"".join(added).decode("utf-8", "surrogateescape")
        own = (unit for change in self._changes for unit in change.brings)
        for unit in own:
            if unit.leaf is not None and unit.leaf not in brought and unit.leaf in text:
                return f"the change uses {unit.name}, which the patch adds elsewhere"
        return None

    def _settle(self, change: HunkRun, home: Home) -> None:
        place = HunkPlace(home.path, home.unit.name)
        if change.brings:
            name, outer = change.brings[0].name, home.unit.outer
            own = name if name is None or outer is None else joined(outer, leaf_of(name))
            place = replace(place, symbol=own)
        self._places.setdefault(change.number, place)

    def _settle_imports(self) -> None:
        """Move imports that the patch adds to a deleted file along with the lines that use them."""
        for change in self._imports if self._own is None else ():
            wanted = [line.strip() for line in change.run.added if line.strip()]
            taken = [
                part.path
                for part in self._parts
                if any(line in part.theirs and line not in part.base for line in wanted)
            ]
            if taken or (not wanted and self._parts):
                path = taken[0] if taken else self._parts[0].path
                self._places.setdefault(change.number, HunkPlace(path, None))
            else:
                deleted = "upstream deleted the file"
                unused = "no moved line uses what this hunk imports"
                self._lose(change, Unclear(unused if self._parts else deleted))


def _has_long_string(lines: Sequence[bytes]) -> bool:
    return any(quotes in line for line in lines for quotes in (b'"""', b"'''", b'R"'))
