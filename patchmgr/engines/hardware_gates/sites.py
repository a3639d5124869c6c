"""Find where pin and head differ in the code of a file that runs with all gates off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from msgspec import Struct

from patchmgr.engines.hardware_gates.defaults import variables_in
from patchmgr.engines.ledger.texts import lines_of
from patchmgr.model.footprint import ChangedSite, Gate, Reach

SAME = "only comments and white space changed"
OFF = "with its gates off, the code is as before"
NEW = "a new symbol: it runs where it is called"
NAME = "a new name: it has an effect where it is read"
GONE = "upstream's symbol is removed"
GUARDED = "a gate guards it, but with the gate off the code is not as before"
UNHEARD = "off unless a variable is set, but the old variable no longer has an effect"
NONE = "no gate guards it"
MOVED = "the same statement as before, in another position"
UNREAD = "the file does not parse"

Lines = tuple[int, int, int, int]
"""A hunk without context: first line and number of lines in the old text, and in the new text."""


class PinAndHead(Struct, frozen=True):
    """The content of a file at the pin and at the head of a series."""

    path: str
    old: bytes
    new: bytes
    hunks: tuple[Lines, ...] | None = None  # git's changed lines (None: compare)

    def changes(self) -> tuple[Lines, ...]:
        """Return the changed ranges of lines, as hunks without context."""
        if self.hunks is not None:
            return self.hunks
        old, new = lines_of(self.old) or [], lines_of(self.new) or []
        codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        found = [(a + 1, b - a, c + 1, d - c) for tag, a, b, c, d in codes if tag != "equal"]
        return tuple(found)


class Statement(Struct, frozen=True):
    """A statement: the text and lines of its head, and the last line of its body."""

    key: str
    first: int
    last: int
    end: int


class Side(Struct, frozen=True):
    """One version of a file, split into statements and their gates, by lines from 1."""

    lines: Sequence[str]
    unit: Callable[[int], str | None]
    # returns the names that lines declare or import, or None if the lines do anything else
    names: Callable[[Sequence[int]], frozenset[str] | None]
    said: Sequence[Statement] = ()  # all statements
    # by function or class (C++: None), the statements that run with all gates off
    kept: Mapping[str | None, Sequence[Statement]] = {}
    rows: Sequence[Statement] = ()  # by line: C++ that runs with all gates off
    gates: Mapping[int, Sequence[Gate]] = {}  # by line: those that guard it or that it tests
    asked: Mapping[str | None, Sequence[Gate]] = {}  # by function or class: all that it tests
    ends: Mapping[int, int] = {}  # by line: the last line that it controls
    wholes: Mapping[str, tuple[int, int, int]] = {}  # by definition: first, last and name's line
    symbols: frozenset[str | None] = frozenset()  # all functions and classes
    is_read: bool = True

    def code(self, start: int, count: int) -> list[int]:
        """Return the lines of the statements that overlap `count` lines from `start` on."""
        wanted = range(start, start + count)
        if not self.is_read:
            return list(wanted)
        own = [p for p in self.said if count and p.first < start + count and start <= p.last]
        return sorted({n for p in own for n in range(p.first, p.last + 1)})

    def lacks(self, other: Side, lines: Sequence[int]) -> dict[int, str]:
        """Map lines of `other` to the definitions around them that this side does not have."""
        found = {}
        for line in lines:
            symbol = other.unit(line) or ""
            outer = symbol.rpartition(".")[0]
            symbol = outer if outer in other.wholes and outer not in self.wholes else symbol
            if symbol in other.wholes and symbol not in self.wholes:
                found[line] = symbol
        return found

    def is_touched(self, lines: Iterable[int], unlike: frozenset[int]) -> bool:
        """Return whether any of the lines is in `unlike`, or decides if a line in `unlike` runs."""
        return any(not unlike.isdisjoint(range(n, self.ends.get(n, n) + 1)) for n in lines)


def keys(pieces: Iterable[Statement], lines: Sequence[int]) -> list[str]:
    """Return the `key` of each statement that begins on one of the given lines."""
    own = frozenset(lines)
    return [piece.key for piece in pieces if piece.first in own]


def compared(texts: PinAndHead, old: Side, new: Side) -> tuple[ChangedSite, ...]:
    """Return the sites at which two versions of a file differ, in the order of their lines."""
    changes = texts.changes()
    if not (old.is_read and new.is_read):
        lost, left = (frozenset(range(len(side.lines) + 2)) for side in (old, new))
    else:
        lost, left = _residue(old, new)
        lost, left = lost | across(left, changes, is_back=True), left | across(lost, changes)
    comparison = _Comparison(texts.path, old, new, lost, left)
    found = dict.fromkeys(site for change in changes for site in comparison.sites(change))
    return tuple(sorted(found, key=lambda site: (site.line, site.is_removal)))


def _residue(old: Side, new: Side) -> tuple[frozenset[int], frozenset[int]]:
    """Return the lines of each version that differ when all gates are off."""
    lost: set[int] = set()
    left: set[int] = set()
    for unit, after in new.kept.items():
        before = old.kept.get(unit, ())
        matcher = SequenceMatcher(
            None, [p.key for p in before], [p.key for p in after], autojunk=False
        )
        for tag, a0, a1, b0, b1 in matcher.get_opcodes():
            if tag != "equal":
                lost |= _extent(before[a0:a1], before)
                left |= _extent(after[b0:b1], after)
    return frozenset(lost), frozenset(left)


def _extent(pieces: Sequence[Statement], kept: Sequence[Statement]) -> set[int]:
    """Return the line numbers of all `kept` statements that begin inside one of the `pieces`."""
    starts = {n for piece in pieces for n in range(piece.first, piece.end + 1)}
    return {n for p in kept if p.first in starts for n in range(p.first, p.last + 1)}


def across(lines: Iterable[int], changes: Sequence[Lines], *, is_back: bool = False) -> set[int]:
    """Return the numbers that unchanged lines of one version have in the other version.

    The lines are those of the old version, or of the new one if `is_back`.
    """
    found = set()
    for line in lines:
        shift = 0
        for old, gone, new, come in changes:
            start, count = (new, come) if is_back else (old, gone)
            first = start + (count == 0)  # an empty range has the number of the line before it
            if line < first:
                break
            if line < first + count:
                shift = -line
                break
            shift += (gone - come) if is_back else (come - gone)
        if line + shift > 0:
            found.add(line + shift)
    return found


class _Comparison(Struct, frozen=True):
    """Two versions of one file, and the lines in which they differ with all gates off."""

    path: str
    old: Side
    new: Side
    lost: frozenset[int]
    left: frozenset[int]

    def sites(self, change: Lines) -> Iterator[ChangedSite]:
        """Yield the sites of a hunk; a new one begins where the symbol, gates or effect change."""
        gone, come = self.old.code(*change[:2]), self.new.code(*change[2:])
        whole_gone, whole_come = self.new.lacks(self.old, gone), self.old.lacks(self.new, come)
        for symbol in dict.fromkeys(whole_gone.values()):
            yield self._whole(self.old, symbol, Reach.SHARED, GONE)
        for symbol in dict.fromkeys(whole_come.values()):
            yield self._whole(self.new, symbol, Reach.ADDED, NEW)
        gone = [line for line in gone if line not in whole_gone]
        come = [line for line in come if line not in whole_come]
        for unit in dict.fromkeys([*map(self.new.unit, come), *map(self.old.unit, gone)]):
            before = [line for line in gone if self.old.unit(line) == unit]
            after = [line for line in come if self.new.unit(line) == unit]
            is_lost = self.old.is_touched(before, self.lost) or (
                " ".join(keys(self.old.rows, before)) != " ".join(keys(self.new.rows, after))
            )
            if before and not after:
                yield self._removal(before, is_lost)
            for _, run in groupby(after, key=self._state):
                yield self._site(list(run), before, is_lost)

    def _whole(self, side: Side, symbol: str, reach: Reach, why: str) -> ChangedSite:
        first, last, head = side.wholes[symbol]
        text = side.lines[head - 1].strip()
        name = symbol.partition(" ")[0]
        return ChangedSite(self.path, name, first, last, side is self.old, text, reach, (), why)

    def _state(self, line: int) -> object:
        is_left = self.new.is_touched((line,), self.left)
        return is_left, self.new.gates.get(line, ()), self.new.unit(line)

    def _site(self, run: Sequence[int], gone: Sequence[int], is_lost: bool) -> ChangedSite:
        new, symbol = self.new, self.new.unit(run[0])
        gates = _gates(new, run) or self._asked(new, symbol, run)
        is_left = is_lost or new.is_touched(run, self.left)
        reach, why = (Reach.GATED, GUARDED) if gates else (Reach.SHARED, NONE)
        if not is_left:
            said, before = keys(new.said, run), keys(self.old.said, gone)
            reach, why = (Reach.INERT, OFF) if gates else (Reach.SHARED, MOVED)
            if set(said) <= set(before) or " ".join(said) == " ".join(before):
                reach, why = Reach.INERT, SAME
            elif gates:
                gates = tuple(dict.fromkeys((*gates, *_gates(self.old, gone))))
                if _variables(self.old, gone) - _variables(new, run):
                    reach, why = Reach.GATED, UNHEARD
        elif symbol not in self.old.symbols:
            reach, why = Reach.ADDED, NEW
        elif not new.is_read:
            why = UNREAD
        elif self._is_addition(run, gone):
            reach, why = Reach.ADDED, NAME
        return self._made(new, run, reach, gates, why)

    def _asked(self, side: Side, unit: str | None, lines: Sequence[int]) -> tuple[Gate, ...]:
        """Return the gates that a unit tests, or none if some of `lines` run with all gates off."""
        is_kept = keys(side.kept.get(unit, ()), lines)
        return () if is_kept else tuple(side.asked.get(unit, ()))

    def _is_addition(self, run: Sequence[int], gone: Sequence[int]) -> bool:
        """Return whether a change only adds names and imports to a module or a class."""
        names, before = self.new.names(run), self.old.names(gone)
        return names is not None and before is not None and before <= names

    def _removal(self, gone: Sequence[int], is_lost: bool) -> ChangedSite:
        gates = _gates(self.old, gone)
        reach, why = (Reach.GATED, GUARDED) if gates else (Reach.SHARED, NONE)
        symbol = self.old.unit(gone[0])
        if not is_lost:
            gates = gates or self._asked(self.old, symbol, gone)
            reach, why = (Reach.INERT, OFF) if gates else (Reach.SHARED, MOVED)
        return self._made(self.old, gone, reach, gates, why)

    def _made(
        self, side: Side, lines: Sequence[int], reach: Reach, gates: Sequence[Gate], why: str
    ) -> ChangedSite:
        symbol, text = side.unit(lines[0]), side.lines[lines[0] - 1].strip()
        name = None if symbol is None else symbol.partition(" ")[0]  # "f again" is the second `f`
        place = self.path, name, lines[0], lines[-1], side is self.old
        return ChangedSite(*place, text, reach, tuple(gates), why)


def _gates(side: Side, lines: Sequence[int]) -> tuple[Gate, ...]:
    return tuple(dict.fromkeys(gate for line in lines for gate in side.gates.get(line, ())))


def _variables(side: Side, lines: Sequence[int]) -> frozenset[str]:
    text = "\n".join(side.lines[line - 1] for line in lines)
    return variables_in(text.encode("utf-8", "replace"))
