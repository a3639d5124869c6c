"""Count what a series changes in its upstream, patch by patch and symbol by symbol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.languages.file_types import is_test, is_third_party, language, needs_rebuild
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.report.subsystems import folders_of
from patchmgr.engines.series.comparison import OwnCommit, compare_states
from patchmgr.engines.series.placement import Rejected, apply_hunks
from patchmgr.model.footprint import (
    Area,
    Build,
    ComparedFootprint,
    FileChange,
    FileFootprint,
    Footprint,
    Kind,
    PatchFile,
    PatchFootprint,
    Tally,
    Touch,
    Touched,
)
from patchmgr.model.patch import FilePatch, Hunk, Patch
from patchmgr.model.snapshot import FILE_MODES
from patchmgr.model.upstream import Pin

Net = Mapping[str, tuple[int, int] | None]
"""The numbers of added and removed lines of each path, or None for a binary file."""


def footprint(
    series: str, pin: Pin, patches: Sequence[Patch], changes: Sequence[FileChange], net: Net
) -> Footprint:
    """Return the footprint of a series, given its patches in order and their squashed `changes`.

    `net` maps each path to the counts of `git diff --numstat` from pin to head (None: binary).
    Raises KeyError if a path is missing.
    """
    by_path = _patches_by_path(patches)
    real = [change for change in changes if not _is_passing(change, net)]
    files = tuple(_file(change, net, by_path) for change in real)
    own = [file.path for file in files if file.area is not Area.THIRD_PARTY]
    walk, folder = Walk(changes), folders_of(own, among=len(files))
    ends = {path for change in real for path in (change.path, change.renamed_from)}
    return Footprint(
        series,
        pin,
        files=files,
        patches=tuple(
            PatchFootprint(patch.name, patch.subject, tuple(map(_patch_file, walk.step(patch))))
            for patch in patches
        ),
        total=tally("total", files),
        kinds=_tallies(files, lambda f: f.kind.value, order=[k.value for k in Kind]),
        areas=_tallies(files, lambda f: f.area.value, order=[a.value for a in Area]),
        builds=_tallies(files, lambda f: f.build.value, order=[b.value for b in Build]),
        languages=_tallies(files, lambda f: _own(f, f.language)),
        folders=_tallies(files, lambda f: _own(f, folder(f.path))),
        passing=tuple(sorted(path for path in by_path if path not in ends)),
    )


def _own(file: FileFootprint, name: str) -> str:
    return file.area.value if file.area is Area.THIRD_PARTY else name


def _patches_by_path(patches: Sequence[Patch]) -> dict[str, tuple[str, ...]]:
    by_path: dict[str, tuple[str, ...]] = {}
    for patch in patches:
        for path in patch.paths():
            by_path[path] = (*by_path.get(path, ()), patch.name)
    return by_path


def _is_passing(change: FileChange, net: Net) -> bool:
    """Return whether the series as a whole leaves a file as it is at the pin."""
    is_in_place = change.renamed_from is None and change.old_mode == change.new_mode
    return is_in_place and _is_same(change, net)


def _is_same(change: FileChange, net: Net) -> bool:
    if change.before is None and change.after is None:
        return net.get(change.path, (0, 0)) == (0, 0)
    return change.before == change.after


def _kind(change: FileChange, net: Net) -> Kind:
    if change.old_mode is None:
        return Kind.NEW
    if change.new_mode is None:
        return Kind.DELETED
    if change.renamed_from is not None:
        return Kind.RENAMED
    return Kind.MODE if _is_same(change, net) else Kind.EDITED


def _file(change: FileChange, net: Net, by_path: Mapping[str, tuple[str, ...]]) -> FileFootprint:
    counts = net[change.path]
    added, removed = counts if counts is not None else (0, 0)
    is_plain = {change.old_mode, change.new_mode} <= {*FILE_MODES, None}
    content = change.before if change.after is None else change.after
    spoken = language(change.path, content) if is_plain else language("")
    return FileFootprint(
        change.path,
        change.renamed_from,
        kind=_kind(change, net),
        is_binary=counts is None,
        language=spoken,
        area=_area(change.path),
        build=_build(change.path, spoken),
        added=added,
        removed=removed,
        patches=_touching(change, by_path),
    )


def _touching(change: FileChange, by_path: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    here = by_path.get(change.path, ())
    if change.renamed_from is None:
        return here
    return tuple(dict.fromkeys((*by_path.get(change.renamed_from, ()), *here)))


def _area(path: str) -> Area:
    if is_third_party(path):
        return Area.THIRD_PARTY
    return Area.TESTS if is_test(path) else Area.CODE


def _build(path: str, spoken: str) -> Build:
    if needs_rebuild(path):
        return Build.REBUILD
    return Build.PYTHON if spoken == "Python" else Build.NEITHER


def _patch_file(step: TouchedFile) -> PatchFile:
    change = step.change
    content = step.before if change.new_path is None else step.after
    return PatchFile(
        change.path,
        change.old_path if change.is_rename else None,
        kind=_patch_kind(change),
        is_binary=change.binary is not None,
        is_upstream=step.is_upstream,
        language=language(change.path, content),
        area=_area(change.path),
        added=sum(hunk.added() for hunk in change.hunks),
        removed=sum(hunk.removed() for hunk in change.hunks),
        touches=step.touches,
    )


def _patch_kind(change: FilePatch) -> Kind:
    if change.old_path is None or change.is_copy:
        return Kind.NEW
    if change.new_path is None:
        return Kind.DELETED
    if change.is_rename:
        return Kind.RENAMED
    return Kind.EDITED if change.hunks or change.binary is not None else Kind.MODE


def tally(name: str, files: Sequence[FileFootprint]) -> Tally:
    """Return a row that counts the changed files and lines of a group of files."""
    return Tally(
        name,
        files=len(files),
        binaries=sum(f.is_binary for f in files),
        added=sum(f.added for f in files),
        removed=sum(f.removed for f in files),
    )


def _tallies(
    files: Sequence[FileFootprint],
    key: Callable[[FileFootprint], str],
    *,
    order: Sequence[str] = (),
) -> tuple[Tally, ...]:
    """Group files by `key`, in the given order, or else with the most changed lines first."""
    groups: dict[str, list[FileFootprint]] = {}
    for file in files:
        groups.setdefault(key(file), []).append(file)
    tallies = [tally(name, group) for name, group in groups.items()]
    if order:
        return tuple(sorted(tallies, key=lambda t: order.index(t.name)))
    return tuple(sorted(tallies, key=lambda t: (-t.added - t.removed, -t.files, t.name)))


class TouchedFile(Struct, frozen=True):
    """A patch's change to one file, and the symbols that the change touches."""

    change: FilePatch
    before: bytes | None  # None: unknown; empty: the patch creates the file
    after: bytes | None
    is_upstream: bool  # the file exists at the pin
    touches: tuple[Touch, ...]


