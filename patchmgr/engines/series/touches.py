"""Follow the contents of a series patch by patch, and name the symbols that each one touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.series.placement import Rejected, apply_hunks
from patchmgr.model.footprint import FileChange, Touch
from patchmgr.model.patch import FilePatch, Hunk, Patch


class Step(Struct, frozen=True):
    """What is known of one file change of a patch: contents where they are, and the touches.

    `before` is empty where the patch creates the file. `is_upstream` says that the pin has it.
    """

    change: FilePatch
    before: bytes | None
    after: bytes | None
    is_upstream: bool
    touches: tuple[Touch, ...]


class _File(Struct, frozen=True):
    """A file after some patches; `pinned` has its symbols at the pin, None for a new file."""

    content: bytes | None
    pinned: SymbolIndex | None


class _Line(Struct, frozen=True):
    is_added: bool
    is_blank: bool
    symbol: str | None


class Walk:
    """The files of a series as they are after the patches so far."""

    def __init__(self, changes: Sequence[FileChange]) -> None:
        self._indexes: dict[tuple[str, bytes], SymbolIndex] = {}
        paths = [(c.renamed_from or c.path, c) for c in changes if c.old_mode is not None]
        self._pinned = {path: self._pinned_file(path, change.before) for path, change in paths}
        self._files = dict(self._pinned)

    def step(self, patch: Patch) -> tuple[Step, ...]:
        """Return what the patch does to its files, and go on behind it."""
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

    def _step(self, before: _File, change: FilePatch) -> Step:
        after, positions = _applied(change, before.content)
        touches: tuple[Touch, ...] = ()
        if change.old_path is not None and change.new_path is not None and not change.is_copy:
            old = self._index(change.old_path, before.content)
            new = self._index(change.new_path, after)
            lines = _lines(change.hunks, positions, old, new)
            touches = _touches(list(lines), old, before.pinned)
        return Step(change, before.content, after, before.pinned is not None, touches)

    def _pinned_file(self, path: str, content: bytes | None) -> _File:
        return _File(content, self._index(path, content))

    def _index(self, path: str, content: bytes | None) -> SymbolIndex:
        """Return the symbols of a content, none where nobody read it."""
        known = b"" if content is None else content
        return self._indexes.setdefault((path, known), SymbolIndex(path, known))


def _touches(
    lines: Sequence[_Line], old: SymbolIndex, pinned: SymbolIndex | None
) -> tuple[Touch, ...]:
    counts = Counter((line.symbol, line.is_added) for line in lines)
    return tuple(
        Touch(
            symbol,
            is_new=symbol is not None and symbol not in old.names(),
            is_upstream=pinned is not None and (symbol is None or symbol in pinned.names()),
            added=counts[symbol, True],
            removed=counts[symbol, False],
        )
        for symbol in dict.fromkeys(line.symbol for line in lines)
    )


def _applied(change: FilePatch, before: bytes | None) -> tuple[bytes | None, tuple[int, ...]]:
    """Return the content behind the change and where its hunks start; unknown stays unknown."""
    stated = tuple(h.old_start - (1 if h.old_count else 0) for h in change.hunks)
    if before is None or change.binary is not None:
        return None, stated
    result = apply_hunks(before, change.hunks)
    return (None, stated) if isinstance(result, Rejected) else (result.content, result.positions)


def _lines(
    hunks: Sequence[Hunk], positions: Sequence[int], old: SymbolIndex, new: SymbolIndex
) -> Iterator[_Line]:
    """Yield the changed lines of all hunks, each with its symbol on its own side."""
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
    """Count each blank line of a run of changes with the code before it, else behind it."""
    code = [i for i, line in enumerate(run) if not line.is_blank]
    for index, line in enumerate(run):
        if not line.is_blank or not code:
            yield line
        else:
            near = max((i for i in code if i < index), default=code[0])
            yield _Line(line.is_added, line.is_blank, run[near].symbol)
