"""Phrases and tables that all formats of a report share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.model.footprint import (
    Area,
    Build,
    FileFootprint,
    Footprint,
    Kind,
    PatchFootprint,
    Reach,
    Review,
    Tally,
)
from patchmgr.render.escape import counted

REACH_WORDS = {
    Reach.SHARED: "runs for everybody",
    Reach.GATED: "behind a gate, but possibly with effects elsewhere",
    Reach.ADDED: "new names and symbols: they run where they are called",
    Reach.INERT: "provably no effect where the gate is closed",
}
OUTSIDE = "outside of symbols"
FOLDER_RULE = "A top-level folder with more than half of all files is split into its subfolders."

TITLES: Mapping[str, str] = {
    Kind.NEW.value: "new files",
    Kind.EDITED.value: "edits to upstream's files",
    Kind.RENAMED.value: "renamed files",
    Kind.DELETED.value: "deleted files",
    Kind.MODE.value: "mode changes only",
    Area.CODE.value: "code and everything else",
    Area.TESTS.value: "tests",
    Area.THIRD_PARTY.value: "third party",
    Build.REBUILD.value: "needs a rebuild",
    Build.PYTHON.value: "Python only",
    Build.NEITHER.value: "neither",
}


def steps(review: Review) -> str:
    """Return a phrase with the number of upstream commits or releases searched for hotspots."""
    return counted(review.window or 0, review.step)


def groups(footprint: Footprint) -> Iterator[tuple[str, Sequence[Tally]]]:
    """Yield the title and rows of three tables: lines by part, by kind and by build of a file."""
    yield "by part", footprint.areas
    yield "by kind", footprint.kinds
    yield "by build", footprint.builds


def only_file(footprint: Footprint, language: str) -> FileFootprint | None:
    """Return the only changed file in a language, or None if there is not exactly one."""
    # vendored files do not count
    found = [
        f for f in footprint.files if f.language == language and f.area is not Area.THIRD_PARTY
    ]
    return found[0] if len(found) == 1 and language != "other" else None


def touched_symbols(patch: PatchFootprint) -> tuple[str, ...]:
    """Return the upstream symbols that a patch changes, beginning with the one changed most."""
    lines: Counter[str] = Counter()
    for file in patch.files:
        for touch in file.touches:
            if touch.is_upstream and touch.symbol is not None:
                lines[touch.symbol] += touch.added + touch.removed
    return tuple(sorted(lines, key=lambda symbol: (-lines[symbol], symbol)))


class TouchedSymbol(Struct, frozen=True):
    """A symbol in an upstream file, and the numbers (from 1) of the patches that change it."""

    symbol: str | None  # None for lines outside of symbols
    is_upstream: bool  # upstream has the symbol
    patches: tuple[int, ...]


def sites_by_path(footprint: Footprint) -> Mapping[str, Sequence[TouchedSymbol]]:
    """Return the symbols that patches change, by new path; upstream's come before new symbols."""
    last_path = {f.renamed_from or f.path: f.path for f in footprint.files}
    numbers: dict[tuple[str, bool, str | None], list[int]] = {}
    for number, patch in enumerate(footprint.patches, start=1):
        for file in patch.files:
            path = last_path.get(file.path, file.path)
            for touch in file.touches if file.is_upstream else ():
                numbers.setdefault((path, touch.is_upstream, touch.symbol), []).append(number)
    found: dict[str, list[TouchedSymbol]] = {}
    for (path, is_upstream, symbol), own in numbers.items():
        found.setdefault(path, []).append(
            TouchedSymbol(symbol, is_upstream, tuple(dict.fromkeys(own)))
        )
    return {path: sorted(sites, key=lambda s: not s.is_upstream) for path, sites in found.items()}
