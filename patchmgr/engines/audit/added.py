"""Which lines of a result the series adds, and which of its patches does."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.engines.audit.states import AuditedPatch, States
from patchmgr.engines.differences import changed_blocks


def added_lines(states: States, path: str) -> dict[int, str]:
    """Return the lines of a file (from 1) that upstream's has not, each with its patch's name."""
    if states.merged.blob(path) == states.onto.blob(path):
        return {}
    merged = (states.merged.read(path) or b"").splitlines(keepends=True)
    onto = (states.onto.read(path) or b"").splitlines(keepends=True)
    numbers = [
        number + 1
        for block in changed_blocks(onto, merged)
        for number in range(block.new_start, block.new_end)
    ]
    last, authors = states.carriers.get(path, ""), _authors(states.patches, path)
    return {number: authors.get(merged[number - 1].strip(), last) for number in numbers}


def _authors(patches: Sequence[AuditedPatch], path: str) -> dict[bytes, str]:
    """Return by text of a line the last patch that adds it to the file."""
    return {
        line[1:].strip(): patch.name
        for patch in patches
        if patch.is_carried
        for change in patch.files
        if path in (patch.homes.get(change.path), change.new_path)
        for hunk in change.hunks
        for line in hunk.lines
        if line[:1] == b"+"
    }


def path_before(states: States, path: str) -> str:
    """Return where a file of the result is on the side that the series is written against."""
    if states.written.blob(path) is not None:
        return path
    homes = (patch.homes.items() for patch in states.patches)
    return next((old for pairs in homes for old, home in pairs if home == path), path)
