"""What the shim remembers and is answered, and files that are read and written."""

from __future__ import annotations

import io
import json
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What patchmgr printed, and how it ended."""

    code: int
    out: bytes
    error: str

    @property
    def json(self) -> Any:
        """Return the JSON document that was printed."""
        return json.loads(self.out)

    @property
    def kind(self) -> str:
        """Return the kind of the error, empty where there is none."""
        return str(self.json.get("error", {}).get("kind", "")) if self.code else ""

    @property
    def message(self) -> str:
        """Return the message of the error, empty where there is none."""
        return str(self.json.get("error", {}).get("message", "")) if self.code else ""


@dataclass
class Notes:
    """What the shim remembers: names without a suffix, and files by patch.

    `added` are those that quilt was told of, `files` those of a pushed patch.
    """

    bare: list[str] = field(default_factory=list)
    added: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)

    def watched(self, name: str) -> list[str]:
        """Return the files of a pushed patch."""
        both = [*self.files.get(name, ()), *self.added.get(name, ())]
        return list(dict.fromkeys(both))


def noted(place: Path, otherwise: str) -> str:
    """Return what a file says, or something else where there is none."""
    return place.read_text().strip() if place.is_file() else otherwise


def written(stream: io.TextIOWrapper) -> bytes:
    """Return what was written to a stream in memory."""
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def write(place: Path, content: bytes) -> None:
    """Write a file beside and put it in its place; other names of it keep the old content.

    A link stays, unless what it leads to is read-only: then the file takes the link's place.
    """
    if not place.exists() or place.stat().st_mode & stat.S_IWUSR:
        place = place.resolve()
    if place.is_file() and place.read_bytes() == content:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(f"{place.name}.new")
    new.write_bytes(content)
    new.replace(place)
