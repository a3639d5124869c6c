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


def source_path(states: States, path: str) -> str:
    """Return where the series' own lines of a file of the result were written.

    That is another file where hunks moved into a file that no patch changes by its name.
    """
    old = written_path(states, path)
    if old != path or path not in states.carriers:
        return old
    if "patched paths" not in states.kept:
        states.kept["patched paths"] = _patched_paths(states)
    patched = states.kept["patched paths"]
    assert isinstance(patched, frozenset)
    if path in patched:
        return path
    known = set((states.onto.read(path) or b"").split(b"\n"))
    own = {line.strip() for line in (states.merged.read(path) or b"").split(b"\n")}
    own -= {line.strip() for line in known}
    for change in (change for p in states.patches if p.is_carried for change in p.files):
        added = {line[1:].strip() for h in change.hunks for line in h.lines if line[:1] == b"+"}
        if added & own and states.written.blob(change.path) is not None:
            return change.path
    return path


def _patched_paths(states: States) -> frozenset[str | None]:
    """Return the paths that patches change by their names, and where these are in the result."""
    return frozenset(
        path
        for patch in states.patches
        for change in patch.files
        for path in (change.old_path, change.new_path, patch.homes.get(change.path))
    )


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
