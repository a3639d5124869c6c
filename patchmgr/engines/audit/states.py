"""The input of an audit: four states of all files, and the patches between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.languages.names import is_test
from patchmgr.engines.series.fold import Overlay
from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import AuditFinding
from patchmgr.model.patch import FilePatch
from patchmgr.model.ports import Step
from patchmgr.model.snapshot import FILE_MODES

UNKNOWN = b"("
"""Stands for contents that nobody has: a mirror may lack large files. Not valid Python."""


LACKS = "lacks"
"""In `States.kept` as soon as some contents were missing everywhere."""


class Files(Struct, frozen=True):
    """One state of all files."""

    tree: Overlay
    content: Callable[[str], bytes]
    bring: Callable[[set[str]], None] = lambda blobs: None

    def exists(self, path: str) -> bool:
        """Return whether the path is a file or a folder."""
        return self.tree.entry(path) is not None or self.tree.is_directory(path)

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, or None if there is no such file."""
        entry = self.tree.entry(path)
        return None if entry is None else entry.blob

    def read_ahead(self, paths: Iterable[str]) -> None:
        """Fetch the contents of files that will be read, if the store is a partial clone."""
        blobs = {self.blob(path) for path in paths}
        self.bring({blob for blob in blobs if blob is not None})

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None if there is no such file.

        It is UNKNOWN if nobody has it.
        """
        entry = self.tree.entry(path)
        if entry is None or entry.mode not in FILE_MODES:
            return None
        try:
            return self.content(entry.blob)
        except PatchmgrError:
            return UNKNOWN


class AuditedPatch(Struct, frozen=True):
    """A patch of the series: its files, and by path in the patch where each went in the result.

    If a patch `is_left` for a person, what it adds to the result is not known yet.
    """

    name: str
    is_carried: bool
    files: tuple[FilePatch, ...]
    homes: Mapping[str, str] = field(default_factory=dict)
    is_left: bool = False


Since = Callable[[str, Callable[["bytes | None"], bool]], "Step | None"]
"""Return the upstream step since which something holds for the content of an upstream file.

The arguments are the path and the question, which gets the content, or None if there is no such
file. Returns None if no step answers.
"""


class States(Struct, frozen=True):
    """A result beside the states that it was made of.

    `base` is the old upstream state, `written` the series on it, `onto` the new upstream state and
    `merged` the series on that. A fault of `merged` counts only where neither `written` nor `onto`
    has it. `carriers` gives, for each path of `merged` that the series changes, the last patch that
    does; files that are left in conflict are not among them. `changed_upstream` are the paths that
    differ between `base` and `onto`. `kept` is for what checks read and others may read again.
    """

    base: Files
    written: Files
    onto: Files
    merged: Files
    patches: tuple[AuditedPatch, ...]
    carriers: Mapping[str, str]
    changed_upstream: frozenset[str]
    since: Since = lambda path, holds: None
    kept: dict[str, object] = field(default_factory=dict)

    def commit_since(self, path: str, holds: Callable[[bytes | None], bool]) -> str | None:
        """Return the upstream commit since which a claim holds for an upstream file."""
        step = self.since(path, holds)
        return None if step is None else step.commit

    @property
    def lacks(self) -> bool:
        """Return whether some requested content was missing everywhere."""
        return LACKS in self.kept


Told = tuple[str, AuditFinding]
"""A finding, with the name of the patch that it is about (empty if there is no patch)."""
Check = Callable[[States], Iterable[Told]]


# What a file is as it stands, whether anything runs it or not.
_AS_IT_STANDS = frozenset({"syntax", "folder-gone"})


def run_checks(states: States, checks: Sequence[Check]) -> tuple[Told, ...]:
    """Return the findings of the checks, each once.

    Tests say by themselves that they are broken, as soon as they run: what is found in one is
    likely, never certain (case s-flashinfer-ff8361ed: people took a merge whose test calls a
    function as it was before).
    """
    found = dict.fromkeys(told for check in checks for told in check(states))
    return tuple(
        (name, replace(finding, is_certain=False))
        if is_test(finding.path) and finding.kind not in _AS_IT_STANDS
        else (name, finding)
        for name, finding in found
    )
