"""Find where upstream moved a symbol or paragraph, within its file or to another changed file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from patchmgr.engines.moved.units import Outline, Unit
from patchmgr.engines.text.distinctive import bare, is_distinctive

SAME_NAME = 0.5  # least share of the distinctive lines that a symbol of the same name must have
OTHER_NAME = 0.8  # the same for a symbol of another name
MARGIN = 0.2  # by how much the best position must be better than any other
FEWEST_LINES = 3  # distinctive lines; a symbol with fewer must be the same word for word
NEEDLES = 8  # how many of a symbol's longest lines are searched for in files
RARE = 3  # a line is no evidence if more changed files than this have it
MOST_NAMED = 3  # files that a message names as having a symbol
LARGEST_CONTENT = 2_000_000  # bytes; a larger file is generated, or is not source code


class Elsewhere(Protocol):
    """The files that upstream added or changed, with their texts before and after the rebase."""

    def paths(self, language: str) -> Sequence[str]:
        """Return the paths of the changed files of a language, in a fixed order."""

    def before(self, path: str) -> bytes | None:
        """Return the text of a file before the rebase, or None if it did not exist."""

    def after(self, path: str) -> bytes | None:
        """Return the text of a file after the rebase, or None if it does not exist."""


class Home(Struct, frozen=True):
    """A unit of an upstream file that a moved unit may have become, and how similar the two are."""

    outline: Outline
    unit: Unit
    likeness: float  # the share of the old unit's distinctive lines that it has

    @property
    def path(self) -> str:
        """The path of the file to which the symbol moved."""
        return self.outline.path


class Unclear(Struct, frozen=True):
    """Why it is not certain where a symbol moved, and the likely new position, if there is one."""

    reason: str
    likely: Home | None = None


class Search:
    """Finds where upstream moved the symbols and paragraphs of one file.

    `own` is the same file after the rebase, or None if upstream deleted it.
    """

    def __init__(self, base: Outline, own: Outline | None, elsewhere: Elsewhere) -> None:
        self._base, self._own, self._elsewhere = base, own, elsewhere
        self._known: dict[Unit, Home | Unclear | None] = {}
        self._outlines: dict[str, Outline] = {}

    def home(self, unit: Unit) -> Home | Unclear | None:
        """Return where a symbol moved, or why this is unclear, or None if it did not move."""
        if unit not in self._known:
            self._known[unit] = self._find(unit)
        return self._known[unit]

    def _find(self, unit: Unit) -> Home | Unclear | None:
        own = list(self._in_own(unit))
        staying = max(own, key=lambda home: home.likeness, default=None)
        if staying is not None and staying.likeness >= SAME_NAME:
            if self._own is None or not is_displaced(self._base, unit, self._own, staying.unit):
                return None
            return _best(unit, own)
        files = self._files(self._base.text_of(unit))
        found = [home for file in files for home in self._brought(unit, file)]
        best = _best(unit, [*own, *found])
        if best is not None:
            return best
        # A symbol that upstream rewrote where it was has not moved.
        is_there = any(home.unit.name == unit.name for home in own) or self._is_partly_there(unit)
        return None if is_there else self._gone(unit)

    def _gone(self, unit: Unit) -> Unclear:
        """Return the reason that a unit is not found; it names files with a unit of that name."""
        called = _called(unit)
        own = self._own
        reason = f"upstream deleted the file with {called}"
        if own is not None:
            reason = f"upstream's {own.path} no longer has {called}"
        if unit.leaf is None:
            return Unclear(reason)  # a paragraph was searched for byte for byte
        leaf = unit.leaf.encode("utf-8", "surrogateescape")
        word = re.compile(rb"\b%s\b" % re.escape(leaf))
        homes: list[Home] = []
        for path in self._elsewhere.paths(self._base.language):
            content = None if self.is_own(path) else self._elsewhere.after(path)
            if content is None or len(content) > LARGEST_CONTENT or leaf not in content:
                continue  # searching for bytes first is faster than searching for a word
            if not word.search(content):
                continue
            file = self._outline(path)
            there = next((u for u in file.units if u.name == unit.name), None)
            if there is not None:
                alike = likeness(self._base.distinctive(unit), file.distinctive(there))
                homes.append(Home(file, there, alike))
            if len(homes) > MOST_NAMED:
                break
        if not homes:
            return Unclear(reason)
        paths = ", ".join(home.path for home in homes[:MOST_NAMED])
        more = ", and others" if len(homes) > MOST_NAMED else ""
        verb = "has" if len(homes) == 1 else "have"
        likely = homes[0] if len(homes) == 1 else None
        return Unclear(f"{reason}; {paths}{more} {verb} one of that name", likely)

    def _is_partly_there(self, unit: Unit) -> bool:
        """Return whether a unit is a paragraph with distinctive lines that its file still has."""
        if unit.name is not None or self._own is None:
            return False
        return bool(self._base.distinctive(unit) & self._own.distinctive(self._own.whole))

    def _in_own(self, unit: Unit) -> Iterator[Home]:
        """Yield the units of the same file that `unit` may have become, even under a new name."""
        if self._own is not None:
            for home in _homes(self._base, unit, self._own, is_own=True):
                name = home.unit.name
                is_new = name not in self._base.names and home.likeness >= OTHER_NAME
                if name == unit.name or is_new:
                    yield home

    def _files(self, text: Sequence[bytes]) -> list[Outline]:
        """Return the files that have many lines of a unit, among them lines that few files have."""
        distinctive = {line.strip() for line in text if is_distinctive(bare(line))}
        needles = sorted(distinctive, key=lambda line: (-len(line), line))[:NEEDLES]
        found: dict[str, frozenset[bytes]] = {}
        for path in self._elsewhere.paths(self._base.language):
            content = None if self.is_own(path) else self._elsewhere.after(path)
            if content is not None and len(content) <= LARGEST_CONTENT:
                found[path] = frozenset(needle for needle in needles if needle in content)
        spread = Counter(needle for there in found.values() for needle in there)
        rare = {needle for needle, count in spread.items() if count <= RARE}
        least = min(FEWEST_LINES, len(needles))
        return [
            self._outline(path)
            for path, there in found.items()
            if len(there & rare) >= least and 2 * len(there) >= len(needles)
        ]

    def is_own(self, path: str) -> bool:
        """Return whether `path` is the searched file after the rebase, rather than another file."""
        return self._own is not None and path == self._own.path

    def _outline(self, path: str) -> Outline:
        if path not in self._outlines:
            self._outlines[path] = Outline(path, self._elsewhere.after(path) or b"")
        return self._outlines[path]

    def _brought(self, unit: Unit, file: Outline) -> Iterator[Home]:
        """Yield the units of a file that `unit` may have become, if the file had none before."""
        homes = tuple(_homes(self._base, unit, file))
        before = self._elsewhere.before(file.path) if homes else None
        if before is not None:
            old = Outline(file.path, before)
            if any(home.likeness >= SAME_NAME for home in _homes(self._base, unit, old)):
                return
        yield from homes


def _homes(base: Outline, unit: Unit, file: Outline, *, is_own: bool = False) -> Iterator[Home]:
    """Yield each unit of a file that `unit` may have become, with the similarity of both."""
    if unit.name is None:
        if is_own or sum(base.distinctive(unit).values()) >= FEWEST_LINES:
            # A paragraph has not moved unless all its lines are the same, but for line endings.
            yield from (Home(file, there, 1.0) for there in file.keyed.get(base.key(unit), ()))
        return
    wanted = base.distinctive(unit)
    is_short = sum(wanted.values()) < FEWEST_LINES
    is_likely = not is_short and likeness(wanted, file.distinctive(file.whole)) >= OTHER_NAME
    for there in file.units:
        if there.name is not None and there.leaf == unit.leaf:
            alike = likeness(wanted, file.distinctive(there))
            is_same = there.name == unit.name and _bare(file, there) == _bare(base, unit)
            if is_own or not is_short or is_same:
                yield Home(file, there, alike)
        elif there.name is not None and is_likely:
            alike = likeness(wanted, found := file.distinctive(there))
            # A symbol with many more lines only contains the moved symbol.
            if alike >= OTHER_NAME and likeness(found, wanted) >= SAME_NAME:
                yield Home(file, there, alike)


def _bare(outline: Outline, unit: Unit) -> list[bytes]:
    return [line for line in map(bare, outline.text_of(unit)) if line]


def likeness(wanted: Counter[bytes], found: Counter[bytes]) -> float:
    """Return the share, from 0 to 1, of the distinctive lines in `wanted` that `found` has too."""
    total = sum(wanted.values())
    if wanted.keys().isdisjoint(found):  # most pairs
        return 0.0 if total else float(not found)
    return sum((wanted & found).values()) / total if total else float(not found)


def _best(unit: Unit, homes: Sequence[Home]) -> Home | Unclear | None:
    """Return the most similar place, Unclear if two are about as similar, or None if none is."""
    by_name = [home for home in homes if home.unit.leaf == unit.leaf]
    by_name = [home for home in by_name if home.likeness >= SAME_NAME]
    others = [home for home in homes if not any(_is_around(home, named) for named in by_name)]
    ranked = sorted({*by_name, *others}, key=lambda h: (-h.likeness, h.path, h.unit.start))
    if not ranked or ranked[0].likeness < SAME_NAME:
        return None
    best = ranked[0]
    rivals = [home for home in ranked[1:] if home.likeness > best.likeness - MARGIN]
    if rivals:
        paths = ", ".join(dict.fromkeys(home.path for home in (best, *rivals)))
        return Unclear(f"upstream has {_called(unit)} in several places: {paths}", best)
    return best


def _is_around(one: Home, other: Home) -> bool:
    if one.path != other.path:
        return False
    inner, outer = sorted((one.unit, other.unit), key=lambda unit: unit.end - unit.start)
    return outer.has(inner.start, inner.end)


def _called(unit: Unit) -> str:
    return "these lines" if unit.name is None else unit.name


def is_displaced(base: Outline, unit: Unit, own: Outline, there: Unit) -> bool:
    """Return whether upstream moved a symbol past other symbols of its file."""
    old, new = base.places, own.places
    return any(
        (old[key] < unit.start) != (new[key] < there.start)
        for key in old.keys() & new.keys()
        if not unit.has(old[key], old[key] + 1) and not there.has(new[key], new[key] + 1)
    )
