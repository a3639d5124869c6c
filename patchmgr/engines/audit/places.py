"""Where a file of the result comes from, and which patch brought a line of it."""

from __future__ import annotations

from patchmgr.engines.audit.states import States


def written_path(states: States, path: str) -> str:
    """Return where a file of the result is on the side that the series is written against."""
    if states.written.blob(path) is not None:
        return path
    for patch in reversed(states.patches):
        for old, home in patch.homes.items():
            if home == path and states.written.blob(old) is not None:
                return old
    return path


def patch_of_line(states: States, path: str, line: bytes, *, sign: bytes = b"+") -> str:
    """Return the last patch that has the line, spaces aside, or else one that changes the file."""
    for patch in reversed(states.patches):
        for change in patch.files if patch.is_carried else ():
            if path not in (patch.homes.get(change.path), change.path, change.old_path):
                continue
            for hunk in change.hunks:
                if any(each[:1] == sign and each[1:].strip() == line for each in hunk.lines):
                    return patch.name
    return states.carriers.get(path, "")


def waiting_paths(states: States) -> frozenset[str]:
    """Return the files of patches that wait for a person: what they will have is not known."""
    found: set[str] = set()
    for patch in states.patches:
        if patch.is_left:
            for change in patch.files:
                paths = (change.old_path, change.new_path, patch.homes.get(change.path))
                found.update(path for path in paths if path is not None)
    return frozenset(found)
