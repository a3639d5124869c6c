"""The footprint of a series: what it changes of its upstream, in numbers."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from patchmgr.model.comparison import ComparedPatch
from patchmgr.model.review import Review
from patchmgr.model.upstream import Pin


class Kind(str, Enum):
    """What happens to a file; a renamed file may be edited as well."""

    NEW = "new"
    EDITED = "edited"
    RENAMED = "renamed"
    DELETED = "deleted"
    MODE = "mode"


class Area(str, Enum):
    """The owner and purpose of a file: vendored code, tests, or the rest."""

    CODE = "code"
    TESTS = "tests"
    THIRD_PARTY = "third party"


class Build(str, Enum):
    """What a change to the file needs before it takes effect."""

    REBUILD = "rebuild"
    PYTHON = "python"
    NEITHER = "neither"


class FileChange(Struct, frozen=True):
    """One file of the squashed series, from the pin to the head.

    `path` is on the new side, or the old path of a deletion. A mode is None if the side has no such
    file. Contents are None then, too, and if nobody read them. A path that ends as it began may be
    given for its contents; it is not part of the footprint.
    """

    path: str
    renamed_from: str | None
    old_mode: str | None
    new_mode: str | None
    before: bytes | None
    after: bytes | None


class FileFootprint(Struct, frozen=True, rename={"is_binary": "binary"}):
    """The net change of one file, and the names of the patches that make it, in order.

    Counts are 0 where `is_binary`.
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

    `symbol` is None outside of symbols or if none is known. `is_new` says that the patch adds the
    symbol to the file, `is_upstream` that the file of the pin has it.
    """

    symbol: str | None
    is_new: bool
    is_upstream: bool
    added: int
    removed: int


class PatchFile(Struct, frozen=True, rename={"is_binary": "binary", "is_upstream": "upstream"}):
    """The change of one file by one patch, counted from its hunks.

    `is_upstream` says that the pin has the file. Only edits have `touches`: a file that the
    patch creates or deletes has none, and no `edits`: what the patch does, in words.
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
    """What one patch changes."""

    name: str
    subject: str
    files: tuple[PatchFile, ...]

    @property
    def added(self) -> int:
        """Count the added lines."""
        return sum(f.added for f in self.files)

    @property
    def removed(self) -> int:
        """Count the removed lines."""
        return sum(f.removed for f in self.files)

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the files, sorted, once each."""
        return tuple(sorted({f.language for f in self.files}))


class Tally(Struct, frozen=True):
    """The net counts of a group of files; `binaries` is the number of files without lines."""

    name: str
    files: int
    binaries: int
    added: int
    removed: int


class Footprint(Struct, frozen=True):
    """What a series changes of its upstream.

    The files of each of `kinds`, `areas`, `builds`, `languages` and `folders` add up to `total`; in
    the last two, vendored files are one row with the name of their area. `passing` are the paths
    that patches touch and leave as the pin has them. `skipped` are the patches that are not
    carried, each with the reason. `review` is what a reviewer asks for, or None if only the numbers
    are wanted.
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
        """Count the added lines patch by patch."""
        return sum(p.added for p in self.patches)

    @property
    def patch_removed(self) -> int:
        """Count the removed lines patch by patch."""
        return sum(p.removed for p in self.patches)


Touched = tuple[str, "str | None"]
"""A path, and the symbol of upstream in it; None is the file itself."""


class ComparedFootprint(Struct, frozen=True):
    """A series at a commit of the patch repository, and as it is: None where it does not exist.

    `touched` is what only the later state touches, `left` what only the earlier one does.
    """

    series: str
    before: Footprint | None
    after: Footprint | None
    patches: tuple[ComparedPatch, ...]
    touched: tuple[Touched, ...]
    left: tuple[Touched, ...]
