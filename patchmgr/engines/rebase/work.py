"""The values that rebasing a patch needs, and the result for each file of the patch."""

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
    """The tools of the merge methods in `rungs.py`. A method whose tool is None is skipped.

    `recall` finds recorded resolutions, `formatter` formats as upstream does, and `structure`
    merges by the structure of a file.
    """

    text: TextMerge
    recall: Resolutions | None = None
    formatter: Formatter | None = None
    structure: Structure | None = None


class Tools(Mergers, frozen=True):
    """What a rebase needs besides the series and the upstream states: tools, and a person's input.

    `nobody` is the author of patches that name no author. `solved` holds a person's resolutions,
    keyed by patch name and path (None deletes the file), and `solved_on` holds both sides as the
    person saw them. `on_patch` is called before each patch. `asks` says whether to ask a person
    about hunks that upstream seems to have in a different form. `elsewhere` holds the files to
    which upstream may have moved lines, and `offers` looks up resolutions by other people. `edits`
    holds a person's changes to files that the patch does not change, keyed by patch name. `ahead`
    is called with a structural merge that is likely to be requested.
    """

    blobs: Blobs
    symbol_at: SymbolAt
    nobody: Author
    solved: Mapping[tuple[str, str], bytes | None] = field(default_factory=dict)
    solved_on: Mapping[tuple[str, str], SeenSides] = field(default_factory=dict)
    on_patch: Callable[[str], None] = lambda name: None
    asks: bool = False
    elsewhere: ChangedFiles | None = None
    offers: Offers | None = None
    edits: Mapping[str, Edits] = field(default_factory=dict)
    ahead: Callable[[Texts, str, bytes], None] = lambda texts, path, marked: None


class FileResult(Struct, frozen=True):
    """The result of a rebase for one file of a patch: verdicts, and changed files or a conflict.

    `home` is the path of the file after the rebase. `changes` is empty if the file is in conflict.
    `answers` has one verdict for each hunk, or one for a change without hunks. A change of mode or
    path has its own verdict, the last one, if the verdicts on the hunks do not imply it.
    `is_untouched` says whether the diff stays exactly as written. `proposals` concern hunks that
    upstream seems to have in a different form. `reliability` holds the measured reliability of a
    structural merge for each region. `places` maps the number of a hunk to the position to which
    upstream moved its lines.
    """

    step: FileStep
    home: str
    answers: tuple[Answer, ...]
    changes: Mapping[str, Entry | None] = field(default_factory=dict)
    conflict: FileConflict | None = None
    is_untouched: bool = False
    proposals: tuple[Proposal, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    places: Mapping[int, HunkPlace] = field(default_factory=dict)


class UpstreamRange(Struct, frozen=True):
    """Two states of upstream, and the new paths of files that upstream moved between them.

    `renames` maps the old path of a moved file to its path in `onto`. If the series creates a file
    in a folder that upstream moved, `arrivals` maps the path of the file to its path in the moved
    folder.
    """

    base: Tree
    onto: Tree
    renames: Mapping[str, str] = field(default_factory=dict)
    arrivals: Mapping[str, str] = field(default_factory=dict)


class NewSide(Struct, frozen=True):
    """Upstream's new files with the patches applied so far, and the new paths of moved files.

    `homes` maps the old path of a moved file to its new path; for `arrivals`, see `UpstreamRange`.
    """

    files: Overlay
    homes: dict[str, str]
    arrivals: Mapping[str, str] = field(default_factory=dict)

    def home(self, path: str) -> str:
        """Return the path that a file has after the rebase."""
        return self.homes.get(path, path)

    def arrival(self, path: str) -> str:
        """Return the path, after the rebase, of a file that a patch creates."""
        return self.arrivals.get(path, path)


class Work(Struct, frozen=True):
    """A patch that is being applied to upstream's new files.

    `leaving` holds the paths that the patch deletes or moves away. If the patch deletes a file
    and creates it again, `replaced` maps its path to both changes. `taken` holds the paths of other
    files to which hunks of the patch were moved.
    """

    patch: str
    steps: Sequence[FileStep]
    side: NewSide
    tools: Tools
    leaving: Collection[str]
    replaced: Mapping[str, tuple[FileStep, FileStep]]
    taken: set[str] = field(default_factory=set)

    def merge(self, sides: Sides) -> Merged | Collided:
        """Merge one file as `merge_file` does, and return the merged file or the conflict."""
        return merge_file(sides, blobs=self.tools.blobs, text=self.tools.text)
