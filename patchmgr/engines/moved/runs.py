"""Split hunks into runs of changed lines, find the symbol that each edits, and make new hunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.languages.words import is_blank
from patchmgr.engines.moved.units import Outline, Unit
from patchmgr.engines.text.differences import CONTEXT, Run, runs_of
from patchmgr.model.patch import Hunk


class HunkRun(Struct, frozen=True):
    """A run of consecutive changed lines of a patch, with the number of its hunk."""

    number: int
    run: Run
    unit: Unit | None = None  # the symbol or paragraph of the base that it edits, if clear
    brings: tuple[Unit, ...] = ()  # the whole symbols that it adds, if it adds nothing else

    @property
    def start(self) -> int:
        """The line of the base (from 0) where the change starts."""
        return self.run.start


def changes_of(
    base: Outline, theirs: Outline, hunks: Sequence[Hunk], positions: Sequence[int]
) -> tuple[HunkRun, ...]:
    """Split a file's hunks into runs of changed lines, and find the symbol that each run edits."""
    found: list[HunkRun] = []
    shift = 0
    for number, (hunk, position) in enumerate(zip(hunks, positions, strict=True)):
        for run in runs_of(hunk, position):
            found.append(_placed(base, theirs, HunkRun(number, run), shift))
            shift += len(run.added) - len(run.removed)
    return tuple(found)


def _placed(base: Outline, theirs: Outline, change: HunkRun, shift: int) -> HunkRun:
    run = change.run
    if run.removed:
        return replace(change, unit=_edited(base, theirs, run, shift))
    for slid in _slid(base, run):
        brings = _whole_units(theirs, slid.start + shift, len(slid.added))
        if brings:
            return replace(change, run=slid, brings=brings)
    if all(map(is_blank, run.added)):
        return replace(change, unit=base.around(run.start, run.start))
    around = _around_added(theirs, run, shift)
    if around is None:
        return change
    same = [
        unit
        for unit in base.units
        if unit.name == around.name and unit.start <= run.start <= _reach(base, unit)
    ]
    return replace(change, unit=min(same, key=lambda unit: unit.end - unit.start, default=None))


def _reach(base: Outline, unit: Unit) -> int:
    """Return the last position at which an inserted line may still belong to a unit."""
    end = unit.end
    while unit.name is not None and end < len(base.lines) and is_blank(base.lines[end]):
        end += 1
    return end


def _edited(base: Outline, theirs: Outline, run: Run, shift: int) -> Unit | None:
    """Return the smallest unit with all removed lines. A unit named as in the patch comes first."""
    around = _around_added(theirs, run, shift)
    units = [unit for unit in base.units if unit.has(run.start, run.end)]
    same = [unit for unit in units if around is not None and unit.name == around.name]
    # If the patch renames the symbol, upstream still has the old name.
    return min(same or units, key=lambda unit: unit.end - unit.start, default=None)


def _around_added(theirs: Outline, run: Run, shift: int) -> Unit | None:
    """Return the smallest unit of the patched file that has all added lines, except blank ones."""
    start = run.start + shift
    filled = [start + n for n, line in enumerate(run.added) if not is_blank(line)]
    return theirs.around(filled[0], filled[-1] + 1) if filled else None


def _slid(base: Outline, run: Run) -> Iterator[Run]:
    """Yield `run`, which only adds lines, at each position where it gives the same text."""
    yield run
    lines = base.lines
    up = run
    while up.start and lines[up.start - 1] == up.added[-1]:
        up = Run(up.start - 1, (), (up.added[-1], *up.added[:-1]))
        yield up
    down = run
    while down.start < len(lines) and lines[down.start] == down.added[0]:
        down = Run(down.start + 1, (), (*down.added[1:], down.added[0]))
        yield down


def _whole_units(theirs: Outline, start: int, count: int) -> tuple[Unit, ...]:
    """Return the units that the added lines consist of, or () if there are other lines.

    Only the outermost units are returned; blank lines may be outside of them.
    """
    found: list[Unit] = []
    for unit in theirs.units:
        is_inside = found and found[-1].has(unit.start, unit.end)
        if start <= unit.start and unit.end <= start + count and not is_inside:
            found.append(unit)
    covered = {n for unit in found for n in range(unit.start, unit.end)}
    is_all = all(n in covered or is_blank(theirs.lines[n]) for n in range(start, start + count))
    return tuple(found) if is_all else ()


def apply_runs(lines: Sequence[bytes], runs: Sequence[tuple[int, Run]]) -> bytes:
    """Return the text of `lines` with the removed lines of each run replaced by the added ones."""
    out: list[bytes] = []
    done = 0
    for _, run in runs:
        out += lines[done : run.start]
        out += run.added
        done = run.end
    return b"".join([*out, *lines[done:]])


def hunks_of(
    lines: Sequence[bytes], runs: Sequence[tuple[int, Run]]
) -> tuple[tuple[Hunk, ...], tuple[int, ...], tuple[int, ...]]:
    """Make hunks from runs of changed lines, with the context taken from `lines`.

    Returns the hunks, the line (from 0) where each starts, and for each the number of the patch's
    hunk that it comes from.
    """
    hunks: list[Hunk] = []
    positions: list[int] = []
    numbers: list[int] = []
    shift = done = 0
    for group in _groups(runs):
        number, first = group[0]
        last = group[-1][1]
        position = max(done, first.start - CONTEXT)
        following = [run.start for _, run in runs if run.start >= last.end and run is not last]
        end = min(len(lines), last.end + CONTEXT, *following)
        hunk = _hunk(lines, [run for _, run in group], position, end, shift)
        hunks.append(hunk)
        positions.append(position)
        numbers.append(number)
        shift += hunk.added() - hunk.removed()
        done = end
    return tuple(hunks), tuple(positions), tuple(numbers)


def _groups(runs: Sequence[tuple[int, Run]]) -> list[list[tuple[int, Run]]]:
    """Group the runs that form one hunk: they are of the same hunk, and their contexts touch."""
    groups: list[list[tuple[int, Run]]] = []
    for number, run in runs:
        last = groups[-1][-1] if groups else None
        if last is not None and last[0] == number and run.start - last[1].end <= 2 * CONTEXT:
            groups[-1].append((number, run))
        else:
            groups.append([(number, run)])
    return groups


def _hunk(lines: Sequence[bytes], runs: Sequence[Run], position: int, end: int, shift: int) -> Hunk:
    text: list[bytes] = []
    at = position
    for run in runs:
        text += [b" " + line for line in lines[at : run.start]]
        text += [b"-" + line for line in run.removed]
        text += [b"+" + line for line in run.added]
        at = run.end
    text += [b" " + line for line in lines[at:end]]
    old = sum(line[:1] != b"+" for line in text)
    new = sum(line[:1] != b"-" for line in text)
    old_start, new_start = position + (old > 0), position + shift + (new > 0)
    return Hunk(old_start, old, new_start, new, b"", tuple(text))
