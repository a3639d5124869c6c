"""What is needed to rebase a patch, and the result for each file of the patch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from patchmgr.engines.rebase.ladder import Answer, Collided, Merged, Sides, merge_file

if TYPE_CHECKING:
    from patchmgr.engines.absorption.proposal import Proposal
    from patchmgr.engines.conflicts.memory import Resolutions
    from patchmgr.engines.merge.candidate import Resolved
    from patchmgr.engines.moved.files import ChangedFiles
    from patchmgr.engines.moved.rung import HunkPlace
    from patchmgr.engines.series.fold import FileStep, Overlay
    from patchmgr.engines.structure.sides import Texts
    from patchmgr.model.outcome import FileConflict, Reliability, Suggestion
    from patchmgr.model.patch import Author
    from patchmgr.model.ports import Blobs, Formatter, TextMerge, Tree
    from patchmgr.model.snapshot import Entry

SymbolAt = Callable[[str, bytes, int], "str | None"]
"""A function that returns the symbol at a line (from 1) of a file, given its path and content."""

SeenSides = tuple["bytes | None", "bytes | None"]
"""The content of ours and theirs as a person saw them. A side is None if it is not known."""

Structure = Callable[["Texts", str, bytes], "Resolved | None"]
"""A function that merges a file by structure, given its sides, its path and the marked text."""

Offers = Callable[[bytes, bytes, bytes], "tuple[tuple[Suggestion, ...], tuple[Suggestion, ...]]"]
"""A function that returns other people's resolutions of a region (base, ours, theirs).

The first tuple is to be shown before patchmgr's own suggestions, the second after them.
"""

Edits = Mapping[str, "tuple[Entry | None, Entry | None]"]
"""The files that a person changed, before and after the change, keyed by path."""


class Mergers(Struct, frozen=True, kw_only=True):
    """The tools of the methods in `rungs.py`. A method is skipped if its tool is None."""

    text: TextMerge
    recall: Resolutions | None = None  # finds recorded resolutions
    formatter: Formatter | None = None  # formats as upstream does
    structure: Structure | None = None


class Tools(Mergers, frozen=True):
    """What a rebase needs besides the series and the two upstream states."""

    blobs: Blobs
    symbol_at: SymbolAt
    nobody: Author  # the author of patches without one
    # a person's resolutions by patch and path (None: delete the file)
    solved: Mapping[tuple[str, str], bytes | None] = field(default_factory=dict)
    # both sides as the person saw them
    solved_on: Mapping[tuple[str, str], SeenSides] = field(default_factory=dict)
    on_patch: Callable[[str], None] = lambda name: None  # called before each patch
    asks: bool = False  # about hunks in another form
    elsewhere: ChangedFiles | None = None  # where upstream may have moved lines
    offers: Offers | None = None  # resolutions by other people
    # a person's changes to files that the patch does not change
    edits: Mapping[str, Edits] = field(default_factory=dict)
    # called with a structural merge that is likely to be requested
    ahead: Callable[[Texts, str, bytes], None] = lambda texts, path, marked: None


class FileResult(Struct, frozen=True):
    """The result of a rebase for one file of a patch: verdicts, and changed files or a conflict.

    `answers` has one verdict for each hunk, or one if there are no hunks. It has another one for a
    change of mode or path, unless this verdict follows from the others.
    """

    step: FileStep
    home: str  # the path after the rebase
    answers: tuple[Answer, ...]
    changes: Mapping[str, Entry | None] = field(default_factory=dict)
    conflict: FileConflict | None = None
    is_untouched: bool = False  # the diff stays exactly as written
    proposals: tuple[Proposal, ...] = ()  # for hunks in another form
    reliability: tuple[Reliability, ...] = ()  # of a structural merge, by region
    # where upstream moved the lines of a hunk
    places: Mapping[int, HunkPlace] = field(default_factory=dict)


class UpstreamRange(Struct, frozen=True):
    """Two states of upstream, and the new paths of files that upstream moved between them."""

    base: Tree
    onto: Tree
    renames: Mapping[str, str] = field(default_factory=dict)  # old to new path
    arrivals: Mapping[str, str] = field(default_factory=dict)  # of new files in a moved folder


class NewSide(Struct, frozen=True):
    """Upstream's new files with the patches applied so far, and the new paths of moved files."""

    files: Overlay
    homes: dict[str, str]
    arrivals: Mapping[str, str] = field(default_factory=dict)  # as in `UpstreamRange`

    def home(self, path: str) -> str:
        """Return the path that a file has after the rebase."""
        return self.homes.get(path, path)

    def arrival(self, path: str) -> str:
        """Return the path after the rebase of a file that a patch creates at `path`."""
        return self.arrivals.get(path, path)


class Work(Struct, frozen=True):
    """A patch that is being applied to upstream's new files."""

    patch: str
    steps: Sequence[FileStep]
    side: NewSide
    tools: Tools
    leaving: Collection[str]  # paths that the patch deletes or moves away
    # the changes of a file that the patch deletes and creates again
    replaced: Mapping[str, tuple[FileStep, FileStep]]
    taken: set[str] = field(default_factory=set)  # other files to which hunks were moved

    def merge(self, sides: Sides) -> Merged | Collided:
        """Merge one file as `merge_file` does, and return the merged file or the conflict."""
        return merge_file(sides, blobs=self.tools.blobs, text=self.tools.text)
