"""The rung "moved": follow the hunks of a file whose symbols upstream put elsewhere.

A function that went to another file, or past others in its own, is found by its name and its
telling lines; lines outside of symbols are found only where they stand byte for byte. Where there
is more than one likely place, or too little to go by, a hunk stays where it is, and is told where
it might belong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.moved.assignment import Assignment, assign
from patchmgr.engines.moved.imports import (
    Unsure,
    added_imports,
    missing_attribute,
    words_of,
)
from patchmgr.engines.moved.parts import Part, Removal, part_elsewhere, part_within
from patchmgr.engines.moved.runs import Change, changes_of
from patchmgr.engines.moved.search import Elsewhere, Home, Lost
from patchmgr.engines.moved.units import Outline, Unit, indent_of, joined, leaf_of
from patchmgr.engines.series.placement import PatchedFile


class Place(Struct, frozen=True):
    """Where a hunk belongs on the new side: a file, a symbol, and the line (from 1) it starts."""

    path: str
    symbol: str | None
    line: int


class Astray(Struct, frozen=True):
    """Why a hunk has no home for sure, and where it may belong."""

    reason: str
    likely: Place | None = None


class Relocation(Struct, frozen=True):
    """Where the hunks of a file belong, by number.

    `parts` are the merges to make instead of that of the file, one a file of the new side;
    without any, nothing is known to have moved. `places` has the hunks that moved, `astray`
    those that have no home for sure. The latter are in the part of their own file, if it is
    still there.
    """

    parts: tuple[Part, ...]
    places: Mapping[int, Place] = field(default_factory=dict)
    astray: Mapping[int, Astray] = field(default_factory=dict)


def relocate(
    patched: PatchedFile,
    *,
    home: str,
    ours: bytes | None,
    collided: Collection[int],
    elsewhere: Elsewhere,
) -> Relocation | None:
    """Find the homes of the hunks, by number, that collided in their own file.

    `home` and `ours` are the name and the text of the file on the new side (None: deleted).
    Returns None where all of them are about what is in its place.
    """
    old, new = (Outline(patched.path, text) for text in (patched.base, patched.theirs))
    own = None if ours is None else Outline(home, ours)
    changes = changes_of(old, new, patched.hunks, patched.positions)
    work = _Work(old, new, own, changes, assign(old, own, changes, collided, elsewhere))
    return work.result()


class _Work:
    """One file: its texts, where its changes belong, and the merges so far."""

    def __init__(
        self,
        base: Outline,
        theirs: Outline,
        own: Outline | None,
        changes: Sequence[Change],
        known: Assignment,
    ) -> None:
        self._base, self._theirs, self._own = base, theirs, own
        self._changes, self._known = changes, known
        self._parts: list[Part] = []
        self._places: dict[int, Place] = {}
        self._astray: dict[int, Astray] = {}

    def result(self) -> Relocation | None:
        """Return the merges to make."""
        for change, lost in self._known.lost.items():
            self._lose(change, lost)
        for removal in self._removals():
            self._add_part(removal)
        self._settle_imports()
        displaced = self._displaced()
        if not self._parts and not displaced:
            return Relocation((), {}, self._astray) if self._astray else None
        staying = [change for change in self._changes if not self._is_away(change)]
        staying = [change for change in staying if not self._has_followed(change, staying)]
        if self._own is not None and staying:
            part = part_within(self._base, self._own, displaced, staying)
            if part is None:
                return None
            self._parts.insert(0, part)
            for change in staying:
                home = self._known.home_of(change)
                if home is not None and home.path == part.path:
                    self._settle(change, home)
        return Relocation(tuple(self._parts), self._places, self._astray)

    def _is_own(self, path: str) -> bool:
        return self._own is not None and path == self._own.path

    def _is_away(self, change: Change) -> bool:
        """Say whether a change is in another file's part, or has no file to stay in."""
        home = self._known.home_of(change)
        if home is None:
            return self._own is None
        return not self._is_own(home.path) and any(p.path == home.path for p in self._parts)

    def _has_followed(self, change: Change, staying: Sequence[Change]) -> bool:
        """Say whether a change adds imports that only what moved uses: they went with it."""
        names = added_imports(change.run) if self._own is not None else frozenset()
        if not names or self._own is None:
            return False
        others = [line for c in staying if c is not change for line in c.run.added]
        if names & words_of(b"".join((*self._own.lines, *others))):
            return False
        parts = [part for part in self._parts if names <= words_of(part.theirs)]
        if parts:
            self._places.setdefault(change.number, Place(parts[0].path, None, 1))
        return bool(parts)

    def _displaced(self) -> list[tuple[Unit, Unit]]:
        """Return the units that moved within their file, each with its new place."""
        moves = {unit: self._known.moves[unit] for unit in self._known.units.values()}
        return [(unit, home.unit) for unit, home in moves.items() if self._is_own(home.path)]

    def _removals(self) -> Iterator[Removal]:
        """Yield what goes to each other file."""
        known = self._known
        used = {*known.units.values(), *(guest.neighbour for guest in known.guests.values())}
        moves: dict[str, list[tuple[Unit, Home]]] = {}
        for unit, home in known.moves.items():
            is_inner = any(u != unit and u.has(unit.start, unit.end) for u in known.moves)
            if not self._is_own(home.path) and unit in used and not is_inner:
                moves.setdefault(home.path, []).append((unit, home))
        for pairs in moves.values():
            here = {unit for unit, _ in pairs}
            changes = tuple((c, u) for c, u in known.units.items() if u in here)
            guests = tuple(g for g in known.guests.values() if g.neighbour in here)
            yield Removal(tuple(pairs), changes, guests)

    def _add_part(self, removal: Removal) -> None:
        reason = self._obstacle(removal)
        if reason is None:
            try:
                self._parts.append(part_elsewhere(self._base, self._theirs, removal))
            except Unsure as fault:
                reason = str(fault)
        for change in removal.every():
            home = self._known.home_of(change)
            assert home is not None
            if reason is None:
                self._settle(change, home)
            else:
                self._lose(change, Lost(reason, home))

    def _obstacle(self, removal: Removal) -> str | None:
        """Return why units cannot go to a file."""
        regions = sorted((home.unit.start, home.unit.end) for _, home in removal.moves)
        if any(one[1] > other[0] for one, other in pairwise(regions)):
            return "upstream put several symbols into one"
        for unit, home in removal.moves:
            old, new = self._base.text_of(unit), home.outline.text_of(home.unit)
            if (b"\r\n" in b"".join(old)) != (b"\r\n" in b"".join(new)):
                return "upstream moved it to a file with other line ends"
            if indent_of(old) != indent_of(new) and _has_long_string(removal.added()):
                return "upstream indented it anew, and the patch adds a string of several lines"
        return self._missing(removal)

    def _missing(self, removal: Removal) -> str | None:
        """Return what the changes use of their old class, or of the patch, that does not follow."""
        added, brought = removal.added(), removal.brought()
        for unit, home in removal.moves:
            is_same = unit.outer == home.unit.outer
            name = None if is_same else missing_attribute(home.outline, added, brought)
            if name is not None:
                return f"the patch uses {name}, which is not in {home.path}"
        text = b"".join(added).decode("utf-8", "surrogateescape")
        own = (unit for change in self._changes for unit in change.brings)
        for unit in own:
            if unit.leaf is not None and unit.leaf not in brought and unit.leaf in text:
                return f"it uses the patch's own {unit.name}, which does not follow"
        return None

    def _lose(self, change: Change, lost: Lost) -> None:
        likely = None if lost.likely is None else _place(lost.likely)
        self._astray.setdefault(change.number, Astray(lost.reason, likely))

    def _settle(self, change: Change, home: Home) -> None:
        place = _place(home)
        if change.brings:
            name, outer = change.brings[0].name, home.unit.outer
            own = name if name is None or outer is None else joined(outer, leaf_of(name))
            place = replace(place, symbol=own)
        self._places.setdefault(change.number, place)

    def _settle_imports(self) -> None:
        """Say where imports went whose file is gone: with what uses them."""
        for change in self._known.imports if self._own is None else ():
            wanted = [line.strip() for line in change.run.added if line.strip()]
            taken = [
                part.path
                for part in self._parts
                if any(line in part.theirs and line not in part.base for line in wanted)
            ]
            if taken or (not wanted and self._parts):
                path = taken[0] if taken else self._parts[0].path
                self._places.setdefault(change.number, Place(path, None, 1))
            else:
                self._lose(change, Lost("nothing that moved uses what it imports"))


def _has_long_string(lines: Sequence[bytes]) -> bool:
    return any(quotes in line for line in lines for quotes in (b'"""', b"'''", b'R"'))


def _place(home: Home) -> Place:
    return Place(home.path, home.unit.name, home.unit.start + 1)
