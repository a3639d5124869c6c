"""The footprint of a series: how many files and lines it changes in its upstream."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from patchmgr.model.comparison import ComparedPatch
from patchmgr.model.review import Review
from patchmgr.model.upstream import Pin


class Kind(str, Enum):
    """What a series does to a file. A file that is `RENAMED` may be edited as well."""

    NEW = "new"
    EDITED = "edited"
    RENAMED = "renamed"
    DELETED = "deleted"
    MODE = "mode"


class Area(str, Enum):
    """Whether a file is code, a test, or vendored code of a third party."""

    CODE = "code"
    TESTS = "tests"
    THIRD_PARTY = "third party"


class Build(str, Enum):
    """What must be done before a change to a file takes effect."""

    REBUILD = "rebuild"
    PYTHON = "python"
    NEITHER = "neither"


class FileChange(Struct, frozen=True):
    """The change that all patches of a series together make to one file, from the pin to the head.

    `path` is the path at the head, or the old path if the file was deleted. In a state that lacks
    the file, mode and content are None. A content is also None if it was not read. A file whose
    content is the same at the pin and the head is not part of the footprint.
    """

    path: str
    renamed_from: str | None
    old_mode: str | None
    new_mode: str | None
    before: bytes | None
    after: bytes | None


class FileFootprint(Struct, frozen=True, rename={"is_binary": "binary"}):
    """The net change of one file, and the names of the patches that make it, in series order.

    The numbers of added and removed lines are 0 for a binary file.
    """

    path: str
    renamed_from: str | None
    kind: Kind
    is_binary: bool
    language: str
    area: Area
    build: Build
    added: int
    removed: int
    patches: tuple[str, ...]


class Touch(Struct, frozen=True, rename={"is_new": "new", "is_upstream": "upstream"}):
    """What a patch changes within one symbol.

    `symbol` is None for code outside of symbols, or if the symbols are unknown. `is_new` is true if
    the patch adds the symbol to the file. `is_upstream` is true if the file has the symbol at the
    pin.
    """

    symbol: str | None
    is_new: bool
    is_upstream: bool
    added: int
    removed: int


class PatchFile(Struct, frozen=True, rename={"is_binary": "binary", "is_upstream": "upstream"}):
    """The change of one file by one patch, counted from the hunks.

    `is_upstream` is true if the file exists at the pin. `touches` lists the changed symbols, and
    `edits` describes the changes in words; both are empty for a file that the patch creates or
    deletes.
    """

    path: str
    renamed_from: str | None
    kind: Kind
    is_binary: bool
    is_upstream: bool
    language: str
    area: Area
    added: int
    removed: int
    touches: tuple[Touch, ...] = ()
    edits: tuple[str, ...] = ()


class PatchFootprint(Struct, frozen=True):
    """The changes that one patch makes."""

    name: str
    subject: str
    files: tuple[PatchFile, ...]

    @property
    def added(self) -> int:
        """Return the number of added lines."""
        return sum(f.added for f in self.files)

    @property
    def removed(self) -> int:
        """Return the number of removed lines."""
        return sum(f.removed for f in self.files)

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the changed files, sorted, without duplicates."""
        return tuple(sorted({f.language for f in self.files}))


class Tally(Struct, frozen=True):
    """A row of a footprint: how many files and lines are changed in one group of files."""

    name: str
    files: int
    binaries: int
    added: int
    removed: int


class Footprint(Struct, frozen=True):
    """What a series changes in its upstream.

    The rows of `kinds` add up to `total`, and so do those of `areas`, `builds`, `languages` and
    `folders`. In `languages` and `folders`, all vendored files share one row, named after their
    area. `passing` lists the paths that patches change but whose final content is the same as
    at the pin. `skipped` lists the patches that are not carried, each with the reason. `review`
    answers a reviewer's questions, and is None if only numbers were asked for.
    """

    series: str
    pin: Pin
    files: tuple[FileFootprint, ...]
    patches: tuple[PatchFootprint, ...]
    total: Tally
    kinds: tuple[Tally, ...]
    areas: tuple[Tally, ...]
    builds: tuple[Tally, ...]
    languages: tuple[Tally, ...]
    folders: tuple[Tally, ...]
    passing: tuple[str, ...] = ()
    review: Review | None = None
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def patch_added(self) -> int:
        """Return the number of added lines, summed over the patches."""
        return sum(p.added for p in self.patches)

    @property
    def patch_removed(self) -> int:
        """Return the number of removed lines, summed over the patches."""
        return sum(p.removed for p in self.patches)


Touched = tuple[str, "str | None"]
"""A path, and the name of an upstream symbol in that file, or None for the file itself."""


class ComparedFootprint(Struct, frozen=True):
    """The footprint of a series at a commit of the patch repository, and its footprint now.

    A footprint is None if the series does not exist in that state. `touched` lists the files and
    symbols that only the later state touches, and `left` lists those that only the earlier state
    touches.
    """

    series: str
    before: Footprint | None
    after: Footprint | None
    patches: tuple[ComparedPatch, ...]
    touched: tuple[Touched, ...]
    left: tuple[Touched, ...]
