"""What one command changes in a target, as values."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.paths import refusal
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.applied import FileState, Record, record_document, state_of
from patchmgr.plumbing.work_tree import WorkTree

BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What it comes to where a record or a journal is not what we write."""


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


def planned(tree: WorkTree, exchange: Exchange) -> dict[str, Any]:
    """Return the journal of a change: where each file is written first, and what it becomes."""
    leaving = {file.path for file in exchange.files if file.entry is None}
    token, made = secrets.token_hex(6), dict[str, None]()
    rows: list[list[Any]] = []
    for number, file in enumerate(exchange.files):
        beside = None
        if file.entry is not None:
            place = tree.place(file.path, leaving)
            made.update(dict.fromkeys(place.missing))
            beside = f"{place.folder}/.patchmgr-{token}-{number}".removeprefix("/")
        rows.append([file.path, beside, short_state(file.before), short_state(file.after())])
    return {
        "phase": "staging",
        "made": list(made),
        "files": rows,
        "record": None if exchange.record is None else record_document(exchange.record),
        "head": exchange.head,
        "index": {p: e and [e.mode, e.blob] for p, e in exchange.index.items()},
        "hidden": sorted(exchange.hidden),
    }


def read_journal(path: Path) -> dict[str, Any] | None:
    """Return a journal, None where there is none.

    A package may have brought it, so nothing in it is believed; raises what is in `BROKEN`.
    """
    try:
        journal: dict[str, Any] = parse_json(path.read_bytes())
    except FileNotFoundError:
        return None
    rows = [(name, beside) for name, beside, _, _ in journal["files"]]
    check_inside(*journal["made"], *(name for row in rows for name in row))
    _ = journal["phase"], journal["record"], journal["head"], journal["index"].keys()
    return journal
