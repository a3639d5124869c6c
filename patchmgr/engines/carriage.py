"""Carry the files of one patch to the new side, all at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from patchmgr.engines.conflict_ids import conflict_id
from patchmgr.engines.fold import FileStep, Overlay
from patchmgr.engines.ladder import (
    ABSORBED_EXACT,
    CARRIED_IDENTICAL,
    CARRIED_MOVED,
    CARRIED_TEXT,
    CONFLICT,
    DECIDED,
    DRIFTED_TEXT,
    SOLVED,
    Answer,
    Collided,
    Merged,
    Sides,
    merge_file,
)
from patchmgr.engines.solutions import shown_content, solved_entry
from patchmgr.model.outcome import FileConflict, Verdict
from patchmgr.model.patch import Author, FilePatch
from patchmgr.model.ports import Blobs, TextMerge
from patchmgr.model.snapshot import Entry

SymbolAt = Callable[[str, bytes, int], "str | None"]


@dataclass(frozen=True, slots=True)
class Tools:
    """The ports of a rebase, and the author of patches that name none.

    `solved` holds what a person made of a conflict, by patch name and path: None deletes the
    file. `on_patch` hears of every patch before it is tried.
    """

    blobs: Blobs
    text: TextMerge
    symbol_at: SymbolAt
    nobody: Author
    solved: Mapping[tuple[str, str], bytes | None] = field(default_factory=dict)
    on_patch: Callable[[str], None] = lambda name: None


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file of a patch on the new side; `changes` is empty where it collided.

    There is one answer a hunk, or one for a change without hunks. One more answers for a mode
    or a move whose fate is not that of the hunks.
    """

    step: FileStep
    home: str
    answers: tuple[Answer, ...]
    changes: Mapping[str, Entry | None] = field(default_factory=dict)
    conflict: FileConflict | None = None
    is_untouched: bool = False


@dataclass(frozen=True, slots=True)
class NewSide:
    """The new side before a patch; `homes` maps paths of the old side that are elsewhere here."""

    files: Overlay
    homes: Mapping[str, str]

    def home(self, path: str) -> str:
        """Return where a file of the old side is."""
        return self.homes.get(path, path)


def carry_files(
    patch: str, steps: Sequence[FileStep], side: NewSide, tools: Tools
) -> tuple[FileResult, ...]:
    """Carry all files of a patch, each as if the others were done too.

    A path that the patch leaves is free for its other files, unless leaving it collides. The
    side is not changed.
    """
    stuck: set[str] = set()
    while True:
        carrier = _Carrier(patch, steps, side, tools, stuck)
        results = tuple(result for step in steps for result in carrier.carry(step))
        more = {side.home(r.step.change.old_path) for r in results if _is_stuck(r)}
        if more <= stuck:
            return results
        stuck |= more


def _leaves(change: FilePatch) -> bool:
    return change.new_path is None or change.is_rename


def _is_stuck(result: FileResult) -> bool:
    return result.conflict is not None and _leaves(result.step.change)


class _Carrier:
    """Carries one step after the other, without changing anything."""

    def __init__(
        self,
        patch: str,
        steps: Sequence[FileStep],
        side: NewSide,
        tools: Tools,
        stuck: Collection[str],
    ) -> None:
        self._patch = patch
        self._steps = steps
        self._side = side
        self._tools = tools
        homes = {side.home(s.change.old_path) for s in steps if _leaves(s.change)}
        self._leaving = homes - set(stuck)

