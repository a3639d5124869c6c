"""A record of what a command changed, from which the change can be undone and redone."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from msgspec import Meta, Struct

Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Commit = Annotated[str, Meta(pattern=r"^[0-9a-f]{40}\Z")]
# Without white space and controls: `git update-ref` would read a line feed as another command.
OwnBranch = Annotated[str, Meta(pattern=r"^refs/heads/patchmgr/[^\0-\x20\x7f]+\Z")]


class OperationKind(str, Enum):
    """Whether an operation is a new change, or an undo or redo of others."""

    DONE = "done"
    UNDO = "undo"
    REDO = "redo"


class WorkspaceFileChange(Struct, frozen=True, array_like=True):
    """A changed file of the workspace: its sha256 before and after the change (None: no file)."""

    path: str
    before: Sha256 | None
    after: Sha256 | None


class KeptFile(Struct, frozen=True, array_like=True):
    """A file of a checkout or package: its git mode, its sha256 and, if known, permission bits."""

    mode: Annotated[str, Meta(pattern=r"^(100644|100755|120000)\Z")]
    sha256: Sha256
    permissions: Annotated[int, Meta(ge=0, le=0o777)] | None = None

    def is_like(self, other: KeptFile | None) -> bool:
        """Return whether another file has the same mode and content."""
        return other is not None and (self.mode, self.sha256) == (other.mode, other.sha256)


class TargetFileChange(Struct, frozen=True, array_like=True):
    """A changed file of a checkout or package, before and after the change (None: no file)."""

    path: str
    before: KeptFile | None
    after: KeptFile | None


class TargetChange(Struct, frozen=True):
    """The files that changed in a checkout or package."""

    root: str
    files: tuple[TargetFileChange, ...]
    before: Sha256 | None  # the sha256 of the record of applied patches, if there was one
    after: Sha256 | None  # like `before`


class RefChange(Struct, frozen=True, array_like=True):
    """A changed ref of a store, with its commit before and after (None if it does not exist)."""

    store: str
    name: OwnBranch
    before: Commit | None
    after: Commit | None


class Operation(Struct, frozen=True):
    """A change that one command made to a workspace, and to checkouts, packages and stores."""

    number: int
    at: int  # in seconds since 1970
    command: str
    kind: OperationKind
    of: tuple[int, ...]  # the numbers of the operations that an undo reverted or a redo repeated
    files: tuple[WorkspaceFileChange, ...]
    targets: tuple[TargetChange, ...] = ()
    refs: tuple[RefChange, ...] = ()

    def contents(self) -> frozenset[str]:
        """Return the sha256 of every file content that the operation refers to."""
        named = [sha for file in self.files for sha in (file.before, file.after)]
        for target in self.targets:
            named += [target.before, target.after]
            named += [s.sha256 for f in target.files for s in (f.before, f.after) if s is not None]
        return frozenset(sha for sha in named if sha is not None)
