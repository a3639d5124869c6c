"""Make the change to a file for hunks whose lines upstream moved.

The base of this change is upstream's file, but with the old text of each moved symbol. An ordinary
text merge then applies the hunks, as if upstream had not moved anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.languages.words import is_blank
from patchmgr.engines.moved.imports import needed_imports
from patchmgr.engines.moved.runs import HunkRun, apply_runs, hunks_of
from patchmgr.engines.moved.search import Home
from patchmgr.engines.moved.units import Outline, Unit, indent_of, reindented
from patchmgr.engines.series.placement import PatchedFile
from patchmgr.engines.text.differences import Run
from patchmgr.engines.text.line_endings import LF, line_ending


class FilePart(PatchedFile, frozen=True):
    """The part of a patch's change that applies to one of upstream's files."""

    numbers: tuple[int, ...]  # for each hunk, the number of the patch's hunk that it comes from


class AddedSymbols(Struct, frozen=True):
    """New symbols of a patch next to a moved symbol (`neighbor`); they move to the same file."""

    change: HunkRun
    neighbor: Unit
    is_before: bool


class MovedSymbols(Struct, frozen=True):
    """The symbols that upstream moved to one other file, and the patch's changes to these."""

    moves: tuple[tuple[Unit, Home], ...]  # each symbol with its new place
    changes: tuple[tuple[HunkRun, Unit], ...]  # each with the symbol that it edits
    additions: tuple[AddedSymbols, ...] = ()  # new symbols beside a moved one

    @property
    def file(self) -> Outline:
        """The file to which upstream moved the symbols."""
        return self.moves[0][1].outline

    def every(self) -> list[HunkRun]:
        """Return all changes of the patch that go to the other file."""
        return [change for change, _ in self.changes] + [one.change for one in self.additions]

    def brought(self) -> frozenset[str]:
        """Return the unqualified names of the new symbols that go to the other file."""
        units = [unit for one in self.additions for unit in one.change.brings]
        return frozenset(unit.leaf for unit in units if unit.leaf is not None)

    def added(self) -> list[bytes]:
        """Return all lines that the patch adds to the other file."""
        return [line for change in self.every() for line in change.run.added]


def part_elsewhere(base: Outline, theirs: Outline, moved: MovedSymbols) -> FilePart:
    """Return the change to another file that edits the symbols which upstream moved there.

    The symbols must not overlap in that file. Raises Unsure if a needed import cannot be added.
    """
    file = moved.file
    lines: list[bytes] = []
    starts: dict[Unit, int] = {}
    shifts: list[tuple[int, int]] = []
    done = 0
    for unit, home in sorted(moved.moves, key=lambda move: move[1].unit.start):
        lines += file.lines[done : home.unit.start]
        starts[unit] = len(lines)
        lines += _moved_lines(base, unit, home, base.text_of(unit))
        done = home.unit.end
        shifts.append((done, len(lines) - done))
    lines += file.lines[done:]
    runs = [*_import_runs(base, theirs, moved, shifts)]
    runs += _runs(base, moved, starts)
    return _part(file.path, lines, sorted(runs, key=lambda run: run[1].start))


def _moved_lines(
    base: Outline, unit: Unit, home: Home, lines: Sequence[bytes]
) -> tuple[bytes, ...]:
    """Return lines of a moved symbol, indented like upstream's version of the symbol."""
    old, new = indent_of(base.text_of(unit)), indent_of(home.outline.text_of(home.unit))
    end = _ending(home.outline)
    return tuple(_ended(line, end) for line in reindented(lines, old, new))


def _ending(outline: Outline) -> bytes:
    return line_ending(outline.content) or LF


def _ended(line: bytes, end: bytes) -> bytes:
    return line if line.endswith(LF) else line + end


def _runs(
    base: Outline, moved: MovedSymbols, starts: Mapping[Unit, int]
) -> Iterator[tuple[int, Run]]:
    homes = dict(moved.moves)
    for change, unit in moved.changes:
        start = starts[unit] + change.start - unit.start
        removed, added = (
            _moved_lines(base, unit, homes[unit], side)
            for side in (change.run.removed, change.run.added)
        )
        yield change.number, Run(start, removed, added)
    for addition in moved.additions:
        unit = addition.neighbor
        home = homes[unit]
        block = _moved_lines(base, unit, home, _without_edges(addition.change.run.added))
        space = (_ending(home.outline),) * max(
            1, _blanks_before(home.outline.lines, home.unit.start)
        )
        if addition.is_before:
            yield addition.change.number, Run(starts[unit], (), (*block, *space))
        else:
            end = starts[unit] + unit.end - unit.start
            yield addition.change.number, Run(end, (), (*space, *block))


