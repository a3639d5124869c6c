"""The input of an audit: four states of all files, and the patches of the series."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.languages.file_types import is_test
from patchmgr.engines.ledger.texts import lines_of
from patchmgr.engines.series.fold import Overlay
from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import AuditFinding
from patchmgr.model.patch import FilePatch
from patchmgr.model.snapshot import file_content

UNKNOWN = b"("
"""Stands for content that no store or mirror has, often a large file. No parser accepts it."""

T = TypeVar("T")
LACKS = "lacks"
"""The key that is set in `States.kept` when the store lacks the content of a file."""


def decoded(content: bytes | None) -> str:
    """Return a file's content as a string without a byte order mark, or "" if there is no file."""
    return (content or b"").decode("utf-8", "surrogateescape").removeprefix("\ufeff")


class Files(Struct, frozen=True):
    """The files of one of the states that an audit compares, such as upstream or the result."""

    tree: Overlay
    content: Callable[[str], bytes]
    bring: Callable[[set[str]], None] = lambda blobs: None

    def exists(self, path: str) -> bool:
        """Return whether there is a file or a folder at a path."""
        return self.tree.entry(path) is not None or self.tree.is_directory(path)

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, or None if the file does not exist."""
        entry = self.tree.entry(path)
        return None if entry is None else entry.blob

    def read_ahead(self, paths: Iterable[str]) -> None:
        """Fetch the contents of several files at once, if the store is a partial clone."""
        blobs = {self.blob(path) for path in paths}
        self.bring({blob for blob in blobs if blob is not None})

    def read(self, path: str) -> bytes | None:
        """Return a file's content (UNKNOWN if no store has it), or None if there is no file."""
        entry = self.tree.entry(path)
        try:
            return file_content(entry, self.content)
        except PatchmgrError:
            return UNKNOWN

    def text(self, path: str) -> str:
        """Return the content of a file as a string, or an empty string if it does not exist."""
        return decoded(self.read(path))

    def lines(self, path: str) -> list[bytes]:
        """Return the lines of a file without line endings; only LF and CRLF end a line."""
        return lines_of(self.read(path)) or []


class AuditedPatch(Struct, frozen=True):
    """A patch of the audited series."""

    name: str
    is_carried: bool
    files: tuple[FilePatch, ...]
    # by path in the patch: the path of the file in the result
    homes: Mapping[str, str] = field(default_factory=dict)
    is_left: bool = False  # in conflict or blocked, so that its files are not final


Since = Callable[[str, Callable[["bytes | None"], bool]], "str | None"]
"""A function that returns the upstream commit that made a file meet a condition.

Its arguments are the path and the condition. The condition is a function that takes the file's
content, or None if there is no such file. The result is None if no commit made the condition true.
"""


class States(Struct, frozen=True):
    """The four states that an audit compares: base, series, new upstream state, and result.

    A fault in `merged` counts only if neither `written` nor `onto` has the same fault.
    """

    base: Files  # the old upstream state
    written: Files  # the series on `base`
    onto: Files  # the new upstream state
    merged: Files  # the series on `onto`
    patches: tuple[AuditedPatch, ...]
    carriers: Mapping[str, str]  # by path: the last patch that changes it
    changed_upstream: frozenset[str]  # paths that differ, and their new names in patches
    commit_since: Since = lambda path, holds: None
    kept: dict[object, object] = field(default_factory=dict)  # a cache that the checks share

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Return the result of `make`, which is called only once for each key."""
        if key not in self.kept:
            self.kept[key] = make()
        return cast("T", self.kept[key])

    @property
    def lacks(self) -> bool:
        """Whether a check asked for content that the store lacks, even if a mirror supplied it."""
        return LACKS in self.kept


Told = tuple[str, AuditFinding]
"""The name of a patch (empty if there is none), and a finding about the patch."""
Check = Callable[[States], Iterable[Told]]


# The kinds of findings that matter even in a file that nothing runs.
_AS_IT_STANDS = frozenset({"syntax", "encoding", "folder-gone"})


def run_checks(states: States, checks: Sequence[Check]) -> tuple[Told, ...]:
    """Return what the given audit checks find, without duplicates."""
    found: dict[object, Told] = {}
    for name, finding in (told for check in checks for told in check(states)):
        place = name, finding.path, finding.line, finding.symbol
        key = place if finding.kind == "removed" and finding.symbol else (name, finding)
        found.setdefault(key, (name, finding))
    return tuple(
        # A broken test fails as soon as it runs (case s-flashinfer-ff8361ed: people accepted a
        # merge whose test calls a function in the old way).
        (name, replace(finding, is_certain=False))
        if is_test(finding.path) and finding.kind not in _AS_IT_STANDS
        else (name, finding)
        for name, finding in found.values()
    )
