"""Find new files of the series in the wrong place, and uses of files that upstream removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import normpath

from patchmgr.engines.audit.places import added_lines
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.languages.names import PYTHON
from patchmgr.model.audit import AuditFinding

_PATH = re.compile(rb"[\w.+/-]*\w\.\w+")
_QUOTED = re.compile(rb"""(?<=["'])%b(?=["'])""" % _PATH.pattern)


def _new_files(states: States) -> Iterator[tuple[str, str]]:
    for patch in states.patches:
        for change in patch.files if patch.is_carried else ():
            home = patch.homes.get(change.path, change.path)
            if change.old_path is None and states.carriers.get(home) == patch.name:
                yield patch.name, home


def lonely_files(states: States) -> Iterator[Told]:
    """Find new files of the series in folders that upstream has removed.

    Files that were moved along with their folder are not reported.
    """
    told: set[tuple[str, str]] = set()
    for name, path in _new_files(states):
        folder = _gone_folder(path, states)
        if folder and (name, folder) not in told:
            told.add((name, folder))
            first = min(states.base.tree.files_below(folder), default=None)
            commit = first and states.commit_since(first, lambda content: content is None)
            text = f"upstream no longer has the folder {folder}, where the patch puts this new file"
            yield name, AuditFinding("folder-gone", False, path, 0, None, text, commit)


def _gone_folder(path: str, states: States) -> str:
    """Return the innermost folder of a path in the base, if upstream removed it, or empty."""
    folder = path.rpartition("/")[0]
    while folder and not states.base.tree.is_directory(folder):
        folder = folder.rpartition("/")[0]
    return "" if states.onto.tree.is_directory(folder) else folder


def gone_paths(states: States) -> Iterator[Told]:
    """Find lines of the series that name the path of a file which upstream removed or moved."""
    gone = {
        path
        for path in states.changed_upstream
        if states.merged.blob(path) is None and states.written.blob(path) is not None
    }
    for path in states.carriers if gone else ():
        said = _QUOTED if path.endswith(PYTHON) else _PATH  # elsewhere it is a remark
        lines = (states.merged.read(path) or b"").splitlines()
        for number, name in added_lines(states, path).items():
            for word in (found.decode() for found in said.findall(lines[number - 1])):
                for old in sorted(gone.intersection((word, normpath(f"{path}/../{word}")))):
                    commit = states.commit_since(old, lambda content: content is None)
                    text = f"`{word}` is named here, and upstream no longer has {old}."
                    yield name, AuditFinding("path-gone", False, path, number, old, text, commit)