def _without_edges(lines: Sequence[bytes]) -> list[bytes]:
    filled = [n for n, line in enumerate(lines) if not is_blank(line)]
    return list(lines[filled[0] : filled[-1] + 1])


def _blanks_before(lines: Sequence[bytes], at: int) -> int:
    count = 0
    while count < at and is_blank(lines[at - count - 1]):
        count += 1
    return count


def _import_runs(
    base: Outline, theirs: Outline, moved: MovedSymbols, shifts: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, Run]]:
    regions = [home.outline.text_of(home.unit) for _, home in moved.moves]
    around = b"".join(line for region in regions for line in region)
    number = moved.every()[0].number
    needs = needed_imports(
        base, theirs, moved.file, added=moved.added(), around=around, brought=moved.brought()
    )
    for run in needs:
        shift = next((by for end, by in reversed(shifts) if end <= run.start), 0)
        yield number, replace(run, start=run.start + shift)


def part_within(
    base: Outline, own: Outline, moves: Sequence[tuple[Unit, Unit]], changes: Sequence[HunkRun]
) -> FilePart | None:
    """Return the change to a file in which upstream reordered symbols, or None if that is unclear.

    `moves` pairs each moved symbol with the same symbol in upstream's file.
    """
    order = list(range(len(base.lines)))
    moving = [unit for unit, _ in moves]
    for unit, there in moves:
        moved = _reordered(base, own, order, unit, there, moving)
        if moved is None:
            return None
        order = moved
    place = {line: at for at, line in enumerate(order)}
    end = _ending(base)
    lines = [_ended(base.lines[n], end) if at + 1 < len(order) else base.lines[n]
             for at, n in enumerate(order)]  # fmt: skip
    runs = [(c.number, Run(_at(c, place), c.run.removed, c.run.added)) for c in changes]
    runs.sort(key=lambda run: run[1].start)
    return _part(own.path, lines, runs)


def _at(change: HunkRun, place: Mapping[int, int]) -> int:
    """Return the line where a change starts once the symbols are in upstream's order."""
    start, unit = change.start, change.unit
    if start in place and not (unit is not None and start == unit.end and start):
        return place[start]
    return place[start - 1] + 1 if start else 0


def _reordered(
    base: Outline,
    own: Outline,
    order: Sequence[int],
    unit: Unit,
    there: Unit,
    moving: Sequence[Unit],
) -> list[int] | None:
    """Return the order of base's lines after `unit` moved to the place of `there`, or None."""
    text, space = _with_space(base, unit)
    rest = [n for n in order if n not in text and n not in space]
    anchors = [
        (other, old)
        for other in own.units
        if other.outer == there.outer
        and (old := _counterpart(base, own, other)) is not None
        and old not in moving
    ]
    following = next((old for new, old in anchors if new.start >= there.end), None)
    before = [old for new, old in anchors if new.end <= there.start]
    if following is not None:
        at, block = rest.index(following.start), [*text, *space]
    elif before:
        at, block = rest.index(before[-1].end - 1) + 1, [*space, *text]
    else:
        return None
    return [*rest[:at], *block, *rest[at:]]


def _with_space(base: Outline, unit: Unit) -> tuple[range, range]:
    """Return the lines of a unit, and the blank lines after it or, if there are none, before it."""
    end = unit.end
    while end < len(base.lines) and is_blank(base.lines[end]):
        end += 1
    text = range(unit.start, unit.end)
    if end > unit.end:
        return text, range(unit.end, end)
    return text, range(unit.start - _blanks_before(base.lines, unit.start), unit.start)


def _counterpart(base: Outline, own: Outline, unit: Unit) -> Unit | None:
    """Return the unit of `base` that corresponds to a unit of `own`, by name or else by text.

    Returns None unless both `base` and `own` have exactly one such unit.
    """

    def same(outline: Outline) -> list[Unit]:
        if unit.name is not None:
            return [other for other in outline.units if other.name == unit.name]
        text = own.text_of(unit)
        return [o for o in outline.units if o.name is None and outline.text_of(o) == text]

    found = same(base)
    return found[0] if len(found) == 1 and len(same(own)) == 1 else None


def _part(path: str, lines: Sequence[bytes], runs: Sequence[tuple[int, Run]]) -> FilePart:
    hunks, positions, numbers = hunks_of(lines, runs)
    theirs = apply_runs(lines, runs)
    return FilePart(path, b"".join(lines), theirs, hunks, positions, numbers)