class _File(Struct, frozen=True):
    """A file after some patches. `pinned` has the symbols at the pin, or is None for a new file."""

    content: bytes | None
    pinned: SymbolIndex | None


class _Line(Struct, frozen=True):
    is_added: bool
    is_blank: bool
    symbol: str | None


class Walk:
    """Applies the patches of a series one by one, and keeps the files after the latest patch."""

    def __init__(self, changes: Sequence[FileChange]) -> None:
        self._indexes: dict[tuple[str, bytes], SymbolIndex] = {}
        paths = [(c.renamed_from or c.path, c) for c in changes if c.old_mode is not None]
        self._pinned = {path: self._pinned_file(path, change.before) for path, change in paths}
        self._files = dict(self._pinned)

    def step(self, patch: Patch) -> tuple[TouchedFile, ...]:
        """Apply the next patch of the series, and return the files that the patch changes."""
        pairs = [(self._before(change), change) for change in patch.files]
        steps = tuple(self._step(before, change) for before, change in pairs)
        for change in patch.files:
            if change.old_path is not None and not change.is_copy:
                self._files.pop(change.old_path, None)
        for (before, change), step in zip(pairs, steps, strict=True):
            if change.new_path is not None:
                self._files[change.new_path] = _File(step.after, before.pinned)
        return steps

    def _before(self, change: FilePatch) -> _File:
        if change.old_path is None:
            again = self._pinned.get(change.path)
            return _File(b"", again.pinned if again is not None else None)
        found = self._files.get(change.old_path)
        file = self._pinned_file(change.old_path, None) if found is None else found
        return _File(file.content, None) if change.is_copy else file

    def _step(self, before: _File, change: FilePatch) -> TouchedFile:
        after, positions = _applied(change, before.content)
        touches: tuple[Touch, ...] = ()
        if change.old_path is not None and change.new_path is not None and not change.is_copy:
            old = self._index(change.old_path, before.content)
            new = self._index(change.new_path, after)
            lines = _lines(change.hunks, positions, old, new)
            touches = _touches(list(lines), old, before.pinned)
        return TouchedFile(change, before.content, after, before.pinned is not None, touches)

    def _pinned_file(self, path: str, content: bytes | None) -> _File:
        return _File(content, self._index(path, content))

    def _index(self, path: str, content: bytes | None) -> SymbolIndex:
        """Return the symbols of a file, or no symbols if the content is not known."""
        known = b"" if content is None else content
        return self._indexes.setdefault((path, known), SymbolIndex(path, known))


