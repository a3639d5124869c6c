"""The report on a series: its changes to upstream in numbers, and a part for reviewers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from patchmgr.model.comparison import ComparedPatch
from patchmgr.model.outcome import Reliability
from patchmgr.model.upstream import Pin


class Kind(str, Enum):
    """The kind of change to a file; a `RENAMED` file may be edited as well."""

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
    """What must be done before a change to a file takes effect, such as compiling."""

    REBUILD = "rebuild"
    PYTHON = "python"
    NEITHER = "neither"


class FileChange(Struct, frozen=True):
    """The change that the patches of a series together make to one file, from pin to head."""

    path: str  # at the head; the old path if the file was deleted
    renamed_from: str | None
    old_mode: str | None  # None if the state lacks the file; likewise `new_mode`
    new_mode: str | None
    before: bytes | None  # the content; None if the state lacks the file or it was not read
    after: bytes | None  # like `before`


class ChangedFile(Struct, frozen=True, rename={"is_binary": "binary"}):
    """The change of one file, and how many lines it adds and removes."""

    path: str
    renamed_from: str | None
    kind: Kind
    is_binary: bool
    language: str
    area: Area
    added: int  # 0 for a binary file
    removed: int  # like `added`


class FileFootprint(ChangedFile, frozen=True):
    """The net change of one file, and the names of the patches that make it, in series order."""

    build: Build
    patches: tuple[str, ...]


class Touch(Struct, frozen=True, rename={"is_new": "new", "is_upstream": "upstream"}):
    """The change of a patch within one symbol."""

    symbol: str | None  # None for code outside of symbols, or if the symbols are unknown
    is_new: bool  # the patch adds the symbol to the file
    is_upstream: bool  # the file has the symbol at the pin
    added: int
    removed: int


class PatchFile(
    ChangedFile, frozen=True, rename={"is_binary": "binary", "is_upstream": "upstream"}
):
    """The change of one patch to one file; lines are counted in the hunks."""

    is_upstream: bool  # the file exists at the pin
    # the changed symbols; empty for a file that the patch creates or deletes
    touches: tuple[Touch, ...] = ()
    edits: tuple[str, ...] = ()  # the changes in words; empty like `touches`


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


class Reach(str, Enum):
    """Whom a change affects; the values are in the order in which to review changes."""

    SHARED = "shared"
    GATED = "gated"
    ADDED = "added"
    INERT = "inert"


class Gate(Struct, frozen=True):
    """A condition in the code that guards a change; `kind` says what the condition tests."""

    kind: str
    text: str


class ChangedSite(Struct, frozen=True, rename={"is_removal": "removal"}):
    """Changed lines of existing code, in one statement or in a few consecutive statements."""

    path: str
    symbol: str | None
    line: int  # the first one, from 1, in the new file or, if `is_removal`, in the old one
    last: int  # the last line, counted like `line`
    is_removal: bool
    text: str  # the first changed line
    reach: Reach
    gates: tuple[Gate, ...]
    why: str  # the reason for `reach`
    patches: tuple[str, ...] = ()


class Subsystem(Struct, frozen=True):
    """A subsystem: its changed files and lines, in total and in tests."""

    total: Tally  # with the name of the subsystem; so is `tests`
    tests: Tally
    rebuilt: int  # the number of files that take effect only after a build
    languages: tuple[str, ...]


class Hotspot(Struct, frozen=True):
    """A symbol of upstream that the series touches and that upstream changed recently."""

    path: str
    symbol: str | None  # None for code outside of symbols
    commits: int  # the number of upstream commits that changed the symbol
    file_commits: int  # the number of upstream commits that changed the file
    patches: tuple[str, ...]


class RiskKind(str, Enum):
    """The kinds of change that may surprise somebody who takes over the series."""

    RUNS = "runs by being there"
    BINARY = "binary"
    PIN = "build pin"
    DEPENDENCY = "new dependency"
    ENVIRONMENT = "environment variable"


class Risk(Struct, frozen=True):
    """A risk in one file; `what` is the line, requirement or variable that causes it."""

    kind: RiskKind
    path: str
    what: str
    patches: tuple[str, ...] = ()


class RecordedRebase(Struct, frozen=True, rename={"is_dry_run": "dry_run"}):
    """A recorded rebase: its target, and the verdict on each patch."""

    ref: str
    commits: int
    is_dry_run: bool
    verdicts: Mapping[str, str]  # by patch; so is `reliability`
    reliability: Mapping[str, tuple[Reliability, ...]] = {}  # of verdicts such as "absorbed"


class Review(Struct, frozen=True):
    """The part of a report for reviewers: subsystems, changed sites, hotspots and risks."""

    parts_by: str  # where the names of the subsystems come from
    parts: tuple[Subsystem, ...]
    # in series order: the patch, and its number of changed lines in each part
    parts_of_patches: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    sites: tuple[ChangedSite, ...]
    hotspots: tuple[Hotspot, ...]
    # the number of upstream steps in which changes to hotspots are counted; None: no history
    window: int | None
    risks: tuple[Risk, ...]
    moments: tuple[RecordedRebase, ...] = ()
    part_of_files: tuple[tuple[str, str], ...] = ()  # (path, name of its part)
    step: str = "upstream commit"  # what a step is

    def count(self, reach: Reach) -> int:
        """Return the number of changed sites with this reach."""
        return sum(site.reach is reach for site in self.sites)


class Tally(Struct, frozen=True):
    """A row of a footprint: how many files and lines are changed in one group of files."""

    name: str
    files: int
    binaries: int
    added: int
    removed: int


class Footprint(Struct, frozen=True):
    """What a series changes in its upstream.

    The rows of each grouping, such as `kinds`, add up to `total`.
    """

    series: str
    pin: Pin
    files: tuple[FileFootprint, ...]
    patches: tuple[PatchFootprint, ...]
    total: Tally
    kinds: tuple[Tally, ...]
    areas: tuple[Tally, ...]
    builds: tuple[Tally, ...]
    # all vendored files share one row, named after their area; likewise in `folders`
    languages: tuple[Tally, ...]
    folders: tuple[Tally, ...]
    # paths that patches change, with the same content at the pin and in the end
    passing: tuple[str, ...] = ()
    # the part for reviewers; None if only numbers were asked for
    review: Review | None = None
    skipped: tuple[tuple[str, str], ...] = ()  # patches that are not carried, each with the reason

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
    """The footprint of a series at a commit of the patch repository, and its footprint now."""

    series: str
    before: Footprint | None  # None if the series does not exist in that state; likewise `after`
    after: Footprint | None
    patches: tuple[ComparedPatch, ...]
    touched: tuple[Touched, ...]  # files and symbols that only the later state touches
    left: tuple[Touched, ...]  # files and symbols that only the earlier state touches
