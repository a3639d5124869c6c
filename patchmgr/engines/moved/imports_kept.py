"""Imports that a patch's lines rely on, where upstream's file has them no more.

A file that moved, or a symbol that went to another file, need not import what the old place did;
and upstream drops an import that only the patch still needs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.rebase.ladder import CARRIED_MOVED, STRUCTURAL, Answer, Merged, Sides
from patchmgr.model.outcome import Verdict
from patchmgr.model.snapshot import FILE_MODES, Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patchmgr.engines.series.fold import FileStep
    from patchmgr.model.patch import Hunk
    from patchmgr.model.ports import Blobs

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t][^\n]*?[ \t]import\b|import\b)(?:[ \t]*\([^)]*|(?:[^\n]*\\\n)*[^\n]*)",
    re.MULTILINE,
)
_TOP_IMPORT = re.compile(_IMPORT.pattern.replace(rb"^[ \t]*", b"^", 1), re.MULTILINE)
_WORD = re.compile(rb"[^\W\d]\w*")
_PYTHON = (".py", ".pyi")


def with_imports(step: FileStep, sides: Sides, merged: Merged, home: str, blobs: Blobs) -> Merged:
    """Return a merged Python file with the imports of the patch's side that its new lines need.

    The patch's own lines that upstream has are none of these.
    """
    entry, theirs = merged.entry, step.theirs
    if not home.endswith(_PYTHON) or entry in (None, sides.ours, theirs):
        return merged
    if any(e is None or e.mode not in FILE_MODES for e in (entry, theirs, sides.ours)):
        return merged
    assert entry and theirs and sides.ours
    needed = _carried_words(sides.hunks, merged.answers)
    known = _imported_words(blobs.read(theirs.blob))
    wanted = needed & known
    if not wanted or wanted <= _imported_words(blobs.read(sides.ours.blob)):
        return merged
    if wanted <= _imported_words(blobs.read(entry.blob), _TOP_IMPORT):
        return merged
    from patchmgr.engines.moved.imports import missing_imports

    names = frozenset(word.decode() for word in wanted)
    content = missing_imports(
        step.change.path, home, blobs.read(theirs.blob), blobs.read(entry.blob), names=names
    )
    if content is None:
        return merged
    answers = tuple(_brought(answer, sides.is_moved) for answer in merged.answers)
    return replace(merged, entry=Entry(entry.mode, blobs.add(content)), answers=answers)


def _brought(answer: Answer, is_moved: bool) -> Answer:
    """Return the answer for a hunk whose file got an import that no text merge gives."""
    if answer[0] is not Verdict.UNCHANGED:
        return answer
    return CARRIED_MOVED if is_moved else STRUCTURAL


def _carried_words(hunks: Sequence[Hunk], answers: Sequence[Answer]) -> frozenset[bytes]:
    """Return the words of the lines that hunks add which upstream does not have."""
    pairs = zip(hunks, answers, strict=False)
    texts = (hunk.added_text() for hunk, answer in pairs if answer[0] is not Verdict.ABSORBED)
    return frozenset(word for text in texts for word in _WORD.findall(text))


def _imported_words(text: bytes, imports: re.Pattern[bytes] = _IMPORT) -> frozenset[bytes]:
    """Return the words of all imports of a text, and a few more."""
    return frozenset(w for found in imports.findall(text) for w in _WORD.findall(found))