def _touches(
    lines: Sequence[_Line], old: SymbolIndex, pinned: SymbolIndex | None
) -> tuple[Touch, ...]:
    counts = Counter((line.symbol, line.is_added) for line in lines)
    return tuple(
        Touch(
            symbol,
            is_new=symbol is not None and symbol not in old.names,
            is_upstream=pinned is not None and (symbol is None or symbol in pinned.names),
            added=counts[symbol, True],
            removed=counts[symbol, False],
        )
        for symbol in dict.fromkeys(line.symbol for line in lines)
    )


def _applied(change: FilePatch, before: bytes | None) -> tuple[bytes | None, tuple[int, ...]]:
    """Return the content after a change, or None if it is not known, and where each hunk starts."""
    stated = tuple(h.old_start - (1 if h.old_count else 0) for h in change.hunks)
    if before is None or change.binary is not None:
        return None, stated
    result = apply_hunks(before, change.hunks)
    return (None, stated) if isinstance(result, Rejected) else (result.content, result.positions)


def _lines(
    hunks: Sequence[Hunk], positions: Sequence[int], old: SymbolIndex, new: SymbolIndex
) -> Iterator[_Line]:
    """Yield each changed line of all hunks, with the symbol around it in the old or new file."""
    drift = 0
    for hunk, position in zip(hunks, positions, strict=True):
        run: list[_Line] = []
        old_line, new_line = position + 1, position + drift + 1
        for line in hunk.lines:
            kind, is_blank = line[:1], not line[1:].strip()
            if kind == b"+":
                run.append(_Line(True, is_blank, new.at(new_line)))
            elif kind == b"-":
                run.append(_Line(False, is_blank, old.at(old_line)))
            else:
                yield from _settled(run)
                run = []
            old_line += kind != b"+"
            new_line += kind != b"-"
        yield from _settled(run)
        drift += hunk.added() - hunk.removed()


def _settled(run: list[_Line]) -> Iterator[_Line]:
    """Give each blank line in a run of changed lines the symbol of the code before or after it."""
    code = [i for i, line in enumerate(run) if not line.is_blank]
    for index, line in enumerate(run):
        if not line.is_blank or not code:
            yield line
        else:
            near = max((i for i in code if i < index), default=code[0])
            yield _Line(line.is_added, line.is_blank, run[near].symbol)


State = tuple[Footprint, Sequence[OwnCommit]]
"""The footprint of a series, and the commits of its branch."""


def compared(name: str, before: State | None, after: State | None) -> ComparedFootprint:
    """Compare two states of a series; a state is None if the series did not exist at the time."""
    (old, then), (new, now) = before or (None, ()), after or (None, ())
    was, touched = ({*_touched(old)}, {*_touched(new)})
    only = (
        tuple(sorted(places, key=lambda one: (one[0], one[1] or "")))
        for places in (touched - was, was - touched)
    )
    return ComparedFootprint(name, old, new, compare_states(then, now), *only)


def _touched(footprint: Footprint | None) -> Iterator[Touched]:
    if footprint is None:
        return
    yield from ((file.path, None) for file in footprint.files)
    for patch in footprint.patches:
        for file in patch.files:
            yield from ((file.path, t.symbol) for t in file.touches if t.is_upstream and t.symbol)
