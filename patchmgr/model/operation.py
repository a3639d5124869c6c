"""The change made by a command, as a value: enough to undo and to redo it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from msgspec import Meta, Struct

Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Commit = Annotated[str, Meta(pattern=r"^[0-9a-f]{40}\Z")]


class OperationKind(str, Enum):
    """Whether an operation is a person's own, an undo, or a redo."""

    DONE = "done"
    UNDO = "undo"
    REDO = "redo"


class Turned(Struct, frozen=True, array_like=True):
    """A file of the workspace: sha256 of its content before and after, None for no file."""

    path: str
    before: Sha256 | None
    after: Sha256 | None


class KeptFile(Struct, frozen=True, array_like=True):
    """A file of a target: git's mode, sha256 of the content, permission bits if known."""

    mode: Annotated[str, Meta(pattern=r"^(100644|100755|120000)\Z")]
    sha256: Sha256
    permissions: Annotated[int, Meta(ge=0, le=0o777)] | None = None

    def is_like(self, other: KeptFile | None) -> bool:
        """Return whether another file has the same mode and content."""
        return other is not None and (self.mode, self.sha256) == (other.mode, other.sha256)


class TurnedFile(Struct, frozen=True, array_like=True):
    """A file of a target before and after, None for no file."""

    path: str
    before: KeptFile | None
    after: KeptFile | None


class TurnedTarget(Struct, frozen=True):
    """The change of a target; `before` and `after` are the sha256 of its record, or None."""

    root: str
    files: tuple[TurnedFile, ...]
    before: Sha256 | None
    after: Sha256 | None


class TurnedRef(Struct, frozen=True, array_like=True):
    """A ref of a store that moved; None for no ref before or after."""

    store: str
    name: Annotated[str, Meta(pattern="^refs/heads/patchmgr/")]
    before: Commit | None
    after: Commit | None


class Operation(Struct, frozen=True):
    """One change of a workspace and of the targets that changed with it.

    `of` are the numbers of the operations that an undo took back or a redo repeated, and `at`
    is the second at which it was made.
    """

    number: int
    at: int
    command: str
    kind: OperationKind
    of: tuple[int, ...]
    files: tuple[Turned, ...]
    targets: tuple[TurnedTarget, ...] = ()
    refs: tuple[TurnedRef, ...] = ()

    def contents(self) -> frozenset[str]:
        """Return the sha256 of all contents that the operation names."""
        named = [sha for file in self.files for sha in (file.before, file.after)]
        for target in self.targets:
            named += [target.before, target.after]
            named += [s.sha256 for f in target.files for s in (f.before, f.after) if s is not None]
        return frozenset(sha for sha in named if sha is not None)
