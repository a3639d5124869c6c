"""What one command changes in a target, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import refusal
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.applied import FileState, Record, state_of


class Replacement(Struct, frozen=True):
    """A file to put in place (None entry and content: to delete), and what is there now."""

    path: str
    before: FileState | None
    entry: Entry | None
    content: bytes | None
    permissions: int | None = None

    def after(self) -> FileState | None:
        """Return what will be there."""
        if self.entry is None or self.content is None:
            return None
        return state_of(self.entry.mode, self.content)


class Exchange(Struct, frozen=True):
    """All that one command changes in a target.

    `originals` are the contents that the record names. Of a checkout: `head` are the commits to
    move from and to (equal where it stays), `index` the entries to change, and git is told not
    to look for `hidden`.
    """

    files: tuple[Replacement, ...]
    record: Record | None
    originals: Mapping[str, bytes]
    head: tuple[str, str] = ("", "")
    index: Mapping[str, Entry | None] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()


def check_inside(*paths: str | None) -> None:
    """Refuse what a stranger may have put into a record or a journal to reach other files."""
    for path in paths:
        reason = None if path is None else refusal(path)
        if reason is not None:
            raise PatchmgrError(
                "unsafe-path", f"the record of what is applied has {path!a}: it {reason}"
            )


def short_state(state: FileState | None) -> list[str] | None:
    """Return a state as a journal has it."""
    return None if state is None else [state.mode, state.sha256]


def parents_of(path: str) -> Iterator[str]:
    """Yield the folders above a path, the top one first."""
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)))
