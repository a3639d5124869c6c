"""Find for each change of a file where it belongs on the new side."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct, field

from patchmgr.engines.moved.imports import Unsure, import_lines, is_import_line
from patchmgr.engines.moved.parts import Guest
from patchmgr.engines.moved.runs import Change
from patchmgr.engines.moved.search import Elsewhere, Home, Lost, Search
from patchmgr.engines.moved.units import Outline, Unit


class Assignment(Struct, frozen=True):
    """What is known of the changes of a file.

    `moves` has the units that moved, `units` the moved unit that a change is in, `guests` the
    new symbols that follow a neighbour. `imports` are changes of imports, `lost` those that
    have no home for sure.
    """

    moves: dict[Unit, Home] = field(default_factory=dict)
    units: dict[Change, Unit] = field(default_factory=dict)
    guests: dict[Change, Guest] = field(default_factory=dict)
    imports: list[Change] = field(default_factory=list)
    lost: dict[Change, Lost] = field(default_factory=dict)

    def home_of(self, change: Change) -> Home | None:
        """Return where a change belongs, None where that is its own place or not known."""
        guest = self.guests.get(change)
        unit = self.units.get(change) if guest is None else guest.neighbour
        return None if unit is None else self.moves[unit]


def assign(
    base: Outline,
    own: Outline | None,
    changes: Sequence[Change],
    collided: Collection[int],
    elsewhere: Elsewhere,
) -> Assignment:
    """Find the home of each change whose hunk collided, and of what is in the same units."""
    work = _Work(base, own, Search(base, own, elsewhere))
    for change in changes:
        if change.number in collided:
            work.place(change)
    for change in changes:
        unit = work.covering(change)
        if unit is not None and not change.brings:
            work.found.units[change] = unit
    return work.found


class _Work:
    def __init__(self, base: Outline, own: Outline | None, search: Search) -> None:
        self.found = Assignment()
        self._base, self._own, self._search = base, own, search

    def place(self, change: Change) -> None:
        """Find the home of one change."""
        if self._is_import(change):
            self.found.imports.append(change)
        elif change.brings:
            self._follow_neighbours(change)
        else:
            self._follow_unit(change)

    def _is_import(self, change: Change) -> bool:
        """Say whether a change is about imports only."""
        run = change.run
        lines = [line for line in (*run.removed, *run.added) if line.strip()]
        if all(is_import_line(line, self._base.language) for line in lines):
            return bool(lines)
        try:
            known = import_lines(self._base)
        except Unsure:
            return False
        inside = range(run.start, run.end) if run.removed else (run.start - 1, run.start)
        return all(line in known for line in inside)

    def _follow_unit(self, change: Change) -> None:
        if change.unit is None:
            self._lose_if_gone(change)
            return
        found = self._home(change.unit)
        if isinstance(found, Lost):
            self.found.lost[change] = found
        elif found is not None:
            unit, home = found
            self.found.moves[unit] = home

    def _home(self, unit: Unit) -> tuple[Unit, Home] | Lost | None:
        """Return the home of a unit or, where it has none, that of the symbol around it."""
        first: Lost | None = None
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

    def _follow_neighbours(self, change: Change) -> None:
        """Let new symbols follow those beside them, if these are all in one other file."""
        before, behind = self._beside(change)
        homes = [self._search.home(unit) for unit in (*before, *behind)]
        found = [home for home in homes if isinstance(home, Home)]
        paths = {home.path for home in found}
        is_here = None in homes or (self._own is not None and self._own.path in paths)
        if not found or is_here:
            self._lose_if_gone(change)
        elif len(found) < len(homes) or len(paths) > 1:
            likely = found[-1] if len(paths) == 1 else None
            reason = "upstream moved what it is beside to several places"
            self.found.lost[change] = Lost(reason, likely)
        else:
            neighbour = (behind or before)[0]
            self.found.moves.setdefault(neighbour, found[-1] if behind else found[0])
            self.found.guests[change] = Guest(change, neighbour, is_before=bool(behind))

    def _lose_if_gone(self, change: Change) -> None:
        """Note a change of which nothing is known, unless it can stay in its file."""
        if self._own is None:
            self.found.lost[change] = Lost("upstream deleted the file")

    def _beside(self, change: Change) -> tuple[list[Unit], list[Unit]]:
        """Return the unit before new ones and the one behind, if there are such."""
        outer, is_named = change.brings[0].outer, change.brings[0].name is not None
        beside = [
            unit
            for unit in self._base.units
            if unit.outer == outer and (unit.name is not None) == is_named
        ]
        before = [unit for unit in beside if unit.end <= change.start][-1:]
        return before, [unit for unit in beside if unit.start >= change.start][:1]

    def covering(self, change: Change) -> Unit | None:
        """Return the largest moved unit that a change is in."""
        unit = change.unit
        if unit is None:
            return None
        around = [moved for moved in self.found.moves if moved.has(unit.start, unit.end)]
        return max(around, key=lambda moved: moved.end - moved.start, default=None)
