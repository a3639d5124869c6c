"""New files in a folder that upstream has no more."""

from __future__ import annotations

from collections.abc import Iterator

from patchmgr.engines.audit.states import States, Told
from patchmgr.model.audit import AuditFinding


def lonely_files(states: States) -> Iterator[Told]:
    """Yield the new files whose folder was there before the series, and is gone upstream.

    What followed its folder is none of these.
    """
    for patch in states.patches:
        told: set[str] = set()
        for change in patch.files if patch.is_carried else ():
            home = patch.homes.get(change.path, change.path)
            folder = None if change.old_path is not None else _gone_folder(home, states)
            if folder and folder not in told and states.carriers.get(home) == patch.name:
                told.add(folder)
                yield patch.name, _finding(home, folder, states)


def _gone_folder(path: str, states: States) -> str | None:
    """Return the innermost folder of base around a path, if upstream has it no more."""
    folder = path.rpartition("/")[0]
    while folder and not states.base.tree.is_directory(folder):
        folder = folder.rpartition("/")[0]
    return folder if folder and not states.onto.tree.is_directory(folder) else None


def _finding(path: str, folder: str, states: States) -> AuditFinding:
    first = min(states.base.tree.files_below(folder), default=None)
    commit = first and states.commit_since(first, lambda content: content is None)
    text = f"upstream has no folder {folder} any more, in which the patch puts this new file"
    return AuditFinding("folder-gone", False, path, 0, None, text, commit)
