"""A patch: a header that explains the change, and the changes to some files."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

COMMITTER_NAME = "patchmgr"
COMMITTER_EMAIL = "patchmgr@localhost"
CONDITIONS = ("needed-when", "ensures", "valid-while")
"""The header fields, in lower case, whose value is a predicate."""


class Hunk(Struct, frozen=True):
    """One hunk of a unified diff."""

    old_start: int  # from 1, like `new_start`
    old_count: int
    new_start: int
    new_count: int
    heading: bytes
    # with the first byte (space, `+` or `-`) and, unless the diff denies it, the line ending
    lines: tuple[bytes, ...]

    def old(self) -> tuple[bytes, ...]:
        """Return the lines of the old side: context and removed lines."""
        return tuple(line[1:] for line in self.lines if line[:1] != b"+")

    def new(self) -> tuple[bytes, ...]:
        """Return the lines of the new side: context and added lines."""
        return tuple(line[1:] for line in self.lines if line[:1] != b"-")

    def added(self) -> int:
        """Return the number of added lines."""
        return [line[:1] for line in self.lines].count(b"+")

    def added_text(self) -> bytes:
        """Return the added lines, joined and without their `+`."""
        return b"".join(line[1:] for line in self.lines if line[:1] == b"+")

    def removed(self) -> int:
        """Return the number of removed lines."""
        return [line[:1] for line in self.lines].count(b"-")


class BinaryChange(Struct, frozen=True):
    """The forward half of a git binary patch: the new content, or a delta to the old content."""

    method: str
    payload: bytes


class FilePatch(Struct, frozen=True):
    """The change to one file; a new file has no `old_path`, a deleted file no `new_path`."""

    old_path: str | None
    new_path: str | None
    # git's octal string ("100644"); None if the diff does not give it; likewise `new_mode`
    old_mode: str | None = None
    new_mode: str | None = None
    # of the diff's index line, if any, and possibly abbreviated; likewise `new_id`
    old_id: str | None = None
    new_id: str | None = None
    is_copy: bool = False
    hunks: tuple[Hunk, ...] = ()
    binary: BinaryChange | None = None

    @property
    def path(self) -> str:
        """Return the new path, or the old path if the file is deleted."""
        path = self.new_path if self.new_path is not None else self.old_path
        assert path is not None
        return path

    @property
    def is_rename(self) -> bool:
        """Return whether the file is renamed."""
        both = self.old_path is not None and self.new_path is not None
        return both and self.old_path != self.new_path and not self.is_copy


class Author(Struct, frozen=True):
    """The author of a patch, and the date in git's raw form, `<seconds> <+zone>`."""

    name: str
    email: str
    date: str


def own_author(date: str = "0 +0000") -> Author:
    """Return patchmgr as the author, with the given date."""
    return Author(COMMITTER_NAME, COMMITTER_EMAIL, date)


class Patch(Struct, frozen=True):
    """One patch file."""

    name: str
    raw: bytes  # the file, byte for byte
    header: bytes  # the part before the first diff line
    diff: bytes  # the rest, without a mail signature
    subject: str
    message: bytes  # the commit message made from the header
    author: Author | None  # None if the header names none
    files: tuple[FilePatch, ...]
    is_mailbox: bool
    # the DEP-3 fields of the header, as written
    fields: Mapping[str, str] = field(default_factory=dict)
    is_reversed: bool = False  # `files` are the reverse of `diff`

    def says(self, name: str) -> str | None:
        """Return a header field's value as one line, or None if the field is missing or empty."""
        for known, value in self.fields.items():
            if known.lower() == name.lower() and value.strip():
                return " ".join(value.split())
        return None

    @property
    def description(self) -> str | None:
        """Return the patch's Description field, or else its first paragraph of prose, or None."""
        paragraphs = self.message.decode("utf-8", "replace").split("\n\n")[1:]
        texts = (" ".join(text.split()) for text in paragraphs)
        plain = (text for text in texts if text and not text.split(" ", 1)[0].endswith(":"))
        return self.says("Description") or next(plain, None)

    def author_or(self, nobody: Author) -> Author:
        """Return the header's author and date; `nobody` supplies what the header lacks."""
        author = self.author or nobody
        return author if author.date else replace(author, date=nobody.date)

    @property
    def conditions(self) -> dict[str, str]:
        """Return the fields of the header that contain a predicate."""
        return {name: text for name, text in self.fields.items() if name.lower() in CONDITIONS}

    def paths(self) -> tuple[str, ...]:
        """Return every path that the patch names, old and new, without duplicates."""
        named = [p for f in self.files for p in (f.old_path, f.new_path) if p is not None]
        return tuple(dict.fromkeys(named))
