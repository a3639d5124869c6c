"""The input for rebasing a patch, and the result for each of its files."""

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
    from patchmgr.engines.moved.rung import Place
    from patchmgr.engines.series.fold import FileStep, Overlay
    from patchmgr.engines.structure.sides import Texts
    from patchmgr.model.outcome import FileConflict, Reliability, Suggestion
    from patchmgr.model.patch import Author
    from patchmgr.model.ports import Blobs, Formatter, TextMerge, Tree
    from patchmgr.model.snapshot import Entry

SymbolAt = Callable[[str, bytes, int], "str | None"]


SeenSides = tuple["bytes | None", "bytes | None"]
"""Upstream's side of a file and the patch's, as a person saw them; None if they are not known."""

Structure = Callable[["Texts", str, bytes], "Resolved | None"]
"""Merge three texts by structure, given the path and the text with markers, or return None."""


Offers = Callable[[bytes, bytes, bytes], "tuple[tuple[Suggestion, ...], tuple[Suggestion, ...]]"]
"""Return others' resolutions of base, ours and theirs: those shown first, and those shown last."""


Edits = Mapping[str, "tuple[Entry | None, Entry | None]"]
"""The files that a person changed, by path: before and after the change."""


class Mergers(Struct, frozen=True, kw_only=True):
    """The tools that merge texts. A method whose tool is None is skipped.

    `recall` finds recorded resolutions, `formatter` formats as upstream does, and `structure`
    merges by the structure of a file.
    """

    text: TextMerge
    recall: Resolutions | None = None
    formatter: Formatter | None = None
    structure: Structure | None = None


class Tools(Mergers, frozen=True):
    """What a rebase needs besides the series and the upstream states: tools, and a person's input.

    `nobody` is the author of patches that name none. `solved` holds a person's resolutions, by
    patch name and path (None deletes the file), and `solved_on` holds both sides as the person saw
    them. `on_patch` is called before each patch. `asks` says whether a person is asked about
    hunks that upstream seems to have in a different form. `elsewhere` holds the files to which
    upstream may have moved lines, and `offers` looks up resolutions by others. `edits` holds, by
    patch, a person's changes to other files, before and after.
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


class FileResult(Struct, frozen=True):
    """The result of a rebase for one file of a patch: verdicts, and changed files or a conflict.

    `changes` is empty if the file is in conflict. `answers` has one verdict for each hunk, or one
    for a change without hunks, and one more for a mode or a move with another verdict than the
    hunks. `proposals` concern the hunks in conflict that upstream seems to have. `reliability` is
    the measured reliability of a structural merge, for each region. `places` maps the number of a
    hunk to the place to which upstream moved its lines.
    """

    step: FileStep
    home: str
    answers: tuple[Answer, ...]
    changes: Mapping[str, Entry | None] = field(default_factory=dict)
    conflict: FileConflict | None = None
    is_untouched: bool = False
    proposals: tuple[Proposal, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    places: Mapping[int, Place] = field(default_factory=dict)


class UpstreamRange(Struct, frozen=True):
    """Two states of upstream, and the new paths of files that upstream moved between them.

    `renames` maps the old path of a moved file to its path in `onto`. `arrivals` maps paths of new
    files of the series in a folder that upstream moved.
    """

    base: Tree
    onto: Tree
    renames: Mapping[str, str] = field(default_factory=dict)
    arrivals: Mapping[str, str] = field(default_factory=dict)


class NewSide(Struct, frozen=True):
    """Upstream's new files with the patches so far, and the new paths of files that moved.

    `homes` maps the old path of a moved file to its new path. `arrivals` maps paths of new files of
    the series in a folder that upstream moved.
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

    `leaving` holds the paths that the patch deletes or moves away. If a file changes its type,
    `replaced` maps its path to the deletion and the creation. `taken` holds the paths of other
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
        """Merge one file as git's text merge does, and return the merged file or the conflict."""
        return merge_file(sides, blobs=self.tools.blobs, text=self.tools.text)
